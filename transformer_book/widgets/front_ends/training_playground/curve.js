// @ts-check
// Loss and share of right sequences over the steps; earlier runs stay, in grey. The style sheet says how high.

import { html, svg } from "../kit/elements.js";
import { fixed, grouped } from "../kit/numbers.js";

/** @typedef {import("./run.js").Run} Run */

const MOST_POINTS = 240;

/** @param {Object<string, any>} constants as Python has them */
export function curve({ n_tests: tests, judged_every: every, recipe: { batch } }) {
  const ticks = (/** @type {(string | number)[]} */ values) => values.map((value) => html("span", {}, value));
  const losses = html("div");
  const lines = svg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  const names = html("div");
  const along = html("p");
  const picture = html("div", { class: "tfw-play-curve", role: "img" },
    losses, html("div", {}, lines, names), html("div", {}, ...ticks([tests, 0])), along);
  const key = (/** @type {string} */ line, /** @type {string} */ text) => html("li", {},
    svg("svg", { viewBox: "0 0 28 8", class: "tfw-swatch", "aria-hidden": "true" },
      svg("path", { d: "M0 4H28", class: line })), text);
  const old = key("tfw-play-old", "loss, earlier runs");
  const element = html("div", {}, picture, html("ul", { class: "tfw-key" },
    key("tfw-play-loss", "loss in training"), key("tfw-play-share", `right, of ${tests} unseen`),
    old));

  /**
   * @param {Run} run @param {Run[]} earlier @param {number} least steps on the axis
   * @param {["loss" | "steps" | "learned", number, string][]} marks lines at a loss or step, and their names
   */
  function show(run, earlier, least, marks) {
    const steps = Math.max(least, ...[run, ...earlier].map(({ step }) => step));
    const top = Math.ceil(1.2 * Math.log(run.config.vocab));
    const up = (/** @type {number} */ share) => 100 - 100 * Math.min(1, share);
    const path = (/** @type {number[]} */ values, /** @type {number} */ apart, /** @type {number} */ high) => {
      const stride = Math.max(1, Math.floor(values.length / MOST_POINTS));
      const points = values.flatMap((value, i) => (i % stride ? [] : [`${100 * i * apart / steps} ${up(value / high)}`]));
      return points.length ? `M${points.join("L")}` : "";
    };
    losses.replaceChildren(...ticks(Array.from({ length: top + 1 }, (_, i) => top - i)));
    along.replaceChildren(...ticks(["0", `${grouped(steps)} steps of ${batch} sequences`]));
    const drawn = earlier.map(({ losses }) => ["old", path(losses, 1, top)]);
    drawn.push(["share", path(run.right, every, tests)], ["loss", path(run.losses, 1, top)]);
    names.replaceChildren(...marks.filter((mark) => mark[1] <= steps).map(([axis, at, words]) => {
      const [x, y] = [100 * at / steps, up(at / top)];
      drawn.push(["mark", axis === "loss" ? `M0 ${y}H100` : `M${x} 0V100`]);
      return html("span", { class: `tfw-play-at-${axis}`, style: `${axis === "loss"
        ? at > 1 ? `top:${y}` : `bottom:${100 - y}`
        : x > (axis === "steps" ? 50 : 65) ? `right:${100 - x}` : `left:${x}`}%` }, words);
    }));
    lines.replaceChildren(...drawn.map(([name, d]) => svg("path", { d, class: `tfw-play-${name}` })));
    old.hidden = !earlier.length;
    const { losses: fell, right } = run;
    picture.setAttribute("aria-label", fell.length
      ? `The loss fell from ${fixed(fell[0], 2)} to ${fixed(fell.at(-1) ?? 0, 2)} in ${
        fell.length} steps; right: ${right[0]} to ${right.at(-1)}.`
      : "Nothing yet.");
  }

  return { element, show };
}
