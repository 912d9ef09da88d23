// @ts-check
// The memory of a text's keys and values over its length: a line is dragged along, through three others.

import { html, oncePerFrame, svg } from "../kit/elements.js";
import { nearest, stepped } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { fixed, grouped } from "../kit/numbers.js";
import { plotLine } from "../kit/plot_line.js";
import { cacheOf, stops } from "./maths.js";

// Powers of two, in GiB: the ends of the upright axis, and what is written at it.
const [LOW, HIGH] = [-9, 7];
const MARKS = [-8, -4, 0];

/** @param {number} gib */
const size = (gib) => (gib < 1 ? `${fixed(1024 * gib, 0)}\u00a0MiB` : `${fixed(gib, 1)}\u00a0GiB`);

/** How high it stands, as a percentage of the picture. @param {number} gib */
const height = (gib) => (100 * (Math.log2(gib) - LOW)) / (HIGH - LOW);

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./maths.js").Constants} */
  const constants = model.get("constants");
  const { kinds, weights, shortest, longest } = constants;
  const lengths = stops(constants);
  // A page's file has them in the order of their letters; here the largest comes first.
  const names = Object.keys(kinds).sort((a, b) => kinds[b] - kinds[a]);
  const shareOf = (/** @type {number} */ length) =>
    Math.log(length / shortest) / Math.log(longest / shortest);

  const lines = names.map((name, i) => {
    const [left, right] = [shortest, longest].map((length) =>
      100 - height(cacheOf(constants, kinds[name], length)));
    return svg("path", { class: `tfw-cache-${i}`, d: `M0 ${left}L100 ${right}` });
  });
  const level = 100 - height(weights);
  const picture = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img",
    "aria-label": "Three parallel lines over the length of the text, and the model's weights as a dashed one" },
  svg("path", { class: "tfw-cache-weights", d: `M0 ${level}L100 ${level}` }), ...lines);
  const labels = names.map((_, i) => html("span", { class: `tfw-plot-label tfw-cache-${i}` }));
  const line = plotLine(html("div", { class: "tfw-plot-labels" }, ...labels), {
    label: "length of the text, in tokens",
    plot: () => picture,
    at: () => shareOf(model.get("length")),
    drag: (share) =>
      assign(model, "length", nearest(lengths, shortest * (longest / shortest) ** share)),
    step: (by) => assign(model, "length", stepped(lengths, model.get("length"), by)),
  });
  const tokens = lengths.filter((length) => Number.isInteger(Math.log2(length / shortest) / 2));
  const plot = html("div", { class: "tfw-cache-plot" }, picture,
    ...MARKS.map((power) => html("span", { class: "tfw-cache-y", style: `bottom: ${height(2 ** power)}%` },
      size(2 ** power).replace(".0", ""))),
    ...tokens.map((length) => html("span",
      { class: "tfw-plot-x", style: `left: ${100 * shareOf(length)}%` }, grouped(length))),
    html("span", { class: "tfw-cache-y tfw-cache-name", style: `bottom: ${height(weights)}%` },
      `weights ${size(weights).replace(".0", "")}`),
    line.element);
  const readout = html("p", { class: "tfw-readout", role: "status" });

  function draw() {
    const length = model.get("length");
    const kept = names.map((name) => cacheOf(constants, kinds[name], length));
    kept.forEach((gib, i) => {
      labels[i].textContent = `${names[i]} ${size(gib)}`;
      labels[i].style.bottom = `${height(gib)}%`;
      labels[i].classList.toggle("tfw-cache-more", gib > weights);
    });
    const [own, ...shared] = kept.map(size);
    const more = names.filter((_, i) => kept[i] > weights);
    readout.textContent = `Keys and values of ${grouped(length)} tokens take ${own} if each of the 32 heads has a set of its own, ${
      shared[0]} in groups, and ${shared[1]} if all share one. ${
      more.length ? `Larger than the weights: ${more.join(", ")}.` : "All are smaller than the weights."}`;
    line.show(length, shortest, longest, `${grouped(length)} tokens`);
    line.put(shareOf(length));
  }

  const stop = watch(model, ["length"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-cache" },
    html("p", { class: "tfw-question" },
      "Drag the line. From which length on does the cache of one text need more memory than the model's weights?"),
    html("div", { class: "tfw-together" }, plot, html("p", { class: "tfw-cache-title" }, "tokens of the text")),
    readout));
  draw();
  return stop;
}

export default { render };
