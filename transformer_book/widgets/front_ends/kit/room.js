// @ts-check
// A place for what comes later, as tall as the tallest that may come: nothing below it jumps.

import { html } from "./elements.js";

/**
 * `keep` takes what may come; it lies there unseen.
 * @param {HTMLElement} shown what stands there @param {Object<string, string>} [attributes] of the place
 */
export function placeFor(shown, attributes) {
  const element = html("div", attributes, shown);
  element.classList.add("tfw-room");
  return { element, keep: (/** @type {HTMLElement[]} */ unseen) => element.replaceChildren(shown, ...unseen) };
}

/** @param {string[]} lines */
const paragraphs = (lines) => html("div", {}, ...lines.filter(Boolean).map((words) => html("p", {}, words)));

/** A place for words, each line a paragraph. @param {string} name its class */
export function room(name) {
  const said = html("div");
  const { element, keep } = placeFor(said, { class: name, role: "status" });
  return {
    element,
    /** @param {string[]} lines */
    say(lines) {
      if (lines.join("") !== said.textContent) said.replaceChildren(paragraphs(lines)); // said once
    },
    keep: (/** @type {string[][]} */ texts) => keep(texts.map(paragraphs)),
  };
}
