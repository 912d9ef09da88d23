// @ts-check
// A field for the reader's own sentence, where a kernel can do something with it.

import { button, labelled } from "./controls.js";
import { fresh, html } from "./elements.js";
import { assign, watch } from "./model.js";

/**
 * Sets the model's "sentence"; the answer is a change of its "contents" or "message".
 * @param {import("./model.js").Model} model
 * @param {string} verb the button's text
 * @param {string} waiting what stands there until the answer comes
 */
export function ownSentence(model, verb, waiting) {
  const id = fresh("sentence");
  const input = html("input", { id, type: "text", value: model.get("sentence") });
  const state = html("p", { role: "status" });
  const send = () => {
    const text = input.value.trim();
    if (!text || text === model.get("sentence")) return;
    state.textContent = waiting;
    assign(model, "sentence", text);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
  });
  const stop = watch(model, ["contents", "message"], () => {
    state.textContent = "";
  });
  const element = html("div", { class: "tfw-controls" },
    labelled(id, "Your own sentence", input), button(verb, send).element, state);
  return { element, stop };
}
