// @ts-check
// BLEU of a candidate that is typed below its reference, or changed word by word.

import { foretold, labelled, pick } from "../kit/controls.js";
import { OWN_KEYS, fresh, html, scrolling } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { fixed } from "../kit/numbers.js";
import { room } from "../kit/room.js";
import { bleuOf, tokensOf } from "./maths.js";
import { candidateView, referenceView } from "./picture.js";

/** What a zero counts as. @type {Object<number, string>} */
const PARTS = { 2: "½", 4: "¼", 8: "⅛" };
const NAMES = ["words", "pairs", "triples", "quadruples"];

/** A line of the table, with a bar. @param {string} name @param {string} kind */
function line(name, kind) {
  const [bar, counts, value] = [html("span", { class: `tfw-bleu-bar ${kind}` }), html("td"), html("td")];
  const element = html("tr", {}, html("th", { scope: "row" }, name), counts,
    html("td", {}, html("span", { class: "tfw-bleu-track", "aria-hidden": "true" }, bar)), value);
  /** @param {string} said @param {number | null} share @param {string} text */
  function show(said, share, text) {
    counts.textContent = said;
    value.textContent = text;
    bar.style.width = `${100 * (share ?? 0)}%`;
  }
  return { element, bar, show };
}

/** @param {string} score @param {number} clipped @param {number} zeros @param {string} left of the score, if not all */
function inWords(score, clipped, zeros, left) {
  return [`BLEU ${score}.`, clipped ? `Struck through: ${clipped} more than the reference has.` : "",
    zeros ? "So that not all is 0, a precision of 0 counts as a half, the next as a quarter." : "",
    left ? `Brevity leaves ${left} % of the score.` : "It is long enough: nothing is taken off for brevity.",
  ].filter(Boolean).join(" ");
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const get = (/** @type {string} */ name) => model.get(name);
  const { most_letters: most } = get("constants");
  const change = (/** @type {string} */ text) => assign(model, "candidate", text);
  const guess = get("ask") ? pick(model, "guess", { label: get("ask"),
    options: get("answers").map((/** @type {string} */ text, /** @type {number} */ i) => [text, i]) }) : null;

  const id = fresh("candidate");
  const input = html("input", { ...OWN_KEYS, id, type: "text", autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", maxlength: most / 2 }); // once a word is moved, all stand apart and take more room
  input.addEventListener("input", () => change(input.value));
  const ready = pick(model, "candidate", { label: "or try", options: get("ready") });
  const reference = referenceView();
  const candidate = candidateView({
    move: (from, to) => {
      const words = tokensOf(get("candidate"));
      words.splice(to, 0, ...words.splice(from, 1));
      change(words.join(" "));
    },
    remove: (place) => change(tokensOf(get("candidate")).filter((_, i) => i !== place).join(" ")),
  });
  const precisions = NAMES.map((name, i) => line(name, `tfw-bleu-of-${i + 1}`));
  const brevity = line("brevity", "tfw-bleu-of-brevity");
  const bleu = line("BLEU", "tfw-bleu-of-all");
  const [first, said, verdict] = [room(""), room("tfw-readout"), room("tfw-bleu-why")];
  const tools = html("div", {},
    html("div", { class: "tfw-controls" }, labelled(id, "your candidate", input), ready.element),
    html("div", { class: "tfw-bleu-both" },
      scrolling("Reference and candidate",
        html("p", { class: "tfw-heading" }, "reference"), reference.element,
        candidate.element, html("p", { class: "tfw-heading" }, "candidate")),
      html("table", { class: "tfw-table" }, html("caption", {}, "How many stand in the reference"),
        html("tbody", {}, ...[...precisions, brevity, bleu].map(({ element }) => element)))),
    html("p", { class: "tfw-bleu-hint" },
      "Drag a word to another place, or tap it to take it out (keys: arrows, Delete)."));

  /** @type {Set<string>} answers that were tried since the guess, or stood there */
  const tried = new Set();
  const answerOf = (/** @type {string} */ text) => get("answers").find((/** @type {string} */ answer) =>
    get("ready").some((/** @type {[string, string]} */ [name, about]) => name === answer && about === text));
  const came = (/** @type {number} */ answer) => foretold(get("answers"), answer, get("right"));

  /** What came of the guess, once all answers are tried: from then on. */
  function judge() {
    const [answers, guessed] = [get("answers"), get("guess")];
    if (guessed < 0) {
      first.say(["Say first what you expect; then change the words."]);
      return;
    }
    const shown = answerOf(get("candidate"));
    if (shown) tried.add(shown);
    const known = tried.size === answers.length;
    first.say([known ? came(guessed)
      : `Now try all ${answers.length} of them below: is it so? ${tried.size} of ${answers.length} tried.`]);
    verdict.say([known ? get("why") : ""]);
  }

  // At once, not in the next frame: what is dragged finds its neighbours where they are.
  function draw() {
    const [ours, theirs] = [tokensOf(get("candidate")), tokensOf(get("reference"))];
    const { rows, penalty, score } = bleuOf(ours, theirs);
    if (input.value !== get("candidate")) input.value = get("candidate");
    tools.inert = guess !== null && get("guess") < 0;
    if (guess) judge();
    reference.show(theirs, rows);
    candidate.show(ours, rows);
    rows.forEach(({ right, counted, marks, share }, i) => {
      const smoothed = counted !== right;
      precisions[i].bar.classList.toggle("tfw-bleu-smoothed", smoothed);
      precisions[i].show(marks.length ? `${smoothed ? PARTS[1 / counted] : right} of ${marks.length}` : "none",
        share, fixed(share, 2));
    });
    brevity.show(`${ours.length} : ${theirs.length}`, penalty, fixed(penalty, 2));
    bleu.show("", score / 100, fixed(score, 1));
    const clipped = rows[0].marks.filter((mark) => mark === "clipped").length;
    const zeros = rows.filter(({ right, counted }) => right !== counted).length;
    said.say([inWords(fixed(score, 1), clipped, zeros, ours.length < theirs.length ? fixed(100 * penalty, 0) : "")]);
  }

  said.keep([[inWords("10.0", 10, 2, "10")]]);
  if (guess) {
    first.keep(guess.inputs.map((_, answer) => [came(answer)]));
    verdict.keep([[get("why")]]);
  }
  const stop = watch(model, ["candidate", "reference", "guess"], draw);
  el.append(html("div", { class: "tfw tfw-bleu" },
    ...(guess ? [guess.element, first.element] : [html("p", { class: "tfw-question" },
      "Can you make the score fall without changing what the sentence means?")]),
    tools, said.element, ...(guess ? [verdict.element] : [])));
  draw();
  return () => {
    stop();
    ready.stop();
    guess?.stop();
  };
}

export default { render };
