// @ts-check
// A field for the reader's own sentence, where a kernel can do something with it, or the page itself.

import { button, labelled } from "./controls.js";
import { fresh, html } from "./elements.js";
import { assign, watch } from "./model.js";
import { unknown } from "./unsure.js";

/**
 * Sets the model's "sentence"; the answer is a change of its "contents" or "message". Null where
 * nobody would answer.
 * @param {import("./model.js").Model} model
 * @param {string} verb the button's text
 * @param {string} waiting what stands there until the answer comes
 * @param {{answers?: boolean, found?: HTMLElement[]}} [settings] `answers`: whether the kernel, if there
 *   is one, would do something with it; `found`: what stands near the field while nothing else is said
 */
export function ownSentence(model, verb, waiting, { answers = true, found = [] } = {}) {
  if ("widget_manager" in model) return answers ? sentenceField(model, verb, waiting, found) : null;
  if (!model.load) return null;
  if (model.get("live").follows) return follower(model, waiting, found);
  const element = html("div", {});
  let stop = () => {};
  const offer = modelOffer(model, () => {
    const own = sentenceField(model, verb, waiting, found);
    stop = own.stop;
    const focused = isWaiting(element);
    element.replaceChildren(own.element);
    if (focused) own.element.querySelector("input")?.focus({ preventScroll: true });
  });
  element.append(offer);
  return { element, stop: () => stop() };
}

const ASKED = "tfw-sentence"; // the event
const ASKED_DATA = "tfwSentence"; // where the sentence stands for figures that start later

/** Tells the page's other figures what the reader has asked of this one. @param {string} sentence */
export function tell(sentence) {
  document.documentElement.dataset[ASKED_DATA] = sentence;
  document.dispatchEvent(new Event(ASKED));
}

/**
 * In place of a field of its own: asks what was asked of the page's first figure.
 * @param {import("./model.js").Model} model @param {string} waiting @param {HTMLElement[]} found
 */
function follower(model, waiting, found) {
  const state = html("p", { role: "status" });
  const follow = async () => {
    const sentence = document.documentElement.dataset[ASKED_DATA];
    if (!sentence || sentence === model.get("sentence")) return;
    state.textContent = waiting;
    await model.load?.(() => {});
    assign(model, "sentence", sentence);
  };
  document.addEventListener(ASKED, follow);
  const stopWatching = watch(model, ["contents", "message"], () => {
    state.textContent = "";
  });
  follow();
  return { element: html("div", { class: "tfw-own-answer" }, state, ...found), stop: () => {
    stopWatching();
    document.removeEventListener(ASKED, follow);
  } };
}

/**
 * What a model of the book was trained on: what a sentence should be, and some for those who know no
 * such language.
 * @type {Object<string, {label: string, examples: string[], read?: (text: string) => string, only?: string}>}
 *   `read`: what was typed, as the model reads it; `only`: what is said with words that it lacks
 */
const KNOWN = {
  everyday: {
    label: "Your own sentence, English or German",
    examples: ["I have lost my keys.", "Wenn es morgen regnet, bleiben wir zu Hause.",
      "Could you help me, please?"],
  },
  toy_german: {
    label: "Your own sentence, in toy German",
    examples: ["der Hund sieht die Katze .", "den Hund hat die Frau nicht gesehen .",
      "er schl\u00e4ft , weil er m\u00fcde ist ."],
    // Marks are words of their own, and a short first word is no noun.
    read: (text) => text.replace(/\s*([.,?])/g, " $1")
      .replace(/^\p{Lu}\p{Ll}{1,2}(?= )/u, (word) => word.toLowerCase()),
    only: " It reads toy German only.",
  },
  toy_parser: {
    label: "Your own sentence, in toy English",
    examples: ["we saw the dog which sleeps .", "the dog which sleeps saw us ."],
    read: (text) => text.replace(/[^.?]$/, "$& .").replace(/\s*([.,?])/g, " $1")
      .replace(/^\p{Lu}\p{Ll}+/u, (word) => word.toLowerCase()),
    only: " It reads toy English only.",
  },
};

export const EMPTY = "Nothing is written here yet.";

/** @param {import("./model.js").Model} model */
const known = (model) => KNOWN[model.get("live")?.name];

