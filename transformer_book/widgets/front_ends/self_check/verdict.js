// @ts-check
// What is said to an answer. A verdict is right or not, with sentences that say why.

import { short } from "../kit/numbers.js";
import { readings } from "./entry.js";

const ROUGHEST = 0.05; // of a number; "1" is no answer to 0.7, though it is rounded right

/**
 * @typedef {import("./markup.js").Marked} Marked
 * @typedef {{right: boolean, lines: {mark: string, text: Marked[]}[]}} Verdict the lines, each with a
 *   word such as "Yes" before it, or none
 */

/** @param {boolean} right @param {Marked[][]} lines @returns {Verdict} */
function verdict(right, ...lines) {
  return { right, lines: lines.filter((text) => text.length).map((text) => ({ mark: "", text })) };
}

/** A number with its unit. @param {number} value @param {string} unit */
export function withUnit(value, unit) {
  return unit ? `${short(value)} ${unit}` : short(value);
}

/**
 * A number that was typed, held against the right one and against what typical slips give.
 * @param {{value: number, unit: string, span: number, wrong: [number, number, Marked[]][]}} spec how
 *   far from each number an answer may be
 * @param {string} given @param {Marked[]} why
 * @returns {Verdict}
 */
export function ofNumber({ value, unit, span, wrong }, given, why) {
  const { values, steps, problem } = readings(given, unit);
  if (problem) return verdict(false, [problem]);
  const is = (/** @type {number} */ n, far = (span * Math.abs(n)) / (Math.abs(value) || 1)) =>
    values.some((one) => Math.abs(one - n) <= far + 1e-12);
  if (is(value)) return verdict(true, [`Yes, ${withUnit(value, unit)}.`], why);
  const slip = wrong.find(([n, far]) => is(n, far));
  if (slip) return verdict(false, slip[2]);
  // Right as far as it is written: 0.73 for 0.7311, 7e-4 for 6.99e-4. A whole number has to be met.
  const fits = (/** @type {number} */ n) => values.some((one, i) =>
    Math.abs(one - n) <= Math.min(0.5001 * steps[i], ROUGHEST * Math.abs(n)));
  if (span > 1e-6 * Math.abs(value) && fits(value)) {
    return wrong.some(([n]) => fits(n))
      ? verdict(false, ["That may be right, or a slip: one more digit tells which."])
      : verdict(true, [`Right to the digits that you give; to more, ${withUnit(value, unit)}.`], why);
  }
  if (unit === "%" && is(value / 100)) {
    return verdict(false, ["That is the share. In per cent it is a hundred times the number."]);
  }
  if (value && is(-value)) return verdict(false, ["Right but for its sign."]);
  const power = Array.from({ length: 12 }, (_, i) => 10 ** (i + 1))
    .find((ten) => value && (is(value * ten) || is(value / ten)));
  if (power) return verdict(false, ["The digits are right, the power of ten is not."]);
  const all = values.every((one) => one > value) ? "Too large." : "Too small.";
  return verdict(false, [values.length > 1 && values.some((one) => one > value)
    && values.some((one) => one < value) ? "No." : all]);
}

/**
 * An answer that a reason follows: its full stop gives way to a colon, and a line of code stands at the margin.
 * @param {Marked[]} text @returns {Marked[]}
 */
export function withoutStop(text) {
  const last = text[text.length - 1];
  const bare = typeof last === "string" ? last.replace(/\.$/, "") : last.map((part) => part.trim?.() ?? part);
  return [...text.slice(0, -1), /** @type {Marked} */ (bare)];
}

/**
 * What was chosen; each choice gets its reason, and when all is right, the others get theirs.
 * @param {{options: {text: Marked[], reason: Marked[], right: boolean}[], several: boolean}} spec
 * @param {number[]} given
 * @returns {Verdict}
 */
export function ofChoices({ options, several }, given) {
  if (!given.length) return verdict(false, [several ? "Tick at least one." : "Choose one first."]);
  const right = options.every((option, i) => option.right === given.includes(i));
  const shown = right ? options : options.filter((_, i) => given.includes(i));
  const lines = shown.map(({ text, reason, right: yes }) => ({
    mark: yes ? "Yes" : "No",
    text: /** @type {Marked[]} */ ([["em", ...withoutStop(text)], ": ", ...reason]),
  }));
  if (!right && shown.every((option) => option.right)) {
    lines.push({ mark: "", text: ["That is right, and it is not all."] });
  }
  return { right, lines };
}

/**
 * A guess on a slider: whoever has guessed has done it right, and sees how near it was.
 * @param {{truth: number, low: number, high: number, unit: string}} spec
 * @param {number} given @param {Marked[]} why
 * @returns {Verdict}
 */
export function ofSlider({ truth, low, high, unit }, given, why) {
  const off = Math.abs(given - truth) / (high - low);
  const how = off <= 0.03 ? "Hardly any difference." : off <= 0.1 ? "That is close."
    : given > truth ? "It is less than you thought." : "It is more than you thought.";
  return verdict(true, [`You: ${withUnit(given, unit)}. Computed: ${withUnit(truth, unit)}. ${how}`],
    why);
}

/**
 * A cell that was pointed at.
 * @param {{values: number[][], rows: string[], columns: string[], best: [number, number],
 *   wrong: [number, number, Marked[]][]}} spec
 * @param {[number, number] | null} given @param {Marked[]} why
 * @returns {Verdict}
 */
export function ofCell({ values, rows, columns, best, wrong }, given, why) {
  if (!given) return verdict(false, ["Choose a cell first: click it, or go there with the arrow keys."]);
  const named = ([r, c] = [0, 0]) => `${rows[r]}, ${columns[c]}: ${values[r][c].toFixed(2)}`;
  const said = `The largest is ${named(best)}`;
  if (given[0] === best[0] && given[1] === best[1]) return verdict(true, [`Yes. ${said}.`], why);
  const slip = wrong.find(([r, c]) => r === given[0] && c === given[1]);
  return { ...verdict(true, [`You chose ${named(given)}. ${said}.`], slip?.[2] ?? [], why) };
}
