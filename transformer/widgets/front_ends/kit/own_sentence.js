// @ts-check
// A field for the reader's own sentence, where a kernel can do something with it, or the page itself.

import { button, labelled } from "./controls.js";
import { fresh, html } from "./elements.js";
import { assign, watch } from "./model.js";

/**
 * Sets the model's "sentence"; the answer is a change of its "contents" or "message". Null where
 * nobody would answer.
 * @param {import("./model.js").Model} model
 * @param {string} verb the button's text
 * @param {string} waiting what stands there until the answer comes
 * @param {boolean} answers whether the kernel, if there is one, would do something with it
 */
export function ownSentence(model, verb, waiting, answers = true) {
  if ("widget_manager" in model) return answers ? sentenceField(model, verb, waiting) : null;
  if (!model.load) return null;
  const element = html("div", {});
  let stop = () => {};
  const offer = modelOffer(model, () => {
    const own = sentenceField(model, verb, waiting);
    stop = own.stop;
    const focused = isWaiting(element);
    element.replaceChildren(own.element);
    if (focused) own.element.querySelector("input")?.focus({ preventScroll: true });
  });
  element.append(offer);
  return { element, stop: () => stop() };
}

/** @param {import("./model.js").Model} model @param {string} verb @param {string} waiting */
function sentenceField(model, verb, waiting) {
  const id = fresh("sentence");
  const input = html("input", { id, type: "text", value: model.get("sentence") });
  const state = html("p", { role: "status" });
  const send = () => {
    const text = input.value.trim();
    if (!text) state.textContent = "Nothing is written here yet.";
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

/** As readers are told. @param {number} bytes */
const megabytes = (bytes) =>
  bytes < 1e5 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** Whether the reader still waits at the button, and has gone to nothing else. @param {Element} element */
export function isWaiting(element) {
  const { activeElement } = document;
  return !activeElement || activeElement === document.body || element.contains(activeElement);
}

/**
 * The button that loads the model, with its size; asks a second time where the browser says that
 * data are dear. Nothing is loaded before.
 * @param {import("./model.js").Model} model @param {(trained: any) => void} whenThere
 */
export function modelOffer(model, whenThere) {
  const size = megabytes(model.get("live").bytes);
  const state = html("p", { role: "status" });
  // Chromium's browsers tell; the others have no such thing.
  let dear = Boolean(/** @type {any} */ (navigator).connection?.saveData);
  const { element, allow } = button(`Try your own sentence: load the model (${size}, once)`, async () => {
    if (dear) {
      dear = false;
      state.textContent =
        `Your browser is set to save data. Press again to load ${size} all the same.`;
      return;
    }
    allow(false);
    try {
      const trained = await model.load?.((share) => {
        state.textContent = `Loading the model: ${Math.round(100 * share)} %`;
      });
      whenThere(trained);
    } catch {
      allow(true);
      state.textContent =
        "The model could not be loaded. Are you offline? Press the button to try again.";
    }
  });
  return html("div", { class: "tfw-controls" }, element, state);
}
