// @ts-check
// A stretch of memory for all that a model computes with, and the matrix product over it: by
// `product.wat` where the browser lets it, else in plain JavaScript.

import { assembled } from "../live/assembled.js";

// product.wat, assembled; a test holds the two together.
const ASSEMBLED =
  "AGFzbQEAAAABJgNgC39/f39/f39/f39/AGAJf39/f39/f39/AGAIf39/f39/f38AAhABBHBhZ2UGbWVtb3J5AgABAwQDAAEC" +
  "BwsBB3Byb2R1Y3QAAAqnBwOZAgEFfyAEQQJ0IQ4gCUECdCEPAkADQCAAQQRIDQEgASELIAYhDCAIIQ0CQANAIAtBCEgNASAC" +
  "IAMgBCAFIAwgByANIAkgChABIAxBIGohDCANQSBqIQ0gC0EIayELDAALCyALBEAgCyACIAMgBSAMIAcgDSAKEAIgCyACIAMg" +
  "BGogBSAMIAcgDSAJaiAKEAIgCyACIAMgBEEBdGogBSAMIAcgDSAJQQF0aiAKEAIgCyACIAMgBEEDbGogBSAMIAcgDSAJQQNs" +
  "aiAKEAILIAMgDmohAyAIIA9qIQggAEEEayEADAALCwJAA0AgAEUNASABIAIgAyAFIAYgByAIIAoQAiADIARqIQMgCCAJaiEI" +
  "IABBAWshAAwACwsLhAMCBn8LeyABIAJqIQkgCSACaiEKIAogAmohCyAGIAdqIQwgDCAHaiENIA0gB2ohDiAIBEAgBv0ABAAh" +
  "EiAG/QAEECEWIAz9AAQAIRMgDP0ABBAhFyAN/QAEACEUIA39AAQQIRggDv0ABAAhFSAO/QAEECEZCwNAIAT9AAQAIQ8gBP0A" +
  "BBAhECAB/QkCACERIBIgESAP/eYB/eQBIRIgFiARIBD95gH95AEhFiAJ/QkCACERIBMgESAP/eYB/eQBIRMgFyARIBD95gH9" +
  "5AEhFyAK/QkCACERIBQgESAP/eYB/eQBIRQgGCARIBD95gH95AEhGCAL/QkCACERIBUgESAP/eYB/eQBIRUgGSARIBD95gH9" +
  "5AEhGSABIANqIQEgCSADaiEJIAogA2ohCiALIANqIQsgBCAFaiEEIABBAWsiAA0ACyAGIBL9CwQAIAYgFv0LBBAgDCAT/QsE" +
  "ACAMIBf9CwQQIA0gFP0LBAAgDSAY/QsEECAOIBX9CwQAIA4gGf0LBBALgwIDA38BewF9AkADQCAAQQRIDQH9DAAAAAAAAAAA" +
  "AAAAAAAAAAAhCyAHBEAgBv0ABAAhCwsgAiEJIAQhCiABIQgDQCALIAn9CQIAIAr9AAQA/eYB/eQBIQsgCSADaiEJIAogBWoh" +
  "CiAIQQFrIggNAAsgBiAL/QsEACAEQRBqIQQgBkEQaiEGIABBBGshAAwACwsCQANAIABFDQFDAAAAACEMIAcEQCAGKgIAIQwL" +
  "IAIhCSAEIQogASEIA0AgDCAJKgIAIAoqAgCUkiEMIAkgA2ohCSAKIAVqIQogCEEBayIIDQALIAYgDDgCACAEQQRqIQQgBkEE" +
  "aiEGIABBAWshAAwACwsL";

/**
 * @typedef {Float32Array | Float64Array} Numbers
 *
 * C = A B, or C += A B. A is (m, k), B is (k, n), C is (m, n); places and strides count numbers.
 * Rows of B and C lie one number beside the next; A may be read in either direction.
 * @typedef {(m: number, n: number, k: number, a: number, ai: number, ak: number,
 *   b: number, bk: number, c: number, ci: number, add: boolean) => void} Product
 *
 * @typedef {object} Engine
 * @property {"simd" | "plain"} kind
 * @property {Product} product
 * @property {(n: number) => Numbers} place n numbers of the memory, all 0
 * @property {() => void} clear takes all places back, for another model
 */

/** @param {"simd" | "plain"} kind @param {Numbers} all @param {Product} product @returns {Engine} */
function engine(kind, all, product) {
  let next = 0;
  return { kind, product,
    place(n) {
      const at = next;
      next += Math.ceil(n / 4) * 4; // so that each begins on a multiple of 16 bytes
      if (next > all.length) throw new RangeError("the model needs more memory than there is");
      return all.subarray(at, at + n);
    },
    clear() {
      all.fill(0, 0, next);
      next = 0;
    } };
}

/**
 * @param {number} size how many numbers there is memory for
 * @param {typeof Float32Array | typeof Float64Array} [Kind] tests compute in double precision too
 */
export function plainEngine(size, Kind = Float32Array) {
  const f = new Kind(size);
  return engine("plain", f, (m, n, k, a, ai, ak, b, bk, c, ci, add) => {
    const [rows, columns] = [m - m % 2, n - n % 4];
    for (let i = 0; i < rows; i += 2) { // two rows and four columns at a time
      for (let j = 0; j < columns; j += 4) {
        let p0 = 0;
        let p1 = 0;
        let p2 = 0;
        let p3 = 0;
        let q0 = 0;
        let q1 = 0;
        let q2 = 0;
        let q3 = 0;
        let x = a + i * ai;
        let y = b + j;
        for (let l = 0; l < k; l += 1) {
          const p = f[x];
          const q = f[x + ai];
          p0 += p * f[y];
          p1 += p * f[y + 1];
          p2 += p * f[y + 2];
          p3 += p * f[y + 3];
          q0 += q * f[y];
          q1 += q * f[y + 1];
          q2 += q * f[y + 2];
          q3 += q * f[y + 3];
          x += ak;
          y += bk;
        }
        const at = c + i * ci + j;
        const below = at + ci;
        f[at] = p0 + (add ? f[at] : 0);
        f[at + 1] = p1 + (add ? f[at + 1] : 0);
        f[at + 2] = p2 + (add ? f[at + 2] : 0);
        f[at + 3] = p3 + (add ? f[at + 3] : 0);
        f[below] = q0 + (add ? f[below] : 0);
        f[below + 1] = q1 + (add ? f[below + 1] : 0);
        f[below + 2] = q2 + (add ? f[below + 2] : 0);
        f[below + 3] = q3 + (add ? f[below + 3] : 0);
      }
    }
    for (let i = 0; i < m; i += 1) { // what is left over at the edges
      for (let j = i < rows ? columns : 0; j < n; j += 1) {
        const at = c + i * ci + j;
        let sum = add ? f[at] : 0;
        for (let l = 0; l < k; l += 1) sum += f[a + i * ai + l * ak] * f[b + j + l * bk];
        f[at] = sum;
      }
    }
  });
}

/**
 * The same by WebAssembly; null where there is none.
 * @param {number} size how many numbers there is memory for
 */
export async function simdEngine(size) {
  try {
    const { memory, functions } = await assembled(ASSEMBLED, 4 * size);
    return engine("simd", new Float32Array(memory.buffer),
      (m, n, k, a, ai, ak, b, bk, c, ci, add) => functions.product(m, n, k,
        4 * a, 4 * ai, 4 * ak, 4 * b, 4 * bk, 4 * c, 4 * ci, Number(add)));
  } catch {
    return null;
  }
}
