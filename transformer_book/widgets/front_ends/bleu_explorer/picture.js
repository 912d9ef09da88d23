// @ts-check
// A sentence with a line for each n-gram along its words; words of the candidate can be moved and taken out.

import { OWN_KEYS, html } from "../kit/elements.js";
import { LENGTHS } from "./maths.js";

/** @typedef {import("./maths.js").Row} Row */

const SAID = { found: "in the reference", clipped: "clipped: the reference has no more of it",
  absent: "not in the reference" };

/** The n-grams of two words and more as lines; those that overlap lie side by side. @param {string[][]} marks
 * @param {(lane: number) => number} rowOf */
function lanes(marks, rowOf) {
  let lane = 0;
  return LENGTHS.slice(1).flatMap((n) => {
    const first = lane;
    lane += n;
    return marks[n - 1].map((mark, i) => html("span", {
      class: `tfw-bleu-line tfw-bleu-${mark}`, "data-n": n, "aria-hidden": "true",
      style: `grid-area: ${rowOf(first + (i % n))} / ${i + 1} / auto / span ${n}` }));
  });
}

/** The reference, its lines above it. */
export function referenceView() {
  const element = html("div", { class: "tfw-bleu-sentence tfw-bleu-reference" });
  /** @param {string[]} words @param {Row[]} rows */
  function show(words, rows) {
    const marks = rows.map(({ used }, n) => words.slice(n).map((_, i) => (used.has(i) ? "found" : "none")));
    element.replaceChildren(...words.map((word, i) => html("span", {
      class: `tfw-bleu-word tfw-bleu-${marks[0][i]}`, style: `grid-area: 10 / ${i + 1}` }, word)),
    ...lanes(marks, (lane) => 9 - lane));
  }
  return { element, show };
}

/**
 * The candidate, whose words are held.
 * @param {{move: (from: number, to: number) => void, remove: (place: number) => void}} hold
 */
export function candidateView({ move, remove }) {
  const element = html("div", { class: "tfw-bleu-sentence", role: "group", "aria-label": "words of the candidate",
    ...OWN_KEYS });
  /** @type {HTMLButtonElement[]} places, those of longer candidates too: a word goes from one to the next */
  const places = [];
  let count = 0;
  let held = -1;
  let dragged = false;

  /** @param {number} from @param {number} to */
  function carry(from, to) {
    if (to < 0 || to >= count) return from;
    move(from, to);
    return to;
  }

  function place() {
    const button = html("button", { type: "button" });
    const at = () => places.indexOf(button);
    const centre = (/** @type {number} */ i) => {
      if (i < 0 || i >= count) return NaN; // beyond the ends nothing is near
      const { left, width } = places[i].getBoundingClientRect();
      return left + width / 2;
    };
    const grasp = (/** @type {number} */ i) => {
      held = i;
      places.forEach((one, j) => one.classList.toggle("tfw-held", j === i));
    };
    button.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      dragged = false;
      button.setPointerCapture(event.pointerId);
      grasp(at());
    });
    button.addEventListener("pointermove", ({ pointerId, clientX }) => {
      if (!button.hasPointerCapture(pointerId) || held < 0) return;
      const before = held;
      while (clientX > centre(held + 1)) grasp(carry(held, held + 1));
      while (clientX < centre(held - 1)) grasp(carry(held, held - 1));
      if (held !== before) dragged = true;
    });
    button.addEventListener("lostpointercapture", () => {
      if (dragged) places[held]?.focus();
      grasp(-1);
    });
    const takeOut = () => {
      const i = at();
      remove(i);
      if (count) places[Math.min(i, count - 1)].focus();
    };
    button.addEventListener("click", () => {
      if (!dragged) takeOut();
      dragged = false;
    });
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) places[carry(at(), at() + by)].focus();
      else if (event.key === "Delete" || event.key === "Backspace") takeOut();
      else return;
      event.preventDefault();
    });
    return button;
  }

  /** @param {string[]} words @param {Row[]} rows */
  function show(words, rows) {
    count = words.length;
    while (places.length < count) places.push(place());
    for (const one of places.slice(count)) one.remove();
    const marks = rows.map((row) => row.marks);
    words.forEach((word, i) => {
      const mark = rows[0].marks[i];
      places[i].textContent = word;
      places[i].className = `tfw-bleu-word tfw-bleu-${mark}${i === held ? " tfw-held" : ""}`;
      places[i].setAttribute("style", `grid-area: 1 / ${i + 1}`);
      places[i].setAttribute("aria-label", `${word}, word ${i + 1} of ${count}, ${SAID[mark]}`);
    });
    for (const line of element.querySelectorAll(".tfw-bleu-line")) line.remove();
    for (const one of places.slice(0, count)) if (!one.isConnected) element.append(one);
    element.append(...lanes(marks, (lane) => lane + 2));
  }
  return { element, show };
}
