// @ts-check
// The module's formulas once more, in the browser's language; tests hold the two equal.

/**
 * Equation 3, the learning rate of a step counted from 1.
 * @param {number} step @param {number} dModel @param {number} warmup @param {number} factor
 */
export function noamRate(step, dModel, warmup, factor) {
  return factor * dModel ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
}
