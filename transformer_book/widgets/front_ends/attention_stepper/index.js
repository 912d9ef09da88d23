// @ts-check
// One head of attention, a step at a time: colours tell the numbers, and each number is a fold away.

import { css, diverging, inkOn, sequential } from "../kit/colours.js";
import { pick, stepper, tick } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { legend } from "../kit/heatmap.js";
import { assign, watch } from "../kit/model.js";
import { short } from "../kit/numbers.js";
import { headPicture } from "./picture.js";
import {
  favouriteWords, figure, isWhole, NAMES, read, saturationWords, share, SHOWN, TRAITS, wordsOf,
} from "./words.js";

/** @typedef {import("./words.js").State} State */
/**
 * A table of numbers.
 * @typedef {object} Panel
 * @property {string} name @property {string[]} rows @property {string[]} columns
 * @property {number[][]} values
 * @property {number} [row] the row that takes part in the example @property {number} [column]
 * @property {"vectors" | "scores" | "weights"} kind which share a scale of colours
 */

/** The first columns of vectors. @param {State} s @param {string} name @param {number[][]} all */
function vectors(s, name, all, width = s.dK) {
  const shown = Math.min(width, SHOWN);
  return /** @type {Panel} */ ({
    name: shown < width ? `${name}, first ${shown} of ${width} columns` : name,
    rows: s.tokens,
    columns: Array.from({ length: shown }, (_, i) => String(i + 1)),
    values: all.map((row) => row.slice(0, shown)),
    kind: "vectors",
    row: s.row,
  });
}

/** The tables of a step, the result last. @param {State} s @returns {Panel[]} */
function panelsOf(s) {
  const square = (/** @type {string} */ name, /** @type {number[][]} */ values) =>
    /** @type {Panel} */ ({ name, rows: s.tokens, columns: s.tokens, values, kind: "scores", row: s.row });
  const q = vectors(s, "Q", s.query);
  const k = vectors(s, "K", s.key);
  const v = vectors(s, "V", s.value, s.value[0].length);
  const turned = {
    ...k,
    name: k.name.replace("K", "Kᵀ").replace("columns", "rows"),
    rows: k.columns,
    columns: k.rows,
    values: k.columns.map((_, c) => k.values.map((row) => row[c])),
    row: undefined,
    column: 0, // the example asks the first token
  };
  const scores = square("scores", s.scores);
  const scaled = square(s.scaling ? "scaled scores" : "scores, not scaled", s.scaled);
  const masked = square(s.causal ? "masked scores" : "scores, no mask", s.masked);
  const weights = /** @type {Panel} */ ({ ...square("weights", s.weights), kind: "weights" });
  const output = vectors(s, "output", s.output, s.value[0].length);
  return [
    [q, k, v], [q, turned, scores], [scores, scaled], [scaled, masked], [masked, weights],
    [weights, { ...v, row: undefined }, output], // all values take part
  ][s.step - 1];
}

/** How a label looks that takes part in the example. @param {boolean} here */
const followed = (here) => (here ? { class: "tfw-stepper-row" } : {});

/** A table without its numbers: `refill` writes them, again and again. @param {Panel} panel */
function tableFor({ rows, columns }) {
  const head = columns.map((text) => html("th", { scope: "col", title: text }, text));
  const body = rows.map((text) => html("tr", {},
    html("th", { scope: "row", title: text }, text), ...columns.map(() => html("td"))));
  return html("div", {}, html("table", { class: "tfw-table tfw-stepper-table" }, html("caption"),
    html("thead", {}, html("tr", {}, html("td"), ...head)), html("tbody", {}, ...body)));
}

/** @param {HTMLElement} box @param {State} s @param {Panel} panel @param {boolean} result */
function refill(box, s, { name, values, kind, row, column }, result) {
  const paint = kind === "weights" ? sequential : diverging;
  const table = /** @type {HTMLTableElement} */ (box.firstChild);
  box.className = `tfw-scroll${result ? " tfw-stepper-result" : ""}`;
  table.caption?.replaceChildren(name,
    ...(result ? [html("span", { class: "tfw-stepper-new" }, "new")] : []));
  [...table.rows[0].cells].forEach((cell, c) =>
    cell.classList.toggle("tfw-stepper-row", c - 1 === column));
  values.forEach((numbers, r) => {
    const line = table.rows[r + 1];
    line.classList.toggle("tfw-stepper-row", r === row);
    numbers.forEach((x, c) => {
      const cell = line.cells[c + 1];
      const colour = x === -Infinity ? null : paint(x / s.scales[kind]);
      cell.textContent = kind === "weights" ? share(x) : figure(x);
      cell.style.background = colour ? css(colour) : "";
      cell.style.color = colour ? inkOn(colour) : "";
    });
  });
}

