// @ts-check
// A trained Transformer taken apart: what does each part do?

import { button, choice, foretold, labelled, pick } from "../kit/controls.js";
import { fresh, html, oncePerFrame } from "../kit/elements.js";
import { quoted } from "../kit/lines.js";
import { assign, watch } from "../kit/model.js";
import { isWaiting, modelOffer, sentenceLabel, suggestions } from "../kit/own_sentence.js";
import { room } from "../kit/room.js";
import { answer } from "./answers.js";
import { differing, left, moved, outcome, runOf, wordsOf } from "./data.js";
import { pane, plain } from "./pane.js";

const WAITING = "The model writes \u2026";
const GONE = 0.2; // of a weight, so that where it was is dashed

/** All heads by name and in words. @param {number} layers @param {number} heads @returns {[string, string][]} */
function headsOf(layers, heads) {
  const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);
  /** @type {[string, (layer: number) => string][]} */
  const kinds = [["encoder self", (layer) => `encoder.${layer}.self`],
    ["decoder self", (layer) => `decoder.${layer}.self`], ["cross", (layer) => `decoder.${layer}.cross`]];
  return kinds.flatMap(([kind, nameOf]) => range(layers).flatMap((layer) => range(heads).map((head) =>
    /** @type {[string, string]} */ (
      [`${kind}-attention, layer ${layer + 1}, head ${head + 1}`, `${nameOf(layer)}.${head}`]))));
}

