// @ts-check
// Beam search step by step: the growing tree, the candidates of a step, the finished in order.

import { button, choice, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { lengthPenalty, ranked } from "./maths.js";
import { beamFate, beamNumber, beamText, beamTree } from "./data.js";
import { beamPicture } from "./picture.js";
import { ownSentence } from "../kit/own_sentence.js";

/** @typedef {import("../kit/model.js").Model} Model */

const BEAM_KEY = [["tfw-beam-alive", "lives"], ["tfw-beam-finished", "\u2713 finished"],
  ["tfw-beam-best", "the best finished one and its way"], ["tfw-beam-dropped", "\u2717 dropped"],
  ["tfw-beam-past", "lived, but all that came of it was dropped or is finished"]];

/** @param {string} caption @param {string[]} names @param {string[][]} rows @param {string} cls */
function beamTable(caption, names, rows, cls) {
  return html("table", { class: `tfw-table ${cls}` }, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...names.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, ...rows.map((row) => html("tr", {},
      ...row.map((text) => html("td", {}, html("bdi", {}, text)))))));
}

/** @param {string} label @param {...Node} parts */
const beamScroll = (label, ...parts) =>
  html("div", { class: "tfw-scroll", tabindex: 0, role: "region", "aria-label": label }, ...parts);

/** @param {{model: Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./data.js").BeamContents} */
  let contents = model.get("contents");
  /** @type {import("./data.js").BeamTree} */
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

  const picture = beamPicture({
    onStep: (change) => go(now() + change),
    onEdge: (end) => go(end ? last() : 0),
    onNode: select,
    onMove: (change) => {
      const column = tree.columns[tree.nodes[selected].length];
      const rank = tree.nodes[selected].rank + change;
      select(column[Math.min(Math.max(rank, 0), column.length - 1)]);
    },
  });
  const sizes = slider(model, "beam_size", { label: "beam size", values: contents.beam_sizes });
  const steps = slider(model, "step", { label: "step", min: 0, max: 1 });
  const alpha = slider(model, "alpha", { label: "alpha", min: 0, max: 2, step: 0.1,
    format: (value) => value.toFixed(1) });
  const back = button("Back", () => go(now() - 1));
  const on = button("Next step", () => go(now() + 1));
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const candidates = beamScroll("Candidates of this step");
  const ends = beamScroll("Finished hypotheses");
  const note = html("p", {});
  const sentences = html("div", {});
  const own = "widget_manager" in model
    ? ownSentence(model, "Search", "The model searches \u2026") : null;
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
    tree = beamTree(contents, contents.examples[example].trees[model.get("beam_size")]);
    selected = -1;
    steps.input.max = String(last());
    picture.build(tree);
    // Who looks at the whole tree goes on looking at the whole.
    go(atEnd ? last() : now());
    steps.input.value = String(now()); // its range is new
  }

  function say() {
    const { length, rank, piece, logProb, total } = tree.nodes[selected];
    if (length === 0) {
      readout.textContent = "Nothing is written yet: the start mark, with a sum of 0.";
      return;
    }
    readout.textContent = `Step ${length} of ${last()}, candidate ${rank + 1} of ${
      tree.columns[length].length}: \u201c\u2068${beamText(tree, selected, contents.marked)
    }\u2069\u201d. Token \u201c\u2068${piece}\u2069\u201d with probability ${
      Math.exp(logProb).toFixed(3)}; sum ${beamNumber(total)}; ${beamFate(tree, selected)}.`;
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
    back.disabled = step === 0;
    on.disabled = step === last();
    candidates.replaceChildren(beamTable(
      `Step ${step} of ${last()}: the most probable of all extensions`,
      ["beginning", "token", "probability", "sum of logs", "what becomes of it"],
      step === 0 ? [] : column.map((node) => {
        const { piece, logProb, total } = tree.nodes[node];
        return [beamText(tree, node, contents.marked), piece, Math.exp(logProb).toFixed(3),
          beamNumber(total), beamFate(tree, node)];
      }), "tfw-beam-candidates"));
    ends.replaceChildren(beamTable(
      order.length ? "Finished so far, best score first" : "Finished so far: none",
      ["hypothesis", "tokens", "sum of logs", "penalty", "score"],
      order.map(({ node, length, total, score }) => [beamText(tree, node, contents.marked),
        String(length), beamNumber(total),
        lengthPenalty(length, model.get("alpha")).toFixed(3), beamNumber(score)]),
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
  el.append(html("div", { class: "tfw tfw-beam" }, ...(own ? [own.element] : []), problem,
    html("div", { class: "tfw-controls" }, sentences, sizes.element, steps.element, back, on),
    picture.element,
    html("ul", { class: "tfw-key" }, ...BEAM_KEY.map(([look, words]) => html("li", {},
      html("span", { class: `tfw-beam-swatch ${look}`, "aria-hidden": "true" }), words))),
    readout,
    html("div", { class: "tfw-beam-tables" }, candidates,
      html("div", {}, html("div", { class: "tfw-controls" }, alpha.element), ends, note))));
  load();
  return () => {
    stop();
    stopSteps();
    stopLoading();
    stopSentences();
    own?.stop();
    for (const control of [sizes, steps, alpha]) control.stop();
  };
}

export default { render };
