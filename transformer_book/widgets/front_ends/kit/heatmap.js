// @ts-check
// A matrix as coloured cells: thousands of them on a canvas, read out by pointer and arrow keys.

import { FRAME, css, sequential } from "./colours.js";
import { OWN_KEYS, html, paleWhereCut } from "./elements.js";

/**
 * What a heatmap shows.
 * @typedef {object} Matrix
 * @property {string[]} rows @property {string[]} columns the labels
 * @property {(row: number, column: number) => number | null} value null: no cell there
 * @property {(value: number) => import("./colours.js").Colour} [colour] viridis of 0 to 1 if absent
 * @property {(row: number, column: number) => string} say the read-out of a cell, in words
 * @property {[number, number][]} [frames] cells with a frame around them
 */

/**
 * A heatmap with its labels and its read-out. `show` draws another matrix in its place.
 *
 * One element takes the focus; arrow keys, Home and End move over the cells, a pointer or a finger
 * points at them, and the read-out below says what the cell holds.
 * @param {{label: string, rowTitle?: string, columnTitle?: string, compact?: boolean,
 *   onPoint?: (row: number, column: number) => void}} options
 */
export function heatmap(options) {
  const canvas = html("canvas", { class: "tfw-cells" });
  const dots = html("canvas");
  const marker = html("div", { class: "tfw-marker", hidden: true });
  const field = html("div", {
    ...OWN_KEYS,
    class: "tfw-field",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "heatmap",
    "aria-label": `${options.label}. Arrow keys move over the cells.`,
  }, canvas, marker);
  const top = html("div", { class: "tfw-columns", "aria-hidden": "true" });
  const left = html("div", { class: "tfw-rows", "aria-hidden": "true" });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const grid = html("div", { class: options.compact ? "tfw-heatmap tfw-compact" : "tfw-heatmap" },
    html("div", { class: "tfw-column-title", "aria-hidden": "true" }, options.columnTitle ?? ""),
    html("div", { class: "tfw-row-title", "aria-hidden": "true" }, options.rowTitle ?? ""),
    top, left, field);
  const element = html("div", { class: "tfw-heatmap-box" },
    paleWhereCut(html("div", { class: "tfw-scroll" }, grid)), readout);

  /** @type {Matrix | null} */
  let matrix = null;
  /** @type {[number, number] | null} */
  let cursor = null;

  /** @param {number} row @param {number} column */
  function point(row, column) {
    if (!matrix || !matrix.rows.length || !matrix.columns.length) return;
    const r = Math.min(Math.max(row, 0), matrix.rows.length - 1);
    const c = Math.min(Math.max(column, 0), matrix.columns.length - 1);
    cursor = [r, c];
    marker.hidden = false;
    marker.style.left = `${(100 * c) / matrix.columns.length}%`;
    marker.style.top = `${(100 * r) / matrix.rows.length}%`;
    marker.style.width = `${100 / matrix.columns.length}%`;
    marker.style.height = `${100 / matrix.rows.length}%`;
    readout.textContent = matrix.say(r, c);
    options.onPoint?.(r, c);
  }

  /** @param {PointerEvent} event */
  function pointAt(event) {
    if (!matrix) return;
    const box = field.getBoundingClientRect();
    point(
      Math.floor(((event.clientY - box.top) / box.height) * matrix.rows.length),
      Math.floor(((event.clientX - box.left) / box.width) * matrix.columns.length),
    );
  }

  field.addEventListener("pointermove", pointAt);
  field.addEventListener("pointerdown", pointAt);
  field.addEventListener("keydown", (event) => {
    if (!matrix) return;
    const [row, column] = cursor ?? [0, 0];
    /** @type {Object<string, [number, number]>} */
    const moves = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, matrix.columns.length - 1],
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    point(...moves[event.key]);
  });
  field.addEventListener("focus", () => {
    if (!cursor) point(0, 0);
  });

  function draw() {
    if (!matrix) return;
    const { rows, columns, value } = matrix;
    const colour = matrix.colour ?? sequential;
    // Drawn at a whole number of dots a cell; CSS scales the picture, without blurring it.
    const size = Math.max(1, Math.floor(480 / Math.max(rows.length, columns.length, 1)));
    canvas.width = columns.length * size;
    canvas.height = rows.length * size;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    // Wide enough to be seen when a large drawing is shown small.
    const gap = size > 6 ? Math.max(1, Math.round(size / 24)) : 0;
    if (rows.length && columns.length) {
      // A dot a cell, enlarged at once: a rectangle for each would take too long for thousands.
      dots.width = columns.length;
      dots.height = rows.length;
      const small = /** @type {CanvasRenderingContext2D} */ (dots.getContext("2d"));
      const image = small.createImageData(columns.length, rows.length);
      for (let r = 0, i = 0; r < rows.length; r += 1) {
        for (let c = 0; c < columns.length; c += 1, i += 4) {
          const cell = value(r, c);
          if (cell == null) continue;
          image.data.set(colour(cell), i);
          image.data[i + 3] = 255;
        }
      }
      small.putImageData(image, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(dots, 0, 0, canvas.width, canvas.height);
      for (let r = 1; gap && r <= rows.length; r += 1) {
        context.clearRect(0, r * size - gap, canvas.width, gap);
      }
      for (let c = 1; gap && c <= columns.length; c += 1) {
        context.clearRect(c * size - gap, 0, gap, canvas.height);
      }
    }
    const width = Math.max(2, size / 10);
    for (const [r, c] of matrix.frames ?? []) {
      // Dark inside it, for orange on yellow is hardly seen
      for (const [colour, wide, inset] of /** @type {[string, number, number][]} */ ([["#000", width / 3, width], [FRAME, width, width / 2]])) {
        context.strokeStyle = colour;
        context.lineWidth = wide;
        context.strokeRect(c * size + inset, r * size + inset, size - gap - 2 * inset, size - gap - 2 * inset);
      }
    }
  }

  /** @param {HTMLElement} box @param {string[]} labels */
  function relabel(box, labels) {
    const same = box.childElementCount === labels.length;
    if (same && labels.every((text, i) => box.children[i].textContent === text)) return;
    box.replaceChildren(...labels.map((text) => html("span", { title: text }, text)));
  }

  /** @param {Matrix} next */
  function show(next) {
    const resized = !matrix || matrix.rows.length !== next.rows.length
      || matrix.columns.length !== next.columns.length;
    matrix = next;
    grid.style.setProperty("--tfw-row-count", String(next.rows.length));
    grid.style.setProperty("--tfw-column-count", String(next.columns.length));
    top.classList.toggle("tfw-upright", next.columns.every((text) => text.length < 2));
    relabel(top, next.columns);
    relabel(left, next.rows);
    draw();
    if (resized && cursor) {
      cursor = null;
      marker.hidden = true;
      readout.textContent = "";
    } else if (cursor) {
      readout.textContent = next.say(...cursor);
    }
  }

  return { element, field, readout, show, point };
}

/**
 * The colour scale with its ends named.
 * @param {{low: string, high: string, colour?: (t: number) => import("./colours.js").Colour,
 *   from?: number}} options
 */
export function legend({ low, high, colour = sequential, from = 0 }) {
  const stops = Array.from({ length: 11 }, (_, i) => css(colour(from + ((1 - from) * i) / 10)));
  const bar = html("span", { class: "tfw-legend-bar", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  return html("p", { class: "tfw-legend" }, low, bar, high);
}
