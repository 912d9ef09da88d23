// @ts-check
// A place for what comes later, as tall as the tallest that may come: nothing below it jumps.

import { html } from "./elements.js";

const KEPT = 3; // of the longest one is the tallest

/** @param {HTMLElement} shown what stands there @param {Object<string, string>} [attributes] of the place */
export function placeFor(shown, attributes = {}) {
  const element = html("div", { ...attributes, class: `tfw-room ${attributes.class ?? ""}` }, shown);
  const letters = (/** @type {HTMLElement} */ one) => one.textContent?.length ?? 0;

  /** It is as tall as the tallest of these, which nobody sees. @param {HTMLElement[]} unseen */
  function keep(unseen) {
    for (const old of [...element.children].slice(1)) old.remove();
    const longest = unseen.sort((a, b) => letters(b) - letters(a)).slice(0, KEPT);
    for (const one of longest) one.setAttribute("aria-hidden", "true");
    element.append(...longest);
  }
  return { element, keep };
}

/** @param {string[]} lines */
const paragraphs = (lines) => lines.filter(Boolean).map((words) => html("p", {}, words));

/** A place for words, each line a paragraph. @param {string} name its class */
export function room(name) {
  const said = html("div", {});
  const place = placeFor(said, { class: name, role: "status" });
  let spoken = "";

  /** @param {string[]} lines */
  function say(lines) {
    const words = lines.join("\n"); // the same words are not said again
    if (words !== spoken) said.replaceChildren(...paragraphs(lines));
    spoken = words;
  }
  const keep = (/** @type {string[][]} */ texts) => place.keep(texts.map((lines) => html("div", {}, ...paragraphs(lines))));
  return { element: place.element, say, keep };
}
