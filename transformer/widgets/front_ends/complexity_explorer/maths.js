// @ts-check
// Table 1 (section 4) as in transformer.widgets.complexity_explorer; tests hold the two equal.

export const OPERATIONS = "operations per layer";
export const SEQUENTIAL = "sequential operations";
export const PATH = "maximum path length";

/**
 * Table 1 with numbers for the letters: layer, column, value.
 * @param {number} n @param {number} d @param {number} k @param {number} r
 * @returns {Object<string, Object<string, number>>}
 */
export function layerCosts(n, d, k, r) {
  return {
    "self-attention": { [OPERATIONS]: n * n * d, [SEQUENTIAL]: 1, [PATH]: 1 },
    recurrent: { [OPERATIONS]: n * d * d, [SEQUENTIAL]: n, [PATH]: n },
    convolutional: {
      [OPERATIONS]: k * n * d * d,
      [SEQUENTIAL]: 1,
      [PATH]: Math.max(1, Math.log(n) / Math.log(k)),
    },
    // A neighbourhood holds no more than the n positions, and no path is shorter than 1.
    "self-attention (restricted)": {
      [OPERATIONS]: Math.min(r, n) * n * d,
      [SEQUENTIAL]: 1,
      [PATH]: Math.max(1, n / r),
    },
  };
}
