// @ts-check
// When a translation deserves doubt.

/**
 * A line for a sentence with words that the model never met; "" for others.
 * @param {string[]} source the sentence's tokens
 */
export function unknown(source) {
  const n = source.filter((token) => token === "<unk>").length;
  if (n === 0) return "";
  return `${n} ${n === 1 ? "word is" : "words are"} not in the model's vocabulary: it reads <unk> in ${
    n === 1 ? "its" : "their"} place.`;
}

/**
 * A line for a translation that the model itself gives little; "" for others.
 * @param {number} mean the mean log-probability of its tokens @param {number} below where doubt begins
 */
export function unsure(mean, below) {
  if (mean >= below) return "";
  return `The model is unsure: it gives each piece of this translation a probability of ${
    Math.round(100 * Math.exp(mean))} % (their geometric mean). Do not rely on it.`;
}
