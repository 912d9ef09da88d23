// @ts-check
// A hundred experiments: the line of the true effect is dragged, and luck decides who sees it.

import { chart } from "../kit/chart.js";
import { button, foretold, pick, slider } from "../kit/controls.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { grip, stepped } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { fixed, short } from "../kit/numbers.js";
import { room } from "../kit/room.js";
import { counted, expected, experiments } from "./maths.js";

/** @typedef {import("./maths.js").Luck} Luck */

const LOWEST = -0.6; // of the axis, in nats
const HIGHEST = 1;
const SPREADS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6];
const SEEDS = 99; // hundreds that may be drawn
const KINDS = ["not significant", "significant", "significant, in the wrong direction"];
const UNSEEN = "Each experiment will be a dot with its 95 % interval, which leaves 0 out where the result is significant.";
const ROWS = ["significant", "significant in the wrong direction", "the significant ones exaggerate by a factor of"];

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const constants = model.get("constants");
  const effects = Array.from({ length: Math.round(constants.largest / 0.02) + 1 }, (_, i) => i / 50);
  const settings = () => ["effect", "spread", "n", "seed"].map((name) => model.get(name));
  /** @type {number[]} */
  let estimates = [];
  /** @type {number[]} */
  let halves = []; // of their intervals
  let [drawn, rule, held] = [0, 0, false]; // the true effect and the rule's, on their way

  const kindOf = (/** @type {number} */ i) =>
    (Math.abs(estimates[i]) <= halves[i] ? 0 : estimates[i] * drawn < 0 ? 2 : 1);
  const answered = () => !guess || model.get("guess") >= 0;

  const picture = chart({
    label: "A hundred experiments, sorted by their results",
    xTitle: "experiment, sorted by its result",
    yTitle: "difference, nats",
    say: (i) => (answered() ? `Experiment ${i + 1} of ${estimates.length}: ${
      fixed(estimates[i], 2)} ± ${fixed(halves[i], 2)} nats, ${KINDS[kindOf(i)]}.`
      : "Say first what you expect; then they are shown."),
    onDraw: dress,
  });

  const kinds = KINDS.map((_, kind) => [svg("path", { class: `tfw-seeds-spread tfw-seeds-${kind}` }),
    svg("path", { class: `tfw-seeds-dot tfw-seeds-${kind}` })]);
  const all = svg("g", {}, ...kinds.flat());
  const zero = svg("line", { class: "tfw-seeds-zero" });
  const ruled = svg("line", { class: "tfw-seeds-rule" });
  const [name, ruleName] = [0, 1].map(() => svg("text", { class: "tfw-seeds-name" }));
  const line = svg("line", { class: "tfw-seeds-effect" });
  const around = svg("line", { class: "tfw-seeds-around" });
  const dot = svg("g", {}, svg("circle", { class: "tfw-grip-room", r: 22 }),
    svg("circle", { class: "tfw-grip-dot", r: 9 }));
  /** @type {import("../kit/chart.js").Scale} */
  let scale;
  const hold = grip(svg("g", {}, around, dot), {
    label: "true effect, in nats",
    orientation: "vertical",
    drag: (_, y) => assign(model, "effect",
      Math.round(100 * Math.min(Math.max(scale.yAt(y), 0), constants.largest)) / 100),
    step: (by) => assign(model, "effect", stepped(effects, model.get("effect"), by)),
    onHold: (now) => {
      held = now;
    },
  });
  picture.over.append(zero, ruled, line, all, hold.element, name, ruleName);

  /** @param {import("../kit/chart.js").Scale} at */
  function dress(at) {
    scale = at;
    const { left, right, top, bottom } = at.frame;
    const inside = (/** @type {number} */ value) => Math.min(Math.max(at.y(value), top), bottom);
    const paths = KINDS.map(() => ["", ""]);
    estimates.forEach((estimate, i) => {
      const path = paths[kindOf(i)];
      const [low, high] = [-1, 1].map((sign) => estimate + sign * halves[i]);
      const x = at.x(i + 1).toFixed(1);
      path[0] += `M${x} ${inside(low).toFixed(1)}V${inside(high).toFixed(1)}`;
      // An arrowhead where an interval goes on outside.
      if (high > HIGHEST) path[0] += "m-2.5 5l2.5-5l2.5 5";
      if (low < LOWEST) path[0] += `M${x} ${bottom}m-2.5-5l2.5 5l2.5-5`;
      path[1] += `M${x} ${inside(estimate).toFixed(1)}h0`;
    });
    kinds.forEach((two, kind) => two.forEach((path, i) => path.setAttribute("d", paths[kind][i])));
    const [zeroY, effectY, ruleY] = [at.y(0), at.y(drawn), inside(rule)];
    for (const [element, y] of /** @type {[SVGElement, number][]} */ ([[zero, zeroY], [line, effectY],
      [around, effectY], [ruled, ruleY]])) {
      for (const [key, value] of Object.entries({ x1: left, x2: right, y1: y, y2: y })) {
        element.setAttribute(key, String(value));
      }
    }
    ruled.classList.toggle("tfw-kept-place", rule > HIGHEST);
    dot.setAttribute("transform", `translate(${right} ${effectY})`);
    put(name, left + 6, effectY, `true effect ${fixed(drawn, 2)}`);
    put(ruleName, left + 118, ruleY, `2.8 s/√n: ${fixed(rule, 2)}${rule > HIGHEST ? " ↑" : ""}`);
  }

  /** Above a line. @param {SVGElement} text @param {number} x @param {number} y @param {string} words */
  function put(text, x, y, words) {
    text.textContent = words;
    text.setAttribute("x", String(x));
    text.setAttribute("y", String(Math.max(y - 6, 12)));
  }

  const controls = [
    slider(model, "n", { label: "seeds n", min: 2, max: constants.most_seeds }),
    slider(model, "spread", { label: "spread s of the differences", values: SPREADS,
      format: (value) => `${short(value)} nats` }),
  ];
  const again = button("Another hundred", () =>
    assign(model, "seed", (model.get("seed") % SEEDS) + 1));
  const guess = model.get("question") ? pick(model, "guess", { label: model.get("question"),
    options: model.get("answers").map((/** @type {string} */ text, /** @type {number} */ i) => [text, i]) }) : null;
  const verdict = room("tfw-verdict");
  /** What came of a guess, with the settings that it was about. @param {number} answer */
  const judged = (answer) => {
    const { effect, spread, n } = model.get("asked");
    return [`${foretold(model.get("answers"), answer, model.get("right"))} (With ${n} seeds, a true effect of ${
      fixed(effect, 2)} and a spread of ${short(spread)}.)`, model.get("why")];
  };
  const cells = ROWS.map(() => [html("td", {}), html("td", {})]);
  const swatch = (/** @type {number} */ kind) =>
    svg("svg", { viewBox: "0 0 12 12", class: "tfw-seeds-swatch", "aria-hidden": "true" },
      svg("path", { d: "M6 6h0", class: `tfw-seeds-dot tfw-seeds-${kind}` }));
  const numbers = html("table", { class: "tfw-table" },
    html("thead", {}, html("tr", {}, html("td", {}),
      ...["these hundred", "long run"].map((text) => html("th", { scope: "col" }, text)))),
    html("tbody", {}, ...ROWS.map((text, i) => html("tr", {},
      html("th", { scope: "row" }, ...(KINDS[i + 1] ? [swatch(i + 1)] : []), text), ...cells[i]))));
  const moved = html("div", { class: "tfw-controls tfw-two" }, ...controls.map(({ element }) => element),
    again.element);

  /** @param {Luck} luck @param {number} decimals */
  function inWords({ significant, wrong, exaggeration }, decimals) {
    const share = (/** @type {number} */ x) => `${fixed(100 * x, decimals)} %`;
    return [share(significant), model.get("effect") ? share(wrong) : "–",
      Number.isFinite(exaggeration) ? fixed(exaggeration, 1) : "–"];
  }

  const motion = glide((values) => {
    [drawn, rule] = values;
    const middle = 2 + (values.length - 2) / 2;
    [estimates, halves] = [values.slice(2, middle), values.slice(middle)];
    picture.show({ x: estimates.map((_, i) => i + 1), series: [], y: [LOWEST, HIGHEST] });
  });

  function draw() {
    const [effect, spread, n, seed] = settings();
    const found = experiments(constants, seed, n);
    const [means, widths] = [found.map(([mean]) => effect + spread * mean),
      found.map(([, half]) => spread * half)];
    const here = counted(means, widths, effect);
    const columns = [inWords(here, 0), inWords(expected(constants, { effect, spread, n }), 1)];
    cells.forEach((row, i) => row.forEach((cell, j) => {
      cell.textContent = answered() ? columns[j][i] : "?";
    }));
    hold.show(effect, 0, constants.largest, answered()
      ? `${fixed(effect, 2)}: ${columns[0][0]} significant, in the long run ${columns[1][0]}`
      : fixed(effect, 2));
    for (const part of [all, hold.element]) part.classList.toggle("tfw-kept-place", !answered());
    moved.inert = !answered();
    if (guess) verdict.say(answered() ? judged(model.get("guess")) : [UNSEEN]);
    motion.to([effect, (constants.rule * spread) / Math.sqrt(n), ...means, ...widths], held);
  }

  if (guess) verdict.keep(guess.inputs.map((_, answer) => judged(answer)));
  const stop = watch(model, ["effect", "spread", "n", "seed", "guess"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-seeds" },
    guess ? guess.element : html("p", { class: "tfw-question" }, "Drag the true effect up to the "
      + "dashed line. How many of a hundred experiments see it? And with more seeds?"),
    picture.element, ...(guess ? [verdict.element] : []), moved, numbers));
  draw();
  return () => {
    stop();
    motion.stop();
    picture.stop();
    for (const control of [...controls, ...(guess ? [guess] : [])]) control.stop();
  };
}

export default { render };
