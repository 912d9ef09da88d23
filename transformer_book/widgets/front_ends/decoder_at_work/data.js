// @ts-check
// What is known of an output, as Python and the model in the page send it, and what follows from it.

import { fixed } from "../kit/numbers.js";
import { quotedText } from "../kit/unsure.js";

/**
 * An output, whole or up to where it is written; see transformer_book/widgets/output_steps.py.
 * @typedef {object} Run
 * @property {string} sentence
 * @property {string[]} source its tokens
 * @property {number[]} tokens what was written, with the end mark @property {string[]} pieces
 * @property {number[]} written the logarithm of each written token's probability
 * @property {number[][]} ids of each step the likely tokens, best first
 * @property {string[][]} likely the same as pieces
 * @property {number[][]} logs their logarithms, by the model itself
 * @property {number[][]} sums at each temperature, the logarithm of the sum over all tokens
 * @property {number[][][]} cross step -> head, layer by layer -> weights in thousandths
 * @property {number} number of the question that it answers
 * @property {boolean} done
 * @property {number} given how many of its tokens were given
 * @property {number[]} drawn with which temperature and top-k the others were drawn; empty: they are
 *   the most probable ones
 * @property {string[]} silenced
 *
 * @typedef {{layers: number, heads: number, vocab: number, end: number, marked: boolean, runs: Run[],
 *   unsure_below?: number}} Contents with unsure_below for a model of two directions
 * @typedef {{temperatures: number[], top_k: number[], most_tokens: number, candidates: number}} Constants
 * @typedef {{at: number, sentence: string, given: number[], temperature?: number, top_k?: number}} Asked
 */

export const LEAST = 0.05; // weaker lines would only be a haze

/** The text of the first n tokens. @param {Contents} contents @param {Run} run @param {number} n */
export function textOf(contents, run, n = run.tokens.length) {
  const pieces = run.pieces.slice(0, n).filter((_, i) => run.tokens[i] !== contents.end);
  return contents.marked
    ? pieces.join("").replaceAll("\u2581", " ").trim() : pieces.join(" ");
}

/** The logarithm of an output's probability. @param {Run} run */
export const total = ({ written }) => written.reduce((sum, log) => sum + log, 0);

/**
 * The likely tokens of a step: their probability by the model itself, and with which they are
 * drawn, after temperature and top-k.
 * @param {Run} run @param {number} step from 0 @param {Constants} constants
 * @param {{temperature: number, topK: number}} draw
 */
export function candidatesOf(run, step, { temperatures }, { temperature, topK }) {
  const powers = run.logs[step].map((log) => Math.exp(log / temperature));
  const whole = topK > 0
    ? powers.slice(0, topK).reduce((sum, power) => sum + power, 0)
    : Math.exp(run.sums[step][temperatures.indexOf(temperature)]);
  return run.ids[step].map((token, i) => ({
    token,
    piece: run.likely[step][i],
    probability: Math.exp(run.logs[step][i]),
    drawn: topK > 0 && i >= topK ? 0 : powers[i] / whole,
  }));
}

/** @param {{temperature: number, topK: number}} draw */
export function drawInWords({ temperature, topK }) {
  return `at temperature ${temperature}, from ${
    topK === 0 ? "all tokens" : topK === 1 ? "the most probable one" : `the ${topK} most probable`}`;
}

/** Where an output's tokens come from. @param {Run} run */
export function originOf({ given, tokens, drawn, done }) {
  const [temperature, topK] = drawn;
  const others = drawn.length ? `drawn ${drawInWords({ temperature, topK })}` : "the most probable ones";
  if (given === 0) return drawn.length ? `Its tokens were ${others}.` : `Its tokens are ${others}.`;
  if (done && given >= tokens.length) return "All its tokens were given.";
  return `Its first ${given === 1 ? "token was" : `${given} tokens were`} given; the others ${
    drawn.length ? "were" : "are"} ${others}.`;
}

/** @type {Object<string, string>} */
const NAMES = { "encoder self": "encoder self-attention", "decoder self": "decoder self-attention",
  "decoder cross": "cross-attention" };

/** A head's name for readers. @param {string} name such as "decoder.0.cross.3" */
export function headInWords(name) {
  const [side, layer, kind, head] = name.split(".");
  return `${NAMES[`${side} ${kind}`]}, layer ${Number(layer) + 1}, head ${Number(head) + 1}`;
}

/** @param {string[]} silenced */
export function silencedInWords(silenced) {
  if (!silenced.length) return "";
  if (silenced.length > 4) return `${silenced.length} heads are silenced.`;
  return `Silenced: ${silenced.map(headInWords).join("; ")}.`;
}

/** An output and its probability in words. @param {string} text @param {number} log */
export const scored = (text, log) =>
  `${quotedText(text)}, log P ${fixed(log, 2)}, probability ${Math.exp(log).toPrecision(2)}`;
