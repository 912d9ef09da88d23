// @ts-check
// The source above, the output below it, and where a head looks from the token of the step. What comes
// after that token stands there in pale letters; a handle under it is dragged along the output.

import { ONE } from "../kit/attentions.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { glide } from "../kit/motion.js";
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
 * @param {string} which sentence @param {(step: number) => void} go to a step, counted from 1
 * @param {() => number} now the step that stands, drawn or not: two keys may come within a frame
 */
export function lookLines(which, go, now) {
  const source = tokenList(`source, ${which} sentence`);
  const target = tokenList(`output, ${which} sentence`);
  const lines = svg("svg", { class: "tfw-decoder-lines", "aria-hidden": "true" });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const both = html("div", { class: "tfw-decoder-both" }, lines,
    html("p", { class: "tfw-decoder-side" }, "source"), source,
    html("p", { class: "tfw-decoder-side" }, "output"), target);
  const element = html("div", {}, both, readout);
  /** @type {number[] | null} */
  let weights = null;
  let [step, steps] = [1, 1];
  /** @param {number} to */
  const within = (to) => go(Math.min(Math.max(to, 1), steps));

  const hand = grip(html("div", { class: "tfw-decoder-hand" }), {
    label: which === "first" ? "step" : `step, ${which} sentence`,
    drag: (x, y) => {
      const far = [...target.children].map((token) => {
        const box = token.getBoundingClientRect();
        const beside = Math.max(box.left - x, x - box.right, 0);
        // The hand is held below its token, so a line is left for another one a little late.
        return beside + 3 * Math.max(box.top - y, y - box.bottom - 20, 0);
      });
      within(1 + far.indexOf(Math.min(...far)));
    },
    step: (by) => within(Math.min(now(), steps) + by),
  });
  both.append(hand.element);
  target.addEventListener("click", (event) => {
    const token = /** @type {Element} */ (event.target).closest("li");
    if (token) within(1 + [...target.children].indexOf(token));
  });
  const motion = glide((looks) => strokes(looks));

  /** Lines from the token of the step to the tokens of the source. @param {number[]} looks */
  function strokes(looks) {
    const from = /** @type {HTMLElement | null} */ (target.children[step - 1]);
    const tokens = /** @type {HTMLElement[]} */ ([...source.children]);
    // All is read before anything is written, so that the page is laid out once.
    const x = from ? from.offsetLeft + from.offsetWidth / 2 : 0;
    const y = from?.offsetTop ?? 0;
    const [above, below] = [source.offsetTop + source.offsetHeight, target.offsetTop];
    const seen = tokens.flatMap((token, i) => (looks[i] < LEAST ? [] : [[looks[i],
      token.offsetLeft + token.offsetWidth / 2, token.offsetTop + token.offsetHeight]]));
    tokens.forEach((token, i) => token.style.setProperty("--tfw-look", String(looks[i])));
    // Past other tokens a line goes straight up; it crosses where there are none.
    lines.replaceChildren(...seen.map(([weight, left, top]) => svg("path", {
      d: `M${x} ${y}V${below}L${left} ${above}V${top}`, "stroke-opacity": 0.15 + 0.85 * weight,
      "stroke-width": 1 + 5 * weight, "data-weight": weight })));
    if (from) {
      hand.element.style.left = `${x}px`;
      hand.element.style.top = `${y + from.offsetHeight}px`;
    }
  }

  const draw = () => motion.to([...source.children].map((_, i) => (weights?.[i] ?? 0) / ONE));
  // A frame later the browser has laid the tokens out by itself.
  const drawSoon = oncePerFrame(draw);

  /**
   * @param {{source: string[], target: string[], at: number, weights: number[] | null,
   *   say: string}} state `at`: the token of the step, from 0; without weights there are no lines
   */
  function show(state) {
    fill(source, state.source);
    fill(target, state.target);
    [step, steps] = [state.at + 1, state.target.length];
    [...target.children].forEach((token, i) => {
      token.classList.toggle("tfw-decoder-now", i === state.at);
      token.classList.toggle("tfw-decoder-later", i > state.at);
    });
    hand.show(step, 1, steps, `${step} of ${steps}`);
    both.classList.toggle("tfw-decoder-bare", !state.weights);
    weights = state.weights;
    drawSoon();
    if (readout.textContent !== state.say) readout.textContent = state.say;
    readout.hidden = !state.weights;
  }

  const observer = new ResizeObserver(drawSoon);
  observer.observe(both);
  return { element, show, stop: () => {
    observer.disconnect();
    motion.stop();
  } };
}

const MOST_SAID = 3; // the others have their lines

/**
 * Where a head looks, in words.
 * @param {string} name @param {string[]} source @param {number[]} weights in thousandths
 */
export function looksInWords(name, source, weights) {
  const seen = weights.map((weight, i) => ({ weight: weight / ONE, token: source[i] }))
    .filter(({ weight }) => weight >= LEAST).sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_SAID).map(({ weight, token }) => `\u201c\u2068${token}\u2069\u201d with ${fixed(weight, 3)}`);
  return seen.length ? `${name} looks at ${seen.join(", ")}.`
    : `${name} looks at no token with ${LEAST} or more.`;
}
