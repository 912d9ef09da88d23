// @ts-check
// Byte-pair encoding in the browser's language; tests hold it equal to transformer.text.bpe.

/**
 * @typedef {[string, number]} CountedWord
 * @typedef {{left: string, right: string, count: number}} CountedPair
 * @typedef {{pieces: string[][], pairs: CountedPair[]}} State words split, and the pairs in them,
 *   the next winner first
 */

const SPACE = "▁";

/** A word with its mark. @param {string} word @param {string} mark "start", "end" or "none" */
export function marked(word, mark) {
  if (mark === "none") return word;
  return mark === "start" ? SPACE + word : word + SPACE;
}

/** Every character of the words once, in Unicode's order. @param {string[]} words */
export function alphabet(words) {
  const point = (/** @type {string} */ c) => /** @type {number} */ (c.codePointAt(0));
  return [...new Set(words.flatMap((word) => [...word]))].sort((a, b) => point(a) - point(b));
}

/** Joins every occurrence of a pair. @param {string[]} pieces @param {CountedPair} pair */
export function joined(pieces, { left, right }) {
  /** @type {string[]} */
  const merged = [];
  for (let i = 0; i < pieces.length; i += 1) {
    const together = pieces[i] === left && pieces[i + 1] === right;
    merged.push(together ? left + right : pieces[i]);
    if (together) i += 1;
  }
  return merged;
}

/**
 * The pairs of neighbours with their counts: the most frequent first, among equals that of the
 * older pieces.
 * @param {string[][]} words @param {number[]} counts @param {Map<string, number>} ids
 */
function pairsOf(words, counts, ids) {
  const age = (/** @type {string} */ piece) => /** @type {number} */ (ids.get(piece));
  /** @type {Map<number, CountedPair>} */
  const pairs = new Map();
  words.forEach((pieces, w) => {
    for (let i = 1; i < pieces.length; i += 1) {
      const [left, right] = [pieces[i - 1], pieces[i]];
      const key = age(left) * 65536 + age(right);
      const pair = pairs.get(key);
      if (pair) pair.count += counts[w];
      else pairs.set(key, { left, right, count: counts[w] });
    }
  });
  return [...pairs.entries()]
    .sort(([a, first], [b, second]) => second.count - first.count || a - b)
    .map(([, pair]) => pair);
}

/**
 * The words before the first merge, after it, and so on, until every word is one piece.
 * @param {CountedWord[]} counted words as they are split, with their mark
 * @returns {State[]}
 */
export function statesOf(counted) {
  const counts = counted.map(([, count]) => count);
  const ids = new Map(alphabet(counted.map(([word]) => word)).map((c, i) => [c, i]));
  let pieces = counted.map(([word]) => [...word]);
  const states = [{ pieces, pairs: pairsOf(pieces, counts, ids) }];
  for (let best = states[0].pairs[0]; best; best = states[states.length - 1].pairs[0]) {
    ids.set(best.left + best.right, ids.size);
    pieces = pieces.map((word) => joined(word, best));
    states.push({ pieces, pairs: pairsOf(pieces, counts, ids) });
  }
  return states;
}
