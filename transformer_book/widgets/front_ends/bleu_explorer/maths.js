// @ts-check
// BLEU of one sentence as sacreBLEU counts and smooths it; tests hold it to transformer.evaluation.

import { DIRECTIONS, normalize } from "../kit/normalization.js";

/**
 * N-grams of one length.
 * @typedef {object} Row
 * @property {("found" | "clipped" | "absent")[]} marks of each n-gram of the candidate
 * @property {Set<number>} used where in the reference those begin that are found
 * @property {number} right how many are found
 * @property {number} counted the same, or what a zero counts as
 * @property {number | null} share the precision, if there is any n-gram
 *
 * @typedef {{rows: Row[], penalty: number, score: number}} Bleu
 */

export const LENGTHS = [1, 2, 3, 4];

/** The words and marks of a text: tokenisation 13a of the WMT campaigns. @param {string} text */
export function tokensOf(text) {
  return ` ${normalize(text).replace(DIRECTIONS, "").replaceAll("<skipped>", "")} `
    .replaceAll("&quot;", '"').replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replace(/[{-~[-` -&(-+:-@/]/gu, " $& ")
    .replace(/([^0-9])([.,])/gu, "$1 $2 ")
    .replace(/([.,])([^0-9])/gu, " $1 $2")
    .replace(/([0-9])(-)/gu, "$1 $2 ")
    .split(" ").filter(Boolean);
}

/** @param {string[]} words @param {number} n */
const ngrams = (words, n) => words.slice(n - 1).map((_, i) => words.slice(i, i + n).join(" "));

/** Each n-gram of the reference can be used up only once. @param {string[]} candidate
 * @param {string[]} reference @param {number} n @returns {Row} */
function matched(candidate, reference, n) {
  /** @type {Map<string, number[]>} */
  const left = new Map();
  ngrams(reference, n).forEach((gram, i) => left.set(gram, [...(left.get(gram) ?? []), i]));
  const used = new Set();
  const marks = ngrams(candidate, n).map((gram) => {
    const place = left.get(gram)?.shift();
    if (place === undefined) return left.has(gram) ? "clipped" : "absent";
    used.add(place);
    return "found";
  });
  return { marks, used, right: used.size, counted: used.size, share: null };
}

/** @param {string[]} candidate @param {string[]} reference at least a word @returns {Bleu} */
export function bleuOf(candidate, reference) {
  const rows = LENGTHS.map((n) => matched(candidate, reference, n));
  const [c, r] = [candidate.length, reference.length];
  const penalty = c === 0 ? 0 : Math.min(1, Math.exp(1 - r / c));
  const some = rows[0].right > 0;
  let zero = 1;
  for (const row of rows) {
    if (some && row.marks.length && !row.right) row.counted = zero /= 2;
    if (row.marks.length) row.share = row.counted / row.marks.length;
  }
  const shares = rows.flatMap(({ share }) => (share === null ? [] : [share]));
  const mean = shares.reduce((sum, share) => sum + Math.log(share), 0) / shares.length;
  return { rows, penalty, score: some ? 100 * penalty * Math.exp(mean) : 0 };
}
