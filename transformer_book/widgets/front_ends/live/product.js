// @ts-check
// A matrix times some vectors: nearly all that a Transformer computes. `product.wat` does it eight
// numbers at a time, where the browser lets it; plain JavaScript does the same, one by one.

import { assembled } from "./assembled.js";

// product.wat, assembled; a test holds the two together.
const ASSEMBLED =
  "AGFzbQEAAAABJgVgAn9/AX1gAXsBe2AJf39/f39/f39/AGACe3sBe2AEe3t7ewF7AhABBHBhZ2UGbWVtb3J5AgABAwYFAAEC" +
  "AwQHEwIFaGFsdmUAAAdwcm9kdWN0AAIKgAcF6AECA38GeyAAIAFBAnRqIQMgACECA0AgBSAC/QAEAP3gAf3pASEFIAJBEGoh" +
  "AiACIANJDQALIAX9HwAgBf0fAZcgBf0fAiAF/R8Dl5e8QRd2IQQgBEEdSQRAQR0hBAtBmgIgBGtBF3S+/RMhBiAAIQIDQCAG" +
  "IAL9AAQA/eYB/Wr9+AEhByAGIAL9AAQQ/eYB/Wr9+AEhCCAHEAEhCSAIEAEhCiACIAkgCv2FAf0LBAAgAiAHIAlBD/2rAf2x" +
  "ASAIIApBD/2rAf2xAf2FAf0LBBAgAkEgaiECIAIgA0kNAAsgBEEca0EXdL4LHgAgAP0MAEAAAABAAAAAQAAAAEAAAP2uAUEP" +
  "/awBC7gDAgp/C3sgBSEJA0AgAyAEaiESIAAhCyABIQwgCCENIAIhCgNAIAMhDiAOIARqIQ8gDyAEaiEQIBAgBGohEf0MAAAA" +
  "AAAAAAAAAAAAAAAAACEWIBYhFyAWIRggFiEZIBYhGiAWIRsgFiEcIBYhHQNAIAv9AAQAIRMgC/0ABBAhFCAO/QEDACEVIBYg" +
  "EyAV/boB/a4BIRYgGiAUIBX9ugH9rgEhGiAP/QEDACEVIBcgEyAV/boB/a4BIRcgGyAUIBX9ugH9rgEhGyAQ/QEDACEVIBgg" +
  "EyAV/boB/a4BIRggHCAUIBX9ugH9rgEhHCAR/QEDACEVIBkgEyAV/boB/a4BIRkgHSAUIBX9ugH9rgEhHSALQSBqIQsgDkEI" +
  "aiEOIA9BCGohDyAQQQhqIRAgEUEIaiERIA4gEkkNAAsgDSAH/QAEACAG/QAEACAM/QkCAP3mASAWIBoQAyAXIBsQAyAYIBwQ" +
  "AyAZIB0QAxAE/eYB/eQB/QsEACANIAVBAnRqIQ0gDEEEaiEMIApBAWshCiAKDQALIBEhAyAGQRBqIQYgB0EQaiEHIAhBEGoh" +
  "CCAJQQRrIQkgCQ0ACwskAP0MAAAARwAAAEcAAABHAAAARyAA/foB/eYBIAH9+gH95AELlQEBAnsgACAB/Q0AAQIDEBESEwQF" +
  "BgcUFRYXIAAgAf0NCAkKCxgZGhsMDQ4PHB0eH/3kASEEIAIgA/0NAAECAxAREhMEBQYHFBUWFyACIAP9DQgJCgsYGRobDA0O" +
  "DxwdHh/95AEhBSAEIAX9DQABAgMEBQYHEBESExQVFhcgBCAF/Q0ICQoLDA0ODxgZGhscHR4f/eQBCw==";
const LANES = 16; // what a row, a vector or a column of a matrix is filled up to, with zeros
const WIDEST = 4096; // numbers in a row, at most, for product.wat
const ROWS = 32; // so many vectors at once, at most
// Multiply-adds between two pauses: some milliseconds, also on a phone.
const AT_ONCE = { simd: 2 ** 23, plain: 2 ** 19 };

/**
 * A matrix (outs, ins), as it is packed: its rows of whole numbers one behind the other, each filled
 * up with zeros to `stride`, and the scale by which each row is multiplied (transformer/weights/rounding.py).
 * @typedef {{outs: number, ins: number, stride: number, rows: Int8Array, scales: Float32Array}} Matrix
 * @typedef {object} Engine where matrices live and products are computed
 * @property {"simd" | "plain"} kind
 * @property {(outs: number, ins: number) => Matrix} matrix an empty one
 * @property {(x: Float32Array, n: number, matrix: Matrix, bias: Float32Array | null,
 *   y: Float32Array) => Generator<void>} product
 *   y (n, outs) becomes x (n, ins) times the matrix, plus the bias; it yields wherever the page may
 *   have its turn
 */

