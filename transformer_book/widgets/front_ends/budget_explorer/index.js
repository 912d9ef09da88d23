// @ts-check
// Where a forward pass spends its operations: a line is dragged along the length, through four bands.

import { slider } from "../kit/controls.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { nearest, stepped } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { fixed, grouped } from "../kit/numbers.js";
import { plotLine } from "../kit/plot_line.js";
import { sharesOf } from "./maths.js";

// From the bottom up: what is asked for stands on the axis. On the picture, and in the sentence.
const PARTS = [["pairs", "pairs of positions"], ["projections", "projections"],
  ["feed-forward", "feed-forward networks"], ["output", "output"]];
const SAMPLES = 120; // of the length, from one end of the axis to the other
const GAP = 12; // from one label to the next, as a percentage of the picture's height
// A drag stops at lengths of two digits.
const LENGTHS = [1, 10, 100, 1000].flatMap((unit) =>
  Array.from({ length: 90 }, (_, i) => (10 + i) * unit));

/** @param {number} share */
const percent = (share) => (share < 0.0005 ? "less than 0.1\u00a0%"
  : `${fixed(100 * share, share < 0.0995 ? 1 : 0)}\u00a0%`);

/** Heights far enough from each other for labels, in the same order. @param {number[]} heights */
function spread(heights) {
  const up = heights.map((height) => Math.max(height, GAP / 2));
  for (let i = 1; i < up.length; i += 1) up[i] = Math.max(up[i], up[i - 1] + GAP);
  for (let i = up.length - 1, most = 100 - GAP / 2; i >= 0; i -= 1, most -= GAP) {
    up[i] = Math.min(up[i], most);
  }
  return up;
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./maths.js").Constants} */
  const constants = model.get("constants");
  const { shortest, longest, widths, models } = constants;
  const lengths = LENGTHS.filter((length) => length >= shortest && length <= longest);
  const shareOf = (/** @type {number} */ length) =>
    Math.log(length / shortest) / Math.log(longest / shortest);
  const lengthAt = (/** @type {number} */ share) => shortest * (longest / shortest) ** share;
  const named = (/** @type {number} */ width) => {
    const name = Object.keys(models).find((each) => models[each] === width);
    return name ? `${grouped(width)} (${name})` : grouped(width);
  };
  /** The lower edge of each band, and the upper edge of the last. @param {number} width @param {number} length */
  const edges = (width, length) => {
    const shares = sharesOf(constants, width, length);
    let sum = 0;
    return [0, ...PARTS.map(([part]) => (sum += 100 * shares[part]))];
  };

  const bands = PARTS.map(([part]) => svg("path", { class: `tfw-budget-${part}` }));
  const picture = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" }, ...bands);
  const labels = PARTS.map(([part]) => html("span", { class: `tfw-plot-label tfw-budget-${part}` }));
  const line = plotLine(html("div", { class: "tfw-plot-labels" }, ...labels), {
    label: "length of source and target, in tokens",
    plot: () => picture,
    at: () => shareOf(model.get("length")),
    drag: (share) => assign(model, "length", nearest(lengths, lengthAt(share))),
    step: (by) => assign(model, "length", stepped(lengths, model.get("length"), by)),
  });
  const powers = lengths.filter((length) => Number.isInteger(Math.log10(length)));
  const plot = html("div", { class: "tfw-budget-plot" }, picture,
    ...[0, 50, 100].map((height) =>
      html("span", { class: "tfw-budget-y", style: `bottom: ${height}%` }, `${height}\u00a0%`)),
    ...powers.map((length) => html("span",
      { class: "tfw-plot-x", style: `left: ${100 * shareOf(length)}%` }, grouped(length))),
    line.element);
  const width = slider(model, "d_model", { label: "width d_model", values: widths, format: named });
  width.element.append(html("div", { class: "tfw-budget-models", "aria-hidden": "true" },
    ...Object.entries(models).map(([name, each]) => html("span",
      { style: `--at: ${widths.indexOf(each) / (widths.length - 1)}` }, name))));
  const readout = html("p", { class: "tfw-readout", role: "status" });

  const motion = glide(([power, share]) => {
    const stacks = Array.from({ length: SAMPLES + 1 }, (_, i) => edges(2 ** power, lengthAt(i / SAMPLES)));
    const points = (/** @type {number} */ edge) => stacks.map((stack, i) =>
      `${((100 * i) / SAMPLES).toFixed(2)} ${(100 - stack[edge]).toFixed(2)}`);
    bands.forEach((band, i) =>
      band.setAttribute("d", `M${[...points(i), ...points(i + 1).reverse()].join("L")}Z`));
    line.put(share);
    const here = edges(2 ** power, lengthAt(share));
    spread(PARTS.map((_, i) => (here[i] + here[i + 1]) / 2)).forEach((height, i) => {
      labels[i].style.bottom = `${height}%`;
    });
  });

  function draw() {
    const [length, wide] = [model.get("length"), model.get("d_model")];
    const shares = sharesOf(constants, wide, length);
    const largest = Math.max(...Object.values(shares));
    PARTS.forEach(([part], i) => {
      labels[i].textContent = `${part} ${percent(shares[part])}`;
      labels[i].classList.toggle("tfw-budget-largest", shares[part] === largest);
    });
    const [[share, name], ...others] = [...PARTS].sort(([a], [b]) => shares[b] - shares[a])
      .map(([part, words]) => [percent(shares[part]), words]);
    const rest = others.map((one) => one.join(" into the "));
    readout.textContent = `With ${grouped(length)} tokens on each side and a width of ${named(wide)}, ${
      share} of the operations go into the ${name}, ${rest.slice(0, -1).join(", ")} and ${rest.at(-1)}.`;
    picture.setAttribute("aria-label",
      `Four bands over the length: shares of the operations at a width of ${named(wide)}`);
    line.show(length, shortest, longest, `${grouped(length)} tokens`);
    motion.to([Math.log2(wide), shareOf(length)], line.held());
  }

  const stop = watch(model, ["length", "d_model"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-budget" },
    html("p", { class: "tfw-question" }, "Drag the line. At which length do the pairs of positions, attention "
      + "itself, become the largest part? And in a model twice as wide?"),
    plot, html("p", { class: "tfw-budget-title" }, "tokens on each side of a pair"),
    html("div", { class: "tfw-controls" }, width.element), readout));
  draw();
  return () => {
    stop();
    motion.stop();
    width.stop();
  };
}

export default { render };
