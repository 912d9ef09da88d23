// @ts-check
// The learning rate over the steps, for settings that the reader moves.

import { chart } from "../kit/chart.js";
import { button, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { grouped, short } from "../kit/numbers.js";
import { noamRate } from "./maths.js";

const POINTS = 400;
const MOST_KEPT = 5;
const WIDTHS = [64, 128, 256, 512, 1024, 2048];
const WARMUPS = [100, 200, 400, 1000, 2000, 4000, 6000, 8000, 12000, 16000];
const FACTORS = [0.25, 0.5, 1, 1.5, 2, 3, 4];

/** @param {[number, number, number]} curve */
function named([dModel, warmup, factor]) {
  return `width ${grouped(dModel)}, warm-up ${grouped(warmup)}, factor ${short(factor)}`;
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {number[]} */
  let steps = [];
  /** @returns {[number, number, number][]} */
  const curves = () => [
    [model.get("d_model"), model.get("warmup"), model.get("factor")],
    ...model.get("kept"),
  ];

  const picture = chart({
    label: "Learning rate over steps",
    xTitle: "step",
    yTitle: "learning rate",
    say: (place) => {
      const rates = curves().map((c) => `${named(c)}: ${short(noamRate(steps[place], ...c))}`);
      return `Step ${grouped(steps[place])}. ${rates.join("; ")}.`;
    },
    onPoint: (place) => assign(model, "step", steps[place]),
  });

  const controls = [
    slider(model, "d_model", { label: "width d_model", values: WIDTHS }),
    slider(model, "warmup", { label: "warm-up steps", values: WARMUPS, format: grouped }),
    slider(model, "factor", { label: "factor", values: FACTORS }),
  ];
  const keep = button("Keep this curve", () =>
    assign(model, "kept", [curves()[0], ...model.get("kept")]));
  const clear = button("Drop the kept ones", () => assign(model, "kept", []));

  function draw() {
    const end = model.get("steps");
    const even = Array.from({ length: POINTS }, (_, i) =>
      Math.round(1 + (i * (end - 1)) / (POINTS - 1)));
    // The peaks and the cursor stand between the even steps.
    const more = [model.get("step"), ...curves().map(([, warmup]) => warmup)];
    steps = [...new Set([...even, ...more.filter((step) => step <= end)])].sort((a, b) => a - b);
    const series = curves().map((curve, i) => ({
      name: named(curve),
      values: steps.map((step) => noamRate(step, ...curve)),
      strong: i === 0,
    }));
    const place = steps.findIndex((step) => step >= model.get("step"));
    picture.show({ x: steps, series }, place < 0 ? steps.length - 1 : place);
    keep.allow(model.get("kept").length < MOST_KEPT);
    clear.allow(model.get("kept").length > 0);
  }

  const stop = watch(model, ["d_model", "warmup", "factor", "kept", "steps", "step"],
    oncePerFrame(draw));
  el.append(html("div", { class: "tfw" },
    html("div", { class: "tfw-controls" }, ...[...controls, keep, clear].map(({ element }) => element)),
    picture.element));
  draw();
  return () => {
    stop();
    picture.stop();
    for (const control of controls) control.stop();
  };
}

export default { render };
