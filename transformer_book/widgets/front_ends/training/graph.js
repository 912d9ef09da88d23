// @ts-check
// Operations that know their own derivative. A graph is built once, with a place for each tensor;
// then it runs forwards and backwards as often as one likes, one operation at a time.

/**
 * @typedef {import("./product.js").Engine} Engine
 * @typedef {import("./product.js").Numbers} Numbers
 *
 * A matrix, row by row, and how much the loss changes with each of its numbers.
 * @typedef {{rows: number, cols: number, data: Numbers, grad: Numbers}} Tensor
 *
 * `backward` adds to the gradients of the operation's inputs.
 * @typedef {{forward: () => void, backward: () => void}} Operation
 */

const EPSILON = 1e-5; // torch.nn.LayerNorm's

/** Where it lies in the engine's memory. @param {Numbers} x */
const at = (x) => x.byteOffset / x.BYTES_PER_ELEMENT;

export class Graph {
  /** @param {Engine} engine @param {boolean} learns one that does not has no room for gradients */
  constructor(engine, learns) {
    this.engine = engine;
    this.learns = learns;
    /** @type {Operation[]} */
    this.operations = [];
    /** @type {Numbers[]} */
    this.gradients = [];
  }

  /** @param {number} rows @param {number} cols @returns {Tensor} */
  tensor(rows, cols) {
    const data = this.engine.place(rows * cols);
    const grad = this.learns ? this.engine.place(rows * cols) : data;
    this.gradients.push(grad);
    return { rows, cols, data, grad };
  }

  /** @template T @param {T} result @param {() => void} forward @param {() => void} backward */
  operation(result, forward, backward) {
    this.operations.push({ forward, backward });
    return result;
  }

  /** The operations from one to another, in order. @param {number} [from] @param {number} [to] */
  * forward(from = 0, to = this.operations.length) {
    for (let i = from; i < to; i += 1) yield this.operations[i].forward();
  }

  /** All operations, then their derivatives in reverse. */
  * step() {
    for (const gradient of this.gradients) gradient.fill(0);
    yield* this.forward();
    for (let i = this.operations.length - 1; i >= 0; i -= 1) yield this.operations[i].backward();
  }

  /** Each token's row of the table, times `factor`. @param {Int32Array} tokens @param {Tensor} table @param {number} factor */
  embed(tokens, table, factor) {
    const y = this.tensor(tokens.length, table.cols);
    const d = table.cols;
    return this.operation(y, () => {
      tokens.forEach((token, r) => {
        for (let i = 0; i < d; i += 1) y.data[r * d + i] = table.data[token * d + i] * factor;
      });
    }, () => {
      tokens.forEach((token, r) => {
        for (let i = 0; i < d; i += 1) table.grad[token * d + i] += y.grad[r * d + i] * factor;
      });
    });
  }

  /** x + y. Where y has fewer rows they come again and again. @param {Tensor} x @param {Tensor} y */
  add(x, y) {
    const z = this.tensor(x.rows, x.cols);
    const [{ data: X, grad: dX }, { data: Y, grad: dY }, { data: Z, grad: dZ }] = [x, y, z];
    const [n, period] = [Z.length, Y.length];
    return this.operation(z, () => {
      for (let from = 0; from < n; from += period) {
        for (let i = 0; i < period; i += 1) Z[from + i] = X[from + i] + Y[i];
      }
    }, () => {
      for (let from = 0; from < n; from += period) {
        for (let i = 0; i < period; i += 1) {
          const g = dZ[from + i];
          dX[from + i] += g;
          dY[i] += g;
        }
      }
    });
  }

  /** max(0, x). @param {Tensor} x */
  relu(x) {
    const y = this.tensor(x.rows, x.cols);
    const [{ data: X, grad: dX }, { data: Y, grad: dY }] = [x, y];
    return this.operation(y, () => {
      // Signs are random: a branch would be guessed wrongly half of the time.
      for (let i = 0; i < X.length; i += 1) Y[i] = (X[i] + Math.abs(X[i])) / 2;
    }, () => {
      for (let i = 0; i < X.length; i += 1) dX[i] += dY[i] * Number(X[i] > 0);
    });
  }

