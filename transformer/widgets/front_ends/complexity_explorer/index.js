// @ts-check
// Table 1: one of its columns as curves over the sentence's length, on logarithmic axes.

import { chart } from "../kit/chart.js";
import { button, pick, slider, tick } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { short } from "../kit/numbers.js";
import { OPERATIONS, PATH, SEQUENTIAL, layerCosts, meeting } from "./maths.js";

const D_VALUES = [64, 128, 256, 512, 768, 1024];
const R_VALUES = [4, 8, 16, 32, 64, 128, 256, 512];
/** @type {Object<string, Object<string, string>>} */
const GROWTH = {
  [OPERATIONS]: { "self-attention": "n²·d", recurrent: "n·d²", convolutional: "k·n·d²",
    "self-attention (restricted)": "r·n·d" },
  [SEQUENTIAL]: { "self-attention": "1", recurrent: "n", convolutional: "1",
    "self-attention (restricted)": "1" },
  [PATH]: { "self-attention": "1", recurrent: "n", convolutional: "logₖ n",
    "self-attention (restricted)": "n/r" },
};

/**
 * What is multiplied, where everything is counted.
 * @param {number} unit @returns {Object<string, string>}
 */
const inFull = (unit) => ({ "self-attention": "4n·d² + 2n²·d", recurrent: `${unit}n·d²`,
  convolutional: "k·n·d²", "self-attention (restricted)": "4n·d² + 2r·n·d" });

// Eight lengths for each doubling, so that they lie evenly on the axis.
const EVEN_LENGTHS = Array.from({ length: 8 * 11 + 1 }, (_, i) => Math.round(2 ** (1 + i / 8)));

/** What stands at a place of a logarithmic axis. @param {number} log */
function power(log) {
  if (!Number.isInteger(log)) return "";
  const digits = [...String(Math.abs(log))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return Math.abs(log) < 4 ? String(10 ** log) : `10${log < 0 ? "⁻" : ""}${digits}`;
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const { longest, units, projections } = model.get("constants");
  /** @type {number[]} */
  let lengths = [];
  const counted = () => model.get("everything")
    ? { projections, unit: units[model.get("unit")] } : null;
  /** @param {number} n */
  const table = (n) => layerCosts(n, model.get("d"), model.get("k"), model.get("r"), counted());

  const picture = chart({
    label: "Costs of four layers over the length of the sentence",
    xTitle: "length n, logarithmic",
    yTitle: "value, logarithmic",
    tickX: power,
    tickY: power,
    say: (place) => {
      const n = lengths[place];
      const column = model.get("column");
      const all = Object.entries(table(n)).map(([name, row]) => `${name}: ${short(row[column])}`);
      return `n = ${short(n)}, ${column}. ${all.join("; ")}.`;
    },
    onPoint: (place) => assign(model, "n", lengths[place]),
  });
  const note = html("p", { class: "tfw-complexity-note" });

  const column = pick(model, "column", {
    label: "column of Table 1", options: [OPERATIONS, SEQUENTIAL, PATH] });
  const controls = [
    slider(model, "d", { label: "width d", values: D_VALUES, format: short }),
    slider(model, "k", { label: "kernel k", min: 2, max: 9 }),
    slider(model, "r", { label: "neighbourhood r", values: R_VALUES, format: short }),
  ];
  const everything = tick(model, "everything", {
    label: "count every multiplication, the projections too" });
  const unit = pick(model, "unit", { label: "recurrent unit", options: Object.keys(units) });
  const same = button("Go to n = d", () => assign(model, "n", model.get("d")));

  function inWords() {
    const [n, d, r] = [model.get("n"), model.get("d"), model.get("r")];
    if (model.get("column") === SEQUENTIAL) {
      return "A recurrent layer takes its n steps one after the other; the other layers do all " +
        "positions at once.";
    }
    if (model.get("column") === PATH) {
      return "The path is how many steps a signal takes between the two positions farthest " +
        "apart: one in self-attention, however long the sentence.";
    }
    const full = counted();
    const costs = table(n);
    const [own, other] = ["self-attention", "recurrent"].map((name) => costs[name][OPERATIONS]);
    const crossing = meeting(d, full);
    const formulas = full ? inFull(full.unit) : GROWTH[OPERATIONS];
    const names = `Self-attention (${formulas["self-attention"]}) and recurrence ` +
      `(${formulas.recurrent})`;
    const length = crossing === d ? `n = d = ${short(d)}` : `n = 2d = ${short(crossing)}`;
    const equal = crossing ? `${names} cost the same at ${length}` : `${names} never cost the same`;
    const dearer = own < other ? "recurrence" : "self-attention";
    const times = short(Math.max(own, other) / Math.min(own, other), 3);
    const here = own === other ? ", which is where the cursor stands"
      : `; at n = ${short(n)} ${dearer} costs ${times} times as much as the other`;
    const percent = short((100 * projections * n * d * d) / own, 3);
    const share = full ? ` The projections do ${percent} % of self-attention's multiplications.`
      : "";
    const whole = n <= r ? " The neighbourhood r still holds the whole sentence, so restricting " +
      "self-attention saves nothing." : "";
    return `${equal}${here}.${share}${whole}`;
  }

  function draw() {
    const [n, d, shown] = [model.get("n"), model.get("d"), model.get("column")];
    const full = counted();
    unit.element.hidden = !full || shown !== OPERATIONS;
    // The cursor and the places where curves meet or bend stand between the even lengths.
    lengths = [...new Set([...EVEN_LENGTHS, n, d, Math.max(2, model.get("r")),
      Math.max(2, meeting(d, full))])]
      .filter((length) => length <= longest).sort((a, b) => a - b);
    const tables = lengths.map(table);
    const formulas = full && shown === OPERATIONS ? inFull(full.unit) : GROWTH[shown];
    const series = Object.keys(tables[0]).map((name) => ({
      name: `${name}: ${formulas[name]}`,
      values: tables.map((costs) => Math.log10(costs[name][shown])),
      strong: name === "self-attention",
    }));
    const all = series.flatMap(({ values }) => values);
    /** @type {[number, number]} */
    const y = [Math.floor(Math.min(...all)), Math.ceil(Math.max(...all))];
    picture.show({ x: lengths.map(Math.log10), series, y }, lengths.indexOf(n));
    note.textContent = inWords();
  }

  const stop = watch(model, ["n", "d", "k", "r", "column", "everything", "unit"],
    oncePerFrame(draw));
  el.append(html("div", { class: "tfw" },
    html("div", { class: "tfw-controls" }, column.element,
      ...[...controls, everything, unit, same].map(({ element }) => element)),
    picture.element, note));
  draw();
  return () => {
    stop();
    picture.stop();
    column.stop();
    for (const control of [...controls, everything, unit]) control.stop();
  };
}

export default { render };
