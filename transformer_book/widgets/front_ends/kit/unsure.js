// @ts-check
// When a translation deserves doubt.

/** What is written where a translation has no word. */
export const NOTHING = "nothing (the end mark comes first)";

/** A translation in quotation marks. @param {string} text */
export const quotedText = (text) => (text ? `\u201c\u2068${text}\u2069\u201d` : NOTHING);

/**
 * A line for a sentence with words that the model never met; "" for others.
 * @param {string[]} source the sentence's tokens, which are words then @param {string} sentence
 */
export function unknown(source, sentence) {
  const words = sentence.trim().split(/\s+/).filter((_, i) => source[i] === "<unk>");
  const n = words.length;
  if (n === 0) return "";
  return `${n} ${n === 1 ? "word is" : "words are"} not in the model's vocabulary (\u2068${
    words.join("\u2069, \u2068")}\u2069): it reads <unk> in ${n === 1 ? "its" : "their"} place, and guesses.`;
}

/**
 * A line for a translation that the model itself gives little; "" for others.
 * @param {number} mean the mean log-probability of its tokens @param {number} below where doubt begins
 */
export function unsure(mean, below) {
  if (mean >= below) return "";
  const share = Math.round(100 * Math.exp(mean));
  return `The model is unsure: it gives each piece ${share} % on average. Do not trust it.`;
}
