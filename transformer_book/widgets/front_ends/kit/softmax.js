// @ts-check
// The softmax in the browser's language; tests hold it equal to torch's.

/** Numbers above 0 that add up to 1, the larger the score, the larger. @param {number[]} scores */
export function softmax(scores) {
  const top = Math.max(...scores); // taken off, so that no power overflows
  const powers = scores.map((score) => Math.exp(score - top));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}
