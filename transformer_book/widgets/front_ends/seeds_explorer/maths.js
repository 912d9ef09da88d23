// @ts-check
// The experiments and their chances once more, in the browser's language; tests hold the two equal.

import { normal, random } from "../training/random.js";

/**
 * What Python hands over: Student's quantiles, from one degree of freedom on, and the bounds of what is simulated and averaged.
 * @typedef {{student: number[], experiments: number, most_seeds: number, largest: number,
 *   rule: number, steps: number, farthest: number}} Constants
 */

/** @typedef {{effect: number, spread: number, n: number}} Setting */

/**
 * Shares that are significant, and so in the wrong direction; by how much the first exaggerate.
 * @typedef {{significant: number, wrong: number, exaggeration: number}} Luck
 */

/**
 * What each experiment would find of no effect with a spread of 1, lowest first: its mean and its interval's half-width.
 * @param {Constants} constants @param {number} seed @param {number} n @returns {[number, number][]}
 */
export function experiments(constants, seed, n) {
  const { experiments: count, most_seeds: most, student } = constants;
  const uniform = random(2 * count * most * seed);
  return Array.from({ length: count }, () => {
    const numbers = Array.from({ length: most }, () => normal(uniform)).slice(0, n);
    const mean = numbers.reduce((a, b) => a + b) / n;
    const squares = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0);
    const half = student[n - 2] * Math.sqrt(squares / (n - 1) / n);
    return /** @type {[number, number]} */ ([mean, half]);
  }).sort(([a], [b]) => a - b);
}

/**
 * What has come of some experiments.
 * @param {number[]} estimates @param {number[]} halves @param {number} effect @returns {Luck}
 */
export function counted(estimates, halves, effect) {
  const found = estimates.filter((x, i) => Math.abs(x) > halves[i]);
  const size = found.reduce((sum, x) => sum + Math.abs(x), 0) / found.length;
  return {
    significant: found.length / estimates.length,
    wrong: found.filter((x) => x * effect < 0).length / estimates.length,
    exaggeration: effect ? size / effect : NaN,
  };
}

const density = (/** @type {number} */ x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** The normal distribution's share below x, right to seven decimals (Abramowitz and Stegun, 7.1.26). @param {number} x */
function below(x) {
  const t = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const sum = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
    .reduce((all, a) => (all + a) * t, 0);
  const tail = (sum * Math.exp((-x * x) / 2)) / 2;
  return x < 0 ? tail : 1 - tail;
}

/**
 * What comes of infinitely many: the chances for each deviation that may be seen, averaged over all.
 * @param {Constants} constants @param {Setting} setting @returns {Luck}
 */
export function expected({ student, steps, farthest }, { effect, spread, n }) {
  const shift = (effect / spread) * Math.sqrt(n);
  let [total, right, wrong, size] = [0, 0, 0, 0];
  for (let i = 0; i < steps; i += 1) {
    const ratio = ((i + 0.5) * farthest) / steps;
    const likely = ratio ** (n - 2) * Math.exp(((n - 1) * (1 - ratio * ratio)) / 2);
    const edge = student[n - 2] * ratio;
    const [over, under] = [below(shift - edge), below(-shift - edge)];
    total += likely;
    right += likely * over;
    wrong += likely * under;
    size += likely * (shift * (over - under) + density(edge - shift) + density(edge + shift));
  }
  return { significant: (right + wrong) / total, wrong: wrong / total,
    exaggeration: shift ? size / (right + wrong) / shift : NaN };
}
