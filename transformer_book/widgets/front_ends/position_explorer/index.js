// @ts-check
// Sinusoidal positions from five sides: curves, table, bits, similarity, rotation.

import { pick, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { fixed } from "../kit/numbers.js";
import { curvesView, similarityView } from "./charts.js";
import { rotationView } from "./clock.js";
import { dimensionsField } from "./field.js";
import { codeOf, frequenciesOf } from "./maths.js";
import { bitsView, tableView } from "./tables.js";

const TRAITS = ["view", "d_model", "length", "dimensions", "position", "offset", "pair"];
/** @type {Object<string, {title: string, needs: string[], question: string, words: string}>} */
const VIEWS = {
  curves: { title: "curves", needs: ["d_model", "length", "dimensions", "position"],
    question: "Which waves share a frequency, and what sets them apart?",
    words: "Each curve is one dimension of the code, over the positions." },
  table: { title: "table", needs: ["d_model", "length", "position"],
    question: "Which columns hardly change from the first position to the last?",
    words: "A row is the code of a position, a column is one dimension." },
  binary: { title: "beside bits", needs: ["d_model", "length", "position"],
    question: "From 15 to 16: how many bits flip, and which wave jumps?",
    words: "The first positions, as binary numbers and as waves, the fastest first." },
  similarity: { title: "similarity", needs: ["d_model", "length", "position", "offset"],
    question: "Move the position from end to end: what becomes of the curve?",
    words: "The dot product of two codes that are k positions apart." },
  rotation: { title: "rotation", needs: ["d_model", "length", "position", "offset", "pair"],
    question: "Which offset k brings the hand back to where it started?",
    words: "A sine and its cosine make a hand, and an offset k turns it." },
};

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const get = (/** @type {string} */ name) => model.get(name);
  const toPosition = (/** @type {number} */ pos) => assign(model, "position", pos);
  const { most_dimensions: mostDimensions, most_binary: mostBinary, reach } = get("constants");
  /** @type {number[][]} */
  let table = [];

  /** @typedef {import("./maths.js").Positions} Positions */
  /** @type {Object<string, {element: HTMLElement, show: (now: Positions) => string | void, stop: () => void}>} */
  const views = {
    curves: curvesView(toPosition),
    table: tableView(toPosition),
    binary: bitsView(mostBinary, toPosition),
    similarity: similarityView(reach, (offset) => assign(model, "offset", offset)),
    rotation: rotationView(),
  };
  for (const { element } of Object.values(views)) element.classList.add("tfw-posexp-view");
  const view = pick(model, "view", { label: "show",
    options: Object.entries(VIEWS).map(([name, { title }]) => [title, name]) });
  const signed = (/** @type {number} */ value) => fixed(value, 0);
  const sliders = {
    d_model: slider(model, "d_model", { label: "width d_model", min: 4, max: 128, step: 2 }),
    length: slider(model, "length", { label: "length", min: 10, max: 128 }),
    position: slider(model, "position", { label: "position pos", min: 0, max: 127 }),
    offset: slider(model, "offset", { label: "offset k", min: -reach, max: reach, format: signed }),
    pair: slider(model, "pair", { label: "pair i", min: 0, max: 63 }),
  };
  /** @type {Object<string, {element: HTMLElement, stop: () => void}>} */
  const controls = { ...sliders, dimensions: dimensionsField(model, mostDimensions) };
  const question = html("p", { class: "tfw-question" });
  const words = html("p", { class: "tfw-posexp-words" });

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
      const frequencies = frequenciesOf(d);
      table = Array.from({ length }, (_, pos) => codeOf(pos, frequencies));
    }
    for (const [key, { element }] of Object.entries(views)) element.hidden = key !== name;
    for (const [key, { element }] of Object.entries(controls)) {
      element.hidden = !VIEWS[name].needs.includes(key);
    }
    sliders.position.range(0, length - 1);
    sliders.pair.range(0, d / 2 - 1);
    question.textContent = VIEWS[name].question;
    const remark = views[name].show({ d_model: d, dimensions: get("dimensions"),
      position: get("position"), offset: get("offset"), pair: get("pair"), table });
    words.textContent = remark || VIEWS[name].words;
  }

  const stopInside = watch(model, ["length", "d_model"], stayInside);
  const stop = watch(model, TRAITS, oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-posexp" },
    question,
    view.element,
    html("div", { class: "tfw-posexp-controls" },
      html("div", { class: "tfw-controls tfw-two" }, ...Object.values(controls).map(({ element }) => element))),
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
