// @ts-check
// One head as it is multiplied: queries beside the square of scores, keys above it, values and output
// to the right. Colours tell the numbers; the edge of the queries is dragged.

import { css, diverging, inkOn, sequential } from "../kit/colours.js";
import { OWN_KEYS, html, svg } from "../kit/elements.js";
import { grip, nearest, stepped } from "../kit/grip.js";
import { glide } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";
import { SHOWN } from "./words.js";

/** @typedef {import("./words.js").State} State */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

export const WIDTHS = [2, 4, 8, 16, 32, 64, 128];
const LABELS = 50; // pixels for the tokens' names
const GAP = 16;
const HEAD = 34; // above all: names of keys
const PALE = 0.5; // what has no part in the step
/** Which blocks take part in each step: query, key, value, square, output. */
const PARTS = [[1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 1, 1, 1]];

/** @param {string} text @param {number} room in pixels */
function cut(text, room) {
  const letters = [...text];
  const fit = Math.max(1, Math.floor(room / 7.2));
  return letters.length > fit ? `${letters.slice(0, Math.max(1, fit - 1)).join("")}\u2026` : text;
}

/**
 * `dK` and `row` say what stands now, drawn or not: two keys may come within a frame.
 * @param {{onWidth: (width: number) => void, onCell: (row: number, column: number) => void,
 *   dK: () => number, row: () => number}} act
 */