/** What has become of which words. @param {string} text @param {string} other */
function change(text, other) {
  const [before, after] = [wordsOf(text), wordsOf(other)];
  const only = (/** @type {string[]} */ words, /** @type {string[]} */ others) => {
    const marks = differing(words, others);
    return words.filter((_, i) => marks[i]).join(" ").replace(/[.,]$/, "") || "\u2026";
  };
  return `${only(before, after)} \u2192 ${only(after, before)}`;
}

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {() => import("./data.js").Contents} */
  const contents = () => model.get("contents");
  const { layers, heads, parts, variants } = contents();
  const { one } = model.get("constants");
  const encoder = model.get("attention") === "encoder";
  // On a slide, too, two pictures side by side have little room.
  const narrow = matchMedia("(max-width: 40rem)").matches || el.closest(".slides") !== null;
  let answers = "widget_manager" in model; // a kernel, or later the model in the page
  let number = model.get("question").number ?? 0;
  let silent = model.get("silent");
  let [answered, read] = [model.get("sentence"), model.get("variant")]; // what was translated last
  model.answers = ["question", answer];

  const problem = html("p", { class: "tfw-error", role: "alert", hidden: true });
  const [verdict, result] = [room("tfw-broken-verdict"), room("tfw-readout")];
  const caption = room("tfw-broken-caption");
  caption.element.removeAttribute("role"); // of what is said, the result is enough
  let told = false; // what came of the guess
  let state = ""; // what stands in the result's place meanwhile
  const [sound, other] = variants.length
    ? [pane("The sentence", narrow), pane("The changed sentence", narrow)]
    : [pane("The sound model", narrow), pane("The broken model", narrow)];

  /** @returns {string[]} */
  const pressed = () => model.get("broken");
  /** What the second model reads. @returns {string} */
  const second = () => model.get("variant") || model.get("sentence");
  const known = (/** @type {string[]} */ names, sentence = second()) => runOf(contents().runs, sentence, names);
  const first = () => known([], model.get("sentence"));
  const missing = () => !first() || !known(pressed());
  const allowed = () => !guess || model.get("guess") >= 0;

  const redraw = oncePerFrame(() => show());

  /** Asks for what is not there yet. */
  function need() {
    if (!missing() || !answers) return;
    number += 1;
    state = WAITING;
    redraw();
    assign(model, "question", { number, sentence: first() ? second() : model.get("sentence"), broken: pressed() });
  }

  const more = model.load ? "for more, load the model below" : "for more, open this chapter in Colab or in Jupyter";

  /** Breaks these parts and mends all others; without a model, as far as it is known. @param {string[]} names */
  function set(names) {
    state = "";
    const last = names.slice(-1);
    if (answers || known(names)) assign(model, "broken", names);
    else if (known(last)) assign(model, "broken", last);
    else state = `This head was not tried beforehand: ${more}.`;
    redraw();
  }

  /** @param {string} name */
  const press = (name) => set(pressed().includes(name)
    ? pressed().filter((part) => part !== name) : [...pressed(), name]);

  /** @typedef {[() => boolean, ReturnType<typeof button>]} Toggle whether it is pressed, and its button */
  const toggles = parts.map(([name, label]) => /** @type {Toggle} */ (
    [() => pressed().includes(name), button(label, () => press(name))]));
  const all = headsOf(layers, heads);
  const oneHead = choice(model, "silent", { label: "which head is silent", options: all });
  if (silent) toggles.push([() => pressed().includes(silent), button("one head silent", () => press(silent))]);
  for (const text of variants) {
    toggles.push([() => model.get("variant") === text, button(change(model.get("sentence"), text),
      () => assign(model, "variant", model.get("variant") === text ? "" : text))]);
  }
  const many = parts.length + (silent ? 1 : 0) > 1;
  const mend = button("Mend all", () => set([]));
  const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) =>
    /** @type {[string, number]} */ ([String(i + 1), i]));
  const layer = choice(model, "layer", { label: "layer", options: range(layers) });
  const head = choice(model, "head", { label: "head", options: range(heads) });
  const chosen = html("div", {});
  const guess = model.get("ask") ? pick(model, "guess", { label: model.get("ask"),
    options: model.get("answers").map((/** @type {string} */ text, /** @type {number} */ i) => [text, i]) }) : null;
  let stopChoosing = () => {};

  /** Offers the sentences that are there. */
  function offerSentences() {
    stopChoosing();
    const texts = variants.length ? contents().sentences
      : [...new Set(contents().runs.map(({ sentence }) => sentence))];
    const select = choice(model, "sentence", { label: "sentence", options: texts });
    stopChoosing = select.stop;
    chosen.hidden = texts.length < 2;
    chosen.replaceChildren(select.element);
  }

  /** @param {string} name */
  const labelOf = (name) => parts.find(([part]) => part === name)?.[1]
    ?? `silent: ${all.find(([, part]) => part === name)?.[0]}`;

  const kind = `Lines: ${encoder ? "the encoder\u2019s self-attention, from each token" : "cross-attention, before each word"}.`;

  /** What has become of the chosen head. @param {import("./data.js").Run} after @param {ReturnType<typeof moved>} far */
  function headSaid(after, far) {
    const rows = (encoder ? after.source : after.output).map(plain);
    const percent = (/** @type {number} */ share) => `${Math.round(100 * share / one)}\u00a0%`;
    const most = far?.most ? `, most at ${quoted(rows, far.row)}: ${percent(far.most)}` : "";
    const start = encoder ? "Layer" : "After the same words, layer";
    const words = far ? `${start} ${model.get("layer") + 1}, head ${model.get("head") + 1} has moved ${
      percent(far.mean)} of its weight${most}.` : kind;
    return `${words} Dashed: lost.`;
  }

  /** What came of a guess. @param {number} answer */
  const judged = (answer) => [foretold(model.get("answers"), answer, model.get("right")), model.get("why")];

  /** What stands in the result's place before there is one. */
  const start = () => (variants.length ? "Both are the same sentence. Press a word to change it."
    : many && !answers ? `Press a part to break it, one at a time; ${more}.`
      : "Both are the same model. Press a part to break it.");

  /** Keeps a place for all that is known. */
  function keep() {
    const { runs } = contents();
    const single = runs.filter((run) => run.broken.length || run.sentence !== model.get("sentence"));
    const longest = (/** @type {string[]} */ tokens) => tokens.reduce((most, token, i) =>
      (plain(token).length > plain(tokens[most]).length ? i : most), 0);
    const before = (/** @type {import("./data.js").Run} */ run) =>
      runOf(runs, variants.length ? model.get("sentence") : run.sentence, []) ?? run;
    result.keep([[WAITING], [start()], ...single.map((run) => [`${outcome(before(run), run)}.`])]);
    caption.keep(single.map((run) => [headSaid(run,
      { mean: one, most: one, row: longest(encoder ? run.source : run.output) })]));
    const above = (/** @type {import("./data.js").Run} */ run) => (variants.length ? run.sentence
      : `Broken: ${run.broken.map(labelOf).join("; ")}`);
    sound.keep(runs.filter((run) => !run.broken.length).map((run) => [variants.length ? run.sentence : "Sound", run]));
    other.keep(single.map((run) => [above(run), run]));
  }

  function show() {
    const names = pressed();
    for (const [isOn, { element, allow }] of toggles) {
      element.setAttribute("aria-pressed", String(isOn()));
      allow(allowed());
    }
    mend.allow(names.length > 0);
    const place = model.get("layer") * heads + model.get("head");
    const [before, after] = [first(), known(names)];
    if (before) answered = model.get("sentence");
    if (after) read = model.get("variant");
    const labels = [...names.map(labelOf),
      ...(model.get("variant") ? [change(model.get("sentence"), second())] : [])].join("; ");
    const pair = before && after ? { sound: before, other: after, head: place, encoder } : null;
    const most = encoder || !before ? Infinity : before.output.length; // a stammer is cut
    const settings = { one, head: place, encoder, most, links: /** @type {[number, number][]} */ ([]) };
    if (variants.length) {
      sound.show({ title: "As it was", heading: model.get("sentence") }, before, after, settings);
    } else sound.show({ title: "Sound", heading: "" }, before, after, settings);
    const [title, broken] = labels ? ["Broken", `Broken: ${labels}`] : ["Not broken", "Nothing is broken"];
    other.show(variants.length ? { title: labels || "Not changed", heading: second() } : { title, heading: broken },
      after, before, { ...settings, links: pair && labels ? left(pair, GONE * one) : [] });
    result.say([state || (pair && labels ? `${outcome(pair.sound, pair.other)}.` : start())]);
    caption.say([pair && labels ? headSaid(pair.other, moved(pair)) : kind]);
    const about = variants.length ? model.get("variant") !== "" : `${names}` === (model.get("about") || parts[0]?.[0]);
    told ||= Boolean(guess && allowed() && pair && about);
    verdict.say(!allowed() ? ["Say first what you expect; then press a button."]
      : told ? judged(model.get("guess")) : ["Now press a button: is it so?"]);
    problem.textContent = model.get("message");
    problem.hidden = !model.get("message");
  }

  let offered = contents().runs.length;
  const stops = [
    watch(model, ["sentence", "variant", "broken"], () => {
      need();
      redraw();
    }),
    watch(model, ["silent"], () => {
      const old = silent;
      silent = model.get("silent");
      if (!pressed().includes(old)) return;
      const names = pressed().map((name) => (name === old ? silent : name));
      set(names);
      if (pressed().includes(old)) assign(model, "broken", pressed().filter((name) => name !== old));
    }),
    watch(model, ["contents"], () => {
      if (contents().runs.length !== offered) offerSentences();
      keep();
      offered = contents().runs.length;
      if (!missing()) state = "";
      redraw();
    }),
    watch(model, ["message"], () => {
      if (model.get("message")) {
        state = "";
        if (!first()) assign(model, "sentence", answered); // what was shown stays
        if (!known([])) assign(model, "variant", read);
      }
      redraw();
    }),
    watch(model, ["layer", "head", "guess"], redraw),
  ];

  const id = fresh("sentence");
  const input = html("input", { id, type: "text", autocomplete: "off",
    ...(variants.length ? { value: model.get("sentence") } : {}) });
  const trait = variants.length ? "variant" : "sentence";
  const send = () => {
    const text = input.value.trim();
    if (!text) return;
    if (text === model.get(trait)) need();
    else assign(model, trait, trait === "variant" && text === model.get("sentence") ? "" : text);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
  });
  const label = variants.length ? "Change any word of it" : sentenceLabel(model);
  const field = html("div", { class: "tfw-controls", hidden: true },
    labelled(id, label, input), button("Translate", send).element);

  /** There is somebody who answers. */
  function open() {
    answers = true;
    state = "";
    field.hidden = false;
    if (!variants.length) field.append(...suggestions(model, input, send));
    need();
  }
  const offer = !answers && model.load ? modelOffer(model, () => {
    const waiting = offer && isWaiting(offer);
    offer?.remove();
    open();
    if (waiting) input.focus({ preventScroll: true });
  }) : null;
  if (answers) open();

  offerSentences();
  if (guess) verdict.keep(guess.inputs.map((_, answer) => judged(answer)));
  keep();
  const what = variants.length ? "Change a word" : "Break a part";
  const summary = silent ? "Another head, or your own sentence"
    : variants.length ? "Any other word" : "Your own sentence";
  const others = [...(silent ? [oneHead.element] : []), ...(offer ? [offer] : []), field];
  el.append(html("div", { class: "tfw tfw-broken" }, ...(guess ? [guess.element, verdict.element] : []),
    html("fieldset", { class: "tfw-broken-parts", "aria-label": guess ? what : null },
      ...(guess ? [] : [html("legend", {}, `${what}:`)]),
      ...toggles.map(([, { element }]) => element), ...(many ? [mend.element] : [])),
    problem,
    html("div", { class: `tfw-side-by-side${variants.length ? "" : " tfw-broken-both"}` }, sound.words, other.words),
    result.element,
    html("div", { class: "tfw-controls tfw-broken-choices" }, chosen, layer.element, head.element),
    caption.element,
    html("div", { class: "tfw-broken-pictures" }, sound.picture, other.picture),
    html("div", { class: "tfw-broken-said" }, sound.readout, other.readout),
    ...(silent || offer || answers ? [html("details", { class: "tfw-more" },
      html("summary", {}, summary), ...others)] : [])));
  show();
  return () => {
    stopChoosing();
    for (const stop of stops) stop();
    for (const { stop } of [oneHead, layer, head, ...(guess ? [guess] : [])]) stop();
  };
}

export default { render };
