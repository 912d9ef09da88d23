// @ts-check
// Rotary positions as clocks: both words are dragged along a line, and their score is watched.

import { slider } from "../kit/controls.js";
import { html, oncePerFrame, svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";
import { products, score, turned } from "./maths.js";

const REACH = 44; // of a hand; a face has 50
const TICKS = 20; // positions from one number of the line to the next

/** A position on a face, with the angle counted from the right, upwards. @param {number} angle @param {number} [reach] */
const at = (angle, reach = REACH) =>
  `${(reach * Math.cos(angle)).toFixed(2)} ${(-reach * Math.sin(angle)).toFixed(2)}`;

/** A hand that points to the right: the query's ends in a dot, the key's in a square. @param {string} whose */
const hand = (whose) => svg("g", { class: `tfw-rotary-hand tfw-rotary-${whose}` },
  svg("path", { d: `M0 0H${REACH}` }), whose === "query"
    ? svg("circle", { cx: REACH - 4, r: 6 })
    : svg("rect", { x: REACH - 10, y: -6, width: 12, height: 12 }));

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./maths.js").Constants} */
  const constants = model.get("constants");
  const { frequencies, last, farthest } = constants;
  const end = last + farthest;

  const clocks = frequencies.map((frequency, i) => {
    const [query, key] = [hand("query"), hand("key")];
    const between = svg("path", { class: "tfw-rotary-between" });
    const face = svg("svg", { viewBox: "-52 -52 104 104", role: "img" },
      svg("circle", { class: "tfw-rotary-face", r: 50 }), between, key, query);
    const product = html("b", {});
    return { query, key, between, face, product, element: html("div", { class: "tfw-rotary-clock" },
      face, html("p", {}, `pair ${i + 1}`), html("p", {}, `ω = ${frequency}`), html("p", {}, product)) };
  });

  const motion = glide((angles) => clocks.forEach(({ query, key, between }, i) => {
    const [from, to] = [angles[i], angles[i + clocks.length]];
    [[query, from], [key, to]].forEach(([whose, angle]) => /** @type {SVGElement} */ (whose)
      .setAttribute("transform", `rotate(${(-180 * Number(angle)) / Math.PI})`));
    const way = Math.atan2(Math.sin(to - from), Math.cos(to - from)); // the shorter of the two
    between.setAttribute("d", `M0 0L${at(from, 30)}A30 30 0 0 ${way > 0 ? 0 : 1} ${at(to, 30)}Z`);
  }));

  /** @param {number} position */
  const move = (position) => assign(model, "position", Math.min(Math.max(position, 0), last));
  let held = false;
  let pulled = { from: 0, x: 0, step: 1 }; // where the drag began, and how wide a position is
  const [query, key] = ["query", "key"].map((whose) =>
    html("span", { class: `tfw-rotary-word tfw-rotary-${whose}` }, whose));
  const pair = grip(html("div", { class: "tfw-rotary-pair" },
    html("span", { class: "tfw-rotary-bar" }), query, key), {
    label: "position of the query, with the key behind it",
    drag: (x) => move(pulled.from + Math.round((x - pulled.x) / pulled.step)),
    step: (by) => move(model.get("position") + by),
    onHold: (now, x) => {
      held = now;
      pulled = { from: model.get("position"), x, step: line.clientWidth / end };
    },
  });
  const ticks = Array.from({ length: end / TICKS + 1 }, (_, i) =>
    html("span", { class: "tfw-rotary-tick", style: `left: ${(100 * i * TICKS) / end}%` }, i * TICKS));
  const line = html("div", { class: "tfw-rotary-line" }, ...ticks, pair.element);
  const distance = slider(model, "distance", { label: "distance n − m", min: 0, max: farthest });
  const readout = html("p", { class: "tfw-readout", role: "status" });

  function draw() {
    const [m, apart] = [model.get("position"), model.get("distance")];
    const angles = turned(constants, m, apart);
    const each = products(angles);
    pair.element.style.left = `${(100 * m) / end}%`;
    pair.element.style.width = `${(100 * apart) / end}%`;
    pair.show(m, 0, last, `query at position ${m}, key at position ${m + apart}`);
    clocks.forEach(({ face, product }, i) => {
      product.textContent = fixed(each[i], 2);
      const [a, b] = [angles[i], angles[i + each.length]].map((angle) =>
        Math.round((((180 * angle) / Math.PI) % 360)));
      face.setAttribute("aria-label", `Clock of pair ${i + 1}: the query's hand at ${a}°, the key's at ${b}°`);
    });
    readout.textContent = `Query at position ${m}, key at position ${m + apart}. Score: (${
      each.map((one) => fixed(one, 2)).join(" + ").replaceAll("+ −", "− ")}) / √${2 * each.length} = ${
      fixed(score(each), 2)}.`;
    motion.to(angles, held);
  }

  const stop = watch(model, ["position", "distance"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-rotary" },
    html("p", { class: "tfw-question" },
      "Drag both words along the line. Which clocks turn, and what becomes of the score?"),
    line, html("div", { class: "tfw-rotary-clocks tfw-together" }, ...clocks.map(({ element }) => element)),
    readout, html("div", { class: "tfw-controls" }, distance.element)));
  draw();
  return () => {
    stop();
    motion.stop();
    distance.stop();
  };
}

export default { render };
