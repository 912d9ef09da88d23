// @ts-check
// A trained model in the page: sentence in, translation and all that the heads looked at out.

import { unsure } from "../kit/unsure.js";
import { answer } from "./answers.js";
import { fromBase64 } from "./assembled.js";
import { crc32, inflatedBySteps, joined } from "./parts.js";
import { transformer } from "./network.js";
import { normalize } from "../kit/normalization.js";
import { lengthPenalty } from "../beam_explorer/maths.js";
import { beamSearch, drawn, forced, largest, mostProbable, oneByOne } from "./search.js";
import { BOS, EOS, tokenizerOf } from "./tokenizer.js";
import { weightsOf } from "./weights.js";

const ALPHA = 0.6; // of the length penalty, section 6.1
const EXTRA_LENGTH = 50; // section 6.1: so many tokens more than the input may the output have
const HALF = /\p{Surrogate}/u; // of a pair of code units, alone
const DIRECTED = /^\u2192(de|en) /;
const TURN = 6; // milliseconds of work, after which the page has its turn

const { port1, port2 } = /** @type {any} */ (new MessageChannel());
/** @type {(() => void)[]} */
const waiting = [];
port1.addEventListener("message", () => {
  waiting.shift()?.();
  if (!waiting.length) port1.unref?.(); // Node would not end before its ports are closed
});
port1.start();
port1.unref?.();

/** A turn for the page: what waits (a click, a frame) comes first. @returns {Promise<void>} */
function turn() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    port1.ref?.();
    port2.postMessage(null);
  });
}

/** What ends when something newer begins. */
class Superseded extends Error {
  name = "Superseded";
}

/**
 * A model with its tokenizer. Each method but `pieces` takes its time in small steps, and ends with
 * `Superseded` as soon as another one begins.
 */
export class Live {
  /** @param {import("./weights.js").Weights} weights @param {import("./tokenizer.js").Tokenizer} tokenizer */
  constructor(weights, tokenizer) {
    this.network = transformer(weights);
    this.tokenizer = tokenizer;
    this.ways = weights.ways;
    this.engine = weights.engine.kind;
    this.current = {};
  }

  /**
   * Runs a computation to its end, in turns with the page.
   * @template T @param {Generator<void, T>} work @returns {Promise<T>}
   */
  async run(work) {
    const own = {};
    this.current = own;
    for (;;) {
      await turn();
      if (this.current !== own) throw new Superseded("a newer sentence has come");
      const since = performance.now();
      while (performance.now() - since < TURN) {
        const { done, value } = work.next();
        if (done) return value;
      }
    }
  }

  /** Ends what is under way. */
  stop() {
    this.current = {};
  }

  /**
   * A sentence as the model reads it: one of two directions wants the language before it that the
   * sentence is not in. A sentence that names one keeps it.
   * @param {string} text
   */
  asked(text) {
    const { ways } = this;
    const sentence = normalize(text);
    if (!ways || DIRECTED.test(sentence)) return sentence;
    const german =
      this.tokenizer.encode(sentence).reduce((sum, id) => sum + ways.leaning[id], 0) > 0;
    return `\u2192${german ? "en" : "de"} ${sentence}`;
  }

  /**
   * A sentence's ids with the end mark.
   * @param {string} text @param {number} [most] how many tokens there is something to see of
   * @throws {RangeError} a sentence that says what is wrong with it
   */
  source(text, most = Infinity) {
    if (!normalize(text)) throw new RangeError("the sentence is empty; there is nothing to translate");
    if (HALF.test(text)) throw new RangeError("there is half a character in the sentence");
    const limit = this.network.config.max_len - 1; // one place for the end mark
    const refuseAbove = (/** @type {number} */ n, words = "") => {
      if (n <= Math.min(most, limit)) return;
      throw new RangeError(`This is too long: ${words}${n} pieces, and ${
        most < limit ? `${most} can be shown` : `the model takes ${limit}`}. Shorten it.`);
    };
    refuseAbove(this.tokenizer.fewest(text), "at least "); // to count them takes too long
    const ids = this.tokenizer.encode(this.asked(text));
    refuseAbove(ids.length);
    return [...ids, EOS];
  }

  /** @param {number[]} source */
  maxLen(source) {
    return Math.min(source.length + EXTRA_LENGTH, this.network.config.max_len);
  }

  /**
   * A translation, token by token.
   * @param {string} text
   * @param {{given?: number[], maxLen?: number, silenced?: Set<string>, temperature?: number, topK?: number,
   *   network?: import("./search.js").Network, random?: () => number, watch?: (step: import("./search.js").Written) => void}} [settings]
   *   `given`: the first tokens; `temperature`: draw, instead of taking the most probable token;
   *   `network`: the model's own, changed
   */
  async translate(text, settings = {}) {
    const { temperature, topK = 0, random, network = this.network, ...others } = settings;
    const source = this.source(text);
    const choose = temperature === undefined
      ? mostProbable : drawn({ temperature, topK, random });
    const longest = this.maxLen(source);
    const found = await this.run(
      oneByOne(network, source, { maxLen: longest, choose, ...others }));
    return { ...found, source, text: this.tokenizer.decode(found.tokens) };
  }

