// @ts-check
// Scaled dot-product attention (section 3.2.1), as attention.py has it.

/** Where heads looked from a position: head -> weights. @typedef {Float32Array[]} Looked */

/** Numbers above 0 that add up to 1, in place. @param {Float32Array} scores */
function softmax(scores) {
  let top = -Infinity;
  for (const score of scores) top = Math.max(top, score);
  let sum = 0;
  for (let i = 0; i < scores.length; i += 1) sum += scores[i] = Math.exp(scores[i] - top);
  for (let i = 0; i < scores.length; i += 1) scores[i] /= sum;
}

/**
 * Equation 1 for the query of one position, each head in its own part of the vectors.
 * It may look at all the keys that are there.
 * @param {Float32Array} query (heads * d_k)
 * @param {{keys: Float32Array[], values: Float32Array[]}} cache
 * @param {number} heads
 * @param {Float32Array} output (heads * d_v): each head's weighted sum of the values
 * @returns {Looked} the weights
 */
export function attend(query, { keys, values }, heads, output) {
  const [dK, dV] = [query.length / heads, output.length / heads];
  output.fill(0);
  return Array.from({ length: heads }, (_, h) => {
    const weights = new Float32Array(keys.length);
    keys.forEach((key, k) => {
      let score = 0;
      for (let i = h * dK; i < (h + 1) * dK; i += 1) score += query[i] * key[i];
      weights[k] = score / Math.sqrt(dK);
    });
    softmax(weights);
    values.forEach((value, k) => {
      for (let i = h * dV; i < (h + 1) * dV; i += 1) output[i] += weights[k] * value[i];
    });
    return weights;
  });
}
