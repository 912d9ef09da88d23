// @ts-check
// What is dragged on a picture: a slider to keyboard and screen reader, a thing to hold for hand and mouse.

import { OWN_KEYS } from "./elements.js";

/**
 * @typedef {object} Hold
 * @property {string} label
 * @property {string} [orientation] "horizontal" if absent
 * @property {(x: number, y: number) => void} drag to a place in the window
 * @property {(by: number) => void} step by so many steps; infinite: to the end
 * @property {(held: boolean, x: number) => void} [onHold] the drag begins, at this place, or ends
 */

/**
 * Makes an element of a picture a thing to hold. `show` says what it stands at.
 * @param {HTMLElement | SVGElement} element @param {Hold} hold
 */
export function grip(element, hold) {
  const marks = { ...OWN_KEYS, role: "slider", tabindex: "0", "aria-label": hold.label,
    "aria-orientation": hold.orientation ?? "horizontal" };
  for (const [name, value] of Object.entries(marks)) element.setAttribute(name, value);
  element.classList.add("tfw-grip");

  /** @param {Event} event */
  const own = (event) => event.stopPropagation(); // the picture below has a cursor of its own
  /** @param {boolean} held @param {number} x */
  const holding = (held, x) => {
    element.classList.toggle("tfw-held", held);
    hold.onHold?.(held, x);
  };
  // The page would scroll under a finger that drags a part of an SVG, whatever its style says.
  element.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  element.addEventListener("pointerdown", (event) => {
    const { pointerId, button, clientX } = /** @type {PointerEvent} */ (event);
    own(event);
    if (button) return;
    element.setPointerCapture(pointerId);
    element.focus({ preventScroll: true });
    holding(true, clientX);
  });
  element.addEventListener("pointermove", (event) => {
    const { pointerId, clientX, clientY } = /** @type {PointerEvent} */ (event);
    own(event);
    if (element.hasPointerCapture(pointerId)) hold.drag(clientX, clientY);
  });
  element.addEventListener("lostpointercapture", () => holding(false, 0));
  element.addEventListener("keydown", (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event);
    /** @type {Object<string, number>} */
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5,
      Home: -Infinity, End: Infinity };
    if (!(key in steps)) return;
    own(event);
    event.preventDefault();
    hold.step(steps[key]);
  });

  /** @param {number} now @param {number} min @param {number} max @param {string} text */
  function show(now, min, max, text) {
    const values = { "aria-valuenow": now, "aria-valuemin": min, "aria-valuemax": max,
      "aria-valuetext": text };
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
  }
  return { element, show };
}

/**
 * The value so many steps on in a list that rises; from a value beside the list to the nearest step
 * in that direction.
 * @param {number[]} values @param {number} from @param {number} by
 */
export function stepped(values, from, by) {
  const last = values.length - 1;
  const at = by > 0 ? values.findLastIndex((value) => value <= from)
    : values.findIndex((value) => value >= from);
  const place = at < 0 ? (by > 0 ? -1 : last + 1) : at;
  return values[Math.min(Math.max(place + by, 0), last)];
}

/** The value of a list that is nearest. @param {number[]} values @param {number} to */
export function nearest(values, to) {
  return values.reduce((best, value) => (Math.abs(value - to) < Math.abs(best - to) ? value : best));
}
