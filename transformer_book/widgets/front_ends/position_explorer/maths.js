// @ts-check
// Section 3.5 in the browser's language; tests hold it equal to transformer.embedding.

import { fixed } from "../kit/numbers.js";

/**
 * What the views show: the widget's traits, and the codes of all positions.
 * @typedef {object} Positions
 * @property {number} d_model @property {number[]} dimensions @property {number} position
 * @property {number} offset @property {number} pair
 * @property {number[][]} table
 */

/** ω_i of each pair of dimensions. @param {number} dModel */
export function frequenciesOf(dModel) {
  return Array.from({ length: dModel / 2 }, (_, i) => 10000 ** ((-2 * i) / dModel));
}

/** PE(pos), sine and cosine of each pair. @param {number} pos @param {number[]} frequencies */
export function codeOf(pos, frequencies) {
  return frequencies.flatMap((omega) => [Math.sin(pos * omega), Math.cos(pos * omega)]);
}

/** Which of the two a dimension is. @param {number} dimension */
export const waveOf = (dimension) => (dimension % 2 ? "cos" : "sin");

/** @param {number[]} a @param {number[]} b */
export function dot(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

/**
 * R(k) PE(pos): the block of each pair applied to its sine and cosine. It knows k, not pos.
 * @param {number[]} code @param {number[]} frequencies @param {number} k
 */
export function turned(code, frequencies, k) {
  return frequencies.flatMap((omega, pair) => {
    const [c, s] = [Math.cos(k * omega), Math.sin(k * omega)];
    const [sin, cos] = [code[2 * pair], code[2 * pair + 1]];
    return [c * sin + s * cos, -s * sin + c * cos];
  });
}

/** A number with the four decimals that all views show. @param {number} value */
export const four = (value) => fixed(value, 4);
