// @ts-check
// All layers and heads of a kind as small pictures, each a button that enlarges it.

import { ONE } from "../kit/attentions.js";
import { sequential } from "../kit/colours.js";
import { OWN_KEYS, html, paleWhereCut } from "../kit/elements.js";

/** @typedef {import("./data.js").Head} Head */

const MOST_DOTS = 64; // more would be smaller than the dots of a screen

// The colour of each thousandth as one number, blue to red in the higher bytes.
const COLOURS = Uint32Array.from({ length: ONE + 1 }, (_, i) => {
  const [red, green, blue] = sequential(i / ONE);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});

/**
 * Draws a head with one dot for a cell, or for the strongest of several.
 * @param {HTMLCanvasElement} canvas @param {Head} head
 */
function drawHead(canvas, { cells, rows, columns }) {
  const factor = Math.ceil(Math.max(rows.length, columns.length) / MOST_DOTS);
  const width = Math.ceil(columns.length / factor);
  const height = Math.ceil(rows.length / factor);
  const strongest = factor === 1 ? cells : new Uint16Array(width * height);
  for (let r = 0, i = 0; factor > 1 && r < rows.length; r += 1) {
    const start = Math.floor(r / factor) * width;
    for (let c = 0; c < columns.length; c += 1, i += 1) {
      const dot = start + Math.floor(c / factor);
      if (cells[i] > strongest[dot]) strongest[dot] = cells[i];
    }
  }
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    // A very long or wide one is squeezed into what still is a picture.
    canvas.style.aspectRatio = String(Math.min(Math.max(width / height, 0.5), 2));
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  const dots = new Uint32Array(image.data.buffer);
  for (let i = 0; i < dots.length; i += 1) dots[i] = COLOURS[strongest[i]];
  context.putImageData(image, 0, 0);
}

/**
 * The small pictures. `show` draws others, `mark` says which is enlarged.
 * @param {(layer: number, head: number) => void} onPick
 */
export function smallHeads(onPick) {
  const table = html("div", {
    class: "tfw-heads-all",
    role: "group",
    "aria-label": "All layers and heads. Arrow keys move, Enter enlarges.",
  });
  const element = paleWhereCut(html("div", { class: "tfw-scroll" }, table));
  /** @type {HTMLButtonElement[][]} */
  let buttons = [];
  let layout = "";
  /** @type {Head[][]} */
  let latest = [];

  /** @param {number} layer @param {number} head */
  function piece(layer, head) {
    const name = `Layer ${layer + 1}, head ${head + 1}`;
    const node = html("button", { ...OWN_KEYS, type: "button", class: "tfw-heads-one", title: name,
      "aria-label": name },
      html("canvas", { "aria-hidden": "true" }));
    node.addEventListener("click", () => onPick(layer, head));
    node.addEventListener("keydown", (event) => {
      /** @type {Object<string, [number, number]>} */
      const moves = { ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
        ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1],
        Home: [layer, 0], End: [layer, buttons[layer].length - 1] };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const [row, column] = moves[event.key];
      buttons[row]?.[column]?.focus();
    });
    return node;
  }

  /** @param {Head[][]} layers */
  function show(layers) {
    const counts = layers.map((heads) => heads.length);
    if (layout !== counts.join()) {
      layout = counts.join();
      table.style.setProperty("--tfw-heads-count", String(Math.max(...counts)));
      buttons = layers.map((heads, layer) => heads.map((_, head) => piece(layer, head)));
      table.replaceChildren(
        html("span", { class: "tfw-heads-name", "aria-hidden": "true" }, "head"),
        ...Array.from({ length: Math.max(...counts) }, (_, head) =>
          html("span", { class: "tfw-heads-name", "aria-hidden": "true" }, head + 1)),
        ...buttons.flatMap((row, layer) => {
          const title = html("span", { class: "tfw-heads-name tfw-heads-layer",
            "aria-hidden": "true" }, `layer ${layer + 1}`);
          return [title, ...row];
        }));
    }
    // A layer in each frame, so that the page never waits for the many pictures.
    latest = layers;
    const drawLayer = (/** @type {number} */ layer) => {
      if (latest !== layers || layer === layers.length) return;
      layers[layer].forEach((one, head) => {
        const canvas = buttons[layer][head].firstElementChild;
        drawHead(/** @type {HTMLCanvasElement} */ (canvas), one);
      });
      requestAnimationFrame(() => drawLayer(layer + 1));
    };
    drawLayer(0);
  }

  /** @param {number} layer @param {number} head */
  function mark(layer, head) {
    buttons.forEach((row, i) => row.forEach((node, j) => {
      const chosen = i === layer && j === head;
      node.setAttribute("aria-pressed", String(chosen));
      node.tabIndex = chosen ? 0 : -1; // one stop for the Tab key, arrow keys inside
    }));
  }

  return { element, show, mark };
}
