// @ts-check
// Equation 1 a step at a time, as transformer/attention.py computes it; tests hold the two equal.

import { softmax } from "../kit/softmax.js";

/** @typedef {number[][]} Rows */

/**
 * What each step of attention computes.
 * @typedef {object} Stages
 * @property {Rows} scores @property {Rows} scaled
 * @property {Rows} masked -Infinity where a query may not attend
 * @property {Rows} weights @property {Rows} output
 * @property {number[]} largest the largest weight of each query
 * @property {number[]} gradient of each query: see `steepest`
 */

/** @param {number[]} a @param {number[]} b */
function dotProduct(a, b) {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

/**
 * The largest absolute entry of diag(p) - p p^T. It stands on the diagonal or, when one weight is
 * so close to 1 that 1 - p rounds to 0, beside it.
 * @param {number[]} p
 */
function steepest(p) {
  return Math.max(...p.flatMap((x, i) => p.map((y, j) => Math.abs((i === j ? x : 0) - x * y))));
}

/**
 * All steps of one head.
 * @param {{query: Rows, key: Rows, value: Rows, dK: number, scaling: boolean, causal: boolean}} head
 * @returns {Stages}
 */
export function attentionStages({ query, key, value, dK, scaling, causal }) {
  const q = query.map((row) => row.slice(0, dK));
  const k = key.map((row) => row.slice(0, dK));
  const scores = q.map((a) => k.map((b) => dotProduct(a, b)));
  const scaled = scores.map((row) => row.map((x) => (scaling ? x / Math.sqrt(dK) : x)));
  const masked = scaled.map((row, i) => row.map((x, j) => (causal && j > i ? -Infinity : x)));
  const weights = masked.map(softmax);
  const columns = value[0].map((_, c) => value.map((row) => row[c]));
  return {
    scores,
    scaled,
    masked,
    weights,
    output: weights.map((p) => columns.map((column) => dotProduct(p, column))),
    largest: weights.map((p) => Math.max(...p)),
    gradient: weights.map(steepest),
  };
}
