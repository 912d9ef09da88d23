// @ts-check
// Label smoothing (section 5.4) as in transformer.training.loss; tests hold the two equal.

/**
 * What the target asks for: of the true token, and of each of the others.
 * @param {number} vocab @param {number} smoothing @returns {[number, number]}
 */
export function smoothedTarget(vocab, smoothing) {
  return [1 - smoothing + smoothing / vocab, smoothing / vocab];
}

/** What a model gives that shares evenly what the true token leaves. @param {number} p
 * @param {number} vocab */
export function shareOfOthers(p, vocab) {
  return (1 - p) / (vocab - 1);
}

/** @param {number} weight @param {number} probability */
const surprise = (weight, probability) => (weight === 0 ? 0 : -weight * Math.log(probability));

/**
 * The loss in nats of a model that gives the true token p and shares the rest evenly.
 * @param {number} p @param {number} vocab @param {number} smoothing
 */
export function smoothedLoss(p, vocab, smoothing) {
  const [yes, other] = smoothedTarget(vocab, smoothing);
  return surprise(yes, p) + (vocab - 1) * surprise(other, shareOfOthers(p, vocab));
}

/**
 * Where the loss is lowest, and the loss there: the target's entropy.
 * @param {number} vocab @param {number} smoothing @returns {[number, number]}
 */
export function lowestLoss(vocab, smoothing) {
  const [p] = smoothedTarget(vocab, smoothing);
  return [p, smoothedLoss(p, vocab, smoothing)];
}
