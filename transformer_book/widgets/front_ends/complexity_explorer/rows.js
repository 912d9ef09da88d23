// @ts-check
// What a layer costs as rows to look at: the work for one word, cut into pieces of one height.

import { OPERATIONS, PATH, SEQUENTIAL, layerCosts } from "./maths.js";

/**
 * @typedef {{n: number, d: number, k: number, r: number, column: string,
 *   counted: {projections: number, unit: number} | null}} State
 */

export const MOST_ROWS = 9; // those of the widest kernel
export const PAIRS = 2; // of attention's rows grow with the sentence: scores, and sums of values

/** @param {number} count @param {number} length @returns {number[]} */
const times = (count, length) => Array.from({ length: count }, () => length);

/**
 * The rows of each layer. For operations a row that is m long stands for m · d multiplications for
 * each word, so a matrix of d by d numbers is a row as long as the width; else a row is so many steps.
 * @param {State} state @returns {Object<string, number[]>}
 */
export function rowsOf({ n, d, k, r, column, counted }) {
  if (column !== OPERATIONS) {
    const costs = layerCosts(n, d, k, r, counted);
    return Object.fromEntries(Object.entries(costs).map(([name, row]) => [name, [row[column]]]));
  }
  const [pairs, projections, matrices] = counted ? [PAIRS, counted.projections, counted.unit] : [1, 0, 1];
  return {
    "self-attention": [...times(pairs, n), ...times(projections, d)],
    recurrent: times(matrices, d),
    convolutional: times(k, d),
    "self-attention (restricted)": [...times(pairs, Math.min(r, n)), ...times(projections, d)],
  };
}

/** @type {Object<string, Object<string, string>>} */
const GROWTH = {
  [OPERATIONS]: { "self-attention": "n²·d", recurrent: "n·d²", convolutional: "k·n·d²",
    "self-attention (restricted)": "r·n·d" },
  [SEQUENTIAL]: { "self-attention": "1", recurrent: "n", convolutional: "1",
    "self-attention (restricted)": "1" },
  [PATH]: { "self-attention": "1", recurrent: "n", convolutional: "logₖ n",
    "self-attention (restricted)": "n/r" },
};

/** The formula of each layer. @param {State} state @returns {Object<string, string>} */
export function formulasOf({ column, counted }) {
  if (column !== OPERATIONS || !counted) return GROWTH[column];
  return { "self-attention": "4n·d² + 2n²·d", recurrent: `${counted.unit}n·d²`,
    convolutional: "k·n·d²", "self-attention (restricted)": "4n·d² + 2r·n·d" };
}
