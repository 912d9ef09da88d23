// @ts-check
// One sentence and its output: tokens and lines, the candidates of a step, the whole in words.

import { ONE } from "../kit/attentions.js";
import { button, labelled } from "../kit/controls.js";
import { fresh, html, scrolling } from "../kit/elements.js";
import { heatmap, legend } from "../kit/heatmap.js";
import { fixed } from "../kit/numbers.js";
import { EMPTY } from "../kit/own_sentence.js";
import { unknown, unsure } from "../kit/unsure.js";
import { candidatesOf, headInWords, originOf, scored, silencedInWords, textOf, total } from "./data.js";
import { candidateTable } from "./candidates.js";
import { lookLines, looksInWords } from "./looks.js";

/**
 * @typedef {import("./data.js").Run} Run
 * @typedef {import("./data.js").Contents} Contents
 * @typedef {import("./data.js").Constants} Constants
 */

/**
 * @param {Constants} constants @param {string} which sentence: "first", "second"
 * @param {string} name of the field for a sentence
 * @param {{translate: (sentence: string) => void, take: (token: number) => void,
 *   go: (step: number) => void, now: () => number, typed: (input: HTMLInputElement) => string}} act
 */
export function pane(constants, which, name, act) {
  const id = fresh("sentence");
  const input = html("input", { id, type: "text", autocomplete: "off" });
  const send = () => {
    const sentence = act.typed(input);
    if (sentence) act.translate(sentence);
    else say(EMPTY);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
  });
  /** Near the field, where there is one. @param {string} words */
  const say = (words) => {
    doubt.textContent = words;
  };
  // What is said of an output is about its own sentence, which may no longer be the one in the field.
  const sayDoubt = () => say(!input.isConnected || input.value.trim() === shown ? doubted : "");
  input.addEventListener("input", sayDoubt);
  const doubt = html("p", { role: "status" });
  const place = html("div", {}, doubt);
  const field = html("div", { class: "tfw-own-sentence" }, place);
  /** There is somebody who answers. @param {...HTMLElement} more beside the field */
  const open = (...more) => {
    field.classList.add("tfw-controls");
    place.classList.add("tfw-own-answer");
    field.prepend(labelled(id, name, input), button("Translate", send).element, ...more);
  };

  const lines = lookLines(which, act.go, act.now);
  const picture = heatmap({ label: `All heads of the cross-attention, ${which} sentence`,
    rowTitle: "head", columnTitle: "is looked at", compact: true });
  const matrix = html("div", {}, picture.element, legend({ low: "0", high: "1" }));
  const table = candidateTable(constants.candidates, act.take);
  const whole = html("p", { class: "tfw-decoder-whole" });
  const before = html("p", {});
  const body = html("div", { hidden: true }, lines.element, matrix,
    scrolling(`Candidates, ${which} sentence`, table.element), whole, before);
  const element = html("div", { class: "tfw-decoder-pane" }, field, body);

  /** @type {{sentence: string, given: string, text: string} | null} */
  let speaking = null; // the last output with all heads
  let [shown, doubted] = ["", ""]; // the sentence of the output, and what is said of it

  /**
   * @param {Contents} contents @param {Run | undefined} run
   * @param {{step: number, view: string, layer: number, head: number, temperature: number,
   *   topK: number, forced: number[]}} state
   */
  function show(contents, run, state) {
    body.hidden = !run?.tokens.length;
    if (!run?.tokens.length) return;
    const last = Math.min(state.step, run.tokens.length) - 1;
    const heads = run.cross[last];
    const silent = (/** @type {string} */ head) => (run.silenced.includes(head) ? " (silenced)" : "");
    const nameOf = (/** @type {number} */ layer, /** @type {number} */ head) =>
      `decoder.${layer}.cross.${head}`;
    const asLines = state.view === "lines";
    const chosen = heads[state.layer * contents.heads + state.head];
    const name = nameOf(state.layer, state.head);
    lines.show({ source: run.source, target: run.pieces, at: last,
      weights: asLines ? chosen : null,
      say: asLines ? looksInWords(`Step ${last + 1}: ${headInWords(name)}${silent(name)}`,
        run.source, chosen) : "" });
    matrix.hidden = asLines;
    if (!asLines) {
      const rows = heads.map((_, i) =>
        [Math.floor(i / contents.heads), i % contents.heads]);
      picture.show({
        rows: rows.map(([layer, head]) => `layer ${layer + 1}, ${head + 1}`),
        columns: run.source,
        value: (r, c) => heads[r][c] / ONE,
        say: (r, c) => `Step ${last + 1}: ${headInWords(nameOf(rows[r][0], rows[r][1]))}${
          silent(nameOf(rows[r][0], rows[r][1]))} looks at \u201c\u2068${run.source[c]
        }\u2069\u201d with ${fixed(heads[r][c] / ONE, 3)}.`,
      });
    }
    const draw = { temperature: state.temperature, topK: state.topK };
    const likely = candidatesOf(run, last, constants, draw);
    const token = run.tokens[last];
    const text = textOf(contents, run, last);
    const own = run.written[last];
    const power = Math.exp(own / draw.temperature
      - run.sums[last][constants.temperatures.indexOf(draw.temperature)]);
    table.show({
      title: `Step ${last + 1}: the most probable tokens`,
      after: text ? ` after \u201c\u2068${text}\u2069\u201d` : " at the start",
      likely,
      chosen: likely.find((one) => one.token === token)
        ?? { token, piece: run.pieces[last], probability: Math.exp(own), drawn: draw.topK ? 0 : power },
      both: draw.temperature !== 1 || draw.topK !== 0,
      cut: draw.topK !== 0,
      vocab: contents.vocab,
    });
    sayWhole(contents, run, JSON.stringify(state.forced));
  }

  /** @param {Contents} contents @param {Run} run @param {string} given */
  function sayWhole(contents, run, given) {
    const text = scored(textOf(contents, run), total(run));
    const { sentence, silenced } = run;
    if (run.done && !silenced.length) speaking = { sentence, given, text };
    whole.textContent = run.done
      ? `The whole output: ${text}. ${originOf(run)} ${silencedInWords(silenced)}`
      : `So far: ${text}.`;
    const { unsure_below: below } = contents;
    // What the reader forced upon it says nothing of how sure it is.
    const judged = run.done && !silenced.length && !run.given && below !== undefined;
    doubted = judged ? unsure(total(run) / run.tokens.length, below) : unknown(run.source, sentence);
    shown = sentence;
    sayDoubt();
    const same = speaking?.sentence === sentence && speaking.given === given;
    before.hidden = !same || !silenced.length;
    before.textContent = same && silenced.length ? `With all heads: ${speaking?.text}.` : "";
  }

  return { element, open, place, input, show, stop: lines.stop };
}
