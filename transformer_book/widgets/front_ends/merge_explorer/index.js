// @ts-check
// Byte-pair encoding, merge by merge, on words that the reader chooses.

import { pick, slider, stepper } from "../kit/controls.js";
import { html, oncePerFrame, scrolling } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { grouped } from "../kit/numbers.js";
import { newWordField, wordsField } from "./fields.js";
import { alphabet, joined, marked, statesOf } from "./maths.js";
import { pairElement, pairsTable, piecesElement, wordsTable } from "./tables.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./maths.js").State} State
 * @typedef {import("./maths.js").CountedWord} CountedWord
 */

/** @param {number} n @param {string} what */
const several = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

/** Which merge was the last one, and against whom it won. @param {State} before @param {number} step */
function lastInWords({ pairs: [best, ...others] }, step) {
  const equals = others.filter(({ count }) => count === best.count).length;
  const tie = equals ? `; ${several(equals, "other pair")} ${equals === 1 ? "was" : "were"} as frequent, and older pieces go first`
    : "";
  return [html("span", {}, `Merge ${step} joined `, pairElement(best), `, which occurred ${several(best.count, "time")}${tie}. `)];
}

/** @param {{model: Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {State[]} every state of the words on show, and of which words they are */
  let states = [];
  let learnt = "";
  const learn = () => {
    const words = model.get("words").map((/** @type {CountedWord} */ [word, count]) =>
      /** @type {CountedWord} */ ([marked(word, model.get("mark")), count]));
    const wanted = JSON.stringify(words);
    if (wanted !== learnt) states = statesOf(words);
    learnt = wanted;
    return words;
  };
  const reached = () => Math.min(model.get("step"), states.length - 1);

  const fields = [wordsField(model), newWordField(model)];
  const mark = pick(model, "mark", {
    label: "▁ stands",
    options: [["before each word", "start"], ["after each word", "end"], ["nowhere", "none"]],
  });
  const steps = slider(model, "step", { label: "merges done", min: 0, max: 0 });
  const walk = stepper("merge", { at: reached, last: () => states.length - 1,
    go: (step) => assign(model, "step", step) });
  const words = wordsTable();
  const pairs = pairsTable();
  const question = html("p", { class: "tfw-question" });
  const readout = html("p", { class: "tfw-readout tfw-merge-said", role: "status" });
  const split = html("p", { class: "tfw-merge-split", role: "status" });
  const listHead = html("p", { class: "tfw-heading" });
  const list = html("ol", { class: "tfw-merge-list" });
  const listBox = scrolling("The merges so far", list);
  listBox.classList.add("tfw-merge-so-far");
  let listOf = "";

  function draw() {
    const counted = learn();
    /** @type {number[]} */
    const counts = counted.map((/** @type {CountedWord} */ item) => item[1]);
    const step = reached();
    if (step < model.get("step")) assign(model, "step", step); // shorter words take fewer merges
    const { pieces, pairs: candidates } = states[step];
    const merges = states.slice(0, step).map((state) => state.pairs[0]);
    const last = merges[step - 1];
    const made = last ? last.left + last.right : "";

    steps.range(0, states.length - 1);
    walk.show();

    words.show(step ? `The words after ${several(step, "merge")}` : "The words, letter by letter",
      counts, pieces, made);
    pairs.show(candidates, Math.max(...states.map((state) => state.pairs.length)));

    const letters = alphabet(counted.map((/** @type {CountedWord} */ item) => item[0])).length;
    const tokens = pieces.reduce((sum, word, i) => sum + word.length * counts[i], 0);
    question.textContent = candidates.length
      ? `Which pair is joined ${step ? "next" : "first"}? Say it, then press Next merge.`
      : "Every word is one piece: there is nothing left to merge.";
    readout.replaceChildren(...(last ? lastInWords(states[step - 1], step) : []),
      `The text has ${several(tokens, "token")}; the vocabulary has ${grouped(letters + step)}: ${
        several(letters, "character")} and ${several(step, "merge")}.`);

    const asked = model.get("new_word");
    const start = [...marked(asked, model.get("mark"))];
    split.replaceChildren(...(asked ? [html("b", {}, html("bdi", {}, asked)), " is split into ",
      piecesElement(merges.reduce(joined, start), "")] : ["Type a word above to see it split."]));
    listHead.textContent = step ? "The merges so far" : "No merge so far";
    // A step adds or takes a line: there may be hundreds, and building all takes most of a frame.
    if (listOf !== learnt) list.replaceChildren();
    listOf = learnt;
    while (list.children.length > step) list.lastElementChild?.remove();
    list.append(...merges.slice(list.children.length).map((pair) =>
      html("li", {}, pairElement(pair), ` (${grouped(pair.count)})`)));
    listBox.scrollTop = listBox.scrollHeight;
  }

  const stop = watch(model, ["words", "mark", "step", "new_word"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-merge" },
    question,
    html("div", { class: "tfw-controls" }, ...fields.map(({ element }) => element)),
    html("div", { class: "tfw-controls" }, mark.element),
    html("div", { class: "tfw-controls" }, walk.element, steps.element),
    html("div", { class: "tfw-side-by-side" }, words.element, html("details", { class: "tfw-more" },
      html("summary", {}, "Pairs of neighbours, counted"), pairs.element)),
    readout, split, listHead, listBox));
  draw();
  return () => {
    stop();
    for (const control of [...fields, mark, steps]) control.stop();
  };
}

export default { render };
