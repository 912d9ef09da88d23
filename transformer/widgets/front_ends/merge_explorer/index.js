// @ts-check
// Byte-pair encoding, merge by merge, on words that the reader chooses.

import { button, pick, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { bpeAlphabet, bpeJoin, bpeMarked, bpeStates } from "./maths.js";
import { mergeNewWordField, mergeWordsField } from "./fields.js";
import {
  mergeNumber, mergePair, mergePairsTable, mergePieces, mergeWordsTable,
} from "./tables.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./maths.js").BpeState} BpeState
 * @typedef {import("./maths.js").CountedWord} CountedWord
 */

/** @param {number} n @param {string} what */
const several = (n, what) => `${mergeNumber(n)} ${what}${n === 1 ? "" : "s"}`;

/** What the next merge will be, and against whom it wins. @param {BpeState} state */
function nextInWords({ pairs: [best, ...others] }) {
  if (!best) return [html("span", {}, "Every word is one piece: there is nothing left to merge.")];
  const equals = others.filter(({ count }) => count === best.count).length;
  const tie = equals === 0 ? "" : ` ${several(equals, "other pair")} ${equals === 1 ? "is" : "are"} as `
    + "frequent; of equals the one of older pieces is taken.";
  return [html("span", {}, "Next is ", mergePair(best), `, which occurs ${several(best.count, "time")}.`,
    tie)];
}

/** @param {{model: Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {BpeState[]} every state of the words on show, and of which words they are */
  let states = [];
  let statesOf = "";
  const learn = () => {
    const words = model.get("words").map((/** @type {CountedWord} */ [word, count]) =>
      /** @type {CountedWord} */ ([bpeMarked(word, model.get("mark")), count]));
    const wanted = JSON.stringify(words);
    if (wanted !== statesOf) states = bpeStates(words);
    statesOf = wanted;
    return words;
  };
  const reached = () => Math.min(model.get("step"), states.length - 1);
  const move = (/** @type {number} */ by) => () => {
    const step = Math.min(Math.max(reached() + by, 0), states.length - 1);
    if (step !== model.get("step")) assign(model, "step", step);
  };

  const fields = [mergeWordsField(model), mergeNewWordField(model)];
  const mark = pick(model, "mark", {
    label: "▁ stands",
    options: [["before each word", "start"], ["after each word", "end"], ["nowhere", "none"]],
  });
  const steps = slider(model, "step", { label: "merges done", min: 0, max: 0 });
  const [back, on] = [button("Previous", move(-1)), button("Next", move(1))];
  const words = mergeWordsTable();
  const pairs = mergePairsTable();
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const split = html("p", { class: "tfw-merge-split", role: "status" });
  const listHead = html("p", { class: "tfw-heading" }, "The merges so far");
  const list = html("ol", { class: "tfw-merge-list" });
  let listOf = "";

  function draw() {
    const counted = learn();
    /** @type {number[]} */
    const counts = counted.map((/** @type {CountedWord} */ item) => item[1]);
    const step = reached();
    const { pieces, pairs: candidates } = states[step];
    const merges = states.slice(0, step).map((state) => state.pairs[0]);
    const last = merges[step - 1];
    const made = last ? last.left + last.right : "";

    // A slider clamps its value to the old end, so the value comes after the end.
    steps.input.max = String(states.length - 1);
    steps.input.value = String(step);
    // Not `disabled`: a button that has the focus would lose it.
    back.setAttribute("aria-disabled", String(step === 0));
    on.setAttribute("aria-disabled", String(step === states.length - 1));

    words.show(step ? `The words after ${several(step, "merge")}` : "The words, letter by letter",
      counts, pieces, made);
    pairs.show(candidates.length ? "Pairs of neighbours" : "No pairs are left",
      candidates);

    const letters = bpeAlphabet(counted.map((/** @type {CountedWord} */ item) => item[0])).length;
    const tokens = pieces.reduce((sum, word, i) => sum + word.length * counts[i], 0);
    const done = last ? [html("span", {}, `Merge ${step} made `, mergePieces([made], made),
      `out of a pair that occurred ${several(last.count, "time")}. `)] : [];
    readout.replaceChildren(...done, `The text has ${several(tokens, "token")}; the vocabulary has `
      + `${mergeNumber(letters + step)}: ${several(letters, "character")} and ${several(step, "merge")}. `,
    ...nextInWords(states[step]));

    const asked = model.get("new_word");
    const start = [...bpeMarked(asked, model.get("mark"))];
    split.replaceChildren(...(asked ? [html("b", {}, html("bdi", {}, asked)), " is split into ",
      mergePieces(merges.reduce(bpeJoin, start), "")] : ["Type a word above to see it split."]));
    listHead.hidden = list.hidden = step === 0;
    // A step adds or takes a line: there may be hundreds, and building all takes most of a frame.
    if (listOf !== statesOf) list.replaceChildren();
    listOf = statesOf;
    while (list.children.length > step) list.lastElementChild?.remove();
    list.append(...merges.slice(list.children.length).map((pair) =>
      html("li", {}, mergePair(pair), ` (${mergeNumber(pair.count)})`)));
  }

  const stop = watch(model, ["words", "mark", "step", "new_word"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-merge" },
    html("div", { class: "tfw-controls" }, ...fields.map(({ element }) => element)),
    html("div", { class: "tfw-controls" }, mark.element),
    html("div", { class: "tfw-controls" }, back, on, steps.element),
    html("div", { class: "tfw-side-by-side" }, words.element, pairs.element),
    readout, split, listHead, list));
  draw();
  return () => {
    stop();
    for (const control of [...fields, mark, steps]) control.stop();
  };
}

export default { render };
