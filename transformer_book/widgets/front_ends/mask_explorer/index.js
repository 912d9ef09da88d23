// @ts-check
// Who may attend to whom in a sentence of a padded batch: the sentence's end is dragged over the mask.

import { ATTENTIONS } from "../kit/attentions.js";
import { TWO_COLOURS, css } from "../kit/colours.js";
import { pick, slider } from "../kit/controls.js";
import { html, oncePerFrame, scrolling } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { heatmap } from "../kit/heatmap.js";
import { assign, watch } from "../kit/model.js";
import { cutAndPadded, hiddenBy } from "./maths.js";

/** @typedef {import("../kit/model.js").Model} Model */

const [LATER, MAY] = TWO_COLOURS;
/** @type {import("../kit/colours.js").Colour} */
const PADDING = [245, 216, 164];

/** The shown sentence's place in the batch. @param {Model} model */
function placeOf(model) {
  return Math.min(model.get("sentence"), model.get("source").length - 1);
}

/** How many tokens are left of each sentence. @param {Model} model @param {string} side */
function lengthsOf(model, side) {
  /** @type {string[][]} */
  const sentences = model.get(side);
  const lengths = model.get(`${side}_lengths`);
  return sentences.map(({ length }, i) => Math.min(lengths[i] ?? length, length));
}

/**
 * The shown sentence's length as if it were a trait of its own, for a slider.
 * @param {Model} model @param {string} side @returns {Model}
 */
function lengthModel(model, side) {
  const events = [`change:${side}_lengths`, `change:${side}`, "change:sentence"];
  return {
    get: () => lengthsOf(model, side)[placeOf(model)],
    set: (_, value) => {
      const place = placeOf(model);
      model.set(`${side}_lengths`,
        lengthsOf(model, side).map((length, i) => (i === place ? value : length)));
    },
    save_changes: () => model.save_changes(),
    on: (_, callback) => events.forEach((event) => model.on(event, callback)),
    off: (_, callback) => events.forEach((event) => model.off(event, callback)),
  };
}

/** A colour and what it means. @param {import("../kit/colours.js").Colour} colour @param {string} text */
function swatch(colour, text) {
  const patch = html("span", { class: "tfw-maskexplorer-swatch", "aria-hidden": "true" });
  patch.style.background = css(colour);
  return html("li", {}, patch, text);
}

/** The batch of one side as the rectangle that it is. @param {string} title */
function batchTable(title) {
  const body = html("tbody");
  const box = scrolling(title, html("table", { class: "tfw-table tfw-maskexplorer-batch" },
    html("caption", {}, title), body));

  /** @type {string[]} what the rows show, so that only those that change are built anew */
  let drawn = [];
  /** @param {string[][]} rows @param {number[]} lengths @param {number} shown */
  function show(rows, lengths, shown) {
    const keys = rows.map((row, i) => JSON.stringify([row, lengths[i], i === shown]));
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((row, i) => {
      if (keys[i] === drawn[i]) return;
      const arrow = html("span", { "aria-hidden": "true" }, i === shown ? "▸ " : "");
      const head = html("th", { scope: "row" }, arrow, i);
      const line = html("tr", { "aria-current": i === shown ? "true" : null }, head,
        ...row.map((token, t) =>
          html("td", { class: t < lengths[i] ? null : "tfw-maskexplorer-pad" }, token)));
      if (body.rows[i]) body.rows[i].replaceWith(line);
      else body.append(line);
    });
    drawn = keys;
  }
  return { element: box, show };
}

/**
 * Whether and why a query may look at a key, in words.
 * @param {{kind: string, show: string}} mask
 * @param {string[]} queries @param {string[]} keys @param {number} words
 * @param {number} query @param {number} key @param {string} pad
 */
function inWords({ kind, show }, queries, keys, words, query, key, pad) {
  const { padding, later } = hiddenBy(kind, show, query, key, words);
  const who = `"${queries[query]}" (query, position ${query})`;
  const whom = `"${keys[key]}" (key, position ${key})`;
  if (padding || later) {
    const why = [padding ? "padding" : "", later ? "it comes later" : ""].filter(Boolean);
    return `${who} may not look at ${whom}: ${why.join(", and ")}.`;
  }
  const causal = kind === "decoder self" && show !== "padding";
  const order = query === key ? "its own position" : "it comes earlier";
  const why = [causal ? order : "", causal && show === "causal" ? "" : "no padding"];
  const idle = queries[query] === pad
    ? " Masks hide keys, not queries: what padding computes is not used." : "";
  return `${who} may look at ${whom}: ${why.filter(Boolean).join(", and ")}.${idle}`;
}

