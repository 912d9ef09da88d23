// @ts-check
// Motion between two states, so that the eye can follow what becomes of what.

export const TIME = 350; // milliseconds

/** Whether the reader has asked for a page that keeps still. */
export const keepsStill = () => globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Draws the numbers on the way from those that stand to others. `to` goes there: at once the first
 * time, if their count changes, when told to (a finger drags), or where the reader wants no motion.
 * @param {(values: number[]) => void} draw
 */
export function glide(draw) {
  /** @type {number[]} */
  let now = [];
  let run = 0; // so that a later way ends an earlier one

  /** @param {number[]} target @param {boolean} [atOnce] */
  function to(target, atOnce = false) {
    run += 1;
    const own = run;
    const from = now;
    if (atOnce || from.length !== target.length || keepsStill()
      || from.every((value, i) => value === target[i])) {
      now = target;
      draw(target);
      return;
    }
    const began = performance.now();
    const step = () => {
      if (own !== run) return;
      const share = Math.min((performance.now() - began) / TIME, 1);
      const eased = 1 - (1 - share) ** 3;
      now = share < 1 ? target.map((value, i) => from[i] + (value - from[i]) * eased) : target;
      draw(now);
      if (share < 1) requestAnimationFrame(step);
    };
    step();
  }

  const stop = () => {
    run += 1;
  };
  return { to, stop };
}
