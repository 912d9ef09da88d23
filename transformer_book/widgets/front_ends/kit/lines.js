// @ts-check
// One head as lines between two columns of tokens: the stronger the weight, the stronger the line.

import { ONE } from "./attentions.js";
import { FRAME } from "./colours.js";
import { OWN_KEYS, html, paleWhereCut, svg } from "./elements.js";
import { fixed } from "./numbers.js";

/**
 * One head: its weights row by row, in thousandths.
 * @typedef {object} Head
 * @property {Uint16Array} cells
 * @property {string[]} rows the tokens that look
 * @property {string[]} columns the tokens that are looked at
 * @property {[number, number][]} links the true alignment, if it is cross-attention
 * @property {number} [more] tokens look that are not drawn
 */

const TOP = 26;
// The width of all, where the lines begin and end, and how many letters of a token fit into a column.
const WIDE = { width: 330, left: 112, right: 218, longest: 13 };
const NARROW = { width: 208, left: 64, right: 144, longest: 8 };
export const LEAST = 0.05; // weaker lines would only be a haze
const SAME = 0.02 * ONE; // no eye sees so small a difference between two lines

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * A token in quotation marks; with its place if it is there more than once.
 * @param {string[]} tokens @param {number} place
 */
export function quoted(tokens, place) {
  const token = tokens[place];
  // Letters that run to the left would otherwise turn the words around them.
  const text = RIGHT_TO_LEFT.test(token) ? `\u2068${token}\u2069` : token;
  const twice = tokens.indexOf(token) !== tokens.lastIndexOf(token);
  return `"${text}"${twice ? ` (token ${place + 1})` : ""}`;
}

/**
 * The lines of a head. `show` draws another one in its place.
 * @param {string} [name] what they are the lines of
 * @param {boolean} [narrow] with little room, as for two of them side by side on a phone
 */
