// @ts-check
// Figure 1 redrawn: the boxes are buttons, in reading order; the arrows between them are SVG.
// Across, everything is in percent, so the drawing fits every width; upwards it is in pixels.

import { OWN_KEYS, html, svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { PARTS, shapeOf } from "./parts.js";

/** @typedef {import("./parts.js").Part} Part */
/** @typedef {import("./parts.js").Settings} Settings */

const BOX = 28;
const NORM = 22;
const RISE = 22; // an arrow, with the shape written on it
const ROLES = 12; // more below an attention, for what its arrows are called
const STRIP = 30; // below a sentence's box, its tokens
const MOST = 24; // tokens that are drawn
const TOKEN = 1.5; // of a token's width, in percent
const HALF = 18; // of a box's width, in percent
const COLUMNS = {
  encoder: { x: 26, lane: 4.5, frame: 2, role: 1 },
  decoder: { x: 74, lane: 95.5, frame: 54, role: -1 },
};
const BETWEEN = 50; // where the memory goes over to the decoder

/** @param {number[]} sizes */
export function shapeText(sizes) {
  return `(${sizes.join(", ")})`;
}

/** Which axes have the colour of a sentence. @type {Object<string, string>} */
const OF_SENTENCE = { src_len: "tfw-shapes-of-encoder", tgt_len: "tfw-shapes-of-decoder" };

/**
 * A shape in parts, those that are a sentence's length in its colour.
 * @param {import("./parts.js").Row} row @param {Settings} settings
 * @param {(cls: string, size: number) => Node} marked makes such a part
 * @returns {(Node | string)[]}
 */
export function shapeParts(row, settings, marked) {
  const sizes = shapeOf(row, settings);
  return ["(", ...row.axes.flatMap((axis, i) => [...(i ? [", "] : []),
    OF_SENTENCE[axis] ? marked(OF_SENTENCE[axis], sizes[i]) : String(sizes[i])]), ")"];
}

/** Where each box stands: the height of its foot and of its top above the ground. */
function heightsOfBoxes() {
  /** @type {Map<string, {foot: number, top: number}>} */
  const places = new Map();
  const ground = { encoder: STRIP, decoder: STRIP };
  for (const { id, stack, kind } of PARTS) {
    const foot = ground[stack] + (kind === "attention" ? ROLES : 0);
    const top = foot + (kind === "norm" ? NORM : BOX);
    places.set(id, { foot, top });
    ground[stack] = top + RISE;
  }
  return { places, height: ground.decoder + 4 };
}

/**
 * The drawing. `onPick` is called with the id of the part that is clicked or tapped, `onLength` with the
 * number of tokens to which the reader drags the source; `length` says how many there are now, drawn or not.
 * @param {{onPick: (id: string) => void, onLength: (tokens: number) => void, length: () => number}} act
 */
export function partsDiagram({ onPick, onLength, length }) {
  const { places, height } = heightsOfBoxes();
  const drawing = svg("svg", { class: "tfw-shapes-arrows", "aria-hidden": "true", height });
  // From below: bands as wide as the sentences, arrows, what stands behind words, and words.
  const [bands, arrows, grounds, words] = Array.from({ length: 4 }, () => svg("g", {}));
  drawing.append(bands, arrows, grounds, words);
  const boxes = html("div", { class: "tfw-shapes-boxes", role: "group",
    "aria-label": "The parts of the model, in the order in which they compute" });
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  /** @type {{text: Element, ground: SVGElement, part: Part}[]} */
  const labels = [];
  /** @type {Element[]} */
  const repeats = [];

  /** @param {string} id */
  const at = (id) => /** @type {{foot: number, top: number}} */ (places.get(id));

  /** @param {number} x0 @param {number} h0 @param {number} x1 @param {number} h1 */
  function line(x0, h0, x1, h1, thick = "") {
    arrows.append(svg("line", { class: `tfw-shapes-line ${thick}`, x1: `${x0}%`,
      y1: height - h0, x2: `${x1}%`, y2: height - h1 }));
  }

  /**
   * A piece of what flows, as wide as its sentence is long.
   * @param {"encoder" | "decoder"} stack
   * @param {number} x0 @param {number} h0 @param {number} x1 @param {number} h1
   */
  function band(stack, x0, h0, x1, h1) {
    bands.append(svg("line", { class: `tfw-shapes-band tfw-shapes-of-${stack}`, x1: `${x0}%`,
      y1: height - h0, x2: `${x1}%`, y2: height - h1 }));
  }

  /** @param {number} x @param {number} h @param {string} path */
  function head(x, h, path) {
    arrows.append(svg("svg", { x: `${x}%`, y: height - h, overflow: "visible" },
      svg("path", { class: "tfw-shapes-head", d: path })));
  }

  /** @param {number} x @param {number} h @param {string} text @param {string} kind */
  function write(x, h, text, kind) {
    const node = svg("text", { class: `tfw-shapes-${kind}`, x: `${x}%`, y: height - h + 4 }, text);
    words.append(node);
    return node;
  }

  /** A shape to be, on a ground that hides the arrow. @param {number} x @param {number} h */
  function label(x, h) {
    const ground = svg("rect", { class: "tfw-shapes-ground", x: `${x}%`, y: height - h - 7,
      height: 14 });
    grounds.append(ground);
    return { ground, text: write(x, h, "", "label") };
  }

  const UP = "M-5 9 L0 0 L5 9 Z";

  for (const stack of /** @type {const} */ (["encoder", "decoder"])) {
    const { x, lane, frame, role } = COLUMNS[stack];
    const column = PARTS.filter((part) => part.stack === stack);
    const layer = column.filter((part) => part.repeated);
    const low = at(layer[0].id).foot - 9;
    const high = at(layer[layer.length - 1].id).top + 4;
    arrows.append(svg("rect", { class: "tfw-shapes-frame", x: `${frame}%`, y: height - high,
      width: "44%", height: high - low, rx: 10 }));
    repeats.push(write(stack === "encoder" ? frame : frame + 44, low - 14, "", `times-${stack}`));

    column.forEach((part, i) => {
      const { foot, top } = at(part.id);
      const next = column[i + 1];
      if (next || part.id === "softmax") {
        const end = next ? at(next.id).foot : top + RISE;
        band(stack, x, top, x, end);
        head(x, end, UP);
      }
      labels.push({ part, ...label(x, top + 9) });
      if (part.kind === "norm") { // the shortcut around the sub-layer below
        const from = at(column[i - 1].id).foot - 6;
        const middle = (foot + top) / 2;
        line(x, from, lane, from, "tfw-shapes-shortcut");
        line(lane, from, lane, middle, "tfw-shapes-shortcut");
        const edge = x - role * HALF;
        line(lane, middle, edge, middle, "tfw-shapes-shortcut");
        head(edge, middle, role > 0 ? "M-9 -5 L0 0 L-9 5 Z" : "M9 -5 L0 0 L9 5 Z");
      }
      if (part.kind === "attention") {
        write(x + role * 4, foot - 8, part.id === "cross" ? "Q" : "Q K V", `role-${stack}`);
      }
      const button = html("button", { ...OWN_KEYS, type: "button",
        class: `tfw-shapes-box tfw-shapes-${part.kind}`,
        style: `left: ${x - HALF}%; width: ${2 * HALF}%; top: ${height - top}px; `
          + `height: ${top - foot}px`,
        "aria-label": `${part.name}, ${part.where}`, "data-part": part.id }, part.name);
      button.addEventListener("click", () => onPick(part.id));
      buttons.set(part.id, button);
      boxes.append(button);
    });
  }

  // Keys and values of the cross-attention come from the memory.
  const memory = (at("memory").foot + at("memory").top) / 2;
  const cross = (at("cross").foot + at("cross").top) / 2;
  const edge = COLUMNS.decoder.x - HALF;
  band("encoder", COLUMNS.encoder.x + HALF, memory, BETWEEN, memory);
  band("encoder", BETWEEN, memory, BETWEEN, cross);
  band("encoder", BETWEEN, cross, edge, cross);
  line(COLUMNS.encoder.x + HALF, memory, BETWEEN, memory, "tfw-shapes-thick");
  line(BETWEEN, memory, BETWEEN, cross, "tfw-shapes-thick");
  line(BETWEEN, cross, edge - 0.5, cross, "tfw-shapes-thick");
  head(edge, cross, "M-10 -6 L0 0 L-10 6 Z");
  write(BETWEEN, cross - 24, "K V", "lane");

  // The two sentences, a square a token; the end of the source is there to be dragged.
  const strips = /** @type {const} */ (["encoder", "decoder"]).map((stack) => {
    const left = COLUMNS[stack].x - HALF;
    const tokens = Array.from({ length: MOST }, (_, i) => svg("rect", {
      class: `tfw-shapes-token tfw-shapes-of-${stack}`, x: `${left + i * TOKEN}%`, width: `${0.8 * TOKEN}%`,
      y: height - STRIP + 9, height: 12 }));
    words.append(...tokens);
    return tokens;
  });
  const first = COLUMNS.encoder.x - HALF;
  const element = html("div", { class: "tfw-shapes-diagram", style: `height: ${height}px` },
    drawing, boxes);
  const end = grip(html("div", { class: "tfw-shapes-end tfw-dot" }), {
    label: "source length",
    drag: (clientX) => {
      const box = element.getBoundingClientRect();
      const percent = (100 * (clientX - box.left)) / box.width;
      onLength(Math.min(Math.max(Math.round((percent - first) / TOKEN), 1), MOST));
    },
    step: (by) => onLength(Math.min(Math.max(length() + by, 1), MOST)),
  });
  element.append(end.element);

  // Arrow keys walk along the computation, as Tab does, and pick on the way.
  boxes.addEventListener("keydown", (event) => {
    const ids = [...buttons.keys()];
    const place = ids.indexOf(/** @type {HTMLElement} */ (event.target).dataset.part ?? "");
    const moves = { ArrowUp: place + 1, ArrowRight: place + 1, ArrowDown: place - 1,
      ArrowLeft: place - 1, Home: 0, End: ids.length - 1 };
    const to = ids[moves[/** @type {keyof typeof moves} */ (event.key)]];
    if (place < 0 || to === undefined) return;
    event.preventDefault();
    buttons.get(to)?.focus();
    onPick(to);
  });

  /**
   * @param {Settings | null} settings null if they make no model @param {string} picked
   * @param {{src_len: number, tgt_len: number}} lengths
   */
  function show(settings, picked, lengths) {
    for (const { text, ground, part } of labels) {
      const row = part.rows[part.rows.length - 1];
      text.replaceChildren(...(settings ? shapeParts(row, settings, (cls, size) =>
        svg("tspan", { class: cls }, size)) : []));
      ground.style.setProperty("--letters", String(text.textContent?.length));
    }
    const counts = [lengths.src_len, lengths.tgt_len];
    strips.forEach((tokens, i) => tokens.forEach((token, at) =>
      token.classList.toggle("tfw-shapes-none", at >= counts[i])));
    counts.forEach((count, i) => element.style.setProperty(`--tokens-${i ? "decoder" : "encoder"}`,
      String(Math.min(count, MOST))));
    const [tokens] = counts;
    end.element.style.left = `${first + Math.min(tokens, MOST) * TOKEN}%`;
    end.show(tokens, 1, Math.max(tokens, MOST), `${tokens} ${tokens === 1 ? "token" : "tokens"}`);
    for (const node of repeats) node.textContent = settings ? `${settings.n_layers} ×` : "N ×";
    for (const [id, button] of buttons) button.setAttribute("aria-pressed", String(id === picked));
  }

  return { element, show };
}
