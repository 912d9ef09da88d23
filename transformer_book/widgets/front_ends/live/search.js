// @ts-check
// The searches of transformer/decoding for one sentence: greedy, drawn, and with a beam.

import { lengthPenalty } from "../beam_explorer/maths.js";
import { forked } from "./network.js";
import { BOS, EOS } from "./tokenizer.js";

/**
 * @typedef {ReturnType<typeof import("./network.js").transformer>} Network
 * @typedef {import("./network.js").Cache} Cache
 * @typedef {import("./network.js").Silenced} Silenced
 */

/** The logarithms of their softmax, in place. @param {Float32Array} logits */
export function logSoftmax(logits) {
  let top = -Infinity;
  for (let i = 0; i < logits.length; i += 1) if (logits[i] > top) top = logits[i];
  let sum = 0;
  for (let i = 0; i < logits.length; i += 1) sum += Math.exp(logits[i] - top);
  const by = top + Math.log(sum);
  for (let i = 0; i < logits.length; i += 1) logits[i] -= by;
  return logits;
}

/** The places of the n largest numbers, the largest first. @param {Float32Array} row @param {number} n */
export function largest(row, n) {
  /** @type {number[]} */
  const found = [];
  for (let i = 0; i < row.length; i += 1) {
    if (found.length === n && row[i] <= row[found[n - 1]]) continue;
    let at = found.length;
    while (at > 0 && row[found[at - 1]] < row[i]) at -= 1;
    found.splice(at, 0, i);
    if (found.length > n) found.pop();
  }
  return found;
}

/** Chooses the next token by its log-probability. @typedef {(logProbs: Float32Array) => number} Choose */

/** @type {Choose} */
export const mostProbable = (logProbs) => largest(logProbs, 1)[0];

/**
 * Draws as decoding/sampling.py does: by temperature, from the most probable tokens only.
 * @param {{temperature: number, topK: number, random?: () => number}} settings topK 0: all of them
 * @returns {Choose}
 */
export function drawn({ temperature, topK, random = Math.random }) {
  return (logProbs) => {
    const order = largest(logProbs, topK > 0 ? Math.min(topK, logProbs.length) : logProbs.length);
    const shares = order.map((token) =>
      Math.exp((logProbs[token] - logProbs[order[0]]) / temperature));
    let left = random() * shares.reduce((a, b) => a + b, 0);
    return order.find((_, i) => (left -= shares[i]) < 0) ?? order[0];
  };
}

/**
 * What a step of `oneByOne` shows.
 * @typedef {object} Written
 * @property {number} token
 * @property {Float32Array} logProbs of all tokens at this place
 * @property {import("./network.js").Looked[]} self where each layer's heads looked among the output
 * @property {import("./network.js").Looked[]} cross and in the source
 */

/**
 * Token by token, first those that are given, then as `choose` says.
 * @param {Network} network @param {number[]} source with the end mark
 * @param {{maxLen: number, choose?: Choose, given?: number[], silenced?: Silenced,
 *   watch?: (step: Written) => void}} settings
 */
export function* oneByOne(network, source, settings) {
  const { maxLen, choose = mostProbable, given = [], silenced, watch } = settings;
  const { memory, looked } = yield* network.encode(source, silenced);
  const cache = network.start();
  const tokens = [];
  /** @type {Written[]} */
  const steps = [];
  let [last, score, ended] = [BOS, 0, false];
  while (!ended && tokens.length < maxLen) {
    const { logits, looked: [at] } = yield* network.step([last], tokens.length, [cache], memory, silenced);
    const logProbs = logSoftmax(logits[0]);
    last = given[tokens.length] ?? choose(logProbs);
    score += logProbs[last];
    ended = last === EOS;
    if (!ended) tokens.push(last);
    const step = { token: last, logProbs, ...at };
    steps.push(step);
    watch?.(step);
    yield;
  }
  return { tokens, score, ended, encoder: looked, steps };
}

/**
 * A prefix with one token more, as decoding/tree.py has it.
 * @typedef {{parent: number, token: number, logProb: number, total: number,
 *   fate: "lives" | "finished" | "dropped"}} Candidate
 * @typedef {{candidates: Candidate[], living: number[], cut: boolean}} BeamStep
 */

/**
 * decoding/beam.py, for one sentence.
 * @param {Network} network @param {number[]} source with the end mark
 * @param {{beamSize: number, alpha: number, maxLen: number, nBest?: number,
 *   watch?: (step: BeamStep) => void}} settings
 * @returns {Generator<void, {tokens: number[], score: number}[]>} the best first
 */
export function* beamSearch(network, source, { beamSize, alpha, maxLen, nBest = 1, watch }) {
  const { memory } = yield* network.encode(source);
  let alive = [{ tokens: /** @type {number[]} */ ([]), total: 0, cache: network.start() }];
  /** @type {{tokens: number[], score: number}[]} */
  const found = [];
  const keep = (/** @type {number[]} */ tokens, /** @type {number} */ score) => {
    const after = found.findIndex((other) => other.score < score);
    found.splice(after < 0 ? found.length : after, 0, { tokens, score });
    found.splice(beamSize);
  };
  for (let length = 1; length <= maxLen; length += 1) {
    const newest = alive.map(({ tokens }) => tokens.at(-1) ?? BOS);
    const { logits } = yield* network.step(newest, length - 1, alive.map(({ cache }) => cache), memory);
    /** @type {Candidate[]} */
    const candidates = [];
    for (const [parent, row] of logits.entries()) {
      logSoftmax(row);
      for (const token of largest(row, 2 * beamSize)) {
        const total = Math.fround(alive[parent].total + row[token]);
        candidates.push({ parent, token, logProb: row[token], total, fate: "dropped" });
      }
      yield;
    }
    candidates.sort((a, b) => b.total - a.total).splice(2 * beamSize);
    candidates.slice(0, beamSize).filter(({ token }) => token === EOS).forEach((one) => {
      one.fate = "finished";
      keep(alive[one.parent].tokens, one.total / lengthPenalty(length, alpha));
    });
    const living = [...candidates.keys()].filter((i) => candidates[i].token !== EOS)
      .slice(0, beamSize);
    for (const i of living) candidates[i].fate = "lives";
    // At best, all further tokens are certain, and the largest penalty divides the sum.
    const bound = living.length
      ? candidates[living[0]].total / lengthPenalty(maxLen, alpha) : -Infinity;
    const enough = found.length >= nBest && bound <= found[nBest - 1].score;
    const goesOn = !enough && found.length < beamSize && living.length > 0;
    watch?.({ candidates, living, cut: goesOn && length === maxLen });
    if (!goesOn) break;
    alive = living.map((i) => {
      const { parent, token, total } = candidates[i];
      const { tokens, cache } = alive[parent];
      return { tokens: [...tokens, token], total, cache: forked(cache) };
    });
    if (length === maxLen) {
      for (const { tokens, total } of alive) keep(tokens, total / lengthPenalty(maxLen, alpha));
    }
  }
  return found.slice(0, nBest);
}

/**
 * The log-probability of an output whose tokens are given, the end mark among them.
 * @param {Network} network @param {number[]} source with the end mark @param {number[]} target
 */
export function* forced(network, source, target) {
  const { score } = yield* oneByOne(network, source, { maxLen: target.length, given: target });
  return score;
}
