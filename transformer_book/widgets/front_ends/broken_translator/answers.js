// @ts-check
// What transformer_book/widgets/broken_translator.py answers in Jupyter, answered by the model in the page.

import { broken } from "./breaking.js";
import { runOf } from "./data.js";

/**
 * The sound output and the broken one, as far as they are not known.
 * @param {import("../kit/model.js").Model} model @param {import("../live/index.js").Live} live
 * @param {{sentence: string, broken: string[]}} asked
 */
export async function answer(model, live, { sentence, broken: asked }) {
  const { most_tokens: most, extra, one } = model.get("constants");
  const source = live.source(sentence, most);
  const maxLen = Math.min(source.length + extra, live.network.config.max_len);
  /** @type {import("./data.js").Run[]} */
  const found = [];
  for (const parts of [[], asked]) {
    if (runOf([...model.get("contents").runs, ...found], sentence, parts)) continue;
    const { text, ended, steps, encoder } = await live.translate(sentence, {
      network: broken(live.network, parts), silenced: new Set(parts), maxLen });
    const looked = model.get("attention") === "encoder" ? encoder.flat() // head -> row -> weights
      : steps[0].cross.flat().map((_, head) => steps.map(({ cross }) => cross.flat()[head]));
    const nowhere = source.map(() => new Float32Array(source.length)); // of a layer that is gone
    found.push({ sentence, broken: parts, source: live.pieces(source),
      output: live.pieces(steps.map(({ token }) => token)), text, ended,
      weights: looked.map((rows) => (rows.length ? rows : nowhere).flatMap((row) =>
        Array.from(row, (weight) => Math.round(weight * one)))) });
  }
  const contents = model.get("contents");
  model.set("contents", { ...contents, runs: [...contents.runs, ...found] });
}
