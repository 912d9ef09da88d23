// @ts-check
// Figure 1 as a graph, for training: what embedding.py, attention.py, layers.py and model.py compute.

import { Graph } from "./graph.js";
import { normal } from "./random.js";

/**
 * @typedef {import("./graph.js").Tensor} Tensor
 * @typedef {import("./product.js").Engine} Engine
 *
 * The settings of config.py, and which parts are there: the mask that hides what is yet to be
 * written, the cross-attention, the division by the root of d_k, the shortcuts, the feed-forward.
 * @typedef {{vocab: number, d_model: number, d_ff: number, n_heads: number, n_layers: number,
 *   d_k: number, max_len: number, norm: "pre" | "post" | "none",
 *   positions: "sinusoidal" | "learned" | "none", causal: boolean, cross: boolean, scaled: boolean,
 *   shortcuts: boolean, feed_forward: boolean}} Config
 *
 * @typedef {{batch: number, places: number, learns?: boolean, smoothing?: number}} Sizes
 * @typedef {{source: number[], target: number[]}} Pair tokens, without marks
 */

const AT_ONCE = 2 ** 15; // numbers that Adam changes between two pauses
export const PAD = 0;
export const BOS = 1;
export const EOS = 2;

/** Names and shapes of all parameters, as model.py has them. @param {Config} c */
function shapes(c) {
  const [d, width] = [c.d_model, c.n_heads * c.d_k];
  /** @type {[string, number, number][]} */
  const all = [["src_embedding.weight", c.vocab, d]]; // of both languages, and of the output
  const norm = (/** @type {string} */ name) => {
    if (c.norm !== "none") all.push([`${name}.weight`, 1, d], [`${name}.bias`, 1, d]);
  };
  if (c.positions === "learned") {
    for (const side of ["src", "tgt"]) all.push([`${side}_positions.table`, c.max_len, d]);
  }
  for (const stack of ["encoder", "decoder"]) {
    for (let l = 0; l < c.n_layers; l += 1) {
      const layer = `${stack}.layers.${l}`;
      for (const kind of stack === "decoder" && c.cross ? ["self", "cross"] : ["self"]) {
        const name = `${layer}.${kind}_attention`;
        for (const w of ["query", "key", "value"]) all.push([`${name}.w_${w}.weight`, width, d]);
        all.push([`${name}.w_output.weight`, d, width]);
        norm(`${name}_residual.norm`);
      }
      if (!c.feed_forward) continue;
      const name = `${layer}.feed_forward`;
      all.push([`${name}.inner.weight`, c.d_ff, d], [`${name}.inner.bias`, 1, c.d_ff],
        [`${name}.outer.weight`, d, c.d_ff], [`${name}.outer.bias`, 1, d]);
      norm(`${name}_residual.norm`);
    }
    if (c.norm === "pre") norm(`${stack}.norm`);
  }
  return all;
}

/** All numbers that are learned, and what Adam keeps of them: each in one stretch. */
export class Parameters {
  /** @param {Config} config @param {Engine} engine */
  constructor(config, engine) {
    this.config = config;
    const all = shapes(config);
    /** How many there are. */
    this.count = all.reduce((sum, [, rows, cols]) => sum + rows * cols, 0);
    this.data = engine.place(this.count);
    this.grad = engine.place(this.count);
    this.mean = engine.place(this.count);
    this.square = engine.place(this.count);
    this.steps = 0;
    /** @type {Map<string, Tensor>} */
    this.tensors = new Map();
    let next = 0;
    for (const [name, rows, cols] of all) {
      const [data, grad] = [this.data, this.grad].map((x) => x.subarray(next, next + rows * cols));
      this.tensors.set(name, { rows, cols, data, grad });
      next += rows * cols;
    }
  }

  /** @param {string} name @returns {Tensor} */
  get(name) {
    return /** @type {Tensor} */ (this.tensors.get(name));
  }