  /**
   * The hypotheses of a beam search, best first.
   * @param {string} text
   * @param {{beamSize: number, alpha: number, nBest?: number,
   *   watch?: (step: import("./search.js").BeamStep) => void}} settings
   */
  async search(text, settings) {
    const source = this.source(text);
    const maxLen = this.maxLen(source);
    const found = await this.run(beamSearch(this.network, source, { maxLen, ...settings }));
    return found.map((one) => ({ ...one, text: this.tokenizer.decode(one.tokens) }));
  }

  /**
   * What a beam finishes, each read back once: TwoWayTranslator.candidates for one sentence.
   * @param {string} text @param {number} beamSize
   */
  async readBack(text, beamSize) {
    return this.run(this.reading(text, beamSize));
  }

  /** @param {string} text @param {number} beamSize */
  * reading(text, beamSize) {
    const asked = this.asked(text);
    const other = asked.startsWith("\u2192de ") ? "\u2192en " : "\u2192de ";
    const target = [...this.tokenizer.encode(asked.replace(DIRECTED, "")), EOS];
    const source = this.source(text);
    const settings = { beamSize, nBest: beamSize, alpha: ALPHA, maxLen: this.maxLen(source) };
    const found = [];
    for (const { tokens, score } of yield* beamSearch(this.network, source, settings)) {
      const read = normalize(this.tokenizer.decode(tokens));
      const back = [...this.tokenizer.encode(other + read), EOS];
      const backward = back.length > this.network.config.max_len
        ? -Infinity : (yield* forced(this.network, back, target)) / lengthPenalty(target.length, ALPHA);
      found.push({ text: read, forward: score, backward, length: this.tokenizer.encode(read).length + 1 });
    }
    return found;
  }

  /**
   * A sentence's translation, and all weights for both as Translator.attention gives them:
   * name -> head -> query -> weights.
   * @param {string} text
   */
  async attention(text) {
    let found = await this.translate(text);
    const { source, text: translation, score, tokens } = found;
    // The translation as it is read again, which a model may have spelled otherwise.
    const read = this.tokenizer.encode(translation);
    const target = [BOS, ...read].slice(0, this.network.config.max_len);
    if (!found.ended || `${read}` !== `${found.tokens}`) {
      const given = [...read, EOS];
      found = await this.translate(text, { given, maxLen: target.length });
    }
    /** @type {Object<string, number[][][]>} */
    const weights = {};
    found.encoder.forEach((heads, layer) => {
      weights[`encoder.${layer}.self`] = heads.map((rows) => rows.map((row) => [...row]));
    });
    for (const kind of /** @type {const} */ (["self", "cross"])) {
      found.encoder.forEach((heads, layer) => {
        weights[`decoder.${layer}.${kind}`] = heads.map((_, head) =>
          target.map((__, row) => {
            const looked = found.steps[row][kind][layer][head];
            const width = kind === "self" ? target.length : looked.length;
            return Array.from({ length: width }, (___, column) => looked[column] ?? 0);
          }));
      });
    }
    const note = this.ways ? unsure(score / (tokens.length + 1), this.ways.unsure_below) : "";
    return { source: this.pieces(source), target: this.pieces(target), weights, translation, note };
  }

  /** @param {number[]} tokens */
  pieces(tokens) {
    return this.tokenizer.pieces(tokens);
  }

  /**
   * The most probable tokens of a step.
   * @param {Float32Array} logProbs @param {number} n
   */
  candidates(logProbs, n) {
    return largest(logProbs, n).map((token) =>
      ({ token, piece: this.pieces([token])[0], probability: Math.exp(logProbs[token]) }));
  }
}

/**
 * The model whose parts these are.
 * @param {string[]} parts in base64
 * @param {{simd?: boolean, digests?: number[]}} [settings] without simd, plain JavaScript only; the
 *   digests of the parts, as transformer_book/page/model_scripts.py has them
 * @throws {Error} a part is damaged
 */
async function open(parts, { simd = true, digests = [] } = {}) {
  const pieces = [];
  for (const [i, part] of parts.entries()) {
    const bytes = fromBase64(part);
    if (i in digests && crc32(bytes) !== digests[i]) throw new Error(`part ${i} is damaged`);
    await turn();
    pieces.push(await inflatedBySteps(bytes, turn));
    await turn();
  }
  const all = joined(pieces);
  await turn();
  const weights = await weightsOf(all, turn, simd);
  await turn();
  return new Live(weights, await tokenizerOf(weights.tokenizer, turn));
}

export default { open, answer, Superseded };