/** @param {number} width */
const filledUp = (width) => Math.ceil(width / LANES) * LANES;

/** A row of a matrix, in the numbers that it stands for. @param {Matrix} matrix @param {number} o */
export function rowOf({ rows, stride, ins, scales }, o) {
  const row = new Float32Array(ins);
  for (let i = 0; i < ins; i += 1) row[i] = rows[o * stride + i] * scales[o];
  return row;
}

/**
 * The dot product of two stretches of n numbers. Four sums, since each addition waits for the one
 * before it.
 * @param {Float32Array} x @param {number} from @param {Int8Array} w @param {number} at
 * @param {number} n
 */
function dot(x, from, w, at, n) {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < n; i += 4) {
    a += x[from + i] * w[at + i];
    b += x[from + i + 1] * w[at + i + 1];
    c += x[from + i + 2] * w[at + i + 2];
    d += x[from + i + 3] * w[at + i + 3];
  }
  for (; i < n; i += 1) a += x[from + i] * w[at + i];
  return a + b + (c + d);
}

/** @returns {Engine} */
export function plainEngine() {
  return {
    kind: "plain",
    matrix: (outs, ins) => ({ outs, ins, stride: ins, rows: new Int8Array(outs * ins),
      scales: new Float32Array(outs) }),
    *product(x, n, { outs, ins, rows, scales }, bias, y) {
      let done = 0;
      for (let r = 0; r < n; r += 1) {
        const from = r * ins;
        for (let o = 0; o < outs; o += 1) {
          y[r * outs + o] = dot(x, from, rows, o * ins, ins) * scales[o] + (bias ? bias[o] : 0);
          done += ins;
          if (done > AT_ONCE.plain) {
            done = 0;
            yield;
          }
        }
      }
      yield;
    },
  };
}

/**
 * The same by WebAssembly; null where the browser has none, or a page's policy forbids it, or a
 * matrix is too wide.
 * @param {{outs: number, ins: number}[]} sizes of all matrices that will be asked for
 * @returns {Promise<Engine | null>}
 */
export async function simdEngine(sizes) {
  const widest = filledUp(Math.max(...sizes.map(({ ins }) => ins)));
  const highest = filledUp(Math.max(...sizes.map(({ outs }) => outs)));
  if (widest > WIDEST) return null;
  const floats = (widest + highest + 1) * ROWS + highest
    + sizes.reduce((sum, { outs }) => sum + filledUp(outs), 0);
  const bytes = sizes.reduce((sum, { outs, ins }) => sum + filledUp(outs) * filledUp(ins), 0);
  try {
    const { memory, functions } = await assembled(ASSEMBLED, 4 * floats + bytes);
    const { halve, product: multiply } = functions;
    const all = new Float32Array(memory.buffer);
    let free = 0; // in floats
    const place = (/** @type {number} */ length) => {
      free += length;
      return free - length;
    };
    const [xAt, yAt] = [place(widest * ROWS), place(highest * ROWS)];
    const [unitsAt, biasAt] = [place(ROWS), place(highest)];
    return {
      kind: "simd",
      matrix(outs, ins) {
        const stride = filledUp(ins);
        const size = filledUp(outs) * stride;
        const scalesAt = place(filledUp(outs));
        return { outs, ins, stride, rows: new Int8Array(memory.buffer, 4 * place(size / 4), size),
          scales: all.subarray(scalesAt, scalesAt + outs) };
      },
      *product(x, n, { outs, ins, stride, rows, scales }, bias, y) {
        const high = filledUp(outs);
        const most = Math.max(1, Math.min(ROWS, Math.floor(AT_ONCE.simd / rows.length)));
        for (let r = 0; r < n; r += most) {
          const some = Math.min(most, n - r);
          for (let i = 0; i < some; i += 1) {
            const at = xAt + i * stride;
            all.set(x.subarray((r + i) * ins, (r + i + 1) * ins), at);
            all.fill(0, at + ins, at + stride);
            all[unitsAt + i] = halve(4 * at, stride);
          }
          all.fill(0, biasAt, biasAt + high);
          if (bias) all.set(bias, biasAt);
          multiply(4 * xAt, 4 * unitsAt, some, rows.byteOffset, stride, high, scales.byteOffset,
            4 * biasAt, 4 * yAt);
          for (let i = 0; i < some; i += 1) {
            const at = yAt + i * high;
            y.set(all.subarray(at, at + outs), (r + i) * outs);
          }
          yield;
        }
      },
    };
  } catch {
    return null;
  }
}
