// @ts-check
// A translation token by token: candidates, cross-attention, other tokens, silenced heads.

import { button, choice, pick, slider, stepper, tick } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { isWaiting, modelOffer, sentenceLabel, suggestions, tell, typed } from "../kit/own_sentence.js";
import { drawInWords, textOf } from "./data.js";
import { pane } from "./pane.js";
import { silencer } from "./silence.js";

const WAITING = "The model writes \u2026";
const PRESSES = ["this head", "the others of its layer", "the others of its kind"];

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @typedef {import("./data.js").Asked} Asked */
  /** @type {() => import("./data.js").Contents} */
  const contents = () => model.get("contents");
  /** @type {import("./data.js").Constants} */
  const constants = model.get("constants");
  let answers = "widget_manager" in model; // a kernel, or later the model in the page
  let number = model.get("question").number ?? 0;
  let silenced = new Set(contents().runs[0].silenced);
  /** What was asked and is not answered yet, by pane. @type {Map<number, Asked>} */
  const pending = new Map();
  /** The panes whose new sentence is followed as it is written. @type {Set<number>} */
  const followed = new Set();
  /** The tokens that each output begins with as the reader wants it. @type {number[][]} */
  const forced = contents().runs.map(({ tokens, given }) => tokens.slice(0, given));

  const last = () => Math.max(...shown().map((at) => contents().runs[at]?.tokens.length ?? 1));
  const now = () => Math.min(model.get("step"), last());
  const shown = () => (model.get("beside") ? [0, 1] : [0]);
  const draw = () => ({ temperature: model.get("temperature"), topK: model.get("top_k") });

  const state = html("p", { role: "status", class: "tfw-decoder-state" });
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });

  /** Asks for outputs anew, and once more for what is still to come. @param {Asked[]} runs */
  function ask(runs) {
    if (!answers) {
      state.textContent = model.load ? "To answer that, the page needs the model: load it below."
        : "Nobody is here to answer: open this chapter in Colab or in Jupyter.";
      return false;
    }
    for (const run of runs) pending.set(run.at, run);
    number += 1;
    state.textContent = WAITING;
    assign(model, "question", { number, runs: [...pending.values()], silenced: [...silenced] });
    return true;
  }
  /** An output as it is to begin; with `keep` as it is. @param {number} at @returns {Asked[]} */
  const again = (at) => {
    const run = contents().runs[at];
    if (!run) return [];
    const waiting = pending.get(at);
    return [waiting ?? { at, sentence: run.sentence,
      given: model.get("keep") && run.done ? run.tokens : forced[at] }];
  };
  const go = (/** @type {number} */ step) => assign(model, "step", step);
  /** @param {number} at */
  const acts = (at) => ({
    go, now,
    typed: (/** @type {HTMLInputElement} */ input) => typed(model, input),
    translate: (/** @type {string} */ sentence) => {
      if (!answers) return;
      for (const fold of el.querySelectorAll(".tfw-suggestions")) fold.removeAttribute("open");
      forced[at] = [];
      followed.add(at);
      ask([{ at, sentence, given: [] }]);
    },
    take: (/** @type {number} */ token) => {
      const { sentence, tokens } = contents().runs[at];
      const given = [...tokens.slice(0, Math.min(now(), tokens.length) - 1), token];
      if (ask([{ at, sentence, given }])) forced[at] = given;
    },
  });
  const panes = [["first", sentenceLabel(model)], ["second", "A sentence beside it"]]
    .map(([which, name], at) => pane(constants, which, name, acts(at)));

  panes[0].place.prepend(state);
  const walk = stepper("step", { at: now, last, first: 1, go });
  const view = pick(model, "view", { label: "cross-attention as",
    options: [["lines of one head", "lines"], ["matrix of all heads", "matrix"]] });
  const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) =>
    /** @type {[string, number]} */ ([String(i + 1), i]));
  const layer = choice(model, "layer", { label: "layer", options: range(contents().layers) });
  const head = choice(model, "head", { label: "head", options: range(contents().heads) });
  const beside = tick(model, "beside", { label: "a second sentence beside it" });
  const temperature = slider(model, "temperature", { label: "temperature",
    values: constants.temperatures });
  const topK = choice(model, "top_k", { label: "top-k",
    options: constants.top_k.map((k) => [k ? String(k) : "all tokens", k]) });
  const note = html("p", { class: "tfw-decoder-note" });
  const drawRest = button("Draw from this step on", () => {
    const { temperature: t, topK: k } = draw();
    const asked = shown().flatMap((at) => {
      const run = contents().runs[at];
      return run ? [{ at, sentence: run.sentence, given: run.tokens.slice(0, now() - 1),
        temperature: t, top_k: k }] : [];
    });
    if (ask(asked)) for (const { at, given } of asked) forced[at] = given;
  });
  const best = button("Take the most probable ones", () => {
    const asked = shown().flatMap((at) => {
      const run = contents().runs[at];
      return run ? [{ at, sentence: run.sentence, given: [] }] : [];
    });
    if (ask(asked)) for (const { at } of asked) forced[at] = [];
  });
  const presses = pick(model, "presses", { label: "a press silences", options: PRESSES });
  const keep = tick(model, "keep", { label: "keep the words, and see what they cost" });
  const heads = silencer(contents().layers, contents().heads, (next) => {
    const old = silenced;
    silenced = next;
    if (!ask(shown().flatMap(again))) silenced = old;
    heads.show(silenced);
  }, () => model.get("presses"));

  const back = button("Translate it back", () => {
    panes[0].input.value = textOf(contents(), contents().runs[0]);
    acts(0).translate(panes[0].input.value);
  });

  function show() {
    const { temperature: t, topK: k } = draw();
    const { runs } = contents();
    const lines = model.get("view") === "lines";
    layer.element.hidden = head.element.hidden = !lines;
    walk.show();
    back.element.hidden = contents().unsure_below === undefined || !contents().runs[0]?.done;
    panes[1].element.hidden = !model.get("beside");
    for (const at of shown()) {
      panes[at].show(contents(), runs[at], { step: now(), view: model.get("view"),
        layer: model.get("layer"), head: model.get("head"), temperature: t, topK: k,
        forced: forced[at] ?? [] });
    }
    note.textContent = `\u201cmodel\u201d is the probability by the model itself, at temperature 1 over all ${
      contents().vocab.toLocaleString("en")} tokens, and so is every log P.${
      t !== 1 || k ? ` \u201cdrawn with\u201d is what is left ${drawInWords(draw())}.` : ""}`;
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  const redraw = oncePerFrame(show);
  /** Follows an output as it is written, and sees what has been answered. */
  function take() {
    const { runs } = contents();
    for (const at of [...pending.keys()]) {
      const run = runs[at];
      if (run?.number !== number) continue;
      if (followed.has(at)) assign(model, "step", run.tokens.length);
      if (run.done) {
        if (at === 0 && followed.has(at)) tell(run.sentence);
        pending.delete(at);
        followed.delete(at);
      }
    }
    if (!pending.size) {
      state.textContent = "";
      if (model.get("step") > last()) assign(model, "step", last());
    }
    redraw();
  }
  const stops = [
    watch(model, ["contents"], take),
    watch(model, ["message"], () => {
      if (!model.get("message")) return;
      pending.clear();
      followed.clear();
      state.textContent = "";
      redraw();
    }),
    watch(model, ["beside"], () => {
      const other = contents().runs[1];
      // It may have been written while other heads were silenced.
      if (model.get("beside") && other && `${other.silenced}` !== `${[...silenced]}`) ask(again(1));
      redraw();
    }),
    watch(model, ["step", "view", "layer", "head", "temperature", "top_k", "message"], redraw),
  ];

  /** There is somebody who answers. */
  function open() {
    answers = true;
    state.textContent = "";
    panes.forEach((one, at) => {
      const { input } = one;
      const send = () => acts(at).translate(input.value);
      one.open(...(at ? [] : [back.element, ...suggestions(model, input, send)]));
      input.value = contents().runs[at]?.sentence ?? "";
    });
  }
  const offer = !answers && model.load ? modelOffer(model, () => {
    const waiting = offer && isWaiting(offer);
    offer?.remove();
    open();
    if (waiting) panes[0].input.focus(); // which scrolls to it: the offer stood at the other end
  }) : null;
  if (answers) open();

  heads.show(silenced);
  /** @param {string} title @param {...HTMLElement} parts */
  const fold = (title, ...parts) =>
    html("details", { class: "tfw-more" }, html("summary", {}, title), ...parts);
  el.append(html("div", { class: "tfw tfw-decoder" },
    html("p", { class: "tfw-question" }, "Drag to a word: why this one?"),
    problem,
    html("div", { class: "tfw-decoder-panes" }, ...panes.map(({ element }) => element)),
    walk.element,
    html("div", { class: "tfw-folds" }, fold("Other heads, a second sentence",
      html("div", { class: "tfw-controls" }, view.element, layer.element, head.element, beside.element)),
    fold("Temperature, top-k",
      html("div", { class: "tfw-controls" }, temperature.element, topK.element, drawRest.element,
        best.element), note),
    fold("Silence heads",
      html("div", { class: "tfw-controls" }, presses.element, keep.element), heads.element)),
    ...(offer ? [offer] : [])));
  show();
  return () => {
    for (const stop of stops) stop();
    for (const { stop } of [...panes, view, layer, head, beside, temperature, topK, presses, keep]) {
      stop();
    }
  };
}

export default { render };
