// @ts-check
// The masks of section 3.2.3 in the browser's language; tests hold them equal to transformer.masks.

/**
 * Why a query may not attend to a key; nothing is in the way when both are false.
 * @typedef {{padding: boolean, later: boolean}} Hidden
 */

/**
 * What hides a key from a query.
 * @param {string} kind the attention: "encoder self", "decoder self" or "cross"
 * @param {string} show the decoder's mask: "padding", "causal" or "combined"
 * @param {number} query @param {number} key positions, counted from 0
 * @param {number} words how many of the keys are words; the rest is padding
 * @returns {Hidden}
 */
export function hiddenBy(kind, show, query, key, words) {
  const decoder = kind === "decoder self";
  return {
    padding: key >= words && !(decoder && show === "causal"),
    later: decoder && show !== "padding" && key > query,
  };
}

/**
 * A sentence cut to a length and padded to a width.
 * @param {string[]} sentence @param {number} length @param {number} width @param {string} pad
 */
export function cutAndPadded(sentence, length, width, pad) {
  return Array.from({ length: width }, (_, i) => (i < length ? sentence[i] : pad));
}
