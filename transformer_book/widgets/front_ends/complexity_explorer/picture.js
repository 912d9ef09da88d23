// @ts-check
// A sentence whose end is dragged, and below it the work of four layers for each of its words.

import { SERIES } from "../kit/colours.js";
import { svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { glide } from "../kit/motion.js";
import { short } from "../kit/numbers.js";
import { MOST_ROWS, PAIRS, formulasOf, rowsOf } from "./rows.js";

/** @typedef {import("./rows.js").State} State */

const PAGE = 72; // of the words, in pixels
const AXIS = 116;
const LABEL = 21;
const ROWS = 178; // all rows of all layers
const THICKEST = 24;
const LEFT = 1;
const RIGHT = 14;
const HEIGHT = AXIS + 4 * LABEL + ROWS + 12;
const NEAR = 6; // pixels, from which the handle is drawn to the crossing
// Letters of the words of a sentence, over and over.
const WORDS = [3, 3, 4, 5, 2, 7, 3, 3, 11, 6, 2, 4, 4, 2, 4, 8];

/** The words as dashes, as large as the box allows. @param {number} n @param {number} width */
function wordsPath(n, width) {
  const letters = (WORDS.reduce((a, b) => a + b) / WORDS.length) + 1;
  // A line is twice as high as a letter is wide.
  const letter = Math.min(Math.sqrt((width * PAGE) / (n * letters * 2.6)), 9);
  const line = 2.3 * letter;
  let [x, y] = [0, 0];
  let path = "";
  for (let i = 0; i < n; i += 1) {
    const long = WORDS[i % WORDS.length] * letter;
    if (x && x + long > width) [x, y] = [0, y + line];
    path += `M${x.toFixed(1)} ${y.toFixed(1)}h${long.toFixed(1)}`;
    x += long + letter;
  }
  return { path, thick: 1.1 * letter };
}

/**
 * The picture. `onLength` is told the length that the reader drags to; `length` says what it is now, drawn
 * or not.
 * @param {{longest: number, onLength: (n: number) => void, length: () => number}} options
 */
export function costPicture({ longest, onLength, length }) {
  const page = svg("path", { class: "tfw-complexity-words" });
  const axis = svg("g", { class: "tfw-complexity-axis" });
  const meets = svg("line", { class: "tfw-complexity-meets", y1: AXIS - 8, y2: HEIGHT });
  const edge = svg("line", { class: "tfw-complexity-edge", y1: AXIS - 8, y2: HEIGHT });
  const bars = svg("g", {});
  const end = svg("text", { class: "tfw-complexity-n", y: AXIS - 24 });
  const hold = svg("g", {}, svg("rect", { class: "tfw-grip-room", x: -20, y: -22, width: 40, height: 40 }),
    svg("circle", { class: "tfw-grip-dot", r: 9 }),
    svg("path", { class: "tfw-complexity-arrows", d: "M-12 -6l-7 6l7 6zM12 -6l7 6l-7 6z" }));
  const element = svg("svg", { class: "tfw-chart tfw-complexity", role: "group",
    "aria-label": "A sentence, and the work of four layers for each of its words" },
  page, axis, meets, edge, bars, end, hold);
  element.style.height = `${HEIGHT}px`;

  let width = 320;
  /** @type {State | null} */
  let state = null;
  let crossing = 0;
  let found = false; // by the reader
  let reach = 1; // of the axis, in words
  let held = false;
  /** @type {number[]} */
  let seen = [];

  const toX = (/** @type {number} */ words) => LEFT + ((width - LEFT - RIGHT) * words) / reach;

  const handle = grip(hold, {
    label: "length n",
    drag: (clientX) => {
      const box = element.getBoundingClientRect();
      const x = ((clientX - box.left) / box.width) * width;
      const words = (reach * (x - LEFT)) / (width - LEFT - RIGHT);
      const near = crossing && Math.abs(toX(crossing) - x) < NEAR ? crossing : Math.round(words);
      onLength(Math.min(Math.max(near, 2), longest, Math.floor(reach)));
    },
    step: (by) => {
      const jump = Math.abs(by) === 5 ? 5 * by : by;
      onLength(Math.min(Math.max(length() + jump, 2), longest));
    },
    onHold: (now) => {
      held = now;
      if (!now && state) show(state, crossing, found); // the axis is fitted to what has been reached
    },
  });

  const labels = SERIES.slice(0, 4).map((colour) => svg("text", { class: "tfw-complexity-name", fill: colour }));
  const rects = labels.map((_, layer) => Array.from({ length: MOST_ROWS }, () =>
    svg("rect", { x: LEFT, fill: SERIES[layer] })));
  for (const layer of [0, 3]) {
    for (const rect of rects[layer].slice(PAIRS)) rect.classList.add("tfw-complexity-projection");
  }
  bars.append(...rects.flat(), ...labels);

  const motion = glide((values) => {
    seen = values;
    draw();
  });

  /** Draws what is seen now: the reach, the length, and for each row its length and its share of being. */
  function draw() {
    if (!state) return;
    const [far, n, ...rows] = seen;
    reach = far;
    const all = rows.filter((_, i) => i % 2).reduce((a, b) => a + b, 0);
    const thick = Math.min(THICKEST, ROWS / all);
    let y = AXIS + 2;
    let at = 0;
    labels.forEach((label, layer) => {
      label.setAttribute("x", String(LEFT));
      label.setAttribute("y", String(y + 15));
      y += LABEL;
      for (const rect of rects[layer]) {
        const [long, there] = [rows[at], rows[at + 1]];
        at += 2;
        const right = Math.min(toX(long), width);
        rect.setAttribute("y", String(y));
        rect.setAttribute("width", String(Math.max(right - LEFT, there ? 1.5 : 0)));
        rect.setAttribute("height", String(Math.max(thick * there - (thick > 4 ? 1 : 0.4), 0)));
        rect.setAttribute("data-length", String(Math.round(long * there)));
        y += thick * there;
      }
    });
    const x = toX(n);
    hold.setAttribute("transform", `translate(${x} ${AXIS - 8})`);
    for (const name of ["x1", "x2"]) edge.setAttribute(name, String(x));
    end.setAttribute("x", String(x + 60 > width ? width - 2 : Math.max(x, 60)));
    end.setAttribute("text-anchor", x + 60 > width ? "end" : "middle");
    end.textContent = `n = ${short(Math.round(n))} words`;
    const { path, thick: pen } = wordsPath(Math.round(n), width);
    page.setAttribute("d", path);
    page.setAttribute("stroke-width", String(pen));
    page.setAttribute("transform", `translate(0 ${pen})`);
    const met = toX(crossing);
    meets.style.display = found && crossing && met <= width ? "" : "none";
    for (const name of ["x1", "x2"]) meets.setAttribute(name, String(met));
    const { d } = state;
    const ticks = [0.5, 1, 2].map((share) => share * d).filter((tick) => Number.isInteger(tick)
      && toX(tick) < width - 14 && Math.abs(toX(tick) - Math.max(x, 60)) > 90
      && (tick === d || toX(d) > 120));
    axis.replaceChildren(svg("line", { x1: LEFT, x2: width, y1: AXIS - 8, y2: AXIS - 8 }),
      ...ticks.map((tick) => svg("text", { x: toX(tick), y: AXIS - 14 },
        tick === d ? `d = ${short(tick)}` : short(tick))));
  }

  /**
   * @param {State} next @param {number} meeting where two layers cost the same; 0 if nowhere
   * @param {boolean} told whether a line says where
   */
  function show(next, meeting, told) {
    state = next;
    crossing = meeting;
    found = told;
    const { n, d } = next;
    const far = held ? reach : Math.max(2.2 * d, 1.05 * n);
    const layers = Object.values(rowsOf(next));
    const formulas = Object.entries(formulasOf(next));
    labels.forEach((label, i) => label.replaceChildren(formulas[i][0],
      svg("tspan", { class: "tfw-complexity-formula", dx: 8 }, formulas[i][1])));
    motion.to([far, n, ...layers.flatMap((rows) => Array.from({ length: MOST_ROWS }, (_, i) =>
      (i < rows.length ? [rows[i], 1] : [rows[rows.length - 1], 0])).flat())], held);
    handle.show(n, 2, longest, `${short(n)} words`);
  }

  const observer = new ResizeObserver(([entry]) => {
    if (!entry.contentRect.width) return;
    width = Math.round(entry.contentRect.width);
    element.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    draw();
  });
  observer.observe(element);
  const stop = () => {
    observer.disconnect();
    motion.stop();
  };
  return { element, show, stop };
}
