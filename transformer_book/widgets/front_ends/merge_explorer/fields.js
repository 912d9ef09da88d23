// @ts-check
// The text fields for the words and their counts, and for a word to split.

import { field } from "../kit/controls.js";
import { html } from "../kit/elements.js";
import { grouped } from "../kit/numbers.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./maths.js").CountedWord} CountedWord
 * @typedef {{most_words: number, most_letters: number, most_count: number}} Limits
 */

/** What is wrong with a word, or nothing. @param {string} word @param {Limits} limits */
function wordProblem(word, { most_letters: most }) {
  const letters = [...word];
  return letters.length > most ? `"${letters.slice(0, most).join("")}\u2026" has ${
    letters.length} characters; give at most ${most}.` : "";
}

/**
 * Words with counts out of a text such as "low 5, lowest 2"; a count that is missing is 1.
 * @param {string} text @param {Limits} limits @returns {{value: CountedWord[], problem: string}}
 */
function wordsIn(text, limits) {
  const { most_words: most, most_count: mostOften } = limits;
  /** @type {Map<string, number>} */
  const words = new Map();
  const wrong = (/** @type {string} */ problem) => ({ value: [],
    problem: `${problem} The old words stay until this is mended.` });
  for (const entry of text.split(/[,;]/).map((part) => part.trim()).filter(Boolean)) {
    const [word, count = "1", ...more] = entry.split(/\s+/);
    if (/^\d+$/.test(entry)) return wrong(`"${entry}" is a count without a word; write for example: low ${entry}.`);
    if (more.length || !/^\d+$/.test(count)) {
      return wrong(`"${entry}" is no word with a count; write for example: low 5, lowest 2.`);
    }
    const problem = wordProblem(word, limits);
    if (problem) return wrong(problem);
    const total = (words.get(word) ?? 0) + Number(count);
    if (Number(count) < 1 || total > mostOften) {
      return wrong(`"${word}" occurs ${count} times; give 1 to ${grouped(mostOften)}.`);
    }
    words.set(word, total);
  }
  if (!words.size || words.size > most) {
    return wrong(`Here are ${words.size} words; give 1 to ${most}, with commas between.`);
  }
  return { value: [...words], problem: "" };
}

/** The one word of a text, or none. @param {string} text @param {Limits} limits */
function wordIn(text, limits) {
  const [word = "", ...more] = text.split(/[\s,;]+/).filter(Boolean);
  const problem = more.length ? "Give one word, without spaces." : wordProblem(word, limits);
  return { value: word, problem: problem && `${problem} The old one stays until then.` };
}

/**
 * A field that says while one types what is wrong, in the place of a hint.
 * @param {Model} model @param {string} name
 * @param {{label: string, hint: string, write?: (value: any) => string,
 *   read: (text: string) => {value: any, problem: string}}} options
 */
function hinted(model, name, { hint, ...options }) {
  const one = field(model, name, options);
  const { element, input, error, complain } = one;
  const note = html("p", { class: "tfw-merge-hint", id: `${input.id}-hint` }, hint);
  input.setAttribute("aria-describedby", `${note.id} ${error.id}`);
  input.addEventListener("input", () => complain(options.read(input.value).problem));
  element.append(html("div", { class: "tfw-merge-under" }, error, note));
  return one;
}

/** @param {Model} model */
export function wordsField(model) {
  return hinted(model, "words", {
    label: "words and how often they occur",
    hint: "Each with its count, commas between. Enter shows them.",
    write: (words) => words.map((/** @type {CountedWord} */ item) => item.join(" ")).join(", "),
    read: (text) => wordsIn(text, model.get("constants")),
  });
}

/** @param {Model} model */
export function newWordField(model) {
  return hinted(model, "new_word", { label: "a word to split", hint: "Enter splits it.",
    read: (text) => wordIn(text, model.get("constants")) });
}
