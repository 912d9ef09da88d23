// @ts-check
// What the cache keeps of one text; tests hold it equal to Python's.

/**
 * @typedef {{kinds: Object<string, number>, n_layers: number, width: number, bytes: number, weights: number,
 *   shortest: number, longest: number, per_doubling: number}} Constants `kinds`: sets of keys by name;
 *   `weights`: of the model, in GiB
 */

const GIB = 2 ** 30;

/**
 * GiB of the keys and values of a text.
 * @param {Constants} constants @param {number} sets of keys and values @param {number} length in tokens
 */
export function cacheOf({ n_layers: layers, width, bytes }, sets, length) {
  return (2 * length * layers * sets * width * bytes) / GIB;
}

/** Where the line stops, equally many lengths from each to its double. @param {Constants} constants */
export function stops({ shortest, longest, per_doubling: each }) {
  const lengths = [];
  for (let from = shortest; from < longest; from *= 2) {
    for (let i = 0; i < each; i += 1) lengths.push(from + (i * from) / each);
  }
  return [...lengths, longest];
}