export function headPicture({ onWidth, onCell, ...now }) {
  const canvas = html("canvas", { class: "tfw-stepper-colours" });
  const words = svg("g", {});
  const frames = svg("g", { class: "tfw-stepper-frames" });
  const cell = svg("rect", { class: "tfw-stepper-cell" });
  const row = svg("rect", { class: "tfw-stepper-follow", rx: 4 });
  const hold = svg("g", {}, svg("rect", { class: "tfw-grip-room", x: -18, y: -30, width: 36, height: 60 }),
    svg("circle", { class: "tfw-grip-dot", r: 9 }),
    svg("path", { class: "tfw-stepper-arrows", d: "M-12 -6l-7 6l7 6zM12 -6l7 6l-7 6z" }));
  const picture = svg("svg", { ...OWN_KEYS, class: "tfw-stepper-lines", tabindex: 0, role: "application",
    "aria-roledescription": "matrices", "aria-label": "One head: queries beside the scores, keys above "
      + "them, values and output to the right. Arrow keys move over the scores." },
  frames, words, row, cell, hold);
  const element = html("div", { class: "tfw-stepper-picture" }, canvas, picture);

  let width = 340;
  let widest = 128;
  let held = false;
  /** @type {State | null} */
  let state = null;
  let column = 0;
  /** @type {number[]} */
  let seen = [];

  /** Where everything stands. @param {State} s @param {number} wide the logarithm of d_k */
  function layout(s, wide) {
    const n = s.tokens.length;
    const roomy = width > 560;
    const most = roomy ? 150 : 74; // of the queries' width
    const right = roomy ? 100 : 48;
    const tall = roomy ? 104 : 74;
    const across = Math.min(roomy ? 90 : 44, (width - LABELS - most - right - 2 * GAP - 4) / n);
    const down = n > 6 ? 18 : roomy ? 40 : 34;
    const part = (wide + 0.7) / (Math.log2(widest) + 0.7);
    const top = HEAD + tall + GAP;
    const left = LABELS + most + GAP;
    /** @type {Object<string, Box>} */
    const boxes = {
      query: { x: LABELS, y: top, width: most * part, height: n * down },
      key: { x: left, y: HEAD + tall * (1 - part), width: n * across, height: tall * part },
      square: { x: left, y: top, width: n * across, height: n * down },
      value: { x: left + n * across + GAP, y: HEAD, width: right, height: tall },
      output: { x: left + n * across + GAP, y: top, width: right, height: n * down },
    };
    return { boxes, across, down, height: top + n * down + 24, most, top, left };
  }

  /** What a cell of the square says in this step. @param {State} s */
  const square = (s) => [null, s.scores, s.scaled, s.masked, s.weights, s.weights][s.step - 1];

  /** The colours and the presence of all that moves, as numbers. @param {State} s */
  function target(s) {
    const values = square(s);
    const weights = s.step >= 5;
    const places = s.tokens.map((/** @type {string} */ _, /** @type {number} */ i) => i);
    const colours = places.flatMap((/** @type {number} */ r) => places.flatMap((/** @type {number} */ c) => {
      const x = values?.[r][c];
      if (x == null || x === -Infinity) return [128, 128, 128, 0];
      return [...(weights ? sequential(x) : diverging(x / s.scales.scores)), 1];
    }));
    const out = s.output.flatMap((/** @type {number[]} */ numbers) => numbers.slice(0, SHOWN).flatMap((x) =>
      (s.step < 6 ? [128, 128, 128, 0] : [...diverging(x / s.scales.vectors), 1])));
    return [Math.log2(s.dK), ...PARTS[s.step - 1].map((active) => (active ? 1 : PALE)), ...colours, ...out];
  }

  const motion = glide((values) => {
    seen = values;
    draw();
  });

  /** @param {CanvasRenderingContext2D} pen @param {Box} box @param {number[][]} rows @param {number} scale */
  function stripes(pen, box, rows, scale) {
    const [w, h] = [box.width / rows[0].length, box.height / rows.length];
    rows.forEach((numbers, r) => numbers.forEach((x, c) => {
      pen.fillStyle = css(diverging(x / scale));
      pen.fillRect(box.x + c * w, box.y + r * h, w + 0.3, h + 0.3);
    }));
  }

  function draw() {
    if (!state || !seen.length) return;
    const s = state;
    const n = s.tokens.length;
    const [wide, query, key, value, middle, output, ...rest] = seen;
    const { boxes, across, down, height, top, left } = layout(s, wide);
    const sharp = globalThis.devicePixelRatio || 1;
    element.style.height = `${height}px`;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(sharp, sharp);
    const scale = s.scales.vectors;
    pen.globalAlpha = query;
    stripes(pen, boxes.query, s.query.map((/** @type {number[]} */ q) => q.slice(0, s.dK)), scale);
    pen.globalAlpha = key;
    stripes(pen, boxes.key, Array.from({ length: s.dK }, (_, i) =>
      s.key.map((/** @type {number[]} */ k) => k[i])), scale);
    pen.globalAlpha = value;
    stripes(pen, boxes.value, s.value.map((/** @type {number[]} */ v) => v.slice(0, SHOWN)), scale);
    /** @param {Box} box @param {number} columns @param {number[]} colours @param {number} alpha */
    const cells = (box, columns, colours, alpha) => {
      const w = box.width / columns;
      for (let i = 0; i < n * columns; i += 1) {
        const [r, g, b, a] = colours.slice(4 * i, 4 * i + 4);
        pen.globalAlpha = a * alpha;
        pen.fillStyle = `rgb(${r} ${g} ${b})`;
        pen.fillRect(box.x + (i % columns) * w + 0.5, box.y + Math.floor(i / columns) * down + 0.5, w - 1, down - 1);
      }
    };
    cells(boxes.square, n, rest.slice(0, 4 * n * n), middle);
    cells(boxes.output, Math.min(SHOWN, s.value[0].length), rest.slice(4 * n * n), output);
    pen.globalAlpha = 1;

    frames.replaceChildren(...Object.entries(boxes).map(([name, box]) => svg("rect", { ...box,
      class: name === resultOf(s) ? "tfw-stepper-new" : "" })));
    const [x, y] = [left + column * across, top + s.row * down];
    for (const [name, size] of Object.entries({ x, y, width: across, height: down })) {
      cell.setAttribute(name, String(size));
    }
    const end = boxes.output.x + boxes.output.width;
    for (const [name, size] of Object.entries({ x: LABELS - 3, y: y - 2, width: end - LABELS + 6, height: down + 4 })) {
      row.setAttribute(name, String(size));
    }
    hold.setAttribute("transform", `translate(${LABELS + boxes.query.width} ${top + (n * down) / 2})`);
    write(s, { boxes, across, down, top, left });
  }

  /** @param {State} s */
  const resultOf = (s) => ["", "square", "square", "square", "square", "output"][s.step - 1];

  /** Names, and the numbers of the row that is followed. @param {State} s @param {any} at */
  function write(s, { boxes, across, down, top, left }) {
    const n = s.tokens.length;
    const values = square(s);
    /** @param {number} x @param {number} y @param {string} text @param {string} [cls] @param {string} [fill] */
    const word = (x, y, text, cls = "", fill = "") => {
      const node = svg("text", { x, y, class: cls }, text);
      node.style.fill = fill;
      return node;
    };
    const numbers = across >= 30 && values ? values[s.row].map((/** @type {number} */ x, /** @type {number} */ c) => {
      const colour = s.step >= 5 ? sequential(x) : diverging(x / s.scales.scores);
      return word(left + (c + 0.5) * across, top + (s.row + 0.5) * down + 4,
        fixed(x, 2), "tfw-stepper-number", x === -Infinity ? "var(--tfw-ink)" : inkOn(colour));
    }) : [];
    words.replaceChildren(
      ...s.tokens.map((/** @type {string} */ token, /** @type {number} */ i) =>
        word(LABELS - 6, top + (i + 0.5) * down + 4, cut(token, LABELS - 8),
          `tfw-stepper-token${i === s.row ? " tfw-stepper-row" : ""}`)),
      ...(across >= 12 ? s.tokens.map((/** @type {string} */ token, /** @type {number} */ i) =>
        word(left + (i + 0.5) * across, HEAD - 5, cut(token, across), "tfw-stepper-above")) : []),
      word(LABELS, top - 6, `Q, ${s.dK} wide`),
      word(left - 6, HEAD + 12, "K\u1d40", "tfw-stepper-token"),
      word(boxes.value.x + boxes.value.width / 2, HEAD - 5, "V", "tfw-stepper-above"),
      word(left + (n * across) / 2, top + n * down + 16,
        ["scores", "scores", s.scaling ? "scaled" : "not scaled", s.causal ? "masked" : "no mask", "weights", "weights"][s.step - 1],
        "tfw-stepper-above"),
      word(boxes.output.x + boxes.output.width / 2, top + n * down + 16, "output", "tfw-stepper-above"),
      ...numbers);
  }

  /** The cell under a pointer, if there is one. @param {PointerEvent | MouseEvent} event */
  function pointAt(event) {
    if (!state) return;
    const { boxes, across, down, top } = layout(state, Math.log2(state.dK));
    const box = picture.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const y = ((event.clientY - box.top) / box.height) * box.height * (width / box.width);
    const r = Math.floor((y - top) / down);
    const c = Math.floor((x - boxes.square.x) / across);
    if (r < 0 || r >= state.tokens.length) return;
    go(r, c >= 0 && c < state.tokens.length ? c : column);
  }

  /** @param {number} r @param {number} c */
  function go(r, c) {
    if (!state) return;
    const last = state.tokens.length - 1;
    column = Math.min(Math.max(c, 0), last);
    onCell(Math.min(Math.max(r, 0), last), column);
  }

  picture.addEventListener("click", pointAt);
  picture.addEventListener("pointermove", (event) => {
    if (!held) pointAt(event);
  });
  picture.addEventListener("keydown", (event) => {
    if (!state) return;
    const at = now.row();
    /** @type {Object<string, [number, number]>} */
    const moves = { ArrowUp: [at - 1, column], ArrowDown: [at + 1, column],
      ArrowLeft: [at, column - 1], ArrowRight: [at, column + 1],
      Home: [at, 0], End: [at, state.tokens.length - 1] };
    if (!(event.key in moves)) return;
    event.preventDefault();
    go(...moves[event.key]);
  });

  const offered = () => [...WIDTHS.filter((one) => one < widest), widest];
  const handle = grip(hold, {
    label: "width d_k",
    drag: (clientX) => {
      if (!state) return;
      const { most } = layout(state, 0);
      const box = picture.getBoundingClientRect();
      const x = ((clientX - box.left) / box.width) * width - LABELS;
      const log = (x / most) * (Math.log2(widest) + 0.7) - 0.7;
      onWidth(2 ** nearest(offered().map(Math.log2), log));
    },
    step: (by) => onWidth(stepped(offered(), now.dK(), by)),
    onHold: (holds) => {
      held = holds;
    },
  });
  hold.addEventListener("click", (event) => event.stopPropagation());

  /** @param {State} next */
  function show(next) {
    state = next;
    widest = next.query[0].length;
    column = Math.min(column, next.tokens.length - 1);
    handle.show(next.dK, Math.min(next.dK, WIDTHS[0]), widest, String(next.dK));
    motion.to(target(next), held);
  }

  const observer = new ResizeObserver(([entry]) => {
    if (!entry.contentRect.width || entry.contentRect.width === width) return;
    width = entry.contentRect.width;
    draw();
  });
  observer.observe(element);
  const stop = () => {
    observer.disconnect();
    motion.stop();
  };
  return { element, show, column: () => column, stop };
}
