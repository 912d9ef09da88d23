// @ts-check
// What transformer_book/widgets/breaking.py does to a trained model, done to the one in the page.

/**
 * @typedef {import("../live/search.js").Network} Network
 * @typedef {import("../live/product.js").Matrix} Matrix
 * @typedef {Matrix & {times?: number}} Multiplied a matrix whose products are multiplied by that
 */

/** The queries' matrix for the keys', and the other way round. @param {string} name */
const exchanged = (name) => name.replace(/w_(query|key)/, (_, /** @type {string} */ of) =>
  (of === "key" ? "w_query" : "w_key"));

/**
 * A decoder in which each position looks at the later ones too: with each new token all that were
 * written before change, so nothing of them is kept but the tokens.
 * @param {Network} network @returns {Network}
 */
function unmasked(network) {
  return {
    ...network,
    start: () => /** @type {any} */ ([]), // the tokens so far, in place of their keys and values
    *step([token], _, [cache], memory, silenced) {
      const written = /** @type {number[]} */ (/** @type {unknown} */ (cache));
      written.push(token);
      const shared = network.start();
      const { logits, looked } = yield* network.step(written, 0, written.map(() => shared), memory,
        silenced, 1);
      return { logits: logits.slice(-1), looked: looked.slice(-1) };
    },
  };
}

/**
 * The model with these parts broken; what it is made of stays as it is. Heads are silenced by those
 * who run it.
 * @param {Network} network @param {string[]} parts
 */
export function broken(network, parts) {
  const without = new Set(parts);
  const { d_model: d, n_heads: heads, d_k: dK } = network.config;
  // Without the root, scores are larger by it; with all of them 0, the softmax makes weights alike.
  const scaled = without.has("scaling") ? Math.sqrt(dK ?? d / heads) : 1;
  const times = without.has("softmax") ? 0 : scaled;
  const made = network.changed((own) => ({
    ...own,
    without,
    matrix(name) {
      const matrix = own.matrix(without.has("roles") ? exchanged(name) : name);
      return name.endsWith("w_query.weight") ? { ...matrix, times } : matrix;
    },
    engine: {
      ...own.engine,
      *product(x, n, /** @type {Multiplied} */ matrix, bias, y) {
        yield* own.engine.product(x, n, matrix, bias, y);
        const by = matrix.times ?? 1;
        if (by !== 1) for (let i = 0; i < y.length; i += 1) y[i] *= by;
      },
    },
  }));
  return without.has("causal_mask") ? unmasked(made) : made;
}