/** What a field for a sentence is called. @param {import("./model.js").Model} model */
export const sentenceLabel = (model) => known(model)?.label ?? "Your own sentence";

/**
 * What was typed, as the model reads it.
 * @param {import("./model.js").Model} model @param {HTMLInputElement} input
 */
export function typed(model, input) {
  const { read } = known(model) ?? {};
  if (read) input.value = read(input.value.trim());
  return input.value.trim();
}

/**
 * Sentences to tap, which are folded once one was asked, so that the answer stands near the field, and
 * on a phone before; one is the field's placeholder. Nothing where the model is not known.
 * @param {import("./model.js").Model} model @param {HTMLInputElement} input @param {() => void} send
 */
export function suggestions(model, input, send) {
  const examples = known(model)?.examples ?? [];
  if (examples.length) input.placeholder = examples[0];
  if (!examples.length) return [];
  const open = !matchMedia("(width <= 40rem)").matches;
  const element = html("details", { class: "tfw-suggestions", open },
    html("summary", {}, "Sentences to try"), ...examples.map((example) => button(example, () => {
      input.value = example;
      send();
    }).element));
  return [element];
}

/**
 * @param {import("./model.js").Model} model @param {string} verb @param {string} waiting
 * @param {HTMLElement[]} found
 */
function sentenceField(model, verb, waiting, found) {
  const id = fresh("sentence");
  const input = html("input", { id, type: "text", value: model.get("sentence") });
  const state = html("p", { role: "status" });
  const send = () => {
    const text = typed(model, input);
    if (text === model.get("sentence") && state.textContent === EMPTY) show(); // its answer stands below
    if (!text) state.textContent = EMPTY;
    if (!text || text === model.get("sentence")) return;
    for (const fold of tries) fold.open = false;
    state.textContent = waiting;
    assign(model, "sentence", text);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
  });
  const back = button("Translate it back", () => {
    input.value = model.get("contents").back;
    send();
  });
  const show = () => {
    const { note = "", back: translation, examples } = model.get("contents");
    const { source } = examples.at(-1); // its tokens, or as text
    // The field's sentence is the newest: not what is refused, nor an older one that was chosen since.
    const other = model.get("message") || model.get("example") < examples.length - 1;
    const lacking = unknown([source].flat(), model.get("sentence"));
    state.textContent = other ? "" : note || lacking && `${lacking}${known(model)?.only ?? ""}`;
    back.element.hidden = Boolean(other) || !translation;
  };
  back.element.hidden = true;
  const tries = suggestions(model, input, send);
  const stop = watch(model, ["contents", "message", "example"], show);
  const element = html("div", { class: "tfw-controls tfw-own-sentence" },
    labelled(id, sentenceLabel(model), input), button(verb, send).element, back.element, ...tries,
    html("div", { class: "tfw-own-answer" }, state, ...found));
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

/** Why there is no model, and what helps. @param {boolean} damaged @param {boolean} fromDisk */
function notLoaded(damaged, fromDisk) {
  if (fromDisk) {
    return damaged ? "Part of the model is damaged. Copy the folder again, whole."
      : "Part of the model is missing. Copy the whole folder, not the page alone.";
  }
  return damaged ? "Part of the model is damaged. Press the button to fetch it again."
    : "The model could not be loaded. Are you offline? Press the button to try again.";
}

const LOADED = "tfw-loaded"; // the event: another figure of the page needs no download any more

/**
 * The button that loads the model, with its size; asks a second time where the browser says that
 * data are dear. Nothing is loaded before.
 * @param {import("./model.js").Model} model @param {(trained: any) => void} whenThere
 */
export function modelOffer(model, whenThere) {
  const { bytes, name } = model.get("live");
  const size = megabytes(bytes);
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
      document.dispatchEvent(new CustomEvent(LOADED, { detail: name }));
    } catch (error) {
      allow(true);
      state.textContent = notLoaded(/** @type {any} */ (error)?.name === "Damaged",
        globalThis.location?.protocol === "file:");
    }
  });
  document.addEventListener(LOADED, (event) => {
    if (/** @type {CustomEvent} */ (event).detail === name) element.textContent = "Try your own sentence";
  });
  return html("div", { class: "tfw-controls" }, element, state);
}
