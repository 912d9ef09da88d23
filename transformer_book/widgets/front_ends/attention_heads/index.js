// @ts-check
// All heads of a trained model for chosen sentences, and one of them enlarged.

import { ATTENTIONS, ONE } from "../kit/attentions.js";
import { choice, pick } from "../kit/controls.js";
import { html, oncePerFrame, scrolling } from "../kit/elements.js";
import { heatmap, legend } from "../kit/heatmap.js";
import { LEAST, headLines, quoted } from "../kit/lines.js";
import { assign, bytesOf, inflate, watch } from "../kit/model.js";
import { fixed } from "../kit/numbers.js";
import { ownSentence } from "../kit/own_sentence.js";
import { placeFor } from "../kit/room.js";
import { NOTHING } from "../kit/unsure.js";
import { kindsOf, readerOf, statistics } from "./data.js";
import { smallHeads } from "./small.js";

const MANY_TOKENS = 40;
const TOO_MANY_FOR_LABELS = 80;
const ARROW = " \u2192 "; // from a sentence to its translation

/**
 * An example's sentence as its reader wrote it.
 * @param {import("./data.js").Example} example
 */
function sentenceOf({ said }) {
  const [text] = said.split(ARROW);
  return text.length > 48 ? `${text.slice(0, 47)}\u2026` : text;
}

/** A sentence and its translation. @param {import("./data.js").Example} example */
const saidOf = ({ said }) => (said.endsWith(ARROW) ? `${said}${NOTHING}` : said);

/**
 * What a head does; a number that makes no sense for it is null.
 * @param {import("./data.js").Head} head @param {string} kind @returns {[string, number | null][]}
 */
