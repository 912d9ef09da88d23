// @ts-check
// Section 3.5 in the browser's language; tests hold it equal to transformer.embedding.

/**
 * What the views show: the widget's traits, and the codes of all positions.
 * @typedef {object} Positions
 * @property {number} d_model @property {number[]} dimensions @property {number} position
 * @property {number} offset @property {number} pair
 * @property {number[][]} table
 */

/** @type {number[]} of the width asked for last */
let lastFrequencies = [];

/** ω_i of each pair of dimensions. @param {number} dModel */
export function positionFrequencies(dModel) {
  if (lastFrequencies.length !== dModel / 2) {
    lastFrequencies = Array.from({ length: dModel / 2 }, (_, i) => 10000 ** ((-2 * i) / dModel));
  }
  return lastFrequencies;
}

/** PE(pos), sine and cosine of each pair. @param {number} pos @param {number} dModel */
export function positionCode(pos, dModel) {
  return positionFrequencies(dModel).flatMap((omega) => [Math.sin(pos * omega), Math.cos(pos * omega)]);
}

/** Which of the two a dimension is. @param {number} dimension */
export const positionWave = (dimension) => (dimension % 2 ? "cos" : "sin");

/** @param {number[]} a @param {number[]} b */
export function positionDot(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

/**
 * R(k) PE(pos): the block of each pair applied to its sine and cosine. It knows k, not pos.
 * @param {number[]} code @param {number} k
 */
export function positionTurned(code, k) {
  return positionFrequencies(code.length).flatMap((omega, pair) => {
    const [c, s] = [Math.cos(k * omega), Math.sin(k * omega)];
    const [sin, cos] = [code[2 * pair], code[2 * pair + 1]];
    return [c * sin + s * cos, -s * sin + c * cos];
  });
}

/** A number with its decimals, and a true minus. @param {number} value @param {number} [n] */
export function positionFixed(value, n = 4) {
  const text = value.toFixed(n);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}
