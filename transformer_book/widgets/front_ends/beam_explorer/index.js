// @ts-check
// Beam search step by step: the growing tree, the candidates of a step, the finished in order.

import { choice, slider, stepper } from "../kit/controls.js";
import { html, oncePerFrame, scrolling } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { fixed } from "../kit/numbers.js";
import { ownSentence } from "../kit/own_sentence.js";
import { quotedText, unsure } from "../kit/unsure.js";
import { fateOf, textOf, treeOf } from "./data.js";
import { lengthPenalty, ranked } from "./maths.js";
import { treePicture } from "./picture.js";

const KEY = [["tfw-beam-alive", "lives"], ["tfw-beam-finished", "\u2713 finished"],
  ["tfw-beam-best", "the best so far"], ["tfw-beam-dropped", "\u2717 dropped"]];

/**
 * A table; columns whose name begins with a star are left out where there is no room for them.
 * @param {string[]} names @param {string[][]} rows @param {string} cls
 */
function tableOf(names, rows, cls) {
  const wide = names.map((name) => (name.startsWith("*") ? { class: "tfw-beam-wide" } : {}));
  return html("table", { class: `tfw-table ${cls}` },
    html("thead", {}, html("tr", {}, ...names.map((name, i) =>
      html("th", { ...wide[i], scope: "col" }, name.replace("*", ""))))),
    html("tbody", {}, ...rows.map((row) => html("tr", {},
      ...row.map((text, i) => html("td", wide[i], html("bdi", {}, text)))))));
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./data.js").Contents} */
  let contents = model.get("contents");
  /** @type {import("./data.js").Tree} */
  let tree;
  let built = "";
  let selected = 0;

  const last = () => tree.steps;
  const now = () => Math.min(model.get("step"), last());
  /** @param {number} step */
  const go = (step) => assign(model, "step", Math.min(Math.max(step, 0), last()));
  /** @param {number} node */
  const select = (node) => {
    if (tree.nodes[node].length > now()) return;
    selected = node;
    draw();
  };

  const picture = treePicture(2 * Math.max(...contents.beam_sizes), {
    goTo: go,
    onStep: (change) => go(now() + change),
    onEdge: (end) => go(end ? last() : 0),
    onNode: select,
    onMove: (change) => {
      if (selected < 0) draw(); // a step's picture comes with the next frame
      const column = tree.columns[tree.nodes[selected].length];
      const rank = tree.nodes[selected].rank + change;
      select(column[Math.min(Math.max(rank, 0), column.length - 1)]);
    },
  });
  const sizes = slider(model, "beam_size", { label: "beam size", values: contents.beam_sizes });
  const alpha = slider(model, "alpha", { label: "alpha", min: 0, max: 2, step: 0.1,
    format: (value) => fixed(value, 1) });
  const walk = stepper("step", { at: now, last, go });
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const candidates = scrolling("Candidates of this step");
  const ends = scrolling("Finished hypotheses");
  const [candidatesHead, endsHead] = [1, 2].map(() => html("p", { class: "tfw-heading" }));
  /** @param {string} title @param {...HTMLElement} parts */
  const fold = (title, ...parts) =>
    html("details", { class: "tfw-more" }, html("summary", {}, title), ...parts);
  const note = html("p", {});
  const sentences = html("div", {});
  const found = html("p", { role: "status" });
  const own = ownSentence(model, "Search", "The model searches \u2026", { found: [found] });
  const offered = contents.examples.length; // those behind them are the reader's own
  const onSlide = el.closest(".slides"); // there the tree comes first
  let stopSentences = () => {};

  function offer() {
    stopSentences();
    const made = choice(model, "example", { label: "sentence",
      options: contents.examples.map(({ source }, i) => [`${i + 1}. ${source}`, i]) });
    stopSentences = made.stop;
    sentences.replaceChildren(made.element);
  }

  /** Takes up the tree of the sentence and the beam size that stand now. */
  function take() {
    const example = Math.min(model.get("example"), contents.examples.length - 1);
    const wanted = `${example} ${model.get("beam_size")} ${contents.examples.length}`;
    if (wanted === built) return;
    const atEnd = built !== "" && now() === last();
    built = wanted;
    tree = treeOf(contents, contents.examples[example].trees[model.get("beam_size")]);
    selected = -1;
    picture.build(tree);
    sayFound(example);
    // Who looks at the whole tree goes on looking at the whole.
    go(atEnd ? last() : now());
  }

  /** Near the field: what came of the reader's own sentence. @param {number} example */
  function sayFound(example) {
    const [best] = ranked(tree.ends, contents.alpha);
    const { unsure_below: below = -Infinity } = contents;
    if (example < offered || !best) {
      found.textContent = "";
      return;
    }
    const text = textOf(tree, best.node, contents.marked);
    found.textContent = `The search ends with ${quotedText(text)}${/[.!?]$/.test(text) ? "" : "."} ${
      unsure(best.total / best.length, below)}`;
  }

  function say() {
    const { length, rank, piece, logProb, total } = tree.nodes[selected];
    if (length === 0) {
      readout.textContent = "Nothing is written yet: the start mark, with a sum of 0.";
      return;
    }
    readout.textContent = `Step ${length} of ${last()}, candidate ${rank + 1} of ${
      tree.columns[length].length}: \u201c\u2068${textOf(tree, selected, contents.marked)
    }\u2069\u201d. Token \u201c\u2068${piece}\u2069\u201d with probability ${
      fixed(Math.exp(logProb), 3)}; sum ${fixed(total, 3)}; ${fateOf(tree, selected)}.`;
  }

  function draw() {
    take();
    const step = now();
    if (step !== model.get("step")) assign(model, "step", step); // another tree is longer
    const column = tree.columns[step];
    if (selected < 0 || tree.nodes[selected].length > step) [selected] = column;
    const order = ranked(tree.ends.filter(({ length }) => length <= step), model.get("alpha"));
    picture.show(step, order.length ? order[0].node : -1, selected);
    say();
    walk.show();
    candidatesHead.textContent = `Step ${step} of ${last()}: the most probable of all extensions`;
    candidates.replaceChildren(tableOf(
      ["*prefix", "token", "probability", "sum of logs", "what becomes of it"],
      step === 0 ? [] : column.map((node) => {
        const { piece, logProb, total } = tree.nodes[node];
        return [textOf(tree, node, contents.marked), piece, fixed(Math.exp(logProb), 3),
          fixed(total, 3), fateOf(tree, node)];
      }), "tfw-beam-candidates"));
    endsHead.textContent = order.length ? "Finished so far, best score first" : "Finished so far: none";
    ends.replaceChildren(tableOf(
      ["hypothesis", "*tokens", "*sum of logs", "*penalty", "score"],
      order.map(({ node, length, total, score }) => [textOf(tree, node, contents.marked),
        String(length), fixed(total, 3),
        fixed(lengthPenalty(length, model.get("alpha")), 3), fixed(score, 3)]),
      "tfw-beam-ends"));
    const other = Math.abs(model.get("alpha") - contents.alpha) > 1e-9;
    note.textContent = `The search ends when as many are finished as the beam is wide. It used alpha ${
      contents.alpha}${other ? ": with yours, the same hypotheses are ranked anew, but a search "
        + "might have kept others." : "."}`;
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  function load() {
    contents = model.get("contents");
    offer();
    draw();
  }

  const redraw = oncePerFrame(draw);
  const stop = watch(model, ["alpha", "message", "example", "beam_size"], redraw);
  const stopSteps = watch(model, ["step"], () => {
    selected = -1;
    redraw();
  });
  const stopLoading = watch(model, ["contents"], oncePerFrame(load));
  el.append(html("div", { class: "tfw tfw-beam" },
    html("p", { class: "tfw-question" },
      "Drag the front of the search. Does the winner ever stand below another prefix?"),
    ...(own && !onSlide ? [own.element] : []), problem,
    html("div", { class: "tfw-controls tfw-two" }, sentences, sizes.element),
    picture.element,
    html("ul", { class: "tfw-key" }, ...KEY.map(([look, words]) => html("li", {},
      html("span", { class: `tfw-beam-swatch ${look}`, "aria-hidden": "true" }), words))),
    readout, walk.element,
    html("div", { class: "tfw-folds" }, fold("Finished hypotheses, and alpha",
      html("div", { class: "tfw-controls" }, alpha.element), endsHead, ends, note),
    fold("Candidates of this step", candidatesHead, candidates)),
    ...(own && onSlide ? [own.element] : [])));
  load();
  return () => {
    stop();
    stopSteps();
    stopLoading();
    stopSentences();
    own?.stop();
    for (const control of [sizes, alpha]) control.stop();
  };
}

export default { render };
