// @ts-check
// PE(pos + k) = R(k) PE(pos), for one pair: two hands of a clock, and the numbers.

import { html, svg } from "../kit/elements.js";
import { fixed, short } from "../kit/numbers.js";
import { codeOf, four, frequenciesOf, turned } from "./maths.js";

const RADIUS = 90;

/** @param {number} angle @param {number} share of the radius */
function onClock(angle, share) {
  const r = RADIUS * share;
  return `${(r * Math.cos(angle)).toFixed(2)},${(-r * Math.sin(angle)).toFixed(2)}`;
}

/** The way from one hand to the other, a spiral if it goes round. @param {number} from @param {number} turn */
function spiral(from, turn) {
  const steps = Math.max(2, Math.ceil(Math.abs(turn) / 0.15));
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = (turn * i) / steps;
    return onClock(from + angle, 0.25 + (0.05 * Math.abs(angle)) / (2 * Math.PI));
  });
  return svg("polyline", { points: points.join(" "), class: "tfw-posexp-turn" });
}

/** @param {number} angle @param {number} which @param {number} reach @param {string} text */
function hand(angle, which, reach, text) {
  const [x, y] = onClock(angle, 1).split(",");
  const [tx, ty] = onClock(angle, reach).split(",");
  const colour = `var(--tfw-series-${which})`;
  return [
    svg("line", { x1: 0, y1: 0, x2: x, y2: y, stroke: colour, "stroke-width": 4,
      "stroke-dasharray": which ? "8 5" : null }),
    svg("circle", { cx: x, cy: y, r: 5.5, fill: colour }),
    svg("text", { x: tx, y: ty }, text),
  ];
}

/** @param {string} name @param {...(string | Node)} cells */
function line(name, ...cells) {
  return html("tr", {}, html("th", { scope: "row" }, name),
    ...cells.map((cell) => html("td", {}, cell)));
}

/** The clock, its numbers, and the turns of all pairs; `show` draws another state. */
export function rotationView() {
  const face = svg("g", {},
    svg("circle", { cx: 0, cy: 0, r: RADIUS, class: "tfw-posexp-face" }),
    svg("line", { x1: -RADIUS, x2: RADIUS, y1: 0, y2: 0, class: "tfw-grid" }),
    svg("line", { y1: -RADIUS, y2: RADIUS, x1: 0, x2: 0, class: "tfw-grid" }),
    svg("text", { x: 0, y: 134 }, "cos →"),
    svg("text", { transform: "translate(-134 0) rotate(-90)" }, "sin →"));
  const hands = svg("g", {});
  const clock = svg("svg", { class: "tfw-posexp-clock", viewBox: "-145 -128 290 270", role: "img" },
    face, hands);
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const numbers = html("table", { class: "tfw-table tfw-posexp-proof" });
  const turns = html("tbody", {});
  const all = html("div", { class: "tfw-posexp-turns", tabindex: 0, role: "region",
    "aria-label": "The turn of each pair" },
  html("table", { class: "tfw-table" },
    html("thead", {}, html("tr", {}, ...["pair i", "ω_i", "turn k·ω_i", "in degrees"].map((text) =>
      html("th", { scope: "col" }, text)))),
    turns));
  /** @type {HTMLTableRowElement[]} */
  let rows = [];
  const element = html("div", {},
    html("div", { class: "tfw-side-by-side" }, clock, html("div", {}, readout,
      html("details", { class: "tfw-more" }, html("summary", {}, "In numbers, and all pairs"), numbers, all))));

  /** @param {import("./maths.js").Positions} next */
  function show({ d_model: dModel, position: pos, offset: k, pair }) {
    const frequencies = frequenciesOf(dModel);
    const [here, there] = [codeOf(pos, frequencies), codeOf(pos + k, frequencies)];
    const moved = turned(here, frequencies, k);
    const gap = Math.max(...there.map((value, i) => Math.abs(value - moved[i])));
    const omega = frequencies[pair];
    const turn = k * omega;
    const names = { here: fixed(pos, 0), there: fixed(pos + k, 0),
      k: fixed(k, 0), degrees: `${fixed((turn * 180) / Math.PI, 2)}°` };
    const apart = Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn)));
    hands.replaceChildren(spiral(pos * omega, turn),
      ...hand(pos * omega, 0, 1.16, names.here),
      ...hand((pos + k) * omega, 1, apart < 0.25 ? 1.36 : 1.16, names.there));
    clock.setAttribute("aria-label", `Hands of positions ${names.here} and ${names.there} for pair `
      + `${pair}, ${names.degrees} apart, counted anticlockwise.`);

    const at = [2 * pair, 2 * pair + 1];
    const two = (/** @type {number[]} */ code) => at.map((i) => four(code[i]));
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    numbers.replaceChildren(
      html("caption", {}, `Pair ${pair}, turned by R(${names.k})`),
      html("thead", {}, html("tr", {}, html("td", {}),
        ...["sin", "cos"].map((f, i) => html("th", { scope: "col" }, `${f}, dim. ${at[i]}`)))),
      html("tbody", {},
        line(`PE(${names.here})`, ...two(here)),
        line(`R(${names.k}), row 1`, four(c), four(s)),
        line(`R(${names.k}), row 2`, four(-s), four(c)),
        line(`R(${names.k}) PE(${names.here})`, ...two(moved)),
        line(`PE(${names.there}), formula`, ...two(there))));

    if (rows.length !== frequencies.length) {
      rows = frequencies.map((_, i) => line(String(i), "", "", ""));
      turns.replaceChildren(...rows);
    }
    // A step of a slider fills in numbers only: there may be 64 rows.
    frequencies.forEach((w, i) => {
      const degrees = fixed((k * w * 180) / Math.PI, 2);
      [fixed(w, 6), four(k * w), degrees].forEach((text, j) => {
        rows[i].children[j + 1].textContent = text;
      });
      rows[i].setAttribute("aria-current", String(i === pair));
    });
    readout.textContent = `Pair ${pair}: ω = ${fixed(omega, 6)}, so k = ${names.k} turns the `
      + `hand by ${four(turn)} rad = ${names.degrees}, from any position. R(${names.k}) `
      + `PE(${names.here}) = (${two(moved).join(", ")}) and PE(${names.there}) = `
      + `(${two(there).join(", ")}). Largest difference in all ${dModel} dimensions: `
      + `${gap < 1e-12 ? "below 10⁻¹²" : short(gap)}.`
      + (pos + k < 0 ? " No token stands before position 0, but the formula holds there too." : "");
  }

  return { element, show, stop: () => {} };
}
