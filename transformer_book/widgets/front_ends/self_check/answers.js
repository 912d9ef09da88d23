// @ts-check
// The control of each kind of question, by which the reader sets the trait `given`.

import { button, labelled, slider } from "../kit/controls.js";
import { TWO_COLOURS, sequential } from "../kit/colours.js";
import { OWN_KEYS, fresh, html } from "../kit/elements.js";
import { heatmap } from "../kit/heatmap.js";
import { assign, watch } from "../kit/model.js";
import { elements } from "./markup.js";
import { withUnit } from "./verdict.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {{element: HTMLElement, stop: () => void, show?: (checked: boolean) => void}} Control
 *   `show` draws what is to be seen once the answer stands judged, or no more
 */

/** Another answer is one that has not been judged. @param {Model} model @param {any} given */
function give(model, given) {
  assign(model, "checked", false);
  assign(model, "given", given);
}

/** @param {Model} model @param {string} question the id of its element @returns {Control} */
function choices(model, question) {
  const { options, several } = model.get("spec");
  const name = fresh("choice");
  const inputs = options.map((/** @type {any} */ _, /** @type {number} */ i) => {
    const input = html("input", { ...OWN_KEYS, id: `${name}-${i}`, name,
      type: several ? "checkbox" : "radio" });
    input.addEventListener("change", () => {
      const chosen = inputs.flatMap((/** @type {HTMLInputElement} */ one, /** @type {number} */ j) =>
        (one.checked ? [j] : []));
      give(model, chosen);
    });
    return input;
  });
  const lines = inputs.map((/** @type {HTMLInputElement} */ input, /** @type {number} */ i) =>
    html("div", { class: "tfw-option" }, input,
      html("label", { for: input.id }, ...elements(options[i].text))));
  const show = () => inputs.forEach((/** @type {HTMLInputElement} */ input, /** @type {number} */ i) => {
    input.checked = model.get("given").includes(i);
  });
  const stop = watch(model, ["given"], show);
  show();
  const element = html("div", { class: "tfw-options", role: several ? "group" : "radiogroup",
    "aria-labelledby": question }, ...lines);
  return { element, stop };
}

/** @param {Model} model @param {string} question @returns {Control} */
function number(model, question) {
  const id = fresh("number");
  const { unit } = model.get("spec");
  const input = html("input", { ...OWN_KEYS, id, type: "text", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", "aria-describedby": question });
  input.addEventListener("input", () => give(model, input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") assign(model, "checked", true);
  });
  const show = () => {
    if (input.value !== model.get("given")) input.value = model.get("given");
  };
  const stop = watch(model, ["given"], show);
  show();
  return { element: labelled(id, unit ? `Your answer (${unit})` : "Your answer", input), stop };
}

/** @param {Model} model @param {string} question @returns {Control} */
function guess(model, question) {
  const { truth, low, high, step, unit } = model.get("spec");
  const control = slider(model, "given", { label: "Your guess", min: low, max: high, step,
    format: (value) => withUnit(Number(value.toPrecision(6)), unit) });
  control.input.setAttribute("aria-describedby", question);
  control.input.addEventListener("input", () => assign(model, "checked", false));
  const at = (/** @type {number} */ value) => `${(100 * (value - low)) / (high - low)}%`;
  const own = html("span", { class: "tfw-own" });
  const real = html("span", { class: "tfw-real" });
  real.style.left = at(truth);
  const key = html("ul", { class: "tfw-key" }, html("li", {}, html("span", { class: "tfw-own" }), "you"),
    html("li", {}, html("span", { class: "tfw-real" }), "computed"));
  // In words it stands in the verdict.
  const scale = html("div", { "aria-hidden": "true", hidden: true },
    html("div", { class: "tfw-scale" }, own, real),
    html("div", { class: "tfw-ends" }, html("span", {}, withUnit(low, unit)),
      html("span", {}, withUnit(high, unit))), key);
  const show = (/** @type {boolean} */ checked) => {
    scale.hidden = !checked;
    own.style.left = at(model.get("given"));
  };
  return { element: html("div", {}, control.element, scale), stop: control.stop, show };
}

/** @param {Model} model @returns {Control} */
function cell(model) {
  const { values, rows, columns, best, row } = model.get("spec");
  let open = false;
  /** @type {[number, number]} */
  let cursor = [row ?? 0, 0];
  const picture = heatmap({ label: "The cells of the answer. Enter chooses the cell",
    onPoint: (r, c) => {
      cursor = [row ?? r, c];
    } });
  const choose = () => give(model, [...cursor]);
  picture.field.addEventListener("click", choose);
  picture.field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  });
  const name = (/** @type {number} */ r, /** @type {number} */ c) => `${rows[r]}, ${columns[c]}`;
  const show = (/** @type {boolean} */ checked) => {
    open = checked;
    /** @type {[number, number] | null} */
    const given = model.get("given");
    const chosen = given ? `Your choice: ${name(...given)}.` : "";
    picture.show({
      rows, columns,
      value: (r, c) => (open ? values[r][c] : Number(row == null || r === row)),
      colour: open ? sequential : (n) => (n ? TWO_COLOURS[0] : [245, 245, 245]),
      say: (r, c) => (open ? `${name(r, c)}: ${values[r][c].toFixed(2)}.`
        : `${name(row ?? r, c)}. ${chosen}`),
      frames: [...(given ? [given] : []), ...(open ? [best] : [])],
    });
  };
  const stop = watch(model, ["given"], () => show(open));
  show(false);
  return { element: picture.element, stop, show };
}

/** @type {Object<string, (model: Model, question: string) => Control>} */
export const CONTROLS = { choices, number, slider: guess, cell };

/** The button that has the answer judged. @param {Model} model */
export function checkButton(model) {
  const text = { slider: "See what it is", cell: "See what it is" };
  const kind = /** @type {keyof typeof text} */ (model.get("kind"));
  return button(text[kind] ?? "Check", () => assign(model, "checked", true)).element;
}
