// @ts-check
// Colours that stay apart for colour-blind readers, the same as in the book's static figures.

/** Okabe and Ito's, by their names in the kit's style.css, so that dark pages get brighter ones. */
export const SERIES = [0, 1, 2, 3, 4, 5].map((i) => `var(--tfw-series-${i})`);

// Viridis and RdBu, reversed, as matplotlib has them, at even steps.
const VIRIDIS = [
  [68, 1, 84], [71, 13, 96], [72, 24, 106], [72, 35, 116], [71, 45, 123], [69, 55, 129],
  [66, 64, 134], [62, 73, 137], [59, 82, 139], [55, 91, 141], [51, 99, 141], [47, 107, 142],
  [44, 114, 142], [41, 122, 142], [38, 130, 142], [35, 137, 142], [33, 145, 140], [31, 152, 139],
  [31, 160, 136], [34, 167, 133], [40, 174, 128], [50, 182, 122], [63, 188, 115], [78, 195, 107],
  [94, 201, 98], [112, 207, 87], [132, 212, 75], [152, 216, 62], [173, 220, 48], [194, 223, 35],
  [216, 226, 25], [236, 229, 27], [253, 231, 37],
];

// Blue over white to red, for values around zero.
const RED_BLUE = [
  [5, 48, 97], [18, 73, 132], [32, 101, 171], [50, 124, 183], [67, 147, 195], [107, 172, 209],
  [144, 196, 221], [177, 213, 231], [209, 229, 240], [228, 238, 244], [247, 246, 246],
  [250, 233, 223], [253, 219, 199], [248, 191, 164], [243, 164, 129], [228, 128, 102],
  [214, 96, 77], [196, 59, 60], [177, 24, 43], [138, 11, 37], [103, 0, 31],
];

/** Of true links: it stands out from all of viridis, on light pages and on dark ones. */
export const FRAME = "#e69f00";

/** @typedef {[number, number, number]} Colour red, green and blue, 0 to 255 */

/**
 * For no and yes: light and dark, so that the two stay apart without colour.
 * @type {[Colour, Colour]}
 */
export const TWO_COLOURS = [[227, 227, 227], [0, 114, 178]];

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
