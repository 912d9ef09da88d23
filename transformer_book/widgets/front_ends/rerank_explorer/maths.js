// @ts-check
// The ranking of transformer_book/widgets/rerank_explorer.py, and what a loaded model adds to it.

/** @typedef {{text: string, forward: number, backward: number}} Candidate */
/** @typedef {{beam_size: number, examples: {source: string, meaning: string, candidates: Candidate[]}[]}} Contents */

/** @param {Candidate} one @param {number} weight */
export const score = ({ forward, backward }, weight) => forward + weight * backward;

/** The places of the candidates, the best first. @param {Candidate[]} found @param {number} weight */
export const ranking = (found, weight) =>
  [...found.keys()].sort((a, b) => score(found[b], weight) - score(found[a], weight));

/**
 * One more sentence, as Python would add it.
 * @param {import("../kit/model.js").Model} model @param {import("../live/index.js").Live} live @param {string} text
 */
export async function answer(model, live, text) {
  /** @type {Contents} */
  const contents = model.get("contents");
  const { digits, least } = model.get("constants");
  const rounded = (/** @type {number} */ x) => Number(Math.max(x, least).toFixed(digits));
  const candidates = (await live.readBack(text, contents.beam_size)).map((one) =>
    ({ text: one.text, forward: rounded(one.forward), backward: rounded(one.backward) }));
  const examples = [...contents.examples, { source: text, meaning: "", candidates }];
  model.set("contents", { ...contents, examples });
  model.set("example", examples.length - 1);
}
