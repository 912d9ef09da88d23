// @ts-check
// The source above, the output below it as far as it is written, and where a head looks from there.

import { ONE } from "../kit/attentions.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { fixed } from "../kit/numbers.js";
import { LEAST } from "./data.js";

/** @param {string} label */
const tokenList = (label) => html("ol", { class: "tfw-decoder-tokens", "aria-label": label });

/** @param {HTMLElement} list @param {string[]} tokens */
function fill(list, tokens) {
  while (list.childElementCount > tokens.length) list.lastElementChild?.remove();
  tokens.forEach((token, i) => {
    const at = list.children[i];
    if (!at) list.append(html("li", {}, html("bdi", {}, token)));
    else if (at.textContent !== token) at.replaceChildren(html("bdi", {}, token));
  });
}

/**
 * Tokens and lines. `show` draws another step in their place; `stop` ends it.
 * @param {string} which sentence
 */
export function lookLines(which) {
  const source = tokenList(`source, ${which} sentence`);
  const target = tokenList(`output up to this step, ${which} sentence`);
  const lines = svg("svg", { class: "tfw-decoder-lines", "aria-hidden": "true" });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const both = html("div", { class: "tfw-decoder-both" }, lines,
    html("p", { class: "tfw-decoder-side" }, "source"), source,
    html("p", { class: "tfw-decoder-side" }, "output"), target);
  const element = html("div", {}, both, readout);
  /** @type {number[] | null} */
  let weights = null;

  /** Lines from the last token of the output to the tokens of the source. */
  function draw() {
    const from = /** @type {HTMLElement | null} */ (target.lastElementChild);
    const tokens = /** @type {HTMLElement[]} */ ([...source.children]);
    const looks = tokens.map((_, i) => (weights?.[i] ?? 0) / ONE);
    // All is read before anything is written, so that the page is laid out once.
    const x = from ? from.offsetLeft + from.offsetWidth / 2 : 0;
    const y = from?.offsetTop ?? 0;
    const seen = tokens.flatMap((token, i) => (looks[i] < LEAST ? [] : [[looks[i],
      token.offsetLeft + token.offsetWidth / 2, token.offsetTop + token.offsetHeight]]));
    tokens.forEach((token, i) => token.style.setProperty("--tfw-look", String(looks[i])));
    lines.replaceChildren(...seen.map(([weight, left, top]) => svg("path", {
      d: `M${x} ${y}L${left} ${top}`, "stroke-opacity": 0.15 + 0.85 * weight,
      "stroke-width": 1 + 5 * weight, "data-weight": weight })));
  }
  // A frame later the browser has laid the tokens out by itself.
  const drawSoon = oncePerFrame(draw);

  /**
   * @param {{source: string[], target: string[], weights: number[] | null, say: string}} step the
   *   last token of the target is the one just written; without weights there are no lines
   */
  function show(step) {
    fill(source, step.source);
    fill(target, step.target);
    both.classList.toggle("tfw-decoder-bare", !step.weights);
    weights = step.weights;
    drawSoon();
    readout.hidden = !step.say;
    if (readout.textContent !== step.say) readout.textContent = step.say;
  }

  const observer = new ResizeObserver(drawSoon);
  observer.observe(both);
  return { element, show, stop: () => observer.disconnect() };
}

/**
 * Where a head looks, in words.
 * @param {string} name @param {string[]} source @param {number[]} weights in thousandths
 */
export function looksInWords(name, source, weights) {
  const seen = weights.map((weight, i) => ({ weight: weight / ONE, token: source[i] }))
    .filter(({ weight }) => weight >= LEAST).sort((a, b) => b.weight - a.weight)
    .map(({ weight, token }) => `\u201c\u2068${token}\u2069\u201d with ${fixed(weight, 3)}`);
  return seen.length ? `${name} looks at ${seen.join(", ")}.`
    : `${name} looks at no token with ${LEAST} or more.`;
}
