// @ts-check
// Text to token ids and back, as transformer/text has it; tests hold the two equal.

import { normalize } from "../kit/normalization.js";

/**
 * @typedef {object} Tokenizer
 * @property {(text: string) => number[]} encode without marks
 * @property {(text: string) => number} fewest tokens that a text can have, quickly told
 * @property {(ids: number[]) => string} decode marks are left out
 * @property {(ids: number[]) => string[]} pieces each id's token as it is shown
 */

// The marks come first: 0 is padding.
export const BOS = 1;
export const EOS = 2;
const UNKNOWN = 3;
const SPECIAL = 4;
const AT_ONCE = 1024; // merges that are read between two pauses
export const SPACE = "\u2581";
// What the `tokenizers` library calls punctuation: Unicode's, and all of ASCII's.
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;

/**
 * One token for each word of a list, of which the first four are the marks.
 * @param {string[]} words @returns {Tokenizer}
 */
function wordTokenizer(words) {
  const known = new Map([
    ...words.map((word, id) => /** @type {const} */ ([normalize(word), id])),
    ...words.map((word, id) => /** @type {const} */ ([word, id])),
  ]);
  return {
    fewest: () => 0,
    encode: (text) => normalize(text).split(" ").filter((word) => word)
      .map((word) => known.get(word) ?? UNKNOWN),
    decode: (tokens) =>
      tokens.filter((id) => id >= SPECIAL || id === UNKNOWN).map((id) => words[id]).join(" "),
    pieces: (tokens) => tokens.map((id) => words[id]),
  };
}

/**
 * Byte-pair encoding.
 * @param {string[]} vocab the tokens in the order of their ids
 * @param {(number | string)[]} merges the oldest first: where it cuts the token that it makes,
 *   which stands as far from the vocabulary's end as the merge from the merges'; or both parts, with
 *   a space between
 * @param {() => Promise<void>} pause gives the page its turn
 * @returns {Promise<Tokenizer>}
 */
async function bpeTokenizer(vocab, merges, pause) {
  const ids = new Map(vocab.map((token, id) => [token, id]));
  await pause();
  /** @type {Map<string, number>} */
  const ages = new Map();
  for (const [age, merge] of merges.entries()) {
    const token = vocab[vocab.length - merges.length + age];
    ages.set(typeof merge === "string" ? merge : `${token.slice(0, merge)} ${token.slice(merge)}`, age);
    if (age % AT_ONCE === 0) await pause();
  }
  const byteToken = (/** @type {number} */ byte) =>
    `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
  /** @type {Map<number, number>} */
  const byteOf = new Map(Array.from({ length: 256 }, (_, byte) =>
    [/** @type {number} */ (ids.get(byteToken(byte))), byte]));
  await pause();
  const bytesOf = (/** @type {string} */ text) =>
    [...new TextEncoder().encode(text)].map(byteToken);
  const spelled = (/** @type {string[]} */ pieces) =>
    pieces.map((piece) => /** @type {number} */ (ids.get(piece)));

  /** A word's ids: its characters, joined by the oldest merge first. @param {string} word */
  function merged(word) {
    const pieces = [...word].flatMap((letter) => (ids.has(letter) ? [letter] : bytesOf(letter)));
    const ageAt = (/** @type {number} */ i) => ages.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity;
    // The age of each pair: a merge makes only its neighbours' anew.
    const pairs = pieces.map((_, i) => ageAt(i));
    for (;;) {
      let [oldest, at] = [Infinity, 0];
      for (let i = 0; i < pairs.length; i += 1) if (pairs[i] < oldest) [oldest, at] = [pairs[i], i];
      if (oldest === Infinity) return spelled(pieces);
      pieces.splice(at, 2, pieces[at] + pieces[at + 1]);
      pairs.splice(at, 1);
      pairs[at] = ageAt(at);
      if (at) pairs[at - 1] = ageAt(at - 1);
    }
  }

  /** Words begin at their space; punctuation stands alone. @param {string} text */
  function words(text) {
    const found = [""];
    for (const letter of text.replaceAll(" ", SPACE)) {
      if (PUNCTUATION.test(letter)) found.push(letter, "");
      else if (letter === SPACE) found.push(letter);
      else found[found.length - 1] += letter;
    }
    return found.filter((word) => word);
  }

  const longest = vocab.reduce((most, token) => Math.max(most, token.length), 1);

  return {
    fewest: (text) => Math.ceil(normalize(text).length / longest),
    encode(text) {
      // A ▁ of the text itself is spelled in bytes: as a token it stands for a space.
      const [first, ...others] = ` ${normalize(text)}`.split(SPACE)
        .map((part) => words(part).flatMap(merged));
      return [...first, ...others.flatMap((part) => [...spelled(bytesOf(SPACE)), ...part])];
    },
    decode(tokens) {
      let text = "";
      /** @type {number[]} */
      let bytes = [];
      const flush = () => {
        try {
          const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
          text += decoder.decode(Uint8Array.from(bytes));
        } catch {
          text += "\ufffd".repeat(bytes.length);
        }
        bytes = [];
      };
      for (const id of tokens) {
        if (id < SPECIAL) continue;
        const byte = byteOf.get(id);
        if (byte === undefined) {
          flush();
          text += vocab[id].replaceAll(SPACE, " ");
        } else {
          bytes.push(byte);
        }
      }
      flush();
      return text.startsWith(" ") ? text.slice(1) : text;
    },
    pieces: (tokens) => tokens.map((id) => vocab[id]),
  };
}

/**
 * @param {{words: string[]} | {vocab: string[], merges: (number | string)[]}} lists
 * @param {() => Promise<void>} pause gives the page its turn
 * @returns {Promise<Tokenizer>}
 */
export async function tokenizerOf(lists, pause) {
  if ("words" in lists) return wordTokenizer(lists.words);
  return bpeTokenizer(lists.vocab, lists.merges, pause);
}
