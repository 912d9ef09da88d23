// @ts-check
// What there is to learn: pairs of sequences that are drawn, never stored.

/**
 * @typedef {import("./network.js").Pair} Pair
 *
 * @typedef {object} Task
 * @property {string[]} words what each token is called
 * @property {number} places for the longest sequence and its end mark
 * @property {(uniform: () => number) => Pair} draw a pair to learn from
 * @property {(uniform: () => number) => Pair} test a pair of those that are kept for the test
 * @property {(uniform: () => number) => Pair} [longer] one that is longer than any to learn from
 * @property {(source: number[]) => number[]} [links] which place of the source each place of the
 *   target comes from
 */

const MARKS = ["", "", "\u23ce", ""]; // padding, beginning, end; nothing is unknown here
const LENGTH = 8;
const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);
const DIGITS = [...MARKS, ..."0123456789"];
const FIRST = MARKS.length;

/** @param {() => number} uniform @param {number} n */
const below = (uniform, n) => Math.floor(uniform() * n);

/**
 * Digits, of which each place of the target gives back one.
 * @param {(place: number, length: number) => number} from the place in the source
 * @param {(digit: number) => number} [becomes] @param {number} [shortest]
 * @returns {Task}
 */
function digits(from, becomes = (digit) => digit, shortest = LENGTH) {
  const links = (/** @type {number[]} */ source) => source.map((_, i) => from(i, source.length));
  const pair = (/** @type {() => number} */ uniform, /** @type {number} */ length) => {
    const source = range(length).map(() => FIRST + below(uniform, 10));
    return { source, target: links(source).map((i) => FIRST + becomes(source[i] - FIRST)) };
  };
  /** @type {Task["draw"]} */
  const draw = (uniform) => pair(uniform, shortest + below(uniform, LENGTH - shortest + 1));
  return shortest === LENGTH ? { words: DIGITS, places: LENGTH + 1, draw, test: draw, links }
    : { words: DIGITS, places: LENGTH + 2, draw, test: draw, links,
      longer: (uniform) => pair(uniform, LENGTH + 1) };
}

/** Letters, no letter twice, to be put in order. @returns {Task} */
function sort() {
  const letters = [..."abcdefghijkl"];
  const ordered = (/** @type {number[]} */ source) => [...source].sort((a, b) => a - b);
  /** @type {Task["draw"]} */
  const draw = (uniform) => {
    const left = range(letters.length);
    const source = range(LENGTH).map(() => FIRST + left.splice(below(uniform, left.length), 1)[0]);
    return { source, target: ordered(source) };
  };
  return { words: [...MARKS, ...letters], places: LENGTH + 1, draw, test: draw,
    links: (source) => ordered(source).map((token) => source.indexOf(token)) };
}

// Ten things, then four verbs.
const HERE = "sun moon tree bird fish stone rain fire leaf door see find paint know".split(" ");
const THERE = ("Sonne Mond Baum Vogel Fisch Stein Regen Feuer Blatt T\u00fcr sehen finden malen kennen")
  .split(" ");

/** Words of another language in the same order, but for the verb, which goes to the end. @returns {Task} */
function verbLast() {
  const length = LENGTH - 1;
  const links = (/** @type {number[]} */ source) => {
    const verb = source.findIndex((token) => token >= FIRST + 10);
    return [...range(length).filter((i) => i !== verb), verb];
  };
  /** @type {Task["draw"]} */
  const draw = (uniform) => {
    const source = range(length).map(() => FIRST + below(uniform, 10));
    source[below(uniform, length - 1)] = FIRST + 10 + below(uniform, 4);
    return { source, target: links(source).map((i) => source[i] + HERE.length) };
  };
  return { words: [...MARKS, ...HERE, ...THERE], places: length + 1, draw, test: draw, links };
}

// Subordinate clauses: in German the verb goes to the end, and articles and adjectives follow the
// noun's gender and case.
const NOUNS = [["dog", "Hund", "der"], ["man", "Mann", "der"], ["cat", "Katze", "die"],
  ["woman", "Frau", "die"], ["child", "Kind", "das"], ["horse", "Pferd", "das"]];
const VERBS = [["sees", "sieht"], ["seeks", "sucht"], ["paints", "malt"], ["finds", "findet"]];
const ADJECTIVES = [["small", "kleine"], ["old", "alte"], ["young", "junge"]];

/** @returns {Task} */
function clauses() {
  const words = [...MARKS, "that", "the", "dass", "der", "den", "die", "das"];
  for (const [english, german] of [...NOUNS, ...VERBS]) words.push(english, german);
  for (const [english, german] of ADJECTIVES) words.push(english, german, `${german}n`);
  const tokens = (/** @type {string[]} */ some) =>
    some.filter(Boolean).map((word) => words.indexOf(word));

  /** @param {boolean} test one sentence in five is kept for the test @returns {Task["draw"]} */
  const drawn = (test) => (uniform) => {
    for (;;) {
      const parts = [6, 4, 6, 4, 4].map((n) => below(uniform, n));
      const number = parts.reduce((sum, part) => sum * 7 + part, 0);
      if ((Math.imul(number + 1, 0x9e3779b1) >>> 16) % 5 === 0 !== test) continue;
      const phrase = (/** @type {number} */ noun, /** @type {number} */ kind, /** @type {boolean} */ object) => {
        const [english, german, article] = NOUNS[noun];
        const [adjective = "", deutsch = ""] = ADJECTIVES[kind] ?? [];
        const him = object && article === "der";
        return [["the", adjective, english],
          [him ? "den" : article, deutsch && him ? `${deutsch}n` : deutsch, german]];
      };
      const [subject, object] = [phrase(parts[0], parts[1], false), phrase(parts[2], parts[3], true)];
      const [verb, ending] = VERBS[parts[4]];
      return { source: tokens(["that", ...subject[0], verb, ...object[0]]),
        target: tokens(["dass", ...subject[1], ...object[1], ending]) };
    }
  };
  return { words, places: LENGTH + 1, draw: drawn(false), test: drawn(true) };
}

/**
 * The reader's own: each place of the target says which place of the source it gives back (counted
 * from 1), and each of ten digits what becomes of it.
 * @typedef {{order: number[], becomes: number[]}} Own
 *
 * @param {string} name @param {Own} own @returns {Task}
 */
export function taskOf(name, { order, becomes }) {
  switch (name) {
    case "copy": return digits((i) => i);
    case "longer": return digits((i) => i, undefined, 3);
    case "reverse": return digits((i, length) => length - 1 - i);
    case "sort": return sort();
    case "verb": return verbLast();
    case "clauses": return clauses();
    default: return digits((i) => order[i] - 1, (digit) => becomes[digit]);
  }
}
