// @ts-check
// One of the two models: its translation in words, and where the chosen head looks.

import { ONE } from "../kit/attentions.js";
import { html } from "../kit/elements.js";
import { headLines } from "../kit/lines.js";
import { placeFor } from "../kit/room.js";
import { differing, wordsOf } from "./data.js";

const SPACE = "\u2581";
const ENDLESS = " \u2026";

/** A token without the sign for a space. @param {string} token */
export const plain = (token) => token.replaceAll(SPACE, "") || token;

/** Words, of which those that the other text does not have are marked. @param {string} text @param {string} other */
function marked(text, other) {
  const words = wordsOf(text);
  const marks = differing(words, wordsOf(other));
  return words.flatMap((word, i) =>
    [i ? " " : "", html(marks[i] ? "strong" : "span", {}, html("bdi", {}, word))]);
}

/** @param {string} name what the model is called @param {boolean} narrow whether the picture has little room */
export function pane(name, narrow) {
  const heading = html("p", { class: "tfw-heading" });
  const text = html("p", { class: "tfw-broken-text" });
  const words = placeFor(html("div", {}, heading, text), { class: "tfw-broken-words" });
  const lines = headLines(`${name}: the chosen head`, narrow);
  const title = html("p", { class: "tfw-heading" });
  const picture = html("div", { class: "tfw-broken-picture" }, title, lines.element);
  const { readout } = lines;

  /**
   * @param {{title: string, heading: string}} above the picture and the words; a sentence that it
   *   reads is marked where the other reads another one
   * @param {import("./data.js").Run | undefined} run
   * @param {import("./data.js").Run | undefined} other the other model's
   * @param {{one: number, head: number, encoder: boolean, links: [number, number][], most: number}} settings
   *   what a weight of 1 is, which head is drawn, which links are dashed, and how many rows there may be
   */
  function show(above, run, other, { one, head, encoder, links, most }) {
    title.textContent = above.title;
    heading.replaceChildren(...(run && above.heading === run.sentence
      ? marked(run.sentence, other?.sentence ?? "") : [above.heading || above.title]));
    text.hidden = picture.hidden = !run;
    if (!run) return;
    text.replaceChildren(...marked(run.text, other?.text ?? ""), run.ended ? "" : ENDLESS);
    const all = (encoder ? run.source : run.output).map(plain);
    const rows = all.length > most ? all.slice(0, most - 1) : all;
    lines.show({ rows, columns: run.source.map(plain), more: all.length - rows.length,
      links: links.filter(([row]) => row < rows.length),
      cells: Uint16Array.from(run.weights[head].slice(0, rows.length * run.source.length), (weight) => weight * ONE / one) });
  }

  /** Keeps a place for what may stand above and in the words. @param {[string, import("./data.js").Run][]} all */
  const keep = (all) => words.keep(all.map(([above, run]) => html("div", {}, html("p", { class: "tfw-heading" }, above),
    html("p", {}, `${run.text}${run.ended ? "" : ENDLESS}`))));

  return { words: words.element, picture, readout, show, keep };
}