export function headLines(name = "The enlarged head", narrow = false) {
  const { width, left, right, longest } = narrow ? NARROW : WIDE;
  const drawn = svg("g", { class: "tfw-heads-lines" });
  const truth = svg("path", { class: "tfw-heads-truth", stroke: FRAME });
  const strong = svg("g", { class: "tfw-heads-lines tfw-heads-strong" });
  const words = svg("g", {});
  const band = svg("rect", { class: "tfw-heads-band", x: 0, width: left, rx: 3 });
  band.style.display = "none";
  const picture = svg("svg", {
    class: "tfw-heads-picture",
    tabindex: 0,
    ...OWN_KEYS,
    role: "application",
    "aria-roledescription": "lines between tokens",
    "aria-label": `${name} as lines. Up and down arrow keys move over the tokens that look.`,
  }, band, drawn, truth, strong, words);
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const box = paleWhereCut(html("div", { class: "tfw-heads-tall" }, picture));
  const element = html("div", {}, box, readout);

  /** @type {Head | null} */
  let head = null;
  let step = 22;
  let written = ""; // the words that stand there now
  /** @type {number | null} */
  let cursor = null;

  /** @param {string} token */
  const cut = (token) => {
    const letters = [...token];
    return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}\u2026` : token;
  };
  const yOf = (/** @type {number} */ place) => TOP + (place + 0.5) * step;
  const path = (/** @type {number} */ row, /** @type {number} */ column) =>
    `M${left} ${yOf(row)}L${right} ${yOf(column)}`;

  /** @param {number} weight @param {string} d */
  const line = (weight, d) => svg("path", {
    d,
    "stroke-opacity": weight,
    "stroke-width": 0.75 + 4 * weight,
    "data-weight": weight,
  });

  function drawCursor() {
    if (!head) return;
    drawn.classList.toggle("tfw-heads-faint", cursor != null);
    band.style.display = cursor == null ? "none" : "";
    strong.replaceChildren();
    readout.textContent = "";
    if (cursor == null) return;
    const { cells, rows, columns } = head;
    const row = cursor;
    band.setAttribute("y", String(yOf(row) - step / 2));
    band.setAttribute("height", String(step));
    const seen = [...cells.subarray(row * columns.length, (row + 1) * columns.length)]
      .map((cell, column) => ({ weight: cell / ONE, column }))
      .filter(({ weight }) => weight >= LEAST)
      .sort((a, b) => b.weight - a.weight);
    strong.append(...seen.map(({ weight, column }) => line(weight, path(row, column))));
    const said = seen.map(({ weight, column }) =>
      `${quoted(columns, column)} with ${fixed(weight, 3)}`);
    readout.textContent = said.length
      ? `${quoted(rows, row)} looks at ${said.join(", ")}.`
      : `${quoted(rows, row)} looks at no token with more than ${LEAST}.`;
  }

  /** @param {number} row */
  function point(row) {
    if (!head) return;
    cursor = Math.min(Math.max(row, 0), head.rows.length - 1);
    drawCursor();
  }

  /** @param {PointerEvent} event */
  function pointAt(event) {
    const area = picture.getBoundingClientRect();
    const y = ((event.clientY - area.top) * width) / area.width;
    point(Math.floor((y - TOP) / step));
  }
  picture.addEventListener("pointermove", pointAt);
  picture.addEventListener("pointerdown", pointAt);
  picture.addEventListener("keydown", (event) => {
    const at = cursor ?? 0;
    /** @type {Object<string, number>} */
    const moves = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: Infinity };
    if (!(event.key in moves)) return;
    event.preventDefault();
    point(moves[event.key]);
    const y = (yOf(cursor ?? 0) * picture.getBoundingClientRect().width) / width;
    box.scrollTop = y - box.clientHeight / 2;
  });
  picture.addEventListener("focus", () => {
    if (cursor == null) point(0);
  });

  /** @param {Head} next */
  function show(next) {
    head = next;
    const { cells, rows, columns, links, more } = next;
    const most = Math.max(rows.length + (more ? 1 : 0), columns.length);
    step = most > 40 ? 14 : 20;
    const height = TOP + most * step + 6;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    // Lines of about the same weight are one element: there may be thousands of lines.
    /** @type {string[]} */
    const byWeight = [];
    cells.forEach((cell, i) => {
      if (cell < LEAST * ONE) return;
      const group = Math.round(cell / SAME);
      const d = path(Math.floor(i / columns.length), i % columns.length);
      byWeight[group] = (byWeight[group] ?? "") + d;
    });
    /** @type {SVGPathElement[]} */
    const made = [];
    byWeight.forEach((d, group) => made.push(line((group * SAME) / ONE, d)));
    drawn.replaceChildren(...made);
    truth.setAttribute("d", links.map(([row, column]) => path(row, column)).join(""));
    const size = step > 16 ? 14 : 11;
    /** @param {string} token @param {number} place @param {boolean} first */
    const word = (token, place, first) => svg("text", {
      x: first ? left - 6 : right + 6,
      y: yOf(place),
      "font-size": size,
      "text-anchor": first ? "end" : "start",
    }, cut(token));
    const spoken = JSON.stringify([rows, columns, more]);
    if (spoken !== written) words.replaceChildren(
      svg("text", { x: left - 6, y: 12, "font-size": narrow ? 15 : 13, "text-anchor": "end",
        class: "tfw-heads-title" }, "looks"),
      svg("text", { x: right + 6, y: 12, "font-size": narrow ? 15 : 13, class: "tfw-heads-title" },
        narrow ? "is seen" : "is looked at"),
      ...rows.map((token, i) => word(token, i, true)),
      ...columns.map((token, i) => word(token, i, false)),
      ...(more ? [svg("text", { x: 0, y: yOf(rows.length), "font-size": size, class: "tfw-heads-more" },
        `\u2026 and ${more} more`)] : []));
    written = spoken;
    if (cursor != null && cursor >= rows.length) cursor = null;
    drawCursor();
  }

  return { element, picture, readout, show, point };
}
