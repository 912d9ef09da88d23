// @ts-check
// What the stepper through attention says: the state it reads, its numbers, its sentences.

import { html } from "../kit/elements.js";
import { fixed, short } from "../kit/numbers.js";
import { attentionStages } from "./maths.js";

/** @typedef {import("../kit/elements.js").Child} Child */
/** @typedef {ReturnType<typeof read>} State */

export const SHOWN = 4; // columns of vectors
export const NAMES = ["Q, K, V", "scores", "scaling", "mask", "softmax", "output"];
export const TRAITS = ["query", "key", "value", "tokens", "step", "d_k", "scaling", "causal", "row"];

/** A number that is no weight. @param {number} value */
export const figure = (value) => fixed(value, 2);

/** A weight. @param {number} value */
export const share = (value) => fixed(value, 3);

/**
 * Whether the traits fit each other. Python sends them one by one: a frame may fall in between.
 * @param {import("../kit/model.js").Model} model
 */
export function isWhole(model) {
  const [query, key, value, tokens, , dK, , , row] = TRAITS.map((t) => model.get(t));
  return [query, key, value].every((rows) => rows.length === tokens.length)
    && query[0].length === key[0].length && dK <= query[0].length && row < tokens.length;
}

/** @param {import("../kit/model.js").Model} model */
export function read(model) {
  const [query, key, value, tokens, step, dK, scaling, causal, row] = TRAITS.map((t) => model.get(t));
  const stages = attentionStages({ query, key, value, dK, scaling, causal });
  const largest = (/** @type {number[][][]} */ ...m) => Math.max(...m.flat(2).map(Math.abs)) || 1;
  const scales = {
    vectors: largest(query, key, value),
    scores: largest(stages.scores), // of all three steps, so that scaled scores are paler
    weights: 1,
  };
  return { query, key, value, tokens, step, dK, scaling, causal, row, scales, ...stages };
}

/**
 * What happens in a step, and the numbers of the query that is followed with one of the keys.
 * @param {State} s @param {number} other
 */
export function wordsOf(s, other) {
  const d = () => html("span", {}, "d", html("sub", {}, "k"));
  const { row, tokens, dK } = s;
  const [me, it] = [tokens[row], tokens[other]];
  const width = s.value[0].length;
  const sign = (/** @type {number} */ x) => {
    const text = figure(x);
    return text.startsWith("−") ? `(${text})` : text;
  };
  const products = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.slice(0, SHOWN).map((x, i) => `${sign(x)} × ${sign(b[i])}`).join(" + ")
    + (a.length > SHOWN ? ` + … (${a.length - SHOWN} more)` : "");
  const masked = s.masked[row].filter((x) => x === -Infinity).length;
  const column = s.value.map((/** @type {number[]} */ values) => values[0]);
  /** @type {[Child[], string, string][]} */
  const words = [
    [["Q, K, V"],
      "Each token has three vectors: a query that asks, a key that is asked, and a value that is "
      + "passed on.",
      `“${me}” has ${dK} numbers in its query, ${dK} in its key and ${width} in its value.`],
    [["S = Q K", html("sup", {}, "T")],
      "Each query is multiplied with each key, number by number, and the products are added up.",
      `“${me}” asks “${it}”: ${products(s.query[row].slice(0, dK), s.key[other])} = `
      + `${figure(s.scores[row][other])}.`],
    s.scaling
      ? [["S / √", d(), ` = S / ${figure(Math.sqrt(dK))}`],
        "A sum of more products spreads wider; dividing by the root of their number makes up for "
        + "that.",
        `“${me}” asks “${it}”: ${figure(s.scores[row][other])} / √${dK} = `
        + `${figure(s.scaled[row][other])}.`]
      : [["S (not divided by √", d(), ")"],
        "Scaling is off: the scores go on as they are.",
        `“${me}” asks “${it}”: still ${figure(s.scaled[row][other])}.`],
    s.causal
      ? [["S", html("sub", {}, "ij"), " = −∞ where j > i"],
        "A query may not look at tokens that come after its own: their scores become −∞.",
        `“${me}” may look at ${tokens.length - masked} of ${tokens.length} tokens.`]
      : [["S (no mask)"],
        "There is no mask: every query may look at every token.",
        `“${me}” may look at ${tokens.length} of ${tokens.length} tokens.`],
    [["P = softmax(S), row by row"],
      "In each row, e is raised to each score and the result divided by the row's sum: weights "
      + "that add up to 1.",
      `“${me}” gives “${it}” the share e^${sign(s.masked[row][other])} / (${s.masked[row]
        .map((x) => `e^${sign(x)}`).join(" + ")}) = ${share(s.weights[row][other])}.`],
    [["output = P V"],
      "Each query's output is the sum of all values, each times its weight.",
      `The first number of “${me}”: ${s.weights[row]
        .map((p, i) => `${share(p)} × ${sign(column[i])}`).join(" + ")} = `
      + `${figure(s.output[row][0])}.`],
  ];
  return words[s.step - 1];
}

/** Whom the followed query asks most, and after which settings. @param {State} s */
export function favouriteWords(s) {
  const { row, tokens } = s;
  const most = s.weights[row].indexOf(s.largest[row]);
  return `d_k = ${s.dK}, ${s.scaling ? "scaled" : "not scaled"}: “${tokens[row]}” gives most, `
    + `${share(s.largest[row])}, to “${tokens[most]}”.`;
}

/** @param {State} s */
export function saturationWords(s) {
  const mean = (/** @type {number[]} */ x) => x.reduce((a, b) => a + b, 0) / x.length;
  return `The mean over all queries: ${share(mean(s.largest))} and ${short(mean(s.gradient))}. `
    + "A gradient says how much a weight moves when a score moves a little."
    + `${s.causal ? ` “${s.tokens[0]}” sees only itself: weight 1, gradient 0.` : ""}`;
}
