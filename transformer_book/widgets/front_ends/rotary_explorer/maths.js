// @ts-check
// Rotary positions; tests hold it equal to transformer.variants.rotary.

/**
 * @typedef {{query: number[], key: number[], frequencies: number[], last: number, farthest: number}}
 *   Constants angles at position 0, in radians, and how far each turns from one position to the next
 */

/**
 * The angles of the hands: those of the query, clock by clock, then those of the key.
 * @param {Constants} constants @param {number} position of the query @param {number} distance
 */
export function turned({ query, key, frequencies }, position, distance) {
  return [...query.map((angle, i) => angle + position * frequencies[i]),
    ...key.map((angle, i) => angle + (position + distance) * frequencies[i])];
}

/** What each clock gives to the dot product; its hands are of length 1. @param {number[]} angles */
export function products(angles) {
  const half = angles.length / 2;
  return angles.slice(half).map((key, i) => Math.cos(key - angles[i]));
}

/** The dot product over the root of the width. @param {number[]} each of the clocks' products */
export const score = (each) =>
  each.reduce((sum, product) => sum + product, 0) / Math.sqrt(2 * each.length);
