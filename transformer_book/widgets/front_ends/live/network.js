// @ts-check
// The Transformer, computed where the reader is: what attention.py, layers.py and model.py compute,
// for one sentence, with a cache. Vectors stand one behind the other in flat arrays.

import { attend } from "./attention.js";
import { rowOf } from "./product.js";

/**
 * @typedef {import("./weights.js").Weights} Weights
 *
 * What is kept of the positions so far: for each layer their keys and values, a vector each.
 * @typedef {{keys: Float32Array[], values: Float32Array[]}[]} Cache
 *
 * @typedef {import("./attention.js").Looked} Looked
 *
 * @typedef {Set<string>} Silenced heads that say nothing, by attention and number: "decoder.0.cross.3"
 */

const EPSILON = 1e-5; // torch.nn.LayerNorm's

/** Section 3.5, each number rounded once. @param {number} position @param {number} width */
function sinusoid(position, width) {
  const row = new Float32Array(width);
  for (let i = 0; i < width; i += 2) {
    const angle = position * 10_000 ** (-i / width);
    row[i] = Math.sin(angle);
    row[i + 1] = Math.cos(angle);
  }
  return row;
}

/**
 * A model that can be run. Its methods are generators: at each `yield` the page may have its turn.
 * @param {Weights} weights
 */
