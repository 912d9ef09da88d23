// @ts-check
// Where the heads look, for the first of the sequences that are shown.

import { sequential } from "../kit/colours.js";
import { heatmap } from "../kit/heatmap.js";
import { html } from "../kit/elements.js";
import { fixed } from "../kit/numbers.js";

const NOTHING = "\u00b7"; // is written there yet

export function heads() {
  const heading = html("p", { class: "tfw-heading" });
  const element = html("div", { class: "tfw-play-heads" });
  /** @type {ReturnType<typeof heatmap>[]} */
  let maps = [];

  /**
   * Where the answer is, is framed for what is written: before that it would be given away.
   * @param {import("./run.js").Run} run @param {"cross" | "encoder" | "decoder"} kind
   */
  function show(run, kind) {
    const { task: { words, places, links }, shown: [{ source, target }], config } = run;
    const n = config.n_heads;
    if (maps.length !== n) {
      maps = Array.from({ length: n }, (_, h) => heatmap({ label: `Head ${h + 1}`, compact: true,
        columnTitle: `head ${h + 1} sees` }));
      element.replaceChildren(...maps.map((map) => map.element));
    }
    const name = (/** @type {number} */ token) => words[token] || "\u25b8";
    const read = [...source, 2].map(name);
    const ahead = !config.causal;
    const writes = ahead ? [...target, 2].map(name) : run.writtenFor(0).map(name);
    const written = Array.from({ length: target.length + 1 }, (_, i) => writes[i] ?? NOTHING);
    const rows = kind === "encoder" ? read : written;
    const columns = kind === "decoder" ? ["\u25b8", ...written.slice(0, -1)] : read;
    const frames = /** @type {[number, number][]} */ (
      kind === "cross" ? (links?.(source) ?? []).map((column, row) => [row, column])
        : kind === "decoder" && ahead ? target.map((_, row) => [row, row + 1]) : []);
    const weights = run.heads(kind);
    element.style.setProperty("--letters", String(Math.max(...words.map((word) => word.length))));
    const what = ahead ? "heads in training" : config.n_layers > 1 ? "where its last layer looks" : "where its heads look";
    heading.textContent = `${what} (rows: ${kind === "encoder" ? "read" : ahead ? "wanted" : "written"}; ${kind === "decoder" ? "\u25b8: start" : "brighter: more"}${
      frames.length ? `; framed: ${ahead ? "the answer" : "needed"}` : ""})`;
    maps.forEach((map, h) => {
      const value = (/** @type {number} */ r, /** @type {number} */ c) =>
        (rows === written && !writes[r] ? null : weights[h]?.[r * places + c]) ?? null; // after the end none looks
      map.show({ rows, columns, frames: run.written ? frames.slice(0, writes.length) : [],
        value,
        colour: (weight) => sequential(Math.sqrt(weight)), // evenly shared weights are seen
        say: (r, c) => (value(r, c) == null ? "Nothing is written here."
        : `${rows[r]} looks at ${columns[c]}: ${fixed(100 * Number(value(r, c)), 0)} %`) });
    });
  }

  return { heading, element, show };
}
