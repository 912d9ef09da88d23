// @ts-check
// Equation 14 of Wu et al. (2016), and a sentence's finished hypotheses in order.

/** What a sum of log-probabilities is divided by. @param {number} length @param {number} alpha */
export function lengthPenalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/**
 * @typedef {{node: number, length: number, total: number, score: number}} Finished
 * @param {{node: number, length: number, total: number}[]} ends @param {number} alpha
 * @returns {Finished[]} best first
 */
export function ranked(ends, alpha) {
  return ends
    .map((end) => ({ ...end, score: end.total / lengthPenalty(end.length, alpha) }))
    .sort((a, b) => b.score - a.score || a.node - b.node);
}
