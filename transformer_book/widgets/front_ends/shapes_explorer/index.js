// @ts-check
// Figure 1, part by part: the shapes, the parameters and the code of each.

import { slider, stepper } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { grouped } from "../kit/numbers.js";
import { partsDiagram, shapeParts, shapeText } from "./diagram.js";
import { PARTS, allParameters, shapeOf } from "./parts.js";

/** @typedef {import("./parts.js").Part} Part */
/** @typedef {import("./parts.js").Axis} Axis */
/** @typedef {import("./parts.js").Settings} Settings */

// Each number of heads divides each width, so moving the sliders always makes a model; only what
// Python has set beside their steps may not.
// The source's length is dragged in the drawing.
const CONTROLS = [
  { name: "batch", label: "batch", values: [1, 2, 3, 4, 8, 16, 32, 64] },
  { name: "tgt_len", label: "target length", values: [1, 2, 3, 4, 6, 10, 15, 25, 50, 100] },
  { name: "d_model", label: "width d_model", values: [64, 128, 256, 512, 768, 1024] },
  { name: "n_heads", label: "heads h", values: [1, 2, 4, 8, 16, 32] },
  { name: "d_ff", label: "inner width d_ff", values: [64, 256, 512, 1024, 2048, 3072, 4096] },
  { name: "n_layers", label: "layers N", values: [1, 2, 3, 4, 6, 8, 12] },
  { name: "vocab", label: "vocabulary", values: [100, 1000, 8000, 16000, 32000, 37000, 50000] },
];

const WIDE = 640; // pixels, from which the details stand beside the drawing

/** What the table calls the axes. @type {Object<Axis, string>} */
const AXIS_NAMES = { batch: "batch", src_len: "source", tgt_len: "target", d_model: "d_model",
  n_heads: "heads", d_k: "d_k", d_ff: "d_ff", n_layers: "N", vocab: "vocabulary" };

/** What is wrong with settings that make no model, else "". @param {Settings} settings */
function whyNoModel({ d_model, n_heads }) {
  if (d_model % n_heads) {
    return `${n_heads} heads do not divide a width of ${d_model}; choose another of the two.`;
  }
  return d_model % 2
    ? `A width of ${d_model} is odd, but positions come in pairs of a sine and a cosine; choose `
      + "an even width."
    : "";
}

/** @param {Part} part @param {Settings} settings */
function parametersText(part, settings) {
  if (!part.formula) return "No parameters: nothing in it is learned.";
  const count = part.parameters(settings);
  const one = `Parameters: ${part.formula} = ${grouped(count)}`;
  if (part.shared) return `${one}, the source embedding's matrix, which is counted there.`;
  const n = settings.n_layers;
  return part.repeated
    ? `${one} in one layer, ${grouped(count * n)} in all ${n}.`
    : `${one}.`;
}

/** @param {Part} part @param {Settings} settings */
function tableOf(part, settings) {
  const rows = part.rows.map((row) => html("tr", { "data-tensor": row.key },
    html("th", { scope: "row" }, row.what),
    html("td", {}, row.axes.map((axis) => AXIS_NAMES[axis]).join(", ")),
    html("td", { class: "tfw-shapes-sizes" }, ...shapeParts(row, settings, (cls, size) =>
      html("span", { class: cls }, size)))));
  return html("table", { class: "tfw-table tfw-shapes-table" },
    html("caption", {}, `${part.name} (${part.where})`),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "tensor"),
      html("th", { scope: "col" }, "axes"), html("th", { scope: "col" }, "shape"))),
    html("tbody", {}, ...rows));
}

/**
 * What functions do, each with its name and its file.
 * @param {string[]} names @param {Object<string, {file: string, lines: string[]}>} functions
 */
function codeOf(names, functions) {
  return names.map((name) => html("div", { class: "tfw-shapes-snippet" },
    html("p", {}, html("code", {}, functions[name].file), ", ", html("code", {}, name), ":"),
    html("pre", {}, html("code", {}, functions[name].lines.join("\n")))));
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const names = ["src_len", ...CONTROLS.map(({ name }) => name)];
  const controls = CONTROLS.map(({ name, label, values }) =>
    slider(model, name, { label, values, format: grouped }));
  const diagram = partsDiagram({ onPick: (id) => assign(model, "part", id),
    onLength: (tokens) => assign(model, "src_len", tokens), length: () => model.get("src_len") });
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const [tensors, code] = [html("div", {}), html("div", {})];
  /** @param {string} title @param {HTMLElement} content @param {boolean} [open] */
  const fold = (title, content, open = false) =>
    html("details", { class: "tfw-more", open }, html("summary", {}, title), content);
  const details = html("div", { class: "tfw-shapes-details" },
    // With room beside the drawing it stands there; on a phone it waits till it is asked for.
    fold("Tensors and parameters of the part", tensors, el.clientWidth > WIDE),
    fold("Other sizes: batch, width, heads \u2026", html("div",
      { class: "tfw-controls tfw-shapes-controls" }, ...controls.map(({ element }) => element))),
    fold("Its code in the module", code));

  const placeNow = () => Math.max(0, PARTS.findIndex(({ id }) => id === model.get("part")));
  const walk = stepper("part", { at: placeNow, last: () => PARTS.length - 1,
    go: (place) => assign(model, "part", PARTS[place].id) });

  function draw() {
    const settings = /** @type {Settings} */ (
      Object.fromEntries(names.map((name) => [name, model.get(name)])));
    settings.d_k = settings.d_model / settings.n_heads;
    const part = PARTS[placeNow()];
    walk.show();
    const why = whyNoModel(settings);
    diagram.show(why ? null : settings, part.id, settings);
    if (why) {
      readout.textContent = why;
      tensors.replaceChildren();
      code.replaceChildren();
      return;
    }
    const first = shapeText(shapeOf(part.rows[0], settings));
    const last = shapeText(shapeOf(part.rows[part.rows.length - 1], settings));
    const passes = part.rows.length > 1 ? `${first} becomes ${last}` : last;
    const count = part.formula ? grouped(part.parameters(settings)) : "no";
    readout.textContent = `${part.name} (${part.where}): ${passes}, ${count} parameters. `
      + `d_k = ${settings.d_k}. The whole model has ${grouped(allParameters(settings))}.`;
    tensors.replaceChildren(tableOf(part, settings), html("p", {}, part.sentence),
      html("p", { class: "tfw-shapes-parameters" }, parametersText(part, settings)));
    code.replaceChildren(...codeOf(model.get("code")[part.id], model.get("functions")));
  }

  const stop = watch(model, [...names, "part"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-shapes" },
    html("p", { class: "tfw-question" },
      "Drag the end of the source. How far through the model does its length reach?"),
    html("div", { class: "tfw-shapes-sides" },
      html("div", {}, diagram.element,
        html("div", { class: "tfw-shapes-now" }, readout, walk.element)),
      details)));
  draw();
  return () => {
    stop();
    for (const control of controls) control.stop();
  };
}

export default { render };
