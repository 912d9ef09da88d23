// @ts-check
// Colours that stay apart for colour-blind readers, the same as in the book's static figures.

/** Okabe and Ito's, by their CSS names in widgets.css, so that dark pages get brighter ones. */
export const SERIES = [0, 1, 2, 3, 4, 5].map((i) => `var(--tfw-series-${i})`);

// Viridis at every sixteenth, red green blue.
const VIRIDIS = [
  [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142],
  [42, 120, 142], [35, 136, 142], [31, 152, 139], [34, 168, 132], [53, 183, 121],
  [84, 197, 104], [122, 209, 81], [165, 219, 54], [210, 226, 27], [239, 229, 28], [253, 231, 37],
];

// Blue over white to red, for values around zero.
const RED_BLUE = [
  [5, 48, 97], [33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240],
  [247, 247, 247], [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43], [103, 0, 31],
];

/** @typedef {[number, number, number]} Colour red, green and blue, 0 to 255 */

/** @param {number[][]} anchors @param {number} t 0 to 1 @returns {Colour} */
function between(anchors, t) {
  const place = Math.min(Math.max(t, 0), 1) * (anchors.length - 1);
  const left = Math.min(Math.floor(place), anchors.length - 2);
  const share = place - left;
  const mix = (/** @type {number} */ i) =>
    Math.round(anchors[left][i] * (1 - share) + anchors[left + 1][i] * share);
  return [mix(0), mix(1), mix(2)];
}

/** For weights and probabilities. @param {number} t 0 to 1 */
export function sequential(t) {
  return between(VIRIDIS, t);
}

/** For values around 0. @param {number} t -1 to 1 */
export function diverging(t) {
  return between(RED_BLUE, (t + 1) / 2);
}

/** @param {Colour} colour */
export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever reads better on the colour. @param {Colour} colour */
export function inkOn(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return light > 0.179 ? "#000" : "#fff";
}