  /** x W^T + b. @param {Tensor} x @param {Tensor} w (outs, ins) @param {Tensor} [b] */
  linear(x, w, b) {
    const y = this.tensor(x.rows, w.rows);
    const turned = this.engine.place(w.data.length); // W^T
    const { product } = this.engine;
    const [n, ins, outs] = [x.rows, w.cols, w.rows];
    return this.operation(y, () => {
      transpose(w.data, 0, ins, outs, ins, 1, turned);
      if (b) for (let r = 0; r < n; r += 1) y.data.set(b.data, r * outs);
      product(n, outs, ins, at(x.data), ins, 1, at(turned), outs, at(y.data), outs, Boolean(b));
    }, () => {
      product(n, ins, outs, at(y.grad), outs, 1, at(w.data), ins, at(x.grad), ins, true);
      product(outs, ins, n, at(y.grad), 1, outs, at(x.data), ins, at(w.grad), ins, true);
      if (b) for (let i = 0; i < y.grad.length; i += 1) b.grad[i % outs] += y.grad[i];
    });
  }

  /** Layer norm of each row. @param {Tensor} x @param {Tensor} gain @param {Tensor} shift */
  norm(x, gain, shift) {
    const y = this.tensor(x.rows, x.cols);
    const normed = this.engine.place(x.data.length);
    const factors = this.engine.place(x.rows);
    const [{ data: X, grad: dX, rows, cols: d }, { data: Y, grad: dY }] = [x, y];
    const [{ data: G, grad: dG }, { data: B, grad: dB }] = [gain, shift];
    return this.operation(y, () => {
      for (let r = 0, from = 0; r < rows; r += 1, from += d) {
        let mean = 0;
        let variance = 0;
        for (let i = 0; i < d; i += 1) mean += X[from + i];
        mean /= d;
        for (let i = 0; i < d; i += 1) variance += (X[from + i] - mean) ** 2;
        const factor = factors[r] = 1 / Math.sqrt(variance / d + EPSILON);
        for (let i = 0; i < d; i += 1) {
          const n = normed[from + i] = (X[from + i] - mean) * factor;
          Y[from + i] = n * G[i] + B[i];
        }
      }
    }, () => {
      for (let r = 0, from = 0; r < rows; r += 1, from += d) {
        let sum = 0;
        let along = 0;
        for (let i = 0; i < d; i += 1) {
          const g = dY[from + i];
          const n = normed[from + i];
          dG[i] += g * n;
          dB[i] += g;
          sum += g * G[i] / d;
          along += g * G[i] * n / d;
        }
        for (let i = 0; i < d; i += 1) {
          dX[from + i] += factors[r] * (dY[from + i] * G[i] - sum - normed[from + i] * along);
        }
      }
    });
  }

  /**
   * Q K^T times `scale`, for each sentence and each head, in its own part of the vectors.
   * @param {Tensor} q (batch * queries, heads * d_k) @param {Tensor} k (batch * keys, heads * d_k)
   * @param {number} batch @param {number} heads @param {number} scale
   * @returns {Tensor} (batch * heads * queries, keys)
   */
  scores(q, k, batch, heads, scale) {
    const [m, n, width] = [q.rows / batch, k.rows / batch, q.cols];
    const d = width / heads;
    const s = this.tensor(batch * heads * m, n);
    const turned = this.engine.place(n * d);
    const { product } = this.engine;
    return this.operation(s, () => each(batch, heads, (b, h, i) => {
      transpose(k.data, b * n * width + h * d, width, n, d, scale, turned);
      product(m, n, d, at(q.data) + b * m * width + h * d, width, 1, at(turned), n,
        at(s.data) + i * m * n, n, false);
    }), () => {
      for (let i = 0; i < s.grad.length; i += 1) s.grad[i] *= scale;
      each(batch, heads, (b, h, i) => {
        const [ours, theirs] = [b * m * width + h * d, b * n * width + h * d];
        const here = at(s.grad) + i * m * n;
        product(m, d, n, here, n, 1, at(k.data) + theirs, width, at(q.grad) + ours, width, true);
        product(n, d, m, here, 1, n, at(q.data) + ours, width, at(k.grad) + theirs, width, true);
      });
    });
  }

