// @ts-check
// From tokens to constituents; tests hold it equal to transformer.text.trees and transformer.evaluation.

import { judged } from "../tree_explorer/maths.js";

/**
 * @typedef {import("../tree_explorer/maths.js").Span & {open: boolean}} Part a constituent; one that is
 *   open reaches to the sentence's end
 * @typedef {{words: string[], source: string[], tokens: string[], brackets: string}} Example
 */

/**
 * The constituents in the order in which they open, mended as `read_tree` mends them; before the row's
 * end, those that are open stay so. `over`: the level on which each word was taken, -1 outside of all.
 * @param {string[]} tokens @param {string[]} words @param {boolean} whole
 */
export function read(tokens, words, whole) {
  /** @type {Part[]} */
  const parts = [];
  /** @type {Part[]} */
  const stack = [];
  /** @type {number[]} */
  const over = [];
  let [wellFormed, rows, roots] = [true, 0, 0];
  const close = () => {
    const part = /** @type {Part} */ (stack.pop());
    Object.assign(part, { end: over.length, open: false });
    const empty = part.end === part.start;
    if (empty) parts.splice(parts.indexOf(part), 1);
    else if (!stack.length) roots += 1;
    return !empty;
  };
  for (const token of tokens) {
    const label = token.slice(1);
    if (token === "XX" && over.length < words.length) {
      over.push(stack.length - 1);
      wellFormed &&= stack.length > 0;
    } else if (token[0] === "(" && label) {
      const part = { label, start: over.length, end: words.length, depth: stack.length, whole: true, open: true };
      parts.push(part);
      rows = Math.max(rows, stack.push(part));
    } else if (token[0] === ")" && label && stack.length) {
      const matches = stack[stack.length - 1].label === label;
      wellFormed = close() && matches && wellFormed;
    } else wellFormed = false;
  }
  wellFormed &&= !stack.length && over.length === words.length && roots === 1;
  while (whole && stack.length) close();
  return { parts: parts.filter(({ start, end }) => start < end), over, rows, wellFormed };
}

/**
 * F1 as the module counts it, without marks, and which of the closed constituents the true tree lacks.
 * @param {Part[]} parts @param {Example} example @param {string[]} marks
 */
export function scored(parts, { words, brackets }, marks) {
  const place = (/** @type {number} */ at) => words.slice(0, at).filter((word) => !marks.includes(word)).length;
  const counted = (/** @type {Part[]} */ all) => all.filter(({ open, start, end }) => !open && place(start) < place(end));
  const placed = (/** @type {Part[]} */ all) => all.map((one) => ({ ...one, start: place(one.start), end: place(one.end) }));
  const [said, wanted] = [counted(parts), counted(read(brackets.split(" "), words, true).parts)];
  const { wrong, right, f1 } = judged(placed(said), placed(wanted));
  return { wrong: said.filter((_, i) => brackets && wrong[i]), right, f1, said: said.length, wanted: wanted.length };
}