  /** As `Transformer.reset_parameters` and torch's layers draw them. @param {() => number} uniform */
  draw(uniform) {
    const { d_model: d, d_ff: inner } = this.config;
    for (const [name, { data, rows, cols }] of this.tensors) {
      const even = (/** @type {number} */ bound) => () => (2 * uniform() - 1) * bound;
      let number = even(Math.sqrt(6 / (rows + cols)));
      if (name.includes("norm")) number = () => Number(name.endsWith("weight"));
      else if (name.endsWith("bias")) number = even((name.includes("inner") ? d : inner) ** -0.5);
      else if (name.endsWith("table")) number = () => Math.SQRT1_2 * normal(uniform);
      else if (name.includes("embedding")) number = () => 0.5 * d ** -0.5 * normal(uniform);
      for (let i = 0; i < data.length; i += 1) data[i] = number();
    }
  }

  /** A step of Adam with the settings of section 5.3. @param {number} rate */
  * adam(rate) {
    const [beta1, beta2, epsilon] = [0.9, 0.98, 1e-9];
    const { data, grad, mean, square } = this;
    this.steps += 1;
    const step = rate / (1 - beta1 ** this.steps);
    const correction = 1 / Math.sqrt(1 - beta2 ** this.steps);
    for (let i = 0; i < data.length; i += 1) {
      const g = grad[i];
      mean[i] += (1 - beta1) * (g - mean[i]);
      square[i] = beta2 * square[i] + (1 - beta2) * g * g;
      data[i] -= step * mean[i] / (Math.sqrt(square[i]) * correction + epsilon);
      if (i % AT_ONCE === 0) yield;
    }
  }
}

