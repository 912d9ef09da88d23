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
/** @type {Object<string, {title: string, needs: string[], words: string}>} */
const VIEWS = {
  curves: { title: "curves", needs: ["d_model", "length", "dimensions", "position"],
    words: "Each dimension is a wave over the positions; an even one and the next share a frequency." },
  table: { title: "table", needs: ["d_model", "length", "position"],
    words: "A row is the code of a position. From left to right the columns change ever more slowly." },
  binary: { title: "beside bits", needs: ["d_model", "length", "position"],
    words: "The first positions as binary numbers, fastest bit first, and as sinusoids: bits jump, "
      + "waves glide." },
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
  const { most_dimensions: mostDimensions, most_binary: mostBinary, reach } = get("constants");
  /** @type {number[][]} */
  let table = [];

  /** @typedef {import("./maths.js").Positions} Positions */
  /** @type {Object<string, {element: HTMLElement, show: (now: Positions) => void, stop: () => void}>} */
  const views = {
    curves: curvesView(toPosition),
    table: tableView(toPosition),
    binary: bitsView(mostBinary, toPosition),
    similarity: similarityView(reach, (offset) => assign(model, "offset", offset)),
    rotation: rotationView(),
  };
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
      const frequencies = frequenciesOf(d);
      table = Array.from({ length }, (_, pos) => codeOf(pos, frequencies));
    }
    for (const [key, { element }] of Object.entries(views)) element.hidden = key !== name;
    for (const [key, { element }] of Object.entries(controls)) {
      element.hidden = !VIEWS[name].needs.includes(key);
    }
    sliders.position.range(0, length - 1);
    sliders.pair.range(0, d / 2 - 1);
    words.textContent = VIEWS[name].words;
    views[name].show({ d_model: d, dimensions: get("dimensions"), position: get("position"),
      offset: get("offset"), pair: get("pair"), table });
  }

  const stopInside = watch(model, ["length", "d_model"], stayInside);
  const stop = watch(model, TRAITS, oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-posexp" },
    html("p", { class: "tfw-question" },
      "Move the position: what changes, and what stays?"),
    view.element,
    html("div", { class: "tfw-controls tfw-two" }, ...Object.values(controls).map(({ element }) => element)),
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
