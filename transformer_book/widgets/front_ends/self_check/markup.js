// @ts-check
// The marks of a question as elements; Python's markup.py has made the tree.

import { html } from "../kit/elements.js";

/** @typedef {string | [string, ...any[]]} Marked words, or a kind and what it holds */

/** @type {Object<string, "code" | "em" | "i" | "sub" | "sup">} */
const TAGS = { code: "code", em: "em", i: "i", sub: "sub", sup: "sup" };

/** The elements of a tree; of a kind that is not known only the words. @param {Marked[]} nodes @returns {(Node | string)[]} */
export function elements(nodes) {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [node];
    const [kind, ...children] = node;
    const inside = elements(children);
    if (kind === "root") return ["√", html("span", { class: "tfw-root" }, ...inside)];
    return kind in TAGS ? [html(TAGS[kind], {}, ...inside)] : inside;
  });
}
