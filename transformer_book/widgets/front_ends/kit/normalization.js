// @ts-check
// What text becomes before it is encoded, as transformer/text/normalization.py has it; that file
// says why, and tests hold the two equal.

// JavaScript's white space is Unicode's, but for these.
// eslint-disable-next-line no-control-regex
const BLANKS = /[\s\x1c-\x1f\x85\u2800\u3164\uffa0]+/gu;
const INVISIBLE =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e001f}\u{e0080}-\u{e00ff}\u{e01f0}-\u{e0fff}]/gu;
export const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const FROM_THE_RIGHT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
// Of these the first group is what stays: not every browser can look behind.
const TAGS = /(\u{1f3f4}[\u{e0020}-\u{e007f}]+)|[\u{e0020}-\u{e007f}]/gu;
const SELECTORS =
  // eslint-disable-next-line no-misleading-character-class
  /(^|[ A-Za-z\u00c0-\u052f\u1e00-\u1fff])[\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;
const JOINERS =
  // eslint-disable-next-line no-misleading-character-class
  /([\u0591-\u05c7\u0600-\u180a\u1810-\u1dff\u2190-\u2bff\ua800-\uabff\ufe0f\u{10a00}-\u{11fff}\u{1f000}-\u{1faff}][\u034f\u180b-\u180f\u200c\u200d])|[\u034f\u180b-\u180f\u200c\u200d]/gu;

/** The text in one form, on one line. @param {string} text @returns {string} */
export function normalize(text) {
  const seen = text.replace(INVISIBLE, "");
  const once = (FROM_THE_RIGHT.test(seen) ? seen : seen.replace(DIRECTIONS, ""))
    .normalize("NFC").replace(BLANKS, " ").trim()
    .replace(TAGS, "$1").replace(SELECTORS, "$1").replace(JOINERS, "$1")
    .replace(/[\u2010\u2011]/gu, "-");
  return once === text ? once : normalize(once);
}
