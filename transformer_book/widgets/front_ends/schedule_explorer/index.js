// @ts-check
// The learning rate over the steps: its peak is dragged, and the curve follows.

import { chart } from "../kit/chart.js";
import { button, slider } from "../kit/controls.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { grip, stepped } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { grouped, short } from "../kit/numbers.js";
import { noamRate } from "./maths.js";

const POINTS = 400;
const MOST_KEPT = 5;
const WIDTHS = [64, 128, 256, 512, 1024, 2048];
const WARMUPS = [100, 200, 400, 1000, 2000, 4000, 6000, 8000, 12000, 16000];
const FACTORS = [0.25, 0.35, 0.5, 0.71, 1, 1.41, 2, 3, 4];
const ROUND = 100; // the steps to which a drag rounds the warm-up
/** @type {[number, number, number]} */
const PAPER = [512, 4000, 1];
const AIR = 1.3; // of the axis above the highest peak, for the handle
const ARROWS = { warmup: "M-15 -6l-8 6l8 6zM15 -6l8 6l-8 6z", factor: "M-6 -17l6 -8l6 8zM-6 17l6 8l6 -8z" };

/** @typedef {[number, number, number]} Curve width, warm-up and factor */

/** @param {Curve} curve */
function named([dModel, warmup, factor]) {
  const times = factor === 1 ? "" : `, factor ${short(factor)}`;
  return `width ${grouped(dModel)}, warm-up ${grouped(warmup)}${times}`;
}

/** The highest rate of a curve. @param {Curve} curve */
const peakOf = (curve) => noamRate(curve[1], ...curve);

