// @ts-check
// From the bytes of a packed model to matrices and vectors (transformer_book/page/model_scripts.py writes them).

import { plainEngine, simdEngine } from "./product.js";

const FORMAT = 2; // what transformer_book/page/model_scripts.py writes
const AT_ONCE = 2 ** 18; // weights that are read between two pauses

/**
 * @typedef {object} Config the model's settings, as TransformerConfig has them
 * @property {number} d_model @property {number} n_heads @property {number} n_layers
 * @property {number | null} d_k @property {number | null} d_v
 * @property {"pre" | "post"} norm @property {"sinusoidal" | "learned"} positions
 * @property {number} max_len @property {number} pad_id
 *
 * @typedef {object} Weights
 * @property {Config} config
 * @property {any} tokenizer its lists
 * @property {{leaning: number[], unsure_below: number} | null} ways of a model of two directions, as BothWays has them
 * @property {import("./product.js").Engine} engine
 * @property {(name: string) => import("./product.js").Matrix} matrix
 * @property {(name: string) => Float32Array} vector
 * @property {Set<string>} [without] parts that are left out: "src_positions", "shortcuts", "encoder.0"
 */

/** Rows from the smallest scale to the largest; of equal ones the first comes first. @param {Float32Array} scales */
const byScale = (scales) =>
  Uint32Array.from(scales, (_, o) => o).sort((a, b) => scales[a] - scales[b] || a - b);

/**
 * @param {Uint8Array} bytes
 * @param {() => Promise<void>} pause gives the page its turn
 * @param {boolean} simd whether to try the fast engine
 * @returns {Promise<Weights>}
 */
export async function weightsOf(bytes, pause, simd = true) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (head.format !== FORMAT) throw new Error("the model was packed by another edition of the book");
  let at = 4 + length;
  await pause();
  /** @type {{name: string, shape: number[]}[]} */
  const tensors = head.tensors;
  const sizes = tensors.filter(({ shape }) => shape.length === 2)
    .map(({ shape: [outs, ins] }) => ({ outs, ins }));
  const engine = (simd ? await simdEngine(sizes) : null) ?? plainEngine();
  /** @type {Map<string, import("./product.js").Matrix>} */
  const matrices = new Map();
  /** @type {Map<string, Float32Array>} */
  const vectors = new Map();
  await pause();
  for (const { name, shape: [outs, ins] } of tensors) {
    const floats = new Float32Array(bytes.slice(at, at + 4 * outs).buffer);
    at += 4 * outs;
    if (ins === undefined) {
      vectors.set(name, floats);
    } else {
      const matrix = engine.matrix(outs, ins);
      matrix.scales.set(floats);
      matrices.set(name, matrix);
    }
  }
  await pause();
  let done = 0;
  for (const { outs, ins, stride, rows, scales } of matrices.values()) {
    for (const o of byScale(scales.subarray(0, outs))) {
      rows.set(new Int8Array(bytes.buffer, bytes.byteOffset + at, ins), o * stride);
      at += ins;
      done += ins;
      if (done > AT_ONCE) {
        done = 0;
        await pause();
      }
    }
  }
  if (at !== bytes.length) throw new Error("the parts of the model do not belong together");
  /** @template T @param {Map<string, T>} all @param {string} name */
  const found = (all, name) => {
    const one = all.get(name);
    if (one === undefined) throw new Error(`the packed model has no ${name}`);
    return one;
  };
  const own = (/** @type {string} */ name) => (matrices.has(name) ? [name] : []);
  // Tied matrices are stored once, under the first one's name.
  const [source] = own("src_embedding.weight");
  const [target = source] = own("tgt_embedding.weight");
  const [output = target] = own("output.weight");
  const names = new Map([["tgt_embedding.weight", target], ["output.weight", output]]);
  return {
    config: head.config,
    tokenizer: head.tokenizer,
    ways: head.both_ways ?? null,
    engine,
    matrix: (name) => found(matrices, names.get(name) ?? name),
    vector: (name) => found(vectors, name),
  };
}
