// @ts-check
// What transformer_book/widgets/decoder_at_work.py answers in Jupyter, answered by the model in the page.

import { ONE } from "../kit/attentions.js";

/**
 * @typedef {import("../decoder_at_work/data.js").Run} Run
 * @typedef {import("../decoder_at_work/data.js").Asked} Asked
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./index.js").Live} Live
 */

const DIGITS = 4; // of each logarithm, as Python has them
const rounded = (/** @type {number} */ x) => Number(x.toFixed(DIGITS));

/** @param {Float32Array} logProbs @param {number} temperature */
function logSum(logProbs, temperature) {
  let top = -Infinity;
  for (const log of logProbs) top = Math.max(top, log);
  let sum = 0;
  for (const log of logProbs) sum += Math.exp((log - top) / temperature);
  return top / temperature + Math.log(sum);
}

/** DecoderAtWork: outputs, shown as they are written. @param {Model} model @param {Live} live */
export async function decoder(model, live) {
  /** @type {{number: number, runs: Asked[], silenced: string[]}} */
  const { number, runs: asked, silenced } = model.get("question");
  const { temperatures, candidates, most_tokens: most } = model.get("constants");
  const sources = asked.map(({ sentence }) => live.pieces(live.source(sentence, most)));
  /** @type {Run[]} */
  const runs = [...model.get("contents").runs];
  const show = () => model.set("contents", { ...model.get("contents"), runs: [...runs] });
  for (const [i, { at, sentence, given, temperature, top_k: topK = 0 }] of asked.entries()) {
    /** @type {Run} */
    const run = { sentence, source: sources[i], tokens: [], pieces: [], written: [], ids: [],
      likely: [], logs: [], sums: [], cross: [], number, done: false, given: given.length,
      drawn: temperature === undefined ? [] : [temperature, topK], silenced };
    runs[at] = run;
    await live.translate(sentence, { given, temperature, topK, silenced: new Set(silenced),
      watch({ token, logProbs, cross }) {
        const best = live.candidates(logProbs, candidates);
        run.tokens.push(token);
        run.pieces.push(...live.pieces([token]));
        run.written.push(rounded(logProbs[token]));
        run.ids.push(best.map((one) => one.token));
        run.likely.push(best.map(({ piece }) => piece));
        run.logs.push(best.map((one) => rounded(logProbs[one.token])));
        run.sums.push(temperatures.map((/** @type {number} */ t) => rounded(logSum(logProbs, t))));
        run.cross.push(cross.flat().map((row) => Array.from(row, (w) => Math.round(w * ONE))));
        show();
      } });
    run.done = true;
    show();
  }
}
