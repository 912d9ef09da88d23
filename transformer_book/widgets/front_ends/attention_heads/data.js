// @ts-check
// The weights of all heads, unpacked, and what each head does on the whole.

import { ATTENTIONS, ONE } from "../kit/attentions.js";

/**
 * @typedef {{source: string[], target: string[], alignment: [number, number][], said: string}} Example
 */
/** @typedef {{heads: Object<string, number[]>, examples: Example[]}} Contents */

/** @typedef {import("../kit/lines.js").Head} Head */

/** @typedef {(example: number, kind: string, layer: number, head: number) => Head} Reader */

/**
 * How to reach each head. Null if bytes and names do not belong together (one of them is late).
 * @param {Uint8Array} bytes all low bytes, then all high bytes
 * @param {Contents} contents
 * @returns {Reader | null}
 */
export function readerOf(bytes, contents) {
  const count = bytes.length / 2;
  const all = new Uint16Array(count);
  for (let i = 0; i < count; i += 1) all[i] = bytes[i] | (bytes[count + i] << 8);
  /** @type {Map<string, Head>} */
  const heads = new Map();
  let start = 0;
  contents.examples.forEach((example, e) => {
    for (const kind of kindsOf(contents)) {
      const rows = example[ATTENTIONS[kind].queries];
      const columns = example[ATTENTIONS[kind].keys];
      const links = kind === "cross" ? example.alignment : [];
      contents.heads[kind].forEach((number, layer) => {
        for (let head = 0; head < number; head += 1) {
          const end = start + rows.length * columns.length;
          const cells = all.subarray(start, end);
          heads.set(`${e} ${kind} ${layer} ${head}`, { cells, rows, columns, links });
          start = end;
        }
      });
    }
  });
  if (start !== count) return null;
  return (example, kind, layer, head) =>
    /** @type {Head} */ (heads.get(`${example} ${kind} ${layer} ${head}`));
}

/** The kinds of attention that a model has. @param {Contents} contents */
export function kindsOf(contents) {
  return Object.keys(ATTENTIONS).filter((kind) => kind in contents.heads);
}

const LOGS = Float64Array.from({ length: ONE + 1 }, (_, i) => (i ? i * Math.log2(i) : 0));

/** @param {number[]} values */
const average = (values) =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

/**
 * What a head does on the whole; null where a number makes no sense.
 * @param {Head} head @param {boolean} self whether queries and keys are the same tokens
 */
export function statistics({ cells, rows, columns, links }, self) {
  const width = columns.length;
  const at = (/** @type {number} */ row, /** @type {number} */ column) =>
    cells[row * width + column] / ONE;
  const bits = [];
  for (let row = 0; row < rows.length; row += 1) {
    let sum = 0;
    let logs = 0;
    for (let i = row * width; i < (row + 1) * width; i += 1) {
      sum += cells[i];
      logs += LOGS[cells[i]];
    }
    // A row without weights asks nothing; the others are scaled to a sum of 1.
    if (sum) bits.push(Math.max(0, Math.log2(sum) - logs / sum));
  }
  const both = Math.min(rows.length, width);
  /** @type {Map<number, number>} */
  const aligned = new Map();
  for (const [row, column] of links) aligned.set(row, (aligned.get(row) ?? 0) + at(row, column));
  return {
    entropy: average(bits),
    previous: self
      ? average(Array.from({ length: both - 1 }, (_, i) => at(i + 1, i))) : null,
    diagonal: average(Array.from({ length: both }, (_, i) => at(i, i))),
    aligned: average([...aligned.values()]),
  };
}
