// @ts-check
// Label smoothing: the target as bars, and the loss over the true token's probability.

import { chart } from "../kit/chart.js";
import { button, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { short } from "../kit/numbers.js";
import { lowestLoss, shareOfOthers, smoothedLoss, smoothedTarget } from "./maths.js";

// With more bars than these the words stand upright: on a phone, and everywhere.
const MOST_FLAT = { phone: 6, anywhere: 14 };
const LARGE_VOCABULARIES = [100, 1000, 37000];
const EPSILONS = [0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const CONFIDENCES = Array.from({ length: 199 }, (_, i) => (i + 1) / 200);

/** @param {number} value */
const three = (value) => short(value, 3);
/** @param {number} value */
const percent = (value) => `${(100 * value).toFixed(3)}%`;

/** @param {string} name @param {number} asked @param {number} given */
function smoothingBar(name, asked, given) {
  return html("div", { class: "tfw-smoothing-bar" },
    html("span", { class: "tfw-smoothing-word" }, three(asked)),
    html("div", { class: "tfw-smoothing-track" },
      html("div", { class: "tfw-smoothing-fill", style: `height: ${percent(asked)}` }),
      html("div", { class: "tfw-smoothing-given", style: `bottom: ${percent(given)}` })),
    html("span", { class: "tfw-smoothing-word" }, name));
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** Up to this number each token has a bar of its own. @type {{most_bars: number}} */
  const { most_bars: mostBars } = model.get("constants");
  const small = Array.from({ length: mostBars - 1 }, (_, i) => i + 2);
  /** @type {number[]} */
  let confidences = [];
  /** @returns {[number, number]} */
  const settings = () => [model.get("vocab_size"), model.get("smoothing")];

  const minimumInWords = () => {
    const [best, lowest] = lowestLoss(...settings());
    return `Minimum with smoothing: ${short(lowest)} at p = ${short(best)}.`;
  };
  const picture = chart({
    label: "Loss over the probability of the true token",
    xTitle: "p, probability of the true token",
    yTitle: "loss in nats",
    say: (place) => {
      const [vocab, smoothing] = settings();
      const p = confidences[place];
      return `p = ${short(p)}. Loss without smoothing: ${short(smoothedLoss(p, vocab, 0))}; ` +
        `with ε = ${short(smoothing)}: ${short(smoothedLoss(p, vocab, smoothing))}. ` +
        minimumInWords();
    },
    onPoint: (place) => assign(model, "p", confidences[place]),
  });
  const bars = html("div", { class: "tfw-smoothing-bars", role: "img" });
  const note = html("p", { class: "tfw-smoothing-note" });

  const controls = [
    slider(model, "vocab_size", {
      label: "vocabulary size V", values: [...small, ...LARGE_VOCABULARIES], format: short }),
    slider(model, "smoothing", { label: "smoothing ε", values: EPSILONS, format: short }),
  ];
  const lowest = button("Go to the minimum", () => assign(model, "p", lowestLoss(...settings())[0]));

  function drawBars() {
    const [vocab, smoothing] = settings();
    const p = model.get("p");
    const [yes, other] = smoothedTarget(vocab, smoothing);
    const share = shareOfOthers(p, vocab);
    const others = vocab > mostBars ? 1 : vocab - 1;
    const name = (/** @type {number} */ i) =>
      (vocab > mostBars ? `each of the other ${short(vocab - 1)}` : String(i + 1));
    bars.classList.toggle("tfw-smoothing-many", others >= MOST_FLAT.phone);
    bars.classList.toggle("tfw-smoothing-crowd", others >= MOST_FLAT.anywhere);
    bars.replaceChildren(smoothingBar("y", yes, p),
      ...Array.from({ length: others }, (_, i) => smoothingBar(name(i), other, share)));
    bars.setAttribute("aria-label",
      `The target asks for ${three(yes)} on the true token y and ${three(other)} on each of the ` +
      `other ${short(vocab - 1)}; the model gives ${three(p)} and ${three(share)}.`);
  }

  function draw() {
    const [vocab, smoothing] = settings();
    const p = model.get("p");
    const [best, least] = lowestLoss(vocab, smoothing);
    // The minimum and the cursor stand between the even points; the nearest of these make room.
    const even = CONFIDENCES.filter((c) => Math.abs(c - best) > 1e-3);
    const more = best < 1 ? [best, p] : [p];
    confidences = [...new Set([...even, ...more])].sort((a, b) => a - b);
    const series = [
      { name: "without smoothing",
        values: confidences.map((c) => smoothedLoss(c, vocab, 0)) },
      { name: `with ε = ${short(smoothing)}`, strong: true,
        values: confidences.map((c) => smoothedLoss(c, vocab, smoothing)) },
    ];
    /** @type {[number, number]} */
    const y = [0, Math.max(5, Math.ceil(1.6 * least))];
    picture.show({ x: confidences, series, y }, confidences.indexOf(p));
    drawBars();
    lowest.allow(best < 1);
    note.textContent = best < 1
      ? "At the minimum, p = 1 − ε + ε/V, the model gives just what the target asks for; its value " +
        "is the target's entropy."
      : "Without smoothing the loss falls towards 0 as p nears 1, and never asks the model to stop.";
  }

  const stop = watch(model, ["vocab_size", "smoothing", "p"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-smoothing" },
    html("p", { class: "tfw-question" },
      "Drag p: how certain may the model be before the loss rises again?"),
    html("div", { class: "tfw-controls tfw-two" }, ...[...controls, lowest].map(({ element }) => element)),
    html("p", { class: "tfw-heading" },
      "Bars: the target. Lines: the model."),
    bars, picture.element, note));
  draw();
  return () => {
    stop();
    picture.stop();
    for (const control of controls) control.stop();
  };
}

export default { render };
