// @ts-check
// A trained parser at work: the row of brackets that it writes, and the tree that grows of it.

import { pick, slider } from "../kit/controls.js";
import { html, oncePerFrame, paleWhereCut, scrolling, svg } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { keepsStill } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";
import { ownSentence } from "../kit/own_sentence.js";
import { read, scored } from "./reading.js";

const [ROW, BOX] = [36, 27]; // from one level to the next; how high a box is
const [LETTER, SPACE, GAP] = [9, 10, 2]; // widths: of a word by its letters, and between two boxes
const CAPITAL = 12; // of a label, by its letters and a cross
const LEAST = 0.8; // of the size in which it is drawn: where that is too wide, it is scrolled
const PACE = 90; // milliseconds a token

/**
 * What transformer_book/widgets/parser_at_work.py answers in Jupyter.
 * @param {import("../kit/model.js").Model} model @param {import("../live/index.js").Live} live
 * @param {string} sentence
 */
async function answer(model, live, sentence) {
  const source = live.pieces(live.source(sentence, model.get("constants").most_words)).slice(0, -1);
  const { text } = await live.translate(sentence);
  const { ready, examples: before } = model.get("contents");
  const words = sentence.trim().split(/\s+/);
  const examples = before.slice(0, ready);
  const known = examples.find((/** @type {any} */ one) => `${one.words}` === `${words}`);
  const own = { words, source, tokens: text.split(" ").filter(Boolean), brackets: known?.brackets ?? "" };
  model.set("contents", { ready, examples: [...examples, own] });
  assign(model, "example", ready);
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const { marks } = model.get("constants");
  /** @returns {import("./reading.js").Example} */
  const shown = () => model.get("contents").examples[model.get("example")];
  const last = () => shown().tokens.length;
  const now = () => Math.min(model.get("step"), last());
  model.answers = ["sentence", answer];
  let timer = 0;
  let [seen, ready] = ["", ""]; // of which sentence, and which ones can be chosen
  let whole = read([], [], true); // as it is at the end
  let edges = [0]; // of the words
  let stopChoice = () => {};

  const choice = html("div", { class: "tfw-controls" });
  const own = ownSentence(model, "Parse", "The parser writes \u2026");
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const steps = slider(model, "step", { label: "tokens written", min: 0, max: last(),
    format: () => `${now()} of ${last()}` });
  const picture = svg("svg", { class: "tfw-parse-picture", role: "img" });
  const row = html("p", { class: "tfw-parse-row" });
  const verdict = html("div", { class: "tfw-readout", role: "status" });

  /** Another sentence: its brackets are written one by one. */
  function take() {
    const { examples } = model.get("contents");
    const texts = examples.map((/** @type {any} */ { words }) => words.join(" "));
    if (ready !== `${texts}`) {
      ready = `${texts}`;
      stopChoice();
      const { element, stop } = pick(model, "example", { label: "Sentence",
        options: texts.map((/** @type {string} */ text, /** @type {number} */ i) => [text, i]) });
      stopChoice = stop;
      choice.replaceChildren(element);
    }
    const first = !seen;
    if (seen === (seen = JSON.stringify(shown()))) return;
    row.replaceChildren(...shown().tokens.flatMap((token) => [html("code", {}, token), " "]));
    say();
    steps.range(0, last());
    if (!first) play();
  }

  function play() {
    clearTimeout(timer);
    let at = keepsStill() ? last() : 0;
    assign(model, "step", at);
    const next = () => {
      if (model.get("step") !== at || at >= last()) return; // the reader has taken the slider
      at += 1;
      assign(model, "step", at);
      timer = setTimeout(next, PACE);
    };
    timer = setTimeout(next, PACE);
  }

  /** What came of it, in words, and how wide it is. */
  function say() {
    const { words, tokens, brackets } = shown();
    whole = read(tokens, words, true);
    const { parts, over, wellFormed } = whole;
    const { wrong, right, f1, said, wanted } = scored(parts, shown(), marks);
    const widths = words.map((word) => LETTER * word.length + SPACE);
    for (const one of [...parts].reverse()) { // each behind those inside it
      const own = widths.slice(one.start, one.end);
      const needed = CAPITAL * (one.label.length + (wrong.includes(one) ? 1.5 : 0)) + SPACE;
      const more = Math.max(0, needed - own.reduce((sum, width) => sum + width)) / own.length;
      own.forEach((width, i) => {
        widths[one.start + i] = width + more;
      });
    }
    edges = widths.reduce((all, width) => [...all, all[all.length - 1] + width], [0]);
    const named = wrong.map(({ label, start, end }) => `${label} \u201c${words.slice(start, end).join(" ")}\u201d`);
    const left = words.slice(over.length).join(" ");
    const tooMany = tokens.filter((token) => token === "XX").length - words.length;
    const lines = [
      wellFormed ? "" : `The row is no tree over these words: above, it is mended.${
        left ? ` \u201c${left}\u201d got no XX.` : tooMany > 0 ? ` It has ${tooMany} XX too many.` : ""}`,
      brackets ? `${right} of ${said} proposed are right (P), ${right} of ${wanted} true are found (R): F1 = ${fixed(f1, 1)}.`
        : "Nobody has drawn the true tree of this sentence: judge for yourself.",
      named.length ? `\u2717 Not in the true tree: ${named.join(", ")}.` : ""];
    verdict.replaceChildren(...lines.filter(Boolean).map((line) => html("p", {}, line)));
  }

  function draw() {
    const { words, tokens } = shown();
    const step = now();
    const { parts, over } = read(tokens.slice(0, step), words, step === last());
    const { wrong } = scored(parts, shown(), marks);
    const bottom = whole.rows * ROW;
    const middle = (/** @type {number} */ word) => (edges[word] + edges[word + 1]) / 2;
    const [width, height] = [edges[edges.length - 1] + 2 * GAP, bottom + BOX + GAP];
    picture.setAttribute("viewBox", `${-GAP} ${-GAP} ${width} ${height}`);
    picture.style.minWidth = `${LEAST * width}px`;
    picture.style.maxWidth = `${1.3 * width}px`;
    picture.setAttribute("aria-label", parts.map(({ label, start, end, open }) =>
      `${label} \u201c${words.slice(start, end).join(" ")}\u201d${open ? ", open" : ""}`).join("; ") || "no brackets yet");
    picture.replaceChildren(
      ...over.map((depth, word) => svg("path", { class: "tfw-parse-line",
        d: depth < 0 ? "" : `M${middle(word)} ${depth * ROW + BOX}V${bottom + 3}` })),
      ...parts.map((part) => {
        const { label, start, end, depth, open } = part;
        const [x, y, right] = [edges[start] + GAP, depth * ROW, edges[end] - GAP];
        const odd = wrong.includes(part);
        const name = odd ? `${label} \u2717` : label;
        return svg("g", { class: `tfw-parse-part${open ? " tfw-parse-open" : ""}${odd ? " tfw-parse-wrong" : ""}` },
          svg("path", { class: "tfw-parse-line", d: depth ? `M${(x + right) / 2} ${y - ROW + BOX}V${y}` : "" }),
          svg("rect", { x, y, width: right - x, height: BOX, rx: 5 }),
          svg("text", { x: open ? x + 6 : (x + right) / 2, y: y + BOX / 2 }, name));
      }),
      ...words.map((word, i) => svg("text", { class: `tfw-parse-word${i < over.length ? "" : " tfw-parse-left"}`,
        x: middle(i), y: bottom + BOX / 2 }, word)));
    [...row.children].forEach((token, i) => {
      token.classList.toggle("tfw-kept-place", i >= step);
      token.classList.toggle("tfw-parse-now", i === step - 1 && step < last());
    });
    verdict.classList.toggle("tfw-kept-place", step < last());
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  const redraw = oncePerFrame(draw);
  const stops = [watch(model, ["contents", "example"], take),
    watch(model, ["contents", "example", "step", "message"], redraw)];
  el.append(html("div", { class: "tfw tfw-parse" },
    html("p", { class: "tfw-question" }, model.get("question")), choice, ...(own ? [own.element] : []), problem,
    html("div", { class: "tfw-controls" }, steps.element), paleWhereCut(scrolling("The tree", picture)), row, verdict));
  take();
  draw();
  return () => {
    clearTimeout(timer);
    for (const stop of [...stops, stopChoice, steps.stop, own?.stop]) stop?.();
  };
}

export default { render };