/** Whether a curve has its peak where the paper's is. @param {Curve} curve */
const meetsPaper = (curve) =>
  curve[1] === PAPER[1] && Math.abs(peakOf(curve) / peakOf(PAPER) - 1) < 0.01;

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {number[]} */
  let steps = [];
  /** @type {Curve} */
  let drawn = PAPER; // the moving curve, on its way
  let held = false;
  let top = 0; // of the axis
  /** @returns {Curve} */
  const moving = () => [model.get("d_model"), model.get("warmup"), model.get("factor")];
  /** @returns {Curve[]} */
  const curves = () => [moving(), ...model.get("kept")];

  const picture = chart({
    label: "Learning rate over steps",
    xTitle: "step",
    yTitle: "learning rate",
    hasHandle: true,
    say: (place) => {
      const curve = moving();
      const met = meetsPaper(curve) && curve[0] !== PAPER[0] ? " Its peak is the paper's." : "";
      return `Step ${grouped(steps[place])}. ${named(curve)}: ${
        short(noamRate(steps[place], ...curve), 3)}.${met}`;
    },
    onPoint: (place) => assign(model, "step", steps[place]),
    onDraw: dress,
  });

  const slope = svg("path", { class: "tfw-rate-slope", "clip-path": picture.clip });
  const ring = svg("circle", { class: "tfw-rate-paper", r: 11 });
  const target = svg("text", { class: "tfw-rate-name" }, "the paper's peak");
  const label = svg("text", { class: "tfw-rate-name" });
  const handle = (/** @type {"warmup" | "factor"} */ name, /** @type {SVGElement} */ body) =>
    svg("g", {}, body, svg("path", { class: "tfw-rate-arrows", d: ARROWS[name] }));
  /** @type {import("../kit/chart.js").Scale} */
  let scale;
  const onHold = (/** @type {boolean} */ now) => {
    held = now;
    if (!now) redraw(); // the axis is fitted to what has been reached
  };
  const warmup = grip(handle("warmup", svg("circle", { class: "tfw-grip-dot", r: 9 })), {
    label: "warm-up steps",
    drag: (x) => {
      // No farther to the left than the peak stays in the picture.
      const least = Math.max(ROUND, (model.get("factor") / top) ** 2 / model.get("d_model"));
      const at = Math.min(Math.max(scale.xAt(x), least), model.get("steps"));
      assign(model, "warmup", Math.max(ROUND, Math.round(at / ROUND) * ROUND));
    },
    step: (by) => assign(model, "warmup", stepped(WARMUPS, model.get("warmup"), by)),
    onHold,
  });
  const factor = grip(handle("factor", svg("path", { class: "tfw-grip-room", d: "M-11 -30h22v60h-22z" })), {
    label: "factor",
    orientation: "vertical",
    drag: (_, y) => {
      const rate = Math.min(Math.max(scale.yAt(y), 0), top);
      const raw = rate / peakOf([model.get("d_model"), model.get("warmup"), 1]);
      assign(model, "factor", Math.max(0.01, Math.round(raw * 100) / 100));
    },
    step: (by) => assign(model, "factor", stepped(FACTORS, model.get("factor"), by)),
    onHold,
  });
  picture.over.append(slope, ring, target, factor.element, warmup.element, label);

  /** Puts the handle on the peak. @param {import("../kit/chart.js").Scale} at */
  function dress(at) {
    scale = at;
    const { left, right, bottom } = at.frame;
    const [x, y] = [at.x(drawn[1]), at.y(peakOf(drawn))];
    for (const { element } of [warmup, factor]) {
      element.setAttribute("transform", `translate(${x} ${y})`);
    }
    // Where the peak can go: all warm-ups end on this curve.
    const reach = Array.from({ length: 80 }, (_, i) => left + 1 + (i * (right - left - 1)) / 79);
    const [peakX, peakY] = [x - at.x(0), bottom - y];
    slope.setAttribute("d", `M${reach.map((px) =>
      `${px.toFixed(1)} ${(bottom - peakY * Math.sqrt(peakX / (px - at.x(0)))).toFixed(1)}`).join("L")}`);
    const [paperX, paperY] = [at.x(PAPER[1]), at.y(peakOf(PAPER))];
    const far = Math.hypot(x - paperX, y - paperY);
    ring.setAttribute("transform", `translate(${paperX} ${paperY})`);
    ring.classList.toggle("tfw-rate-met", far < 2);
    const hidden = Math.abs(y - paperY) < 45 && x > paperX - 34 && x < paperX + 170; // by the handle or its words
    place(target, paperX, paperY + 5, hidden ? "" : "the paper's peak", right);
    place(label, x, y - 38, `${grouped(Math.round(drawn[1]))} steps, ${short(peakOf(drawn), 3)}`, right);
  }

  /** To the right of a place, or where there is no room as far to the right as there is. @param {SVGElement} text @param {number} x @param {number} y @param {string} words @param {number} right */
  function place(text, x, y, words, right) {
    const room = x + 190 <= right;
    text.textContent = words;
    text.setAttribute("x", String(room ? x + 28 : right - 2));
    text.setAttribute("y", String(y));
    text.setAttribute("text-anchor", room ? "start" : "end");
  }

  const width = slider(model, "d_model", { label: "width d_model", values: WIDTHS });
  const keep = button("Keep this curve", () =>
    assign(model, "kept", [moving(), ...model.get("kept")]));
  const clear = button("Drop kept ones", () => assign(model, "kept", []));

  const motion = glide(([dModel, rise, times, high]) => {
    drawn = [dModel, rise, times];
    top = high;
    const end = model.get("steps");
    const even = Array.from({ length: POINTS }, (_, i) =>
      Math.round(1 + (i * (end - 1)) / (POINTS - 1)));
    // The peaks and the cursor stand between the even steps.
    const more = [model.get("step"), rise, ...curves().map(([, w]) => w)];
    steps = [...new Set([...even, ...more.filter((step) => step <= end)])].sort((a, b) => a - b);
    const place = steps.findIndex((step) => step >= model.get("step"));
    const at = place < 0 ? steps.length - 1 : place;
    const series = curves().map((curve, i) => ({
      name: i ? `${named(curve)}: ${short(noamRate(steps[at], ...curve), 3)}` : "the curve you drag",
      values: steps.map((step) => noamRate(step, ...(i ? curve : drawn))),
      strong: i === 0,
    }));
    picture.show({ x: steps, series, y: [0, high] }, at);
  });

  function draw() {
    const [curve, ...kept] = curves();
    const high = held ? top : AIR * Math.max(...[curve, ...kept, PAPER].map(peakOf));
    motion.to([...curve, high], held);
    warmup.show(curve[1], WARMUPS[0], Math.max(curve[1], WARMUPS[WARMUPS.length - 1]), grouped(curve[1]));
    factor.show(curve[2], FACTORS[0], Math.max(curve[2], FACTORS[FACTORS.length - 1]), short(curve[2]));
    keep.allow(kept.length < MOST_KEPT);
    clear.allow(kept.length > 0);
  }

  const redraw = oncePerFrame(draw);
  const stop = watch(model, ["d_model", "warmup", "factor", "kept", "steps", "step"], redraw);
  el.append(html("div", { class: "tfw tfw-rate" },
    html("p", { class: "tfw-question" },
      "Drag the peak. What does the warm-up change, and what do width and factor?"),
    picture.element,
    html("div", { class: "tfw-controls" }, ...[width, keep, clear].map(({ element }) => element))));
  draw();
  return () => {
    stop();
    motion.stop();
    picture.stop();
    width.stop();
  };
}

export default { render };
