// @ts-check
// What text becomes before it is encoded, as transformer/text/normalization.py has it; that file
// says why, and tests hold the two equal.
/* eslint-disable no-control-regex, no-misleading-character-class */

const BLANKS =
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u2800\u3164\uffa0\u180e]+/gu;
const INVISIBLE =
  /[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{e0001}]/gu;
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}]/u;
const JOINERS =
  /([\u0600-\u1dff\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}][\u200c\u200d])|[\u200c\u200d]/gu;
const SELECTORS = /(^| )[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;
const TAGS = /(\u{1f3f4}[\u{e0020}-\u{e007f}]+)|[\u{e0020}-\u{e007f}]/gu;

/** The text in one form, on one line. @param {string} text */
export function normalize(text) {
  const seen = text.replace(INVISIBLE, "");
  const ordered = FROM_THE_RIGHT.test(seen) ? seen : seen.replace(DIRECTIONS, "");
  return ordered.normalize("NFC").replace(BLANKS, " ")
    .replace(TAGS, "$1").replace(JOINERS, "$1").replace(SELECTORS, "$1")
    .normalize("NFC").replace(BLANKS, " ").replace(/^ | $/g, "").replaceAll("\u2011", "-");
}
