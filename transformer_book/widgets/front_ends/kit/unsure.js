// @ts-check
// When a model doubts its own translation.

/**
 * A line for a translation that the model itself gives little; "" for others.
 * @param {number} mean the mean log-probability of its tokens @param {number} below where doubt begins
 */
export function unsure(mean, below) {
  if (mean >= below) return "";
  return `The model is unsure: it gives each piece of this translation a probability of ${
    Math.round(100 * Math.exp(mean))} % (their geometric mean). Do not rely on it.`;
}
