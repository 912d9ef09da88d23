// @ts-check
// All heads of the model as buttons: pressed, a head says nothing.

import { button } from "../kit/controls.js";
import { OWN_KEYS, html } from "../kit/elements.js";
import { headInWords } from "./data.js";

/** @type {[string, (layer: number) => string][]} */
const KINDS = [
  ["encoder self-attention", (layer) => `encoder.${layer}.self`],
  ["decoder self-attention", (layer) => `decoder.${layer}.self`],
  ["cross-attention", (layer) => `decoder.${layer}.cross`],
];

/**
 * What is silenced after a press on a head: it is silenced or speaks again, or the others around it
 * are silenced and it speaks.
 * @param {Set<string>} silenced @param {string} name @param {string} presses
 * @param {string[]} all
 */
export function afterPress(silenced, name, presses, all) {
  const next = new Set(silenced);
  if (presses === "this head") {
    if (!next.delete(name)) next.add(name);
    return next;
  }
  const [side, layer, kind] = name.split(".");
  const around = all.filter((other) => {
    const [otherSide, otherLayer, otherKind] = other.split(".");
    return otherSide === side && otherKind === kind
      && (otherLayer === layer || presses === "the others of its kind");
  });
  for (const other of around) next.add(other);
  next.delete(name);
  return next;
}

/**
 * @param {number} layers @param {number} heads @param {(silenced: Set<string>) => void} onChange
 * @param {() => string} presses what a press silences
 */
export function silencer(layers, heads, onChange, presses) {
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  /** @type {Set<string>} */
  let silenced = new Set();
  const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);

  const groups = KINDS.map(([title, nameOf]) => {
    const names = range(layers).map((layer) => range(heads).map((head) => `${nameOf(layer)}.${head}`));
    const grid = html("div", { class: "tfw-decoder-heads", role: "group",
      "aria-label": `${title}: pressed heads are silenced. Arrow keys move.` },
    ...names.flatMap((row, layer) => [
      html("span", { class: "tfw-decoder-layer", "aria-hidden": "true" }, `layer ${layer + 1}`),
      ...row.map((name, head) => {
        const node = html("button", { ...OWN_KEYS, type: "button", class: "tfw-button",
          "aria-label": headInWords(name), "aria-pressed": "false",
          tabindex: layer + head === 0 ? 0 : -1 }, head + 1);
        node.addEventListener("click", () =>
          onChange(afterPress(silenced, name, presses(), [...buttons.keys()])));
        node.addEventListener("focus", () => {
          for (const other of names.flat()) {
            /** @type {HTMLElement} */ (buttons.get(other)).tabIndex = other === name ? 0 : -1;
          }
        });
        node.addEventListener("keydown", (event) => {
          /** @type {Object<string, [number, number]>} */
          const moves = { ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
            ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1],
            Home: [layer, 0], End: [layer, heads - 1] };
          if (!(event.key in moves)) return;
          event.preventDefault();
          const [to, beside] = moves[event.key];
          buttons.get(names[to]?.[beside])?.focus();
        });
        buttons.set(name, node);
        return node;
      })]));
    grid.style.setProperty("--tfw-head-count", String(heads));
    return html("div", {}, html("p", { class: "tfw-heading" }, title), grid);
  });
  const all = button("Let all heads speak", () => onChange(new Set()));
  const element = html("div", {}, html("div", { class: "tfw-decoder-kinds" }, ...groups), all.element);

  /** @param {Set<string>} next */
  function show(next) {
    silenced = next;
    for (const [name, node] of buttons) node.setAttribute("aria-pressed", String(next.has(name)));
    all.allow(next.size > 0);
  }

  return { element, show };
}
