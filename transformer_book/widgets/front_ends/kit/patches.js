// @ts-check
// What the colours of a picture's parts stand for.

import { html } from "./elements.js";

/**
 * A patch in the colour of each part, with its words behind it.
 * @param {[string, string][]} parts the class that colours a part, and its words
 */
export const patches = (parts) => html("ul", { class: "tfw-key" }, ...parts.map(([look, words]) =>
  html("li", {}, html("span", { class: `tfw-patch ${look}`, "aria-hidden": "true" }), words)));
