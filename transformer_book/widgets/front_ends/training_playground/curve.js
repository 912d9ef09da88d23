// @ts-check
// Loss and share of right sequences over the steps; earlier runs stay, in grey.

import { html, svg } from "../kit/elements.js";
import { fixed, grouped } from "../kit/numbers.js";

/** @typedef {import("./run.js").Run} Run */

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [440, 148, 26, 398, 12, 120];
const MOST_POINTS = 240;

/** @param {number} tests how many sequences are judged @param {number} every so many steps @param {number} batch learned from in each */
export function curve(tests, every, batch) {
  const axes = svg("g", {});
  const lines = svg("g", {});
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "tfw-play-curve", role: "img" },
    axes, lines);
  const key = (/** @type {string} */ line, /** @type {string} */ text) => html("li", {},
    svg("svg", { viewBox: "0 0 28 8", class: "tfw-swatch", "aria-hidden": "true" },
      svg("path", { d: "M0 4H28", class: line })), text);
  const old = key("tfw-play-old", "loss, earlier runs");
  const element = html("div", {}, picture, html("ul", { class: "tfw-key" },
    key("tfw-play-loss", "loss in training"), key("tfw-play-share", `right, of ${tests} unseen`),
    old));

  /** @param {Run} run @param {Run[]} earlier @param {number} least steps on the axis */
  function show(run, earlier, least) {
    const steps = Math.max(least, ...[run, ...earlier].map(({ step }) => step));
    const top = Math.ceil(1.1 * Math.log(run.config.vocab));
    const path = (/** @type {number[]} */ values, /** @type {number} */ apart, /** @type {number} */ high) => {
      const stride = Math.max(1, Math.floor(values.length / MOST_POINTS));
      const points = values.flatMap((value, i) => (i % stride ? [] : [
        `${(LEFT + (RIGHT - LEFT) * i * apart / steps).toFixed(1)} ${
          (BOTTOM - (BOTTOM - TOP) * Math.min(1, value / high)).toFixed(1)}`]));
      return points.length ? `M${points.join("L")}` : "";
    };
    const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string | number} */ words, anchor = "end") =>
      svg("text", { x, y, "text-anchor": anchor }, words);
    axes.replaceChildren(svg("path", { d: `M${LEFT} ${TOP}V${BOTTOM + 2}H${RIGHT}V${TOP}`, class: "tfw-axis" }),
      ...Array.from({ length: top + 1 }, (_, loss) => text(LEFT - 5, BOTTOM + 4 - (BOTTOM - TOP) * loss / top, loss)),
      text(RIGHT + 4, TOP + 6, tests, "start"), text(RIGHT + 4, BOTTOM + 4, "0", "start"),
      text(RIGHT, BOTTOM + 20, `${grouped(steps)} steps of ${batch} sequences`));
    const drawn = earlier.map(({ losses }) => ["old", path(losses, 1, top)]);
    drawn.push(["share", path(run.right, every, tests)], ["loss", path(run.losses, 1, top)]);
    lines.replaceChildren(...drawn.map(([name, d]) => svg("path", { d, class: `tfw-play-${name}` })));
    old.hidden = !earlier.length;
    const { losses, right } = run;
    picture.setAttribute("aria-label", losses.length
      ? `The loss fell from ${fixed(losses[0], 2)} to ${fixed(losses.at(-1) ?? 0, 2)} in ${
        losses.length} steps; right sequences rose from ${right[0]} to ${right.at(-1)}.`
      : "Nothing yet.");
  }

  return { element, show };
}