  /**
   * Each row's softmax over the keys that its query may attend to.
   * @param {Tensor} s (batch * heads * queries, keys) @param {number} queries
   * @param {boolean} causal query i may attend to keys 0 to i
   * @param {Int32Array} lengths how many keys each sentence has
   */
  softmax(s, queries, causal, lengths) {
    const y = this.tensor(s.rows, s.cols);
    const [{ data: S, grad: dS, rows, cols: n }, { data: Y, grad: dY }] = [s, y];
    const perSentence = rows / lengths.length;
    const seen = (/** @type {number} */ r) => {
      const length = lengths[Math.floor(r / perSentence)];
      return causal ? Math.min(length, r % queries + 1) : length;
    };
    return this.operation(y, () => {
      for (let r = 0, from = 0; r < rows; r += 1, from += n) {
        const to = from + seen(r);
        let top = -Infinity;
        let sum = 0;
        for (let i = from; i < to; i += 1) top = Math.max(top, S[i]);
        for (let i = from; i < to; i += 1) sum += Y[i] = Math.exp(S[i] - top);
        for (let i = from; i < to; i += 1) Y[i] /= sum;
        Y.fill(0, to, from + n);
      }
    }, () => {
      for (let r = 0, from = 0; r < rows; r += 1, from += n) {
        const to = from + seen(r);
        let along = 0;
        for (let i = from; i < to; i += 1) along += Y[i] * dY[i];
        for (let i = from; i < to; i += 1) dS[i] += Y[i] * (dY[i] - along);
      }
    });
  }

  /**
   * The weighted sums of the values, the heads side by side.
   * @param {Tensor} w (batch * heads * queries, keys) @param {Tensor} v (batch * keys, heads * d_v)
   * @param {number} batch @param {number} heads
   * @returns {Tensor} (batch * queries, heads * d_v)
   */
  mix(w, v, batch, heads) {
    const [m, n, width] = [w.rows / (batch * heads), w.cols, v.cols];
    const d = width / heads;
    const y = this.tensor(batch * m, width);
    const turned = this.engine.place(n * d);
    const { product } = this.engine;
    return this.operation(y, () => each(batch, heads, (b, h, i) => {
      product(m, d, n, at(w.data) + i * m * n, n, 1, at(v.data) + b * n * width + h * d, width,
        at(y.data) + b * m * width + h * d, width, false);
    }), () => each(batch, heads, (b, h, i) => {
      const [ours, theirs] = [b * m * width + h * d, b * n * width + h * d];
      transpose(v.data, theirs, width, n, d, 1, turned);
      product(m, n, d, at(y.grad) + ours, width, 1, at(turned), n, at(w.grad) + i * m * n, n, true);
      product(n, d, m, at(w.data) + i * m * n, 1, n, at(y.grad) + ours, width,
        at(v.grad) + theirs, width, true);
    }));
  }

  /**
   * Cross-entropy against (1 - smoothing) of the true token and smoothing of the uniform one: the
   * mean over the targets that are not `pad`, in `value[0]`.
   * @param {Tensor} logits @param {Int32Array} targets @param {number} smoothing @param {number} pad
   */
  loss({ data: X, grad: dX, cols: v }, targets, smoothing, pad) {
    const value = new Float64Array(1);
    return this.operation(value, () => {
      const counted = targets.reduce((n, target) => n + Number(target !== pad), 0);
      value[0] = 0;
      targets.forEach((target, r) => {
        if (target === pad) return;
        const [from, to] = [r * v, (r + 1) * v];
        let top = -Infinity;
        let sum = 0;
        let total = 0;
        for (let i = from; i < to; i += 1) top = Math.max(top, X[i]);
        for (let i = from; i < to; i += 1) {
          sum += dX[i] = Math.exp(X[i] - top);
          total += X[i];
        }
        value[0] += (top + Math.log(sum) - (1 - smoothing) * X[from + target]
          - smoothing * total / v) / counted;
        for (let i = from; i < to; i += 1) dX[i] = (dX[i] / sum - smoothing / v) / counted;
        dX[from + target] -= (1 - smoothing) / counted;
      });
    }, () => {}); // the logits' gradient has come with the loss
  }
}

/** @param {number} batch @param {number} heads @param {(b: number, h: number, i: number) => void} act */
function each(batch, heads, act) {
  for (let i = 0; i < batch * heads; i += 1) act(Math.floor(i / heads), i % heads, i);
}

/**
 * Columns become rows, times `factor`: of `rows` rows that begin `stride` apart, `cols` numbers each.
 * @param {Numbers} x @param {number} from @param {number} stride @param {number} rows
 * @param {number} cols @param {number} factor @param {Numbers} y
 */
function transpose(x, from, stride, rows, cols, factor, y) {
  for (let r = 0; r < rows; r += 1) {
    for (let c = 0; c < cols; c += 1) y[c * rows + r] = x[from + r * stride + c] * factor;
  }
}
