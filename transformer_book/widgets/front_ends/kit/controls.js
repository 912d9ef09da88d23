// @ts-check
// Controls: native inputs, so that mouse, touch, keyboard and screen reader work as everywhere.

import { OWN_KEYS, fresh, html } from "./elements.js";
import { assign, watch } from "./model.js";

/** @typedef {import("./model.js").Model} Model */

/** A control under its name. @param {string} id @param {string} label @param {...(Node | string)} parts */
export function labelled(id, label, ...parts) {
  return html("div", { class: "tfw-control" }, html("label", { for: id }, label), ...parts);
}

/**
 * A slider for a numeric trait. Its steps run over `values` if given, else from min to max, which
 * `range` moves.
 * @param {Model} model @param {string} name the trait
 * @param {{label: string, min?: number, max?: number, step?: number, values?: number[],
 *   format?: (value: number) => string}} options
 */
export function slider(model, name, options) {
  const { label, values, format = String } = options;
  const id = fresh(name);
  const input = html("input", {
    ...OWN_KEYS,
    id,
    type: "range",
    min: values ? 0 : options.min,
    max: values ? values.length - 1 : options.max,
    step: values ? 1 : (options.step ?? 1),
  });
  const output = html("output", { for: id, class: "tfw-value" });

  /** @param {number} value */
  const nearest = (value) => {
    if (!values) return value;
    const distances = values.map((other) => Math.abs(other - value));
    return distances.indexOf(Math.min(...distances));
  };
  const show = () => {
    const value = model.get(name);
    input.value = String(nearest(value));
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", format(value));
  };
  input.addEventListener("input", () => {
    const place = Number(input.value);
    assign(model, name, values ? values[place] : place);
  });
  /** @param {number} min @param {number} max */
  const range = (min, max) => {
    input.min = String(min);
    input.max = String(max);
    show(); // the input has cut its value off at the old end
  };
  const stop = watch(model, [name], show);
  show();
  return { element: labelled(id, label, input, output), input, range, stop };
}

/**
 * A drop-down list for a trait. Options are texts or numbers, or [text, value].
 * @param {Model} model @param {string} name
 * @param {{label: string, options: (string | number | [string, any])[]}} settings
 */
export function choice(model, name, settings) {
  const id = fresh(name);
  const options = settings.options.map((option) =>
    Array.isArray(option) ? option : /** @type {[string | number, any]} */ ([option, option]),
  );
  const select = html(
    "select",
    { ...OWN_KEYS, id },
    ...options.map(([text], place) => html("option", { value: place }, text)),
  );
  const show = () => {
    select.value = String(options.findIndex(([, value]) => value === model.get(name)));
  };
  select.addEventListener("change", () => assign(model, name, options[Number(select.value)][1]));
  const stop = watch(model, [name], show);
  show();
  return { element: labelled(id, settings.label, select), input: select, stop };
}

/**
 * A box to tick for a trait that is true or false.
 * @param {Model} model @param {string} name @param {{label: string}} settings
 */
export function tick(model, name, settings) {
  const id = fresh(name);
  const input = html("input", { id, type: "checkbox" });
  const show = () => {
    input.checked = model.get(name);
  };
  input.addEventListener("change", () => assign(model, name, input.checked));
  const stop = watch(model, [name], show);
  show();
  const label = html("label", { for: id }, settings.label);
  return { element: html("div", { class: "tfw-control tfw-tick" }, input, label), input, stop };
}

/**
 * A row of buttons of which one is pressed, for a trait. Options are texts, or [text, value].
 * @param {Model} model @param {string} name
 * @param {{label: string, options: (string | [string, any])[]}} settings
 */
export function pick(model, name, settings) {
  const group = fresh(name);
  const row = html("fieldset", { class: "tfw-control tfw-pick" });
  row.append(html("legend", {}, settings.label));
  const inputs = settings.options.map((option) => {
    const [text, value] = Array.isArray(option) ? option : [option, option];
    const id = fresh(name);
    const input = html("input", { ...OWN_KEYS, id, type: "radio", name: group });
    input.addEventListener("change", () => assign(model, name, value));
    row.append(html("span", {}, input, html("label", { for: id }, text)));
    return /** @type {[HTMLInputElement, any]} */ ([input, value]);
  });
  const show = () => {
    for (const [input, value] of inputs) input.checked = value === model.get(name);
  };
  const stop = watch(model, [name], show);
  show();
  return { element: row, inputs: inputs.map(([input]) => input), stop };
}

/**
 * What a reader expected, and what came out.
 * @param {string[]} answers @param {number} guess @param {number} right
 */
export const foretold = (answers, guess, right) => `You expected: \u201c${answers[guess]}\u201d. ${
  guess === right ? "That is what came out." : `What came out: \u201c${answers[right]}\u201d.`}`;

/**
 * A field whose text becomes a trait as soon as it makes sense; else it says what is wrong.
 * @param {Model} model @param {string} name
 * @param {{label: string, write?: (value: any) => string,
 *   read: (text: string) => {value: any, problem: string}}} options
 */
export function field(model, name, { label, write = String, read }) {
  const id = fresh(name);
  const error = html("p", { class: "tfw-error", role: "alert", id: `${id}-error`, hidden: true });
  const input = html("input", { ...OWN_KEYS, id, type: "text", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", "aria-describedby": `${id}-error` });

  /** @param {string} problem */
  const complain = (problem) => {
    error.textContent = problem;
    error.hidden = !problem;
    input.setAttribute("aria-invalid", String(Boolean(problem)));
  };
  const show = () => {
    input.value = write(model.get(name));
    complain("");
  };
  input.addEventListener("change", () => {
    const { value, problem } = read(input.value);
    if (problem) complain(problem);
    else {
      assign(model, name, value);
      show();
    }
  });
  const stop = watch(model, [name], show);
  show();
  return { element: labelled(id, label, input, error), input, error, complain, stop };
}

/**
 * A button. `allow` says whether it does anything now. It is never `disabled`: a button that has the
 * focus would lose it, and with it a reader at the keyboard their place.
 * @param {string} text @param {() => void} act
 */
export function button(text, act) {
  const element = html("button", { type: "button", class: "tfw-button" }, text);
  const allow = (/** @type {boolean} */ yes) =>
    element.setAttribute("aria-disabled", String(!yes));
  element.addEventListener("click", () => {
    if (element.getAttribute("aria-disabled") !== "true") act();
  });
  return { element, allow };
}

/**
 * Two buttons that go a step back and on; `show` tells them where they stand.
 * @param {string} what is stepped over, in one word
 * @param {{at: () => number, last: () => number, first?: number, go: (place: number) => void}} places
 */
export function stepper(what, { at, last, first = 0, go }) {
  const step = (/** @type {number} */ by) => () => {
    const place = Math.min(Math.max(at() + by, first), last());
    if (place !== at()) go(place);
  };
  const back = button(`Previous ${what}`, step(-1));
  const on = button(`Next ${what}`, step(1));
  const show = () => {
    back.allow(at() > first);
    on.allow(at() < last());
  };
  return { element: html("div", { class: "tfw-steps" }, back.element, on.element), show };
}
