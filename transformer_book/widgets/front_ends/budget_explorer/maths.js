// @ts-check
// The operations of a forward pass; tests hold it equal to transformer.compared.flops.

/**
 * @typedef {{n_layers: number, vocabulary: number, inner: number, shortest: number, longest: number,
 *   widths: number[], models: Object<string, number>}} Constants `inner`: d_ff / d_model; `models`:
 *   the widths of those that have a name
 */

/**
 * Operations of one pair of sentences, both of this length, by what they are for.
 * @param {Constants} constants @param {number} width @param {number} length
 * @returns {Object<string, number>}
 */
export function forwardFlops({ n_layers: layers, vocabulary, inner }, width, length) {
  // Three attentions: of the source, of the target, and of the target to the source.
  return {
    projections: 3 * layers * 8 * length * width ** 2,
    pairs: 3 * layers * 4 * length ** 2 * width,
    "feed-forward": 2 * layers * 4 * length * inner * width ** 2,
    output: 2 * length * width * vocabulary,
  };
}

/**
 * The same as shares of their sum.
 * @param {Constants} constants @param {number} width @param {number} length
 */
export function sharesOf(constants, width, length) {
  const flops = forwardFlops(constants, width, length);
  const sum = Object.values(flops).reduce((all, one) => all + one, 0);
  return Object.fromEntries(Object.entries(flops).map(([part, one]) => [part, one / sum]));
}
