// @ts-check
// The outputs that are known, and how far a broken one is from the sound one.

/**
 * What a model has written for a sentence with some parts broken. Weights are hundredths: for each
 * head row by row, a row for each piece of the output, or of the source where the encoder looks.
 * @typedef {object} Run
 * @property {string} sentence @property {string[]} broken @property {string[]} source
 * @property {string[]} output @property {string} text @property {boolean} ended
 * @property {number[][]} weights
 *
 * @typedef {object} Contents
 * @property {number} layers @property {number} heads @property {string[]} sentences
 * @property {string[]} variants @property {[string, string][]} parts names, and what stands on their buttons
 * @property {Run[]} runs
 */

/** @param {Run[]} runs @param {string} sentence @param {string[]} parts */
export const runOf = (runs, sentence, parts) => runs.find((run) => run.sentence === sentence
  && run.broken.length === parts.length && parts.every((part) => run.broken.includes(part)));

/** @param {string} text */
export const wordsOf = (text) => text.split(/\s+/).filter(Boolean);

/**
 * Which words of a text are not those of another one, in their order: the longest sequence that
 * both share is taken out.
 * @param {string[]} words @param {string[]} others @returns {boolean[]}
 */
export function differing(words, others) {
  const shared = words.map(() => others.map(() => 0).concat(0)).concat([others.map(() => 0).concat(0)]);
  for (let i = words.length - 1; i >= 0; i -= 1) {
    for (let j = others.length - 1; j >= 0; j -= 1) {
      shared[i][j] = words[i] === others[j] ? 1 + shared[i + 1][j + 1]
        : Math.max(shared[i + 1][j], shared[i][j + 1]);
    }
  }
  /** @type {boolean[]} */
  const marks = [];
  for (let j = 0; marks.length < words.length;) {
    const i = marks.length;
    const same = words[i] === others[j]; // both are taken: no longer sequence leaves them out
    if (same || j >= others.length || shared[i + 1][j] > shared[i][j + 1]) marks.push(!same);
    if (same || marks.length === i) j += 1;
  }
  return marks;
}

/** A head of two runs, side by side. @typedef {{sound: Run, other: Run, head: number, encoder: boolean}} Pair */

/**
 * How many rows of a head can be compared: in the output those that both wrote after the same words,
 * in the encoder all; none where the sources have different numbers of tokens.
 * @param {Pair} pair
 */
function comparable({ sound, other, encoder }) {
  if (sound.source.length !== other.source.length) return 0;
  if (encoder) return sound.source.length;
  const both = Math.min(sound.output.length, other.output.length);
  let rows = 0;
  while (rows < both && (rows === 0 || sound.output[rows - 1] === other.output[rows - 1])) rows += 1;
  return rows;
}

/**
 * The share of a head's weight that looks elsewhere, in the mean of the rows that can be compared, and
 * the row where it is largest; null where there are none.
 * @param {Pair} pair
 */
export function moved(pair) {
  const { sound, other, head } = pair;
  const width = sound.source.length;
  const shares = Array.from({ length: comparable(pair) }, (_, row) => {
    let sum = 0;
    for (let i = row * width; i < (row + 1) * width; i += 1) {
      sum += Math.abs(sound.weights[head][i] - other.weights[head][i]) / 2;
    }
    return sum;
  });
  if (!shares.length) return null;
  const most = Math.max(...shares);
  return { mean: shares.reduce((a, b) => a + b) / shares.length, most, row: shares.indexOf(most) };
}

/**
 * The links from which at least so much weight has gone.
 * @param {Pair} pair @param {number} least @returns {[number, number][]}
 */
export function left(pair, least) {
  const { sound, other, head } = pair;
  const width = sound.source.length;
  return Array.from({ length: comparable(pair) * width }, (_, i) => i)
    .filter((i) => sound.weights[head][i] - other.weights[head][i] >= least)
    .map((i) => [Math.floor(i / width), i % width]);
}

/**
 * What has become of the translation, in a sentence.
 * @param {Run} sound @param {Run} other
 */
export function outcome(sound, other) {
  if (sound.text === other.text && sound.ended === other.ended) return "The same translation, word for word";
  const [before, after] = [wordsOf(sound.text), wordsOf(other.text)];
  const count = (/** @type {boolean[]} */ marks) => marks.filter(Boolean).length;
  const [fresh, lost] = [count(differing(after, before)), count(differing(before, after))];
  return `New words: ${fresh} of ${after.length}; lost: ${lost} of ${before.length}${
    other.ended ? "" : "; it comes to no end"}`;
}