function summary(head, kind) {
  const s = statistics(head, kind !== "cross");
  return [["entropy in bits", s.entropy], ["weight on the previous token", s.previous],
    ["weight on the diagonal", s.diagonal], ["weight on the true links", s.aligned]];
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
async function render({ model, el }) {
  /** @type {import("./data.js").Contents} */
  let contents = model.get("contents");
  /** @type {import("./data.js").Reader} */
  let read;
  let drawnKind = "";

  const small = smallHeads((layer, head) => {
    // A row of another length may not have the head that is chosen now.
    model.set("head", 0);
    model.set("layer", layer);
    assign(model, "head", head);
  });
  const picture = heatmap({ label: "The enlarged head", rowTitle: "looks",
    columnTitle: "is looked at" });
  // A long sentence scrolls in its box: the arrow keys take the box along.
  picture.field.addEventListener("keydown", () => {
    picture.field.querySelector(".tfw-marker")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const scale = legend({ low: "0", high: "1" });
  const matrix = html("div", { class: "tfw-heads-matrix" }, picture.element, scale);
  const lines = headLines();
  const heading = html("p", { class: "tfw-heading" });
  const numbers = html("p", { class: "tfw-heads-numbers" });
  const truth = html("p", {});
  const said = html("p", { class: "tfw-heads-said", role: "status" });
  const sentence = placeFor(said, { class: "tfw-heads-sentence" });
  const large = html("div", {});
  const table = html("table", { class: "tfw-table" });
  const details = html("details", {}, html("summary", {}, "All heads in numbers"), numbers,
    scrolling("All heads in numbers", table));
  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const controls = html("div", { class: "tfw-controls tfw-heads-choices" });
  const own = ownSentence(model, "Translate", "The model translates it \u2026",
    { answers: model.get("can_translate") });
  /** @type {(() => void)[]} */
  let stops = [];

  function offer() {
    for (const stop of stops) stop();
    const kinds = kindsOf(contents);
    const made = [
      pick(model, "view", { label: "enlarged as", options: ["matrix", "lines"] }),
      ...(kinds.length > 1 ? [pick(model, "kind", { label: "attention", options: kinds })] : []),
    ];
    made[1]?.element.classList.add("tfw-heads-kinds");
    const sentences = choice(model, "example", { label: "sentence",
      options: contents.examples.map((each, i) => [`${i + 1}. ${sentenceOf(each)}`, i]) });
    stops = [sentences, ...made].map(({ stop }) => stop);
    sentence.keep(contents.examples.map((each) => html("p", {}, saidOf(each))));
    const several = contents.examples.length > 1 ? [sentences.element] : [];
    controls.replaceChildren(...several, ...made.map(({ element }) => element));
  }

  /** What stands now, kept inside what is there. */
  function place() {
    const example = Math.min(model.get("example"), contents.examples.length - 1);
    const kinds = kindsOf(contents);
    const kind = kinds.find((one) => one === model.get("kind")) ?? kinds[0];
    const counts = contents.heads[kind];
    const layer = Math.min(model.get("layer"), counts.length - 1);
    const head = Math.min(model.get("head"), counts[layer] - 1);
    return { example, kind, layer, head, counts };
  }

  function fillTable() {
    if (!details.open) return;
    const { example, kind, counts } = place();
    const stats = (/** @type {number} */ layer, /** @type {number} */ head) =>
      summary(read(example, kind, layer, head), kind);
    const names = stats(0, 0).map(([name]) => name);
    table.replaceChildren(
      html("caption", {}, `Means over the tokens: ${ATTENTIONS[kind].name}`),
      html("thead", {}, html("tr", {},
        ...["layer", "head", ...names].map((name) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...counts.flatMap((number, layer) =>
        Array.from({ length: number }, (_, head) => html("tr", {},
          html("td", {}, layer + 1), html("td", {}, head + 1),
          ...stats(layer, head).map(([, value]) => html("td", {}, fixed(value, 3))))))));
  }
  details.addEventListener("toggle", fillTable);

  function draw() {
    const { example, kind, layer, head, counts } = place();
    const now = `${example} ${kind} ${contents.examples.length}`;
    if (now !== drawnKind) {
      drawnKind = now;
      small.show(counts.map((number, i) =>
        Array.from({ length: number }, (_, j) => read(example, kind, i, j))));
      fillTable();
    }
    small.mark(layer, head);
    const one = read(example, kind, layer, head);
    const { cells, rows, columns, links } = one;
    said.textContent = saidOf(contents.examples[example]);
    heading.textContent = `Layer ${layer + 1}, head ${head + 1}: ${ATTENTIONS[kind].name}`;
    numbers.textContent = `Layer ${layer + 1}, head ${head + 1}, mean over the tokens: ${
      summary(one, kind).filter(([, value]) => value != null)
        .map(([name, value]) => `${name} ${fixed(value, 3)}`).join("; ")}. Weights below ${
      LEAST} have no line.`;
    const view = model.get("view") === "lines" ? lines.element : matrix;
    truth.hidden = links.length === 0;
    // A row that has read a word is about to write the next one: its true link is the next one's.
    truth.textContent = `${view !== matrix ? "Dotted orange lines" : "Orange frames"} mark ${
      kind === "cross" && !model.get("written") ? "what the next word translates"
        : "the words that truly belong together"}.`;
    if (large.firstChild !== view) large.replaceChildren(view);
    if (view !== matrix) {
      lines.show(one);
    } else {
      const most = Math.max(rows.length, columns.length);
      const grid = picture.element.querySelector(".tfw-heatmap");
      grid?.classList.toggle("tfw-compact", most > MANY_TOKENS);
      grid?.classList.toggle("tfw-heads-bare", most > TOO_MANY_FOR_LABELS);
      const linked = new Set(links.map((link) => link.join()));
      picture.show({
        rows,
        columns,
        value: (r, c) => cells[r * columns.length + c] / ONE,
        say: (r, c) => `${quoted(rows, r)} looks at ${quoted(columns, c)} with ${
          fixed(cells[r * columns.length + c] / ONE, 3)}${
          linked.has(`${r},${c}`) ? ", a true link" : ""}.`,
        frames: links,
      });
    }
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  /** Unpacks what is there now; names and weights may come one after the other. */
  async function load() {
    const bytes = await inflate(bytesOf(model.get("packed")));
    const next = model.get("contents");
    const reader = readerOf(bytes, next);
    if (!reader) return;
    read = reader;
    contents = next;
    drawnKind = "";
    offer();
    draw();
  }

  await load();
  const stop = watch(model, ["example", "kind", "layer", "head", "view", "message"],
    oncePerFrame(draw));
  const stopLoading = watch(model, ["contents", "packed"], oncePerFrame(load));
  el.append(html("div", { class: "tfw tfw-heads" }, ...(own ? [own.element] : []), problem,
    sentence.element, controls,
    html("div", { class: "tfw-heads-both" },
      html("div", {}, small.element, details),
      html("div", { class: "tfw-heads-large" }, heading, truth, large))));
  return () => {
    stop();
    stopLoading();
    own?.stop();
    for (const each of stops) each();
  };
}

export default { render };
