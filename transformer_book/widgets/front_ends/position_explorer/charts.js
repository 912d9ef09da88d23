// @ts-check
// Two charts: some dimensions over the position, and the similarity of two codes over their offset.

import { chart } from "../kit/chart.js";
import { fixed } from "../kit/numbers.js";
import { codeOf, dot, four, frequenciesOf, waveOf } from "./maths.js";

/** @typedef {import("./maths.js").Positions} Positions */

/** @param {(pos: number) => void} onPoint */
export function curvesView(onPoint) {
  /** @type {Positions | null} */
  let now = null;
  const picture = chart({ label: "Dimensions over positions", xTitle: "position", yTitle: "PE",
    say: (pos) => {
      const { table, dimensions } = /** @type {Positions} */ (now);
      const values = dimensions.map((i) =>
        `Dimension ${i} (${waveOf(i)}): ${four(table[pos][i])}`);
      return `Position ${pos}. ${values.join("; ")}.`;
    },
    onPoint });

  /** @param {Positions} next */
  function show(next) {
    now = next;
    const { table, dimensions, position } = next;
    picture.show({ x: table.map((_, pos) => pos), y: [-1.05, 1.05],
      series: dimensions.map((i) => ({ name: `dim. ${i} (${waveOf(i)})`,
        values: table.map((code) => code[i]) })) }, position);
  }

  return { element: picture.element, show, stop: picture.stop };
}

/** @param {number} reach the largest offset @param {(offset: number) => void} onPoint */
export function similarityView(reach, onPoint) {
  const offsets = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
  let position = 0;
  /** @type {number[]} the dot products of two codes, and what Section 3.5 makes of them */
  let dots = [];
  /** @type {number[]} */
  let sums = [];
  const picture = chart({ label: "Similarity over offsets", xTitle: "offset k",
    yTitle: "PE(pos) · PE(pos + k)",
    say: (place) => {
      const k = offsets[place];
      return `Offset ${fixed(k, 0)}. PE(${position}) · PE(${fixed(position + k, 0)}) `
        + `= ${four(dots[place])}; the sum of cos(k·ω_i), without any position: `
        + `${four(sums[place])}.`
        + (position + k < 0 ? " No token stands before position 0, but the formula holds." : "");
    },
    onPoint: (place) => onPoint(offsets[place]) });

  /** @param {Positions} next */
  function show({ d_model: d, position: pos, offset, table }) {
    position = pos;
    const frequencies = frequenciesOf(d);
    dots = offsets.map((k) => dot(table[pos], table[pos + k] ?? codeOf(pos + k, frequencies)));
    sums = offsets.map((k) => frequencies.reduce((sum, omega) => sum + Math.cos(k * omega), 0));
    const low = Math.min(0, ...dots);
    picture.show({ x: offsets, y: [low * 1.1, (d / 2) * 1.05], series: [
      { name: `from position ${pos}`, values: dots, strong: true },
      { name: "sum of cos(k·ω_i)", values: sums },
    ] }, offset + reach);
  }

  return { element: picture.element, show, stop: picture.stop };
}
