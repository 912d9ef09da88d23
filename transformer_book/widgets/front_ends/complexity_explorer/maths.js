// @ts-check
// Table 1 (section 4) as in transformer_book.widgets.complexity_explorer; tests hold the two equal.

export const OPERATIONS = "operations per layer";
export const SEQUENTIAL = "sequential operations";
export const PATH = "maximum path length";

/**
 * Table 1 with numbers for the letters: layer, column, value. Operations are all multiplications
 * where `counted` says how many matrices a position is multiplied with in self-attention and in the
 * recurrent unit.
 * @param {number} n @param {number} d @param {number} k @param {number} r
 * @param {{projections: number, unit: number} | null} counted
 * @returns {Object<string, Object<string, number>>}
 */
export function layerCosts(n, d, k, r, counted) {
  const projections = counted ? counted.projections * n * d * d : 0;
  const matrices = counted ? counted.unit : 1; // of the recurrent unit
  const pairs = counted ? 2 : 1; // scores, and then sums of values
  return {
    "self-attention": { [OPERATIONS]: projections + pairs * n * n * d, [SEQUENTIAL]: 1, [PATH]: 1 },
    recurrent: { [OPERATIONS]: matrices * n * d * d, [SEQUENTIAL]: n, [PATH]: n },
    convolutional: {
      [OPERATIONS]: k * n * d * d,
      [SEQUENTIAL]: 1,
      [PATH]: Math.max(1, Math.log(n) / Math.log(k)),
    },
    // A neighbourhood holds no more than the n positions, and no path is shorter than 1.
    "self-attention (restricted)": {
      [OPERATIONS]: projections + pairs * Math.min(r, n) * n * d,
      [SEQUENTIAL]: 1,
      [PATH]: Math.max(1, n / r),
    },
  };
}

/**
 * The length at which self-attention and recurrence cost the same; 0 if at none.
 * @param {number} d @param {{projections: number, unit: number} | null} counted
 */
export function meeting(d, counted) {
  return counted ? Math.max(0, Math.floor(((counted.unit - counted.projections) * d) / 2)) : d;
}
