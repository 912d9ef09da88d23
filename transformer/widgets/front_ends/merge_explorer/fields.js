// @ts-check
// The text fields for the words and their counts, and for a word to split.

import { OWN_KEYS, fresh, html } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./maths.js").CountedWord} CountedWord
 */

const MERGE_WORDS = 12;
const MERGE_LETTERS = 20;
const MERGE_COUNT = 1e6;

/** What is wrong with a word, or nothing. @param {string} word */
function mergeWordProblem(word) {
  const length = [...word].length;
  return length > MERGE_LETTERS
    ? `"${word}" has ${length} characters; give at most ${MERGE_LETTERS}.` : "";
}

/**
 * Words with counts out of a text such as "low 5, lowest 2"; a count that is missing is 1.
 * @param {string} text @returns {{words: CountedWord[], problem: string}}
 */
export function mergeWordsIn(text) {
  /** @type {Map<string, number>} */
  const words = new Map();
  const wrong = (/** @type {string} */ problem) => ({ words: [], problem });
  for (const entry of text.split(/[,;]/).map((part) => part.trim()).filter(Boolean)) {
    const [word, count = "1", ...more] = entry.split(/\s+/);
    if (more.length || !/^\d+$/.test(count)) {
      return wrong(`"${entry}" is no word with a count; write for example: low 5, lowest 2.`);
    }
    const problem = mergeWordProblem(word);
    if (problem) return wrong(problem);
    const total = (words.get(word) ?? 0) + Number(count);
    if (Number(count) < 1 || total > MERGE_COUNT) {
      return wrong(`"${word}" occurs ${count} times; give 1 to ${MERGE_COUNT.toLocaleString("en")}.`);
    }
    words.set(word, total);
  }
  if (!words.size || words.size > MERGE_WORDS) {
    return wrong(`Here are ${words.size} words; give 1 to ${MERGE_WORDS}, with commas between.`);
  }
  return { words: [...words], problem: "" };
}

/** The one word of a text, or none. @param {string} text */
function mergeWordIn(text) {
  const [word = "", ...more] = text.split(/[\s,;]+/).filter(Boolean);
  return { word, problem: more.length ? "Give one word, without spaces." : mergeWordProblem(word) };
}

/**
 * A field whose text becomes a trait as soon as it makes sense.
 * @param {Model} model @param {string} name @param {string} label
 * @param {(value: any) => string} write @param {(text: string) => {value: any, problem: string}} read
 */
function mergeField(model, name, label, write, read) {
  const id = fresh(name);
  const error = html("p", { class: "tfw-error", role: "alert", id: `${id}-error`, hidden: true });
  const input = html("input", { ...OWN_KEYS, id, type: "text", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", "aria-describedby": `${id}-error` });
  const element = html("div", { class: "tfw-control" }, html("label", { for: id }, label), input,
    error);

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
  return { element, stop };
}

/** @param {Model} model */
export function mergeWordsField(model) {
  return mergeField(model, "words", "words and how often they occur",
    (words) => words.map((/** @type {CountedWord} */ item) => item.join(" ")).join(", "),
    (text) => {
      const { words, problem } = mergeWordsIn(text);
      return { value: words, problem };
    });
}

/** @param {Model} model */
export function mergeNewWordField(model) {
  return mergeField(model, "new_word", "a word to split", String, (text) => {
    const { word, problem } = mergeWordIn(text);
    return { value: word, problem };
  });
}
