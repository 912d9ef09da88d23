// @ts-check
// The candidates of a beam as bars of two costs; the weight of the second decides who comes first.

import { choice, slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { watch } from "../kit/model.js";
import { TIME, keepsStill } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";
import { ownSentence } from "../kit/own_sentence.js";
import { patches } from "../kit/patches.js";
import { room } from "../kit/room.js";
import { NOTHING, quotedText } from "../kit/unsure.js";
import { answer, ranking, score } from "./maths.js";

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {() => import("./maths.js").Contents} */
  const contents = () => model.get("contents");
  const { most } = model.get("constants");
  model.answers = ["sentence", answer];

  const list = html("ol", { class: "tfw-rerank-list" });
  const [readout, sentence] = [room("tfw-readout"), room("tfw-rerank-sentence")];
  sentence.element.removeAttribute("role"); // the list of sentences has said it
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const chosen = html("div", {});
  const weight = slider(model, "weight", { label: "\u03bb: how much reading back counts", min: 0, max: most,
    step: 0.01, format: (value) => fixed(value, 2) });
  const own = ownSentence(model, "Translate", "The model writes twelve, and reads each of them back \u2026");
  weight.element.classList.add("tfw-rerank-weight");
  /** @type {{element: HTMLElement, write: HTMLElement, read: HTMLElement, costs: HTMLElement}[]} */
  let rows = [];
  let shown = { place: -1, of: /** @type {object} */ ({}) };
  let stopChoosing = () => {};

  /** @param {{source: string, meaning: string}} example */
  const inFull = ({ source, meaning }) => [source, meaning && `It means: ${quotedText(meaning)}`];
  const place = () => Math.min(model.get("example"), contents().examples.length - 1);
  const found = () => contents().examples[place()].candidates;

  /** @param {number} i @param {number} by */
  const said = (i, by) => {
    const one = found()[i];
    return [`${quotedText(one.text)} costs ${fixed(-one.forward, 2)} to write, ${fixed(by, 2)} \u00d7 ${
      fixed(-one.backward, 2)} to read back: ${fixed(-score(one, by), 2)}.`];
  };

  /** Makes the rows of another sentence. */
  function fill() {
    rows = found().map(({ text }) => {
      const [write, read] = ["write", "read"].map((cost) => html("span", { class: `tfw-rerank-${cost}` }));
      const costs = html("span", { class: "tfw-rerank-costs" });
      return { write, read, costs, element: html("li", {}, html("bdi", {}, text || NOTHING),
        html("div", { class: "tfw-rerank-row" },
          html("div", { class: "tfw-rerank-bar", "aria-hidden": "true" }, write, read), costs)) };
    });
    list.replaceChildren(...rows.map(({ element }) => element));
    readout.keep(found().map((_, i) => said(i, most)));
  }

  /** Each row to its place, from where it stood. @param {number[]} order */
  function arrange(order) {
    const elements = order.map((i) => rows[i].element);
    if (elements.every((element, i) => list.children[i] === element)) return;
    const before = elements.map((element) => element.offsetTop);
    list.append(...elements);
    if (keepsStill()) return;
    elements.forEach((element, i) => {
      const by = before[i] - element.offsetTop;
      if (by) element.animate({ transform: [`translateY(${by}px)`, "none"] }, { duration: TIME, easing: "ease-out" });
    });
  }

  function offer() {
    stopChoosing();
    const sentences = choice(model, "example", { label: "sentence",
      options: contents().examples.map(({ source }, i) => [source, i]) });
    stopChoosing = sentences.stop;
    chosen.replaceChildren(sentences.element);
    sentence.keep(contents().examples.map(inFull));
  }

  function draw() {
    const now = { place: place(), of: contents() };
    const other = shown.of !== now.of || shown.place !== now.place;
    if (shown.of !== now.of) offer();
    if (other) fill();
    sentence.say(inFull(contents().examples[now.place]));
    shown = now;
    const by = model.get("weight");
    const longest = Math.max(...found().map((one) => -score(one, most)));
    const order = ranking(found(), by);
    found().forEach((one, i) => {
      rows[i].write.style.width = `${(-100 * one.forward) / longest}%`;
      rows[i].read.style.width = `${(-100 * by * one.backward) / longest}%`;
      rows[i].costs.textContent = fixed(-score(one, by), 2);
      rows[i].element.classList.toggle("tfw-rerank-first", i === order[0]);
    });
    if (other) list.append(...order.map((i) => rows[i].element));
    else arrange(order);
    readout.say(said(order[0], by));
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  const stop = watch(model, ["contents", "example", "weight", "message"], oncePerFrame(draw));
  const key = patches([["tfw-rerank-write", "cost to write it"],
    ["tfw-rerank-read", "cost to read it back, \u00d7 \u03bb"]]);
  el.append(html("div", { class: "tfw tfw-rerank" },
    html("p", { class: "tfw-question" }, "How much must reading back count before another translation comes first?"),
    ...(own ? [own.element] : []), problem, html("div", { class: "tfw-controls" }, chosen),
    sentence.element, key, weight.element, list, readout.element));
  draw();
  return () => {
    stop();
    stopChoosing();
    weight.stop();
    own?.stop();
  };
}

export default { render };