/** How near each row of weights is to 0 and 1, and what is left of the gradient. @param {State} s */
function saturationOf(s) {
  const rows = s.tokens.map((/** @type {string} */ token, /** @type {number} */ i) =>
    html("tr", followed(i === s.row),
      html("th", { scope: "row", title: token }, token),
      html("td", {}, share(s.largest[i])), html("td", {}, short(s.gradient[i]))));
  return html("table", { class: "tfw-table tfw-stepper-table tfw-stepper-sharp" },
    html("caption", {}, "How sharp the softmax is"),
    html("thead", {}, html("tr", {}, html("td"), html("th", { scope: "col" }, "largest weight"),
      html("th", { scope: "col" }, "largest gradient"))),
    html("tbody", {}, ...rows));
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const walk = stepper("step", { at: () => model.get("step"), first: 1, last: () => NAMES.length,
    go: (step) => assign(model, "step", step) });
  const steps = pick(model, "step", { label: "step",
    options: NAMES.map((name, i) => /** @type {[string, number]} */ ([name, i + 1])) });
  const ticks = [tick(model, "scaling", { label: "divide by √d_k" }),
    tick(model, "causal", { label: "causal mask" })];
  const picture = headPicture({
    dK: () => model.get("d_k"),
    row: () => model.get("row"),
    onWidth: (width) => assign(model, "d_k", width),
    onCell: (row) => {
      assign(model, "row", row);
      redraw();
    },
  });
  let shapesDrawn = "";

  const formula = html("p", { class: "tfw-stepper-formula" });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const tables = html("div", { class: "tfw-stepper-tables" });
  const scale = html("div");
  const sharp = html("div", { class: "tfw-scroll" });
  const favourite = html("p", { class: "tfw-stepper-favourite", role: "status" });
  const verdict = html("p", {});

  // What scrolls must be reachable by keyboard; what does not is no stop on the way. An observer is
  // told after the layout: to ask in `draw` would have it done at once, which takes most of a frame.
  const sizes = new ResizeObserver(() => {
    for (const box of [...tables.children, sharp]) {
      const marks = { tabindex: "0", role: "group",
        "aria-label": box.querySelector("caption")?.textContent ?? "" };
      const scrolls = box.scrollWidth > box.clientWidth;
      for (const [name, mark] of Object.entries(marks)) {
        if (scrolls) box.setAttribute(name, mark);
        else box.removeAttribute(name);
      }
    }
  });

  function draw() {
    if (!isWhole(model)) return;
    const s = read(model);
    picture.show(s);
    favourite.textContent = favouriteWords(s);
    const [symbols, sentence, example] = wordsOf(s, picture.column());
    const panels = panelsOf(s);
    walk.show();
    formula.replaceChildren(html("b", {}, `Step ${s.step}: ${NAMES[s.step - 1]}`), " ",
      html("span", { class: "tfw-stepper-symbols" }, ...symbols));
    readout.replaceChildren(sentence, " ", html("span", {}, example));
    const shapes = JSON.stringify(panels.map(({ rows, columns }) => [rows, columns]));
    const fresh = shapes !== shapesDrawn;
    if (fresh) tables.replaceChildren(...panels.map(tableFor));
    shapesDrawn = shapes;
    const boxes = /** @type {HTMLElement[]} */ ([...tables.children]);
    boxes.forEach((box, i) => refill(box, s, panels[i], s.step === 1 || i === panels.length - 1));
    scale.replaceChildren(...[...new Set(panels.map(({ kind }) => kind))].map((kind) =>
      (kind === "weights" ? legend({ low: "weights: 0", high: "1" })
        : legend({ low: `${kind}: ${figure(-s.scales[kind])}`, high: figure(s.scales[kind]),
          colour: diverging, from: -1 }))));
    sharp.replaceChildren(saturationOf(s));
    verdict.textContent = saturationWords(s);
    const drawn = [...boxes, sharp].flatMap((box) => [box, ...box.children]);
    if (fresh) sizes.disconnect();
    for (const part of drawn) sizes.observe(part);
  }

  const redraw = oncePerFrame(draw);
  const stop = watch(model, TRAITS, redraw);
  el.append(html("div", { class: "tfw tfw-stepper" },
    html("p", { class: "tfw-question" }, "Drag the queries wider. What becomes of the weights, and what "
      + "does the division by √d_k change?"),
    picture.element, favourite,
    html("div", { class: "tfw-controls tfw-stepper-settings" }, ...ticks.map(({ element }) => element)),
    html("div", { class: "tfw-controls" }, steps.element, walk.element),
    formula, readout,
    html("details", { class: "tfw-more" }, html("summary", {}, "All numbers of this step"),
      tables, scale, sharp, verdict)));
  draw();
  return () => {
    stop();
    sizes.disconnect();
    for (const control of [picture, steps, ...ticks]) control.stop();
  };
}

export default { render };
