// @ts-check
// What a step keeps in the memory, as bars; the memory of a device is a line that is dragged over them.

import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { fixed, grouped } from "../kit/numbers.js";
import { patches } from "../kit/patches.js";
import { plotLine } from "../kit/plot_line.js";
import { keptIn, turnsFor } from "./maths.js";

/** @type {["model" | "loss" | "layers", string][]} from the left */
const PARTS = [["model", "weights, gradients, Adam's averages"], ["loss", "the loss"],
  ["layers", "what the layers keep"]];
const EVERY = 8; // GB between two numbers of the axis

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./maths.js").Constants} */
  const constants = model.get("constants");
  const { least, most, tokens } = constants;
  const percent = (/** @type {number} */ gb) => `${(100 * gb) / most}%`;

  /** @param {string} cls */
  const bar = (cls) => {
    const parts = PARTS.map(([part]) => html("span", { class: `tfw-memory-${part}` }));
    return { parts, element: html("div", { class: `tfw-memory-bar ${cls}` }, ...parts) };
  };
  const [whole, turn] = [bar("tfw-memory-whole"), bar("tfw-memory-turn")];
  const name = html("p", { class: "tfw-memory-name" });
  const bars = html("div", { class: "tfw-memory-bars" },
    html("p", { class: "tfw-memory-name" }, "the step at once"), whole.element, name, turn.element);
  const device = html("span", { class: "tfw-memory-device" });
  const to = (/** @type {number} */ gb) => assign(model, "memory", Math.min(Math.max(gb, least), most));
  const line = plotLine(device, {
    label: "memory of the device, in GB",
    plot: () => bars,
    at: () => model.get("memory") / most,
    drag: (share) => to(Math.round(most * share)),
    step: (by) => to(model.get("memory") + by),
  });
  const numbers = Array.from({ length: Math.floor(most / EVERY) + 1 }, (_, i) =>
    html("span", { class: "tfw-plot-x", style: `left: ${percent(i * EVERY)}` }, String(i * EVERY)));
  const plot = html("div", { class: "tfw-memory-plot" }, bars, ...numbers, line.element);
  const key = patches(PARTS.map(([part, words]) => [`tfw-memory-${part}`, words]));
  const readout = html("p", { class: "tfw-readout", role: "status" });

  /** @param {{parts: HTMLElement[]}} where @param {number} turns */
  const fill = ({ parts }, turns) => {
    const kept = keptIn(constants, turns);
    PARTS.forEach(([part], i) => {
      parts[i].style.width = percent(kept[part]);
    });
  };
  const motion = glide(([turns]) => fill(turn, turns));

  function draw() {
    const memory = model.get("memory");
    const turns = turnsFor(constants, memory);
    const kept = keptIn(constants, turns);
    const all = kept.model + kept.loss + kept.layers;
    const each = `${turns === 1 ? "one turn" : `${grouped(turns)} turns`} of ${
      grouped(Math.ceil(tokens / turns))} tokens`;
    name.textContent = turns === 1 ? "the only turn" : `one of ${grouped(turns)} turns`;
    device.textContent = `${memory} GB`;
    readout.textContent = `With ${memory} GB the step takes ${each}. A turn keeps ${fixed(all, 1)} GB: ${
      PARTS.map(([part, words]) => `${words} ${fixed(kept[part], 1)}`).join(", ")}.`;
    line.show(memory, least, most, `${memory} GB, ${each}`);
    line.put(memory / most);
    motion.to([turns], line.held());
  }

  fill(whole, 1);
  const stop = watch(model, ["memory"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-memory" },
    html("p", { class: "tfw-question" },
      "Drag the line to your GPU's memory. In how many turns does the paper's step fit it?"),
    plot, html("p", { class: "tfw-memory-title" }, "GB in the memory at a time"), key, readout));
  draw();
  return () => {
    stop();
    motion.stop();
  };
}

export default { render };
