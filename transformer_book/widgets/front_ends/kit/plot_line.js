// @ts-check
// A line that stands across a plot, and is dragged along it.

import { html } from "./elements.js";
import { grip } from "./grip.js";

/**
 * The line, with what it carries. Held beside its middle it does not jump; `held` tells whether it is.
 * @param {HTMLElement | null} carried
 * @param {{label: string, plot: () => Element, at: () => number, drag: (share: number) => void,
 *   step: (by: number) => void}} options `at`: where it stands, and `drag`: where to, from 0 at the
 *   plot's left to 1 at its right; `step` as of a grip
 */
export function plotLine(carried, { label, plot, at, drag, step }) {
  let [held, aside] = [false, 0];
  const line = grip(html("div", { class: "tfw-plot-line tfw-dot" }, ...(carried ? [carried] : [])), {
    label,
    drag: (x) => {
      const { left, width } = plot().getBoundingClientRect();
      drag(Math.min(Math.max((x - aside - left) / width, 0), 1));
    },
    step,
    onHold: (now, x) => {
      const { left, width } = plot().getBoundingClientRect();
      held = now;
      aside = x - left - width * at();
    },
  });
  /** Puts it there; what it carries stands on the side with room. @param {number} share */
  const put = (share) => {
    line.element.style.left = `${100 * share}%`;
    line.element.classList.toggle("tfw-plot-line-right", share > 0.5);
  };
  return { ...line, put, held: () => held };
}
