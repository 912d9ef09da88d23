// @ts-check
// What a reader may choose: the task, and which parts the model has.

import { choice, field, slider, tick } from "../kit/controls.js";

/** @typedef {import("../kit/model.js").Model} Model */

/** @type {Object<string, [string, (string | number | [string, any])[]?]>} a trait -> its name, and what it may be */
const SWITCHES = {
  positions: ["positions", ["sinusoidal", "learned", "none"]],
  causal: ["mask over later tokens"],
  cross: ["cross-attention"],
  scaled: ["division by \u221ad\u2096"],
  wide_keys: ["heads with d\u2096 = 128"],
  shortcuts: ["shortcuts"],
  norm: ["layer norm", [["before each sub-layer (pre)", "pre"], ["after each (post)", "post"], "none"]],
  feed_forward: ["feed-forward"],
  warm_up: ["warm-up"],
  n_heads: ["heads", [1, 2, 4]],
  n_layers: ["layers on each side", [1, 3]],
};

/** The numbers of a text. @param {string} text @returns {number[]} */
const numbers = (text) => (text.match(/\d/g) ?? []).map(Number);

/**
 * @param {Model} model
 * @returns {{task: {element: HTMLElement, stop: () => void}[], own: {element: HTMLElement, stop: () => void}[],
 *   parts: {element: HTMLElement, stop: () => void}[]}}
 */
export function controls(model) {
  const titles = model.get("constants").tasks;
  const tasks = /** @type {string[]} */ (model.get("tasks"));
  const write = (/** @type {number[]} */ value) => value.join(" ");
  const digits = (/** @type {(found: number[]) => boolean} */ fits, /** @type {string} */ problem) =>
    (/** @type {string} */ text) => {
      const value = numbers(text);
      return { value, problem: fits(value) ? "" : problem };
    };
  return {
    task: tasks.length < 2 ? [] : [choice(model, "task", { label: "task",
      options: tasks.map((name) => [titles[name], name]) })],
    own: [
      field(model, "order", { label: "it writes the digits at these places", write,
        read: digits((found) => [...found].sort().join("") === "12345678",
          "Give each place from 1 to 8 once, such as 8 7 6 5 4 3 2 1.") }),
      field(model, "becomes", { label: "0 1 2 3 4 5 6 7 8 9 become", write,
        read: digits((found) => found.length === 10, "Give ten digits, such as 1 2 3 4 5 6 7 8 9 0.") }),
    ],
    parts: [
      ...model.get("switches").map((/** @type {string} */ name) => {
        const [label, options] = SWITCHES[name];
        return options ? choice(model, name, { label, options }) : tick(model, name, { label });
      }),
      ...(tasks.length < 2 ? [] : [slider(model, "seed", { label: "seed", min: 1, max: 10 })]),
    ],
  };
}
