// @ts-check
// Table 1: a sentence grows, and four layers show what each of its words costs.

import { pick, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { short } from "../kit/numbers.js";
import { OPERATIONS, PATH, SEQUENTIAL, layerCosts, meeting } from "./maths.js";
import { costPicture } from "./picture.js";
import { formulasOf } from "./rows.js";

/** @typedef {import("./rows.js").State} State */

const D_VALUES = [64, 128, 256, 512, 768, 1024];
const R_VALUES = [4, 8, 16, 32, 64, 128, 256, 512];
/** @type {Object<string, string>} */
const QUESTIONS = {
  [OPERATIONS]: "Drag the sentence's end. From which length on does self-attention cost more than recurrence?",
  [SEQUENTIAL]: "Drag the sentence's end. In which layers do more steps have to wait for each other?",
  [PATH]: "Drag the sentence's end. In which layers do the two words farthest apart move apart?",
};
/** @type {Object<string, string>} */
const UNITS = {
  [OPERATIONS]: "Rows: the work for one word. A row as long as m words is m · d multiplications.",
  [SEQUENTIAL]: "A row as long as m words is m steps.",
  [PATH]: "A row as long as m words is m steps.",
};

const LETTERS = "the letters of Table 1";

/**
 * What is counted as one choice out of two traits: the letters, or everything with one of the units.
 * @param {import("../kit/model.js").Model} model @returns {import("../kit/model.js").Model}
 */
function counting(model) {
  const events = ["change:everything", "change:unit"];
  return {
    get: () => (model.get("everything") ? model.get("unit") : LETTERS),
    set: (_, value) => {
      if (value !== LETTERS) assign(model, "unit", value);
      assign(model, "everything", value !== LETTERS);
    },
    save_changes: () => {},
    on: (_, callback) => events.forEach((event) => model.on(event, callback)),
    off: (_, callback) => events.forEach((event) => model.off(event, callback)),
  };
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const { longest, units, projections } = model.get("constants");
  /** @returns {State} */
  const read = () => {
    const [n, d, k, r, column] = ["n", "d", "k", "r", "column"].map((name) => model.get(name));
    const counted = model.get("everything") ? { projections, unit: units[model.get("unit")] } : null;
    return { n, d, k, r, column, counted };
  };

  const picture = costPicture({ longest, onLength: (n) => assign(model, "n", n),
    length: () => model.get("n") });
  const question = html("p", { class: "tfw-question" });
  const caption = html("p", { class: "tfw-complexity-unit" });
  /** @type {Set<number>} meeting points that the reader has reached: none is told before */
  const found = new Set();
  const note = html("p", { class: "tfw-readout tfw-complexity-note", role: "status" });
  const numbers = html("div", {});

  const count = pick(counting(model), "counted", { label: "count",
    options: [LETTERS, ...Object.keys(units).map((unit) =>
      /** @type {[string, string]} */ ([`all, ${unit} unit`, unit]))] });
  const column = pick(model, "column", {
    label: "column of Table 1", options: [OPERATIONS, SEQUENTIAL, PATH] });
  const width = slider(model, "d", { label: "width d", values: D_VALUES, format: short });
  const others = [
    slider(model, "k", { label: "kernel k", min: 2, max: 9 }),
    slider(model, "r", { label: "neighbourhood r", values: R_VALUES, format: short }),
  ];

  /** @param {State} state */
  function inWords({ n, d, k, r, column: shown, counted }) {
    if (shown === SEQUENTIAL) return `At n = ${short(n)} a recurrent layer takes ${short(n)} steps, one after the other.`;
    if (shown === PATH) {
      return `At n = ${short(n)} a signal takes ${short(n)} steps through a recurrent layer between the two positions farthest apart.`;
    }
    const costs = layerCosts(n, d, k, r, counted);
    const [own, other] = ["self-attention", "recurrent"].map((name) => costs[name][OPERATIONS]);
    const crossing = meeting(d, counted);
    const length = crossing === d ? `n = d = ${short(d)}` : `n = 2d = ${short(crossing)}`;
    const equal = !found.has(crossing) ? "" : crossing ? ` They cost the same at ${length}.` : " They never cost the same.";
    const [dearer, cheaper] = own < other ? ["recurrence", "self-attention"] : ["self-attention", "recurrence"];
    const times = short(Math.max(own, other) / Math.min(own, other), 3);
    const here = own === other ? `At n = ${short(n)} self-attention and recurrence cost the same.`
      : `At n = ${short(n)} ${dearer} costs ${times} times as much as ${cheaper}.${equal}`;
    const percent = short((100 * projections * n * d * d) / own, 3);
    const share = counted ? ` The projections do ${percent} % of self-attention's multiplications.`
      : "";
    const whole = n <= r ? " The neighbourhood r still holds the whole sentence: restricting " +
      "self-attention saves nothing." : "";
    return `${here}${whole || share}`;
  }

  /** @param {State} state */
  function table(state) {
    const formulas = formulasOf(state);
    const costs = layerCosts(state.n, state.d, state.k, state.r, state.counted);
    return html("table", { class: "tfw-table tfw-complexity-table" },
      html("caption", {}, `${state.column} at n = ${short(state.n)}`),
      html("tbody", {}, ...Object.entries(costs).map(([name, row]) => html("tr", {},
        html("th", { scope: "row" }, name), html("td", {}, formulas[name]),
        html("td", {}, short(row[state.column]))))));
  }

  function draw() {
    const state = read();
    const operations = state.column === OPERATIONS;
    // Their place is kept, so that nothing below jumps.
    count.element.classList.toggle("tfw-kept-place", !operations); // so that nothing below jumps
    question.textContent = QUESTIONS[state.column];
    caption.textContent = UNITS[state.column]
      + (operations && state.counted ? " Pale: the projections." : "");
    const crossing = meeting(state.d, state.counted);
    if (operations && state.n >= crossing) found.add(crossing);
    picture.show(state, operations ? crossing : 0, found.has(crossing));
    note.textContent = inWords(state);
    numbers.replaceChildren(table(state));
  }

  const stop = watch(model, ["n", "d", "k", "r", "column", "everything", "unit"],
    oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-complexity-box" }, question, picture.element, caption, note,
    html("div", { class: "tfw-controls" }, count.element, width.element),
    html("details", { class: "tfw-more" }, html("summary", {}, "The numbers"), numbers),
    html("details", { class: "tfw-more" },
      html("summary", {}, "Other columns of Table 1; kernel and neighbourhood"),
      html("div", { class: "tfw-controls" }, column.element, ...others.map(({ element }) => element)))));
  draw();
  return () => {
    stop();
    picture.stop();
    for (const control of [count, column, width, ...others]) control.stop();
  };
}

export default { render };