/** @param {{model: Model, el: HTMLElement}} host */
function render({ model, el }) {
  const sides = ["source", "target"];
  const { pad } = model.get("constants");
  const sentence = slider(model, "sentence", { label: "sentence of the batch", min: 0, max: 0 });
  const ends = sides.map((side) => lengthModel(model, side));
  const lengths = sides.map((side, s) =>
    slider(ends[s], `${side}_length`, { label: `${side} tokens`, min: 1, max: 1 }));
  const kind = pick(model, "kind", {
    label: "attention",
    options: Object.entries(ATTENTIONS).map(([value, { name }]) => [name, value]),
  });
  const mode = pick(model, "show", {
    label: "mask of the decoder self-attention",
    options: ["padding", "causal", "combined"],
  });
  const batches = [
    batchTable("Source batch, read by the encoder"),
    batchTable("Target batch, read by the decoder"),
  ];
  const count = html("p", { class: "tfw-maskexplorer-count" });
  const grid = heatmap({ label: "Mask", rowTitle: "query", columnTitle: "key" });

  let columns = 1;
  /** Whose end is dragged: the side that is looked at. */
  const keySide = () => sides.indexOf(ATTENTIONS[model.get("kind")].keys);
  /** @param {number} tokens */
  const cut = (tokens) => {
    const most = model.get(sides[keySide()])[placeOf(model)].length;
    assign(ends[keySide()], "", Math.min(Math.max(tokens, 1), most));
  };
  // Where the drag began, and how wide a cell was: the mask shrinks with the longest sentence.
  let pulled = { from: 0, x: 0, cell: 1 };
  const end = grip(html("div", { class: "tfw-maskexplorer-end tfw-dot" }), {
    label: "end of the sentence that is looked at",
    drag: (x) => cut(pulled.from + Math.round((x - pulled.x) / pulled.cell)),
    step: (by) => cut(ends[keySide()].get("") + by),
    onHold: (held, x) => {
      const cell = grid.field.clientWidth / columns;
      if (held) pulled = { from: ends[keySide()].get(""), x, cell };
    },
  });
  grid.field.append(end.element);

  function draw() {
    const place = placeOf(model);
    const left = sides.map((side) => lengthsOf(model, side));
    const padded = sides.map((side, s) => model.get(side).map(
      (/** @type {string[]} */ tokens, /** @type {number} */ i) =>
        cutAndPadded(tokens, left[s][i], Math.max(...left[s]), pad)));
    sentence.range(0, model.get("source").length - 1);
    sides.forEach((side, s) => {
      lengths[s].range(1, model.get(side)[place].length);
      batches[s].show(padded[s], left[s], place);
    });

    const mask = { kind: model.get("kind"), show: model.get("show") };
    const { name, queries: from, keys: to } = ATTENTIONS[mask.kind];
    const decoder = mask.kind === "decoder self";
    mode.element.disabled = !decoder;
    /** @type {string[]} */
    const queries = padded[sides.indexOf(from)][place];
    /** @type {string[]} */
    const keys = padded[sides.indexOf(to)][place];
    const words = left[sides.indexOf(to)][place];
    const cells = queries.map((_, q) => keys.map((__, k) =>
      hiddenBy(mask.kind, mask.show, q, k, words)));
    grid.show({
      rows: queries,
      columns: keys,
      value: (q, k) => (cells[q][k].padding ? 2 : cells[q][k].later ? 0 : 1),
      colour: (what) => [LATER, MAY, PADDING][what],
      say: (q, k) => inWords(mask, queries, keys, words, q, k, pad),
    });
    columns = keys.length;
    const most = Math.max(...sides.flatMap((side) => model.get(side)).map(({ length }) => length));
    grid.element.style.setProperty("--tfw-most", String(most));
    end.element.style.left = `${(100 * words) / columns}%`;
    end.show(words, 1, model.get(to)[place].length, `${words} ${words === 1 ? "token" : "tokens"}`);
    const title = `${name}${decoder ? `, ${mask.show} mask` : ", padding mask"}`;
    grid.field.setAttribute("aria-label", `Mask of the ${title}: ${queries.length} queries in `
      + `rows, ${keys.length} keys in columns. Arrow keys move over the cells.`);
    const flat = cells.flat();
    /** @param {(cell: import("./maths.js").Hidden) => boolean} test */
    const number = (test) => flat.filter(test).length;
    const reasons = decoder && mask.show === "combined"
      ? `: ${number((c) => c.padding && !c.later)} only by padding, `
        + `${number((c) => c.later && !c.padding)} only because the key comes later, `
        + `${number((c) => c.padding && c.later)} for both reasons` : "";
    count.textContent =
      `Hidden are ${number((c) => c.padding || c.later)} of ${flat.length} cells${reasons}.`;
  }

  const stop = watch(model, ["source", "target", "source_lengths", "target_lengths", "sentence",
    "kind", "show"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-maskexplorer" },
    html("p", { class: "tfw-question" },
      "Drag the end of the sentence. Which cells does it hide that were open before?"),
    html("div", { class: "tfw-maskexplorer-picture" },
      html("ul", { class: "tfw-key" }, swatch(MAY, "may attend"), swatch(PADDING, "hidden: padding"),
        swatch(LATER, "hidden: a later token")),
      grid.element, count),
    html("div", { class: "tfw-controls" }, kind.element, mode.element, sentence.element),
    html("details", { class: "tfw-more" },
      html("summary", {}, "The padded batch"),
      html("div", { class: "tfw-controls" }, ...lengths.map((l) => l.element)),
      html("div", { class: "tfw-maskexplorer-batches" }, ...batches.map((batch) => batch.element)))));
  draw();
  return () => {
    stop();
    for (const control of [sentence, ...lengths, kind, mode]) control.stop();
  };
}

export default { render };
