// @ts-check
// Sinusoidal positions from five sides: curves, table, bits, similarity, rotation.

import { pick, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { positionCode, positionFixed } from "./maths.js";
import { positionCurves, positionSimilarity } from "./charts.js";
import { positionClock } from "./clock.js";
import { positionField } from "./field.js";
import { positionBits, positionTable } from "./tables.js";

const MOST = 6;
const BINARY = 32;
const REACH = 64;
const TRAITS = ["view", "d_model", "length", "dimensions", "position", "offset", "pair"];
/** @type {Object<string, {title: string, needs: string[], words: string}>} */
const VIEWS = {
  curves: { title: "curves", needs: ["d_model", "length", "dimensions", "position"],
    words: "Each dimension is a wave over the positions; an even one and the next share a frequency." },
  table: { title: "table", needs: ["d_model", "length", "position"],
    words: "A row is the code of a position. From left to right the columns change ever more slowly." },
  binary: { title: "beside bits", needs: ["d_model", "length", "position"],
    words: `The first positions (at most ${BINARY}) as binary numbers, fastest bit first, and as `
      + "sinusoids: bits jump, waves glide." },
  similarity: { title: "similarity", needs: ["d_model", "length", "position", "offset"],
    words: "The dot product of two codes that are k positions apart." },
  rotation: { title: "rotation", needs: ["d_model", "length", "position", "offset", "pair"],
    words: "A sine and its cosine are a hand on a circle. An offset k turns it by the same angle "
      + "wherever it stands." },
};

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const get = (/** @type {string} */ name) => model.get(name);
  const toPosition = (/** @type {number} */ pos) => assign(model, "position", pos);
  /** @type {number[][]} */
  let table = [];

  /** @typedef {import("./maths.js").Positions} Positions */
  /** @type {Object<string, {element: HTMLElement, show: (now: Positions) => void, stop: () => void}>} */
  const views = {
    curves: positionCurves(toPosition),
    table: positionTable(toPosition),
    binary: positionBits(BINARY, toPosition),
    similarity: positionSimilarity(REACH, (offset) => assign(model, "offset", offset)),
    rotation: positionClock(),
  };
  const view = pick(model, "view", { label: "show",
    options: Object.entries(VIEWS).map(([name, { title }]) => [title, name]) });
  const signed = (/** @type {number} */ value) => positionFixed(value, 0);
  const sliders = {
    d_model: slider(model, "d_model", { label: "width d_model", min: 4, max: 128, step: 2 }),
    length: slider(model, "length", { label: "length", min: 10, max: 128 }),
    position: slider(model, "position", { label: "position pos", min: 0, max: 127 }),
    offset: slider(model, "offset", { label: "offset k", min: -REACH, max: REACH, format: signed }),
    pair: slider(model, "pair", { label: "pair i", min: 0, max: 63 }),
  };
  /** @type {Object<string, {element: HTMLElement, stop: () => void}>} */
  const controls = { ...sliders, dimensions: positionField(model, MOST) };
  const words = html("p", {});

  /** What a smaller length or width takes with it; in Python the same happens. */
  function stayInside() {
    const [d, last] = [get("d_model"), get("length") - 1];
    if (get("position") > last) toPosition(last);
    if (get("pair") > d / 2 - 1) assign(model, "pair", d / 2 - 1);
    const left = get("dimensions").filter((/** @type {number} */ i) => i < d);
    if (left.length < get("dimensions").length) assign(model, "dimensions", left.length ? left : [0, 1]);
  }

  function draw() {
    const [d, length, name] = [get("d_model"), get("length"), get("view")];
    if (table.length !== length || table[0].length !== d) {
      table = Array.from({ length }, (_, pos) => positionCode(pos, d));
    }
    for (const [key, { element }] of Object.entries(views)) element.hidden = key !== name;
    for (const [key, { element }] of Object.entries(controls)) {
      element.hidden = !VIEWS[name].needs.includes(key);
    }
    sliders.position.input.max = String(length - 1);
    sliders.pair.input.max = String(d / 2 - 1);
    // The values anew: a slider cuts off what was set before its end was moved.
    sliders.position.input.value = String(get("position"));
    sliders.pair.input.value = String(get("pair"));
    words.textContent = VIEWS[name].words;
    views[name].show({ d_model: d, dimensions: get("dimensions"), position: get("position"),
      offset: get("offset"), pair: get("pair"), table });
  }

  const stopInside = watch(model, ["length", "d_model"], stayInside);
  const stop = watch(model, TRAITS, oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-posexp" },
    view.element,
    html("div", { class: "tfw-controls" }, ...Object.values(controls).map(({ element }) => element)),
    words, ...Object.values(views).map(({ element }) => element)));
  draw();
  return () => {
    stop();
    stopInside();
    view.stop();
    for (const part of [...Object.values(views), ...Object.values(controls)]) part.stop();
  };
}

export default { render };