export function transformer(weights) {
  const { config, engine, matrix, vector, without } = weights;
  const { d_model: d, n_heads: heads, n_layers: layers } = config;
  const dV = config.d_v ?? d / heads;
  const root = Math.sqrt(d);

  /** The n vectors of width `width` in x. @param {Float32Array} x @param {number} width */
  const vectors = (x, width) =>
    Array.from({ length: x.length / width }, (_, i) => x.subarray(i * width, (i + 1) * width));

  /**
   * @param {"src" | "tgt"} side @param {number[]} tokens @param {number} start the first position
   * @param {number} step how far the next token's position is: 1, or 0 for tokens side by side
   */
  function embed(side, tokens, start, step) {
    const table = matrix(`${side}_embedding.weight`);
    const x = new Float32Array(tokens.length * d);
    tokens.forEach((token, n) => {
      const row = rowOf(table, token);
      const position = start + n * step;
      const place = without?.has(`${side}_positions`) ? null : config.positions === "learned"
        ? rowOf(matrix(`${side}_positions.table`), position) : sinusoid(position, d);
      for (let i = 0; i < d; i += 1) x[n * d + i] = row[i] * root + (place?.[i] ?? 0);
    });
    return x;
  }

  /** x (n, ins) through a linear layer. @param {Float32Array} x @param {string} name */
  function* linear(x, name) {
    const w = matrix(`${name}.weight`);
    const n = x.length / w.ins;
    const y = new Float32Array(n * w.outs);
    const bias = name.includes("feed_forward") ? vector(`${name}.bias`) : null;
    yield* engine.product(x, n, w, bias, y);
    return y;
  }

  /** Layer norm of each vector. @param {Float32Array} x @param {string} name */
  function norm(x, name) {
    const [gain, shift] = [vector(`${name}.weight`), vector(`${name}.bias`)];
    const y = new Float32Array(x.length);
    for (let at = 0; at < x.length; at += d) {
      let [mean, variance] = [0, 0];
      for (let i = 0; i < d; i += 1) mean += x[at + i] / d;
      for (let i = 0; i < d; i += 1) variance += (x[at + i] - mean) ** 2 / d;
      const by = 1 / Math.sqrt(variance + EPSILON);
      for (let i = 0; i < d; i += 1) y[at + i] = (x[at + i] - mean) * by * gain[i] + shift[i];
    }
    return y;
  }

  /**
   * "Add & Norm" around a sub-layer, the norm where the model has it.
   * @param {Float32Array} x @param {string} name
   * @param {(h: Float32Array) => Generator<void, Float32Array>} sublayer
   */
  function* residual(x, name, sublayer) {
    const place = `${name}_residual.norm`;
    const pre = config.norm === "pre";
    const y = yield* sublayer(pre ? norm(x, place) : x);
    if (!without?.has("shortcuts")) for (let i = 0; i < y.length; i += 1) y[i] += x[i];
    return pre ? y : norm(y, place);
  }

  /** Equation 2. @param {string} layer */
  const feedForward = (layer) => function* run(/** @type {Float32Array} */ h) {
    const inner = yield* linear(h, `${layer}.feed_forward.inner`);
    for (let i = 0; i < inner.length; i += 1) if (inner[i] < 0) inner[i] = 0;
    return yield* linear(inner, `${layer}.feed_forward.outer`);
  };

  /** Keys and values of the vectors in x, one each. @param {Float32Array} x @param {string} name */
  function* keysAndValues(x, name) {
    const keys = yield* linear(x, `${name}.w_key`);
    const values = yield* linear(x, `${name}.w_value`);
    const n = x.length / d;
    return { keys: vectors(keys, keys.length / n), values: vectors(values, values.length / n) };
  }

  /**
   * Each query in its own turn over its own keys; what silenced heads found is zero.
   * @param {Float32Array} h @param {string} name
   * @param {(i: number) => {keys: Float32Array[], values: Float32Array[]}} cacheOf the i-th query's
   * @param {(i: number, looked: Looked) => void} watch
   * @param {(head: number) => boolean} silent
   */
  function* attention(h, name, cacheOf, watch, silent) {
    const queries = yield* linear(h, `${name}.w_query`);
    const n = h.length / d;
    const mixed = new Float32Array(n * heads * dV);
    const outputs = vectors(mixed, heads * dV);
    for (const [i, query] of vectors(queries, queries.length / n).entries()) {
      watch(i, attend(query, cacheOf(i), heads, outputs[i]));
      for (let head = 0; head < heads; head += 1) {
        if (silent(head)) outputs[i].fill(0, head * dV, (head + 1) * dV);
      }
      yield;
    }
    return yield* linear(mixed, `${name}.w_output`);
  }

  /**
   * The source's memory, as the keys and values that each decoder layer will ask, and where the
   * encoder's heads looked: layer -> head -> query -> weights.
   * @param {number[]} source with the end mark @param {Silenced} [silenced]
   */
  function* encode(source, silenced = new Set()) {
    /** @type {Float32Array} */
    let x = embed("src", source, 0, 1);
    /** @type {Float32Array[][][]} */
    const looked = [];
    for (let l = 0; l < layers; l += 1) {
      const layer = `encoder.layers.${l}`;
      /** @type {Float32Array[][]} */
      const rows = Array.from({ length: heads }, () => []);
      looked.push(rows);
      if (without?.has(`encoder.${l}`)) continue;
      x = yield* residual(x, `${layer}.self_attention`, function* run(h) {
        const own = yield* keysAndValues(h, `${layer}.self_attention`);
        return yield* attention(h, `${layer}.self_attention`, () => own,
          (_, weights) => weights.forEach((row, head) => rows[head].push(row)),
          (head) => silenced.has(`encoder.${l}.self.${head}`));
      });
      x = yield* residual(x, `${layer}.feed_forward`, feedForward(layer));
    }
    if (config.norm === "pre") x = norm(x, "encoder.norm");
    /** @type {Cache} */
    const memory = [];
    for (let l = 0; l < layers; l += 1) {
      memory.push(yield* keysAndValues(x, `decoder.layers.${l}.cross_attention`));
    }
    return { memory, looked };
  }

  /** Nothing written yet. @returns {Cache} */
  const start = () => Array.from({ length: layers }, () => ({ keys: [], values: [] }));

  /**
   * One position more for some outputs of the same sentence: the logits of the token after it, and
   * where each head looked.
   * @param {number[]} tokens the newest token of each @param {number} position its place
   * @param {Cache[]} caches of each; they grow @param {Cache} memory @param {Silenced} [silenced]
   * @param {number} [apart] how far the next token's place is: not 0 if they are one output's
   */
  function* step(tokens, position, caches, memory, silenced = new Set(), apart = 0) {
    /** @type {Float32Array} */
    let x = embed("tgt", tokens, position, apart);
    /** @type {{self: Looked[], cross: Looked[]}[]} output -> layer -> head -> weights */
    const looked = tokens.map(() => ({ self: [], cross: [] }));
    for (let l = 0; l < layers; l += 1) {
      const layer = `decoder.layers.${l}`;
      x = yield* residual(x, `${layer}.self_attention`, function* run(h) {
        const { keys, values } = yield* keysAndValues(h, `${layer}.self_attention`);
        caches.forEach((cache, n) => {
          if (tokens[n] === config.pad_id) return; // nobody looks at padding, were it drawn
          cache[l].keys.push(keys[n]);
          cache[l].values.push(values[n]);
        });
        return yield* attention(h, `${layer}.self_attention`, (n) => caches[n][l],
          (n, weights) => looked[n].self.push(weights),
          (head) => silenced.has(`decoder.${l}.self.${head}`));
      });
      x = yield* residual(x, `${layer}.cross_attention`, (h) =>
        attention(h, `${layer}.cross_attention`, () => memory[l],
          (n, weights) => looked[n].cross.push(weights),
          (head) => silenced.has(`decoder.${l}.cross.${head}`)));
      x = yield* residual(x, `${layer}.feed_forward`, feedForward(layer));
    }
    if (config.norm === "pre") x = norm(x, "decoder.norm");
    const output = matrix("output.weight");
    const logits = new Float32Array(tokens.length * output.outs);
    yield* engine.product(x, tokens.length, output, null, logits);
    return { logits: vectors(logits, output.outs), looked };
  }

  /** The same model with other weights. @param {(own: Weights) => Weights} change */
  const changed = (change) => transformer(change(weights));
  return { config, encode, start, step, changed };
}

/** A cache that goes on by itself: a step adds vectors and changes none. @param {Cache} cache */
export function forked(cache) {
  return cache.map(({ keys, values }) => ({ keys: [...keys], values: [...values] }));
}
