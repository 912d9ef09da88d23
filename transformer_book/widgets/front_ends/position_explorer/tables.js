// @ts-check
// The codes as coloured cells: the whole table, and the first positions beside binary numbers.

import { diverging } from "../kit/colours.js";
import { html } from "../kit/elements.js";
import { heatmap, legend } from "../kit/heatmap.js";
import { fixed, short } from "../kit/numbers.js";
import { four, frequenciesOf, waveOf } from "./maths.js";

/** @typedef {import("./maths.js").Positions} Positions */

/** Labels that do not crowd: every n-th. @param {number} count */
function labels(count) {
  const every = [1, 2, 4, 8].find((n) => count / n <= 16) ?? 8;
  return Array.from({ length: count }, (_, i) => (i % every ? "" : String(i)));
}

/** @param {number[][]} table @param {number} pos @param {number} i */
function sayWave(table, pos, i) {
  const omega = frequenciesOf(table[pos].length)[Math.floor(i / 2)];
  return `Position ${pos}, dimension ${i}: ${waveOf(i)}(${pos} × ${fixed(omega, 6)}) = `
    + `${four(table[pos][i])}. One turn takes `
    + `${short((2 * Math.PI) / omega, 4)} positions.`;
}

/** @param {number} pos @param {number} bit @param {number} count how many bits there are */
function sayBit(pos, bit, count) {
  const flips = pos ? (pos ^ (pos - 1)).toString(2).length : 0;
  return `Position ${pos} is ${pos.toString(2).padStart(count, "0")} in binary; bit ${bit}, counted `
    + `from the right, is ${(pos >> bit) & 1}.`
    + (pos ? ` From ${pos - 1} to ${pos}, ${flips} of ${count} bits flip.` : "");
}

/**
 * A heatmap whose row is the position. Its cells are drawn anew only if there are others.
 * @param {string} label @param {string} columnTitle @param {(pos: number) => void} onPoint
 */
function cells(label, columnTitle, onPoint) {
  let column = 0;
  // Putting the cursor somewhere is no choice of the reader's.
  let ours = false;
  /** @type {number[][] | null} */
  let drawn = null;
  const map = heatmap({ label, columnTitle, rowTitle: "position", onPoint: (row, at) => {
    column = at;
    if (!ours) onPoint(row);
  } });

  /** @param {number[][]} table @param {() => Parameters<typeof map.show>[0]} matrix @param {number} row */
  function show(table, matrix, row) {
    if (drawn !== table) map.show(matrix());
    drawn = table;
    ours = true;
    map.point(row, column);
    ours = false;
  }

  return { element: map.element, show };
}

/** @param {number[][]} table @param {number} rows */
const waveMatrix = (table, rows) => ({
  rows: labels(rows),
  columns: labels(table[0].length),
  value: (/** @type {number} */ r, /** @type {number} */ c) => table[r][c],
  colour: diverging,
  say: (/** @type {number} */ r, /** @type {number} */ c) => sayWave(table, r, c),
});

const waveLegend = () => legend({ low: "\u22121", high: "1", colour: diverging, from: -1 });

/** @param {(pos: number) => void} onPoint */
export function tableView(onPoint) {
  const map = cells("Table of codes", "dimension", onPoint);
  const element = html("div", { class: "tfw-posexp-table" }, waveLegend(), map.element);

  /** @param {Positions} next */
  const show = ({ table, position }) =>
    map.show(table, () => waveMatrix(table, table.length), position);

  return { element, show, stop: () => {} };
}

/** @param {number} most positions @param {(pos: number) => void} onPoint */
export function bitsView(most, onPoint) {
  const bits = cells("Binary numbers", "bit", onPoint);
  const waves = cells("Sinusoids", "dimension", onPoint);
  const element = html("div", { class: "tfw-posexp-binary" },
    html("div", { class: "tfw-side-by-side" },
      html("div", {}, legend({ low: "0", high: "1" }), bits.element),
      html("div", {}, waveLegend(), waves.element)));

  /** @param {Positions} next */
  function show({ table, position }) {
    const rows = Math.min(table.length, most);
    const count = (rows - 1).toString(2).length;
    const row = Math.min(position, rows - 1);
    bits.show(table, () => ({
      rows: labels(rows),
      columns: labels(count),
      value: (r, c) => (r >> c) & 1,
      say: (r, c) => sayBit(r, c, count),
    }), row);
    waves.show(table, () => waveMatrix(table, rows), row);
    return row === position ? "" : `Position ${position} is not among them; the cursor stands at ${row}.`;
  }

  return { element, show, stop: () => {} };
}