/** Section 3.5. @param {number} length @param {number} width */
function sinusoids(length, width) {
  return Float32Array.from({ length: length * width }, (_, at) => {
    const [position, i] = [Math.floor(at / width), at % width];
    const angle = position * 10_000 ** (-(i - i % 2) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/**
 * The model for `batch` sentences of at most so many tokens, end mark included: where tokens go in,
 * where loss, logits and weights come out. What yields does so after each operation.
 * @param {Parameters} parameters @param {Engine} engine @param {Sizes} sizes
 */
export function transformer(parameters, engine, { batch, places, learns = false, smoothing = 0 }) {
  const c = parameters.config;
  const graph = new Graph(engine, learns);
  const p = (/** @type {string} */ name) => parameters.get(name);
  const [src, tgtIn, tgtOut] = [1, 2, 3].map(() => new Int32Array(batch * places));
  const [srcLengths, tgtLengths] = [1, 2].map(() => new Int32Array(batch));
  /** @type {Map<string, Tensor>} name of an attention -> (batch * heads * queries, keys) */
  const weights = new Map();

  /** @param {"src" | "tgt"} side @param {Int32Array} tokens */
  function embed(side, tokens) {
    const x = graph.embed(tokens, p("src_embedding.weight"), Math.sqrt(c.d_model));
    if (c.positions === "none") return x;
    if (c.positions === "learned") {
      const { data, grad, cols } = p(`${side}_positions.table`);
      const [some, theirs] = [data, grad].map((all) => all.subarray(0, places * cols));
      return graph.add(x, { rows: places, cols, data: some, grad: theirs });
    }
    const table = graph.tensor(places, c.d_model);
    table.data.set(sinusoids(places, c.d_model));
    return graph.add(x, table);
  }

  /** @param {Tensor} x @param {string} name */
  const norm = (x, name) =>
    (c.norm === "none" ? x : graph.norm(x, p(`${name}.weight`), p(`${name}.bias`)));

  /** "Add & Norm" around a sub-layer. @param {Tensor} x @param {string} name @param {(h: Tensor) => Tensor} sublayer */
  function residual(x, name, sublayer) {
    const y = sublayer(c.norm === "pre" ? norm(x, `${name}_residual.norm`) : x);
    const z = c.shortcuts ? graph.add(x, y) : y;
    return c.norm === "post" ? norm(z, `${name}_residual.norm`) : z;
  }

  /** @param {string} name @param {Tensor} query @param {Tensor} key @param {boolean} causal @param {Int32Array} lengths */
  function attention(name, query, key, causal, lengths) {
    const [q, k, v] = [["query", query], ["key", key], ["value", key]].map(([w, x]) =>
      graph.linear(/** @type {Tensor} */ (x), p(`${name}.w_${w}.weight`)));
    const scores = graph.scores(q, k, batch, c.n_heads, c.scaled ? c.d_k ** -0.5 : 1);
    const w = graph.softmax(scores, places, causal, lengths);
    weights.set(name, w);
    return graph.linear(graph.mix(w, v, batch, c.n_heads), p(`${name}.w_output.weight`));
  }

  /** Equation 2. @param {string} name @param {Tensor} h */
  function feedForward(name, h) {
    const inner = graph.linear(h, p(`${name}.inner.weight`), p(`${name}.inner.bias`));
    return graph.linear(graph.relu(inner), p(`${name}.outer.weight`), p(`${name}.outer.bias`));
  }

  /** N layers. @param {Tensor} x @param {"encoder" | "decoder"} stack @param {Tensor} [memory] */
  function layers(x, stack, memory) {
    const [causal, lengths] = memory ? [c.causal, tgtLengths] : [false, srcLengths];
    for (let l = 0; l < c.n_layers; l += 1) {
      const [self, cross, forward] = ["self_attention", "cross_attention", "feed_forward"]
        .map((part) => `${stack}.layers.${l}.${part}`);
      x = residual(x, self, (h) => attention(self, h, h, causal, lengths));
      if (memory && c.cross) {
        x = residual(x, cross, (h) => attention(cross, h, memory, false, srcLengths));
      }
      if (c.feed_forward) x = residual(x, forward, (h) => feedForward(forward, h));
    }
    return c.norm === "pre" ? norm(x, `${stack}.norm`) : x;
  }

  const memory = layers(embed("src", src), "encoder");
  const encoded = graph.operations.length; // so many operations make the memory
  const hidden = layers(embed("tgt", tgtIn), "decoder", memory);
  const logits = graph.linear(hidden, p("src_embedding.weight"));
  const forward = graph.operations.length;
  const loss = learns ? graph.loss(logits, tgtOut, smoothing, PAD) : null;

  /** The most probable token after each place. */
  const best = () => Int32Array.from(tgtOut, (_, r) => {
    const row = logits.data.subarray(r * c.vocab, (r + 1) * c.vocab);
    return row.indexOf(Math.max(...row));
  });

  return { graph, weights, logits, loss, best, batch, places, srcLengths, tgtLengths,

    /** Puts sentences in, as `make_batch` does. @param {Pair[]} pairs as many as a batch has */
    fill(pairs) {
      pairs.forEach(({ source, target }, b) => {
        [srcLengths[b], tgtLengths[b]] = [source.length + 1, target.length + 1];
        for (let i = 0; i < places; i += 1) {
          const at = b * places + i;
          src[at] = source[i] ?? (i === source.length ? EOS : PAD);
          tgtOut[at] = target[i] ?? (i === target.length ? EOS : PAD);
          tgtIn[at] = i ? (target[i - 1] ?? PAD) : BOS;
        }
      });
    },

    /** Forward only, and the most probable tokens: what comes next where the true ones are read. */
    * read() {
      yield* graph.forward(0, forward);
      return best();
    },

    /**
     * Greedy search, all sentences side by side, from a guess of what will be written. With a causal
     * mask each token depends on those before it alone: so a guess that comes out again is what
     * greedy search writes, and each pass makes at least one token more right. Where the guess is
     * the last answer, that is a pass or two.
     * @param {Int32Array} [guess]
     */
    * write(guess = new Int32Array(batch * places)) {
      yield* graph.forward(0, encoded);
      let written = guess;
      for (let pass = 0; pass < places; pass += 1) {
        tgtLengths.fill(c.causal ? places : pass + 1); // nobody can see what is not yet written
        for (let i = 0; i < tgtIn.length; i += 1) tgtIn[i] = i % places ? written[i - 1] : BOS;
        yield* graph.forward(encoded, forward);
        const [found, before] = [best(), written];
        written = c.causal ? found
          : before.map((token, i) => (i % places === pass ? found[i] : token));
        if (c.causal && found.every((token, i) => token === before[i])) break;
      }
      return written;
    },

    /** Which sentences come out right as a whole, end mark included. @param {Int32Array} found */
    right(found) {
      return Array.from({ length: batch }, (_, b) => found.subarray(b * places, (b + 1) * places)
        .every((token, i) => [token, PAD].includes(tgtOut[b * places + i])));
    } };
}
