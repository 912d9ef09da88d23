// @ts-check
// A matrix times some vectors: nearly all that a Transformer computes. `product.wat` does it four
// numbers at a time, where the browser lets it; plain JavaScript does the same, one by one.

import { fromBase64 } from "./parts.js";

// product.wat, assembled; a test holds the two together.
const ASSEMBLED =
  "AGFzbQEAAAABFgJgBXt/fX9/AGAKf39/f39/f39/fwACEAEEcGFnZQZtZW1vcnkCAAEDAwIAAQcLAQdwcm9kdWN0AAEKnwYC" +
  "RQEBfSACIAD9HwAgAP0fAZIgAP0fAiAA/R8DkpKUIQUgAwRAIAUgAyoCAJIhBQsgBARAIAUgASoCAJIhBQsgASAFOAIAC9YF" +
  "Awh/AX0LewNAIAMgAmohDSAEKgIAIRIgACEOIAchCyABIQoCQANAIApBBEkNASAOIAJBAnRqIQ8gDyACQQJ0aiEQIBAgAkEC" +
  "dGohESADIQz9DAAAAAAAAAAAAAAAAAAAAAAhFiAWIRcgFiEYIBYhGSAWIRogFiEbIBYhHCAWIR0DQCAM/QEDACETIBP9pwH9" +
  "+gEhFCAT/agB/foBIRUgFiAO/QAEACAU/eYB/eQBIRYgGiAO/QAEECAV/eYB/eQBIRogFyAP/QAEACAU/eYB/eQBIRcgGyAP" +
  "/QAEECAV/eYB/eQBIRsgGCAQ/QAEACAU/eYB/eQBIRggHCAQ/QAEECAV/eYB/eQBIRwgGSAR/QAEACAU/eYB/eQBIRkgHSAR" +
  "/QAEECAV/eYB/eQBIR0gDkEgaiEOIA9BIGohDyAQQSBqIRAgEUEgaiERIAxBCGohDCAMIA1JDQALIBYgGv3kASALIBIgBiAJ" +
  "EAAgCyAIaiELIBcgG/3kASALIBIgBiAJEAAgCyAIaiELIBggHP3kASALIBIgBiAJEAAgCyAIaiELIBkgHf3kASALIBIgBiAJ" +
  "EAAgCyAIaiELIBEhDiAKQQRrIQoMAAsLAkADQCAKRQ0BIAMhDP0MAAAAAAAAAAAAAAAAAAAAACEWIBYhFyAWIRggFiEZA0Ag" +
  "DP0BAwAhEyAWIA79AAQAIBP9pwH9+gH95gH95AEhFiAXIA79AAQQIBP9qAH9+gH95gH95AEhFyAM/QEDCCETIBggDv0ABCAg" +
  "E/2nAf36Af3mAf3kASEYIBkgDv0ABDAgE/2oAf36Af3mAf3kASEZIA5BwABqIQ4gDEEQaiEMIAwgDUkNAAsgFiAX/eQBIBgg" +
  "Gf3kAf3kASALIBIgBiAJEAAgCyAIaiELIApBAWshCgwACwsgDSEDIARBBGohBCAGBEAgBkEEaiEGCyAHQQRqIQcgBUEBayEF" +
  "IAUNAAsL";
const LANES = 16; // floats that one round of the loop in product.wat takes
const ROWS = 32; // so many vectors at once, at most
// Multiply-adds between two pauses: some milliseconds, also on a phone.
const AT_ONCE = { simd: 2 ** 23, plain: 2 ** 19 };

/**
 * A matrix (outs, ins), as it is packed: its rows of whole numbers one behind the other, each filled
 * up with zeros to `stride`, and the scale by which each row is multiplied (transformer/rounding.py).
 * @typedef {{outs: number, ins: number, stride: number, rows: Int8Array, scales: Float32Array}} Matrix
 * @typedef {object} Engine where matrices live and products are computed
 * @property {"simd" | "plain"} kind
 * @property {(outs: number, ins: number) => Matrix} matrix an empty one
 * @property {(x: Float32Array, n: number, matrix: Matrix, bias: Float32Array | null,
 *   y: Float32Array, add: boolean) => Generator<void>} product
 *   y (n, outs) becomes x (n, ins) times the matrix, plus the bias, plus y itself if `add`; it
 *   yields wherever the page may have its turn
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
    *product(x, n, { outs, ins, rows, scales }, bias, y, add) {
      let done = 0;
      for (let r = 0; r < n; r += 1) {
        const from = r * ins;
        for (let o = 0; o < outs; o += 1) {
          const sum = dot(x, from, rows, o * ins, ins) * scales[o] + (bias ? bias[o] : 0);
          y[r * outs + o] = add ? y[r * outs + o] + sum : sum;
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
 * The same by WebAssembly; null where the browser has none, or a page's policy forbids it.
 * @param {{outs: number, ins: number}[]} sizes of all matrices that will be asked for
 * @returns {Promise<Engine | null>}
 */
export async function simdEngine(sizes) {
  const whole = sizes.reduce((sum, { outs, ins }) => sum + outs * filledUp(ins), 0);
  const scales = sizes.reduce((sum, { outs }) => sum + filledUp(outs), 0);
  const widest = filledUp(Math.max(...sizes.flatMap(({ outs, ins }) => [outs, ins])));
  const scratch = widest * (2 * ROWS + 1);
  try {
    const pages = Math.ceil((4 * (LANES + scratch + scales) + whole) / 65536);
    const memory = new WebAssembly.Memory({ initial: pages });
    const module = /** @type {BufferSource} */ (fromBase64(ASSEMBLED));
    const { instance } = await WebAssembly.instantiate(module, { page: { memory } });
    const multiply = /** @type {(...numbers: number[]) => void} */ (instance.exports.product);
    const all = new Float32Array(memory.buffer);
    let free = LANES; // in floats; address 0 stands for "no bias"
    const place = (/** @type {number} */ length) => {
      free += length;
      return free - length;
    };
    const [xAt, yAt, biasAt] = [place(widest * ROWS), place(widest * ROWS), place(widest)];
    return {
      kind: "simd",
      matrix(outs, ins) {
        const stride = filledUp(ins);
        const at = 4 * place((outs * stride) / 4);
        const scalesAt = place(filledUp(outs));
        return { outs, ins, stride, rows: new Int8Array(memory.buffer, at, outs * stride),
          scales: all.subarray(scalesAt, scalesAt + outs) };
      },
      *product(x, n, { outs, ins, stride, rows, scales }, bias, y, add) {
        const most = Math.max(1, Math.min(ROWS, Math.floor(AT_ONCE.simd / (outs * stride))));
        for (let r = 0; r < n; r += most) {
          const some = Math.min(most, n - r);
          for (let i = 0; i < some; i += 1) {
            const at = xAt + i * stride;
            all.set(x.subarray((r + i) * ins, (r + i + 1) * ins), at);
            all.fill(0, at + ins, at + stride);
          }
          if (bias) all.set(bias, biasAt);
          if (add) all.set(y.subarray(r * outs, (r + some) * outs), yAt);
          multiply(4 * xAt, some, stride, rows.byteOffset, scales.byteOffset, outs,
            bias ? 4 * biasAt : 0, 4 * yAt, 4 * outs, Number(add));
          y.set(all.subarray(yAt, yAt + some * outs), r * outs);
          yield;
        }
      },
    };
  } catch {
    return null;
  }
}
