// @ts-check
// Curves over an axis, with a cursor that reads them out.

import { SERIES } from "./colours.js";
import { OWN_KEYS, fresh, html, svg } from "./elements.js";
import { short } from "./numbers.js";

/**
 * A curve: one value at each x of the chart.
 * @typedef {object} Series
 * @property {string} name
 * @property {number[]} values
 * @property {boolean} [strong] drawn thicker
 */

/**
 * What a chart shows.
 * @typedef {object} Curves
 * @property {number[]} x rising
 * @property {Series[]} series
 * @property {[number, number]} [y] the vertical range; from the data if absent
 */

/**
 * Where values stand in the picture, in its pixels, and which value stands at a place in the window.
 * @typedef {object} Scale
 * @property {(value: number) => number} x @property {(value: number) => number} y
 * @property {(clientX: number) => number} xAt @property {(clientY: number) => number} yAt
 * @property {{left: number, right: number, top: number, bottom: number}} frame
 */

const HEIGHT = 300;
const MARGIN = { left: 70, right: 16, top: 12, bottom: 46 };
const DASHES = ["", "8 4", "2 4", "10 4 2 4", "14 5", "4 2"];

/** Round numbers that divide a range. @param {number} low @param {number} high @param {number} n */
export function ticks(low, high, n = 5) {
  const rough = (high - low) / n;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  // One number alone is no scale.
  if (Math.floor(high / step) - Math.ceil(low / step) < 1) step /= 2;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/**
 * A chart. `show` draws other curves in place.
 * @param {{label: string, xTitle: string, yTitle: string, say: (place: number) => string, hasHandle?: boolean,
 *   onPoint?: (place: number) => void, onDraw?: (scale: Scale) => void,
 *   tickX?: (value: number) => string, tickY?: (value: number) => string}} options `say`: the
 *   read-out at a place of x, in words; `onDraw`: for what a widget puts into `over`, above the
 *   curves; `hasHandle`: it puts one there, so that the cursor must not look like one; `tickX` and
 *   `tickY`: what stands at a place of the axes
 */
export function chart(options) {
  const clip = fresh("clip");
  const axes = svg("g", { class: "tfw-axes" });
  const lines = svg("g", { "clip-path": `url(#${clip})` });
  const rule = svg("line", { class: "tfw-rule", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
  const dots = svg("g", {});
  const over = svg("g", {});
  const clipped = svg("rect", { x: MARGIN.left, y: MARGIN.top - 4 });
  // One unit is one pixel, so that words keep their size on a phone.
  let width = 640;
  const inner = { width: 0, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const picture = svg("svg", {
    ...OWN_KEYS,
    class: "tfw-chart",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `${options.label}. Left and right arrow keys move the cursor.`,
  },
  svg("defs", {}, svg("clipPath", { id: clip }, clipped)),
  axes, lines, rule, dots, over);
  const key = html("ul", { class: "tfw-key" });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const element = html("div", { class: "tfw-chart-box" }, picture, key, readout);

  /** @type {Curves | null} */
  let curves = null;
  let place = 0;
  let range = [0, 1];

  const toX = (/** @type {number} */ value) => {
    const { x } = /** @type {Curves} */ (curves);
    const span = x[x.length - 1] - x[0] || 1;
    return MARGIN.left + (inner.width * (value - x[0])) / span;
  };
  const toY = (/** @type {number} */ value) =>
    MARGIN.top + inner.height * (1 - (value - range[0]) / (range[1] - range[0] || 1));

  function drawCursor() {
    if (!curves) return;
    const x = toX(curves.x[place]);
    rule.setAttribute("x1", String(x));
    rule.setAttribute("x2", String(x));
    dots.replaceChildren(...curves.series.flatMap(({ values }, i) => {
      const value = values[place];
      if (!(value >= range[0] && value <= range[1])) return [];
      return [svg("circle", { cx: x, cy: toY(value), r: 4.5, fill: SERIES[i % SERIES.length] })];
    }));
    // Where the cursor sets something, it looks like what is dragged elsewhere.
    const foot = HEIGHT - MARGIN.bottom;
    if (options.hasHandle) {
      dots.append(svg("path", { class: "tfw-rule-foot", d: `M${x} ${foot}l6 8h-12z` }));
    } else if (options.onPoint) {
      dots.append(svg("circle", { class: "tfw-grip-dot", cx: x, cy: foot, r: 8 }));
    }
    readout.textContent = options.say(place);
  }

  /** @param {number} next */
  function point(next) {
    if (!curves) return;
    place = Math.min(Math.max(next, 0), curves.x.length - 1);
    drawCursor();
    options.onPoint?.(place);
  }

  /** @param {PointerEvent} event */
  function pointAt(event) {
    if (!curves) return;
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const share = Math.min(Math.max((at - MARGIN.left) / inner.width, 0), 1);
    const { x } = curves;
    const value = x[0] + share * (x[x.length - 1] - x[0]);
    let nearest = 0;
    for (let i = 1; i < x.length; i += 1) {
      if (Math.abs(x[i] - value) < Math.abs(x[nearest] - value)) nearest = i;
    }
    point(nearest);
  }

  picture.addEventListener("pointermove", pointAt);
  picture.addEventListener("pointerdown", pointAt);
  picture.addEventListener("keydown", (event) => {
    if (!curves) return;
    const far = Math.max(1, Math.round(curves.x.length / 10));
    /** @type {Object<string, number>} */
    const moves = { ArrowLeft: place - 1, ArrowRight: place + 1, PageDown: place - far,
      PageUp: place + far, Home: 0, End: curves.x.length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    point(moves[event.key]);
  });

  /** @param {number} pixels */
  function resize(pixels) {
    width = Math.max(260, Math.round(pixels));
    inner.width = width - MARGIN.left - MARGIN.right;
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    clipped.setAttribute("width", String(inner.width));
    clipped.setAttribute("height", String(inner.height + 8));
    drawAll();
  }

  function drawAxes() {
    if (!curves) return;
    const bottom = HEIGHT - MARGIN.bottom;
    const end = width - MARGIN.right;
    const { x } = curves;
    axes.replaceChildren(
      ...ticks(range[0], range[1]).flatMap((value) => [
        svg("line", { class: "tfw-grid", x1: MARGIN.left, x2: end, y1: toY(value), y2: toY(value) }),
        svg("text", { x: MARGIN.left - 8, y: toY(value), class: "tfw-y" },
          (options.tickY ?? short)(value)),
      ]),
      ...ticks(x[0], x[x.length - 1], inner.width / 110).map((value) =>
        svg("text", { x: toX(value), y: bottom + 18, class: "tfw-x" },
          (options.tickX ?? short)(value))),
      svg("line", { class: "tfw-axis", x1: MARGIN.left, x2: end, y1: bottom, y2: bottom }),
      svg("text", { x: MARGIN.left + inner.width / 2, y: HEIGHT - 6, class: "tfw-title-x" },
        options.xTitle),
      svg("text", { class: "tfw-title-y",
        transform: `translate(14 ${MARGIN.top + inner.height / 2}) rotate(-90)` }, options.yTitle),
    );
  }

  /** @param {Curves} next @param {number} [at] where the cursor stands */
  function show(next, at = place) {
    curves = next;
    place = Math.min(at, next.x.length - 1);
    const all = next.series.flatMap(({ values }) => values.filter(Number.isFinite));
    range = next.y ?? [Math.min(0, ...all), Math.max(...all, 1e-12) * 1.05];
    drawAll();
    key.replaceChildren(...next.series.map(({ name }, i) => html("li", {},
      svg("svg", { viewBox: "0 0 28 8", class: "tfw-swatch", "aria-hidden": "true" },
        svg("line", { x1: 0, x2: 28, y1: 4, y2: 4, class: "tfw-line",
          stroke: SERIES[i % SERIES.length], "stroke-dasharray": DASHES[i % DASHES.length] })),
      name)));
  }

  function drawAll() {
    if (!curves) return;
    const { x, series } = curves;
    drawAxes();
    lines.replaceChildren(...series.map(({ values, strong }, i) => svg("polyline", {
      points: values
        .map((value, j) => `${toX(x[j]).toFixed(1)},${toY(value).toFixed(1)}`)
        .join(" "),
      class: strong ? "tfw-line tfw-strong" : "tfw-line",
      stroke: SERIES[i % SERIES.length],
      "stroke-dasharray": DASHES[i % DASHES.length],
    })));
    drawCursor();
    options.onDraw?.(scale);
  }

  /** @type {Scale} */
  const scale = {
    x: toX,
    y: toY,
    xAt: (clientX) => {
      const { x } = /** @type {Curves} */ (curves);
      const box = picture.getBoundingClientRect();
      const at = ((clientX - box.left) / box.width) * width;
      return x[0] + ((at - MARGIN.left) / inner.width) * (x[x.length - 1] - x[0]);
    },
    yAt: (clientY) => {
      const box = picture.getBoundingClientRect();
      const at = ((clientY - box.top) / box.height) * HEIGHT;
      return range[0] + (1 - (at - MARGIN.top) / inner.height) * (range[1] - range[0]);
    },
    get frame() {
      return { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top,
        bottom: HEIGHT - MARGIN.bottom };
    },
  };

  resize(width);
  const observer = new ResizeObserver(([entry]) => {
    if (entry.contentRect.width) resize(entry.contentRect.width);
  });
  observer.observe(picture);

  return { element, picture, over, clip: `url(#${clip})`, readout, show, point, stop: () => observer.disconnect() };
}
