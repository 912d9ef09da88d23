// @ts-check
// The probabilities that a softmax gives to tokens, at a temperature that the reader moves.

import { slider } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { watch } from "../kit/model.js";
import { fixed } from "../kit/numbers.js";
import { softmax } from "../kit/softmax.js";

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const t = slider(model, "temperature", { label: "temperature", min: 0.1, max: 5, step: 0.1 });
  const bars = html("div", { class: "tfw-readout", role: "status" });
  const draw = () => {
    /** @type {[string, number][]} */
    const scores = model.get("scores");
    const shares = softmax(scores.map(([, score]) => score / model.get("temperature")));
    bars.replaceChildren(...scores.map(([token], i) => html("label", { style: "display: block" },
      html("bdi", {}, token), `: ${fixed(shares[i], 3)}`, html("meter", { value: shares[i], style: "width: 100%" }))));
  };
  const stop = watch(model, ["scores", "temperature"], oncePerFrame(draw));
  const question = html("p", { class: "tfw-question" }, "When does even the least likely stand a chance?");
  el.append(html("div", { class: "tfw" }, question, html("div", { class: "tfw-controls" }, t.element), bars));
  draw();
  return () => [stop, t.stop].forEach((end) => end());
}

export default { render };
