// @ts-check
// A question, the reader's answer, and what is said to it. Nothing leaves the page.

import { button } from "../kit/controls.js";
import { fresh, html, oncePerFrame } from "../kit/elements.js";
import { watch } from "../kit/model.js";
import { CONTROLS, checkButton } from "./answers.js";
import { elements } from "./markup.js";
import { forgetAll, isSolved, onChange, remember, summary } from "./progress.js";
import { ofCell, ofChoices, ofNumber, ofSlider, withUnit, withoutStop } from "./verdict.js";

/** @typedef {import("../kit/model.js").Model} Model */

/** What is to be said to the answer that is there. @param {Model} model */
function judged(model) {
  const [spec, given, why] = [model.get("spec"), model.get("given"), model.get("why")];
  switch (model.get("kind")) {
    case "choices": return ofChoices(spec, given);
    case "number": return ofNumber(spec, String(given), why);
    case "slider": return ofSlider(spec, given, why);
    default: return ofCell(spec, given, why);
  }
}

/** What opens with a click. @param {string} name @param {...(Node | string)} content */
function folded(name, ...content) {
  return html("details", {}, html("summary", {}, name), ...content);
}

/** The right answer, for those who have tried; a guess has been answered by then. @param {Model} model */
function answer(model) {
  const { options, value, unit } = model.get("spec");
  if (model.get("kind") === "number") {
    return folded("Answer", html("p", {}, `${withUnit(value, unit)}. `, ...elements(model.get("why"))));
  }
  const right = (options ?? []).filter((/** @type {any} */ option) => option.right);
  return folded("Answer", ...right.map((/** @type {any} */ option) => html("p", {},
    html("em", {}, ...elements(withoutStop(option.text))), ": ", ...elements(option.reason))));
}

/** How far the reader is, on a page of the book; a notebook keeps nothing. @param {Model} model */
function progress(model) {
  const line = html("span", {});
  const forget = button("Forget it", forgetAll);
  const element = html("p", { class: "tfw-progress" }, line, " ", forget.element);
  const show = () => {
    const text = isSolved(model.get("key")) ? summary() : "";
    element.hidden = !text;
    line.textContent = text;
  };
  show();
  return { element, stop: onChange(show) };
}

/** @param {{model: Model, el: HTMLElement}} host */
function render({ model, el }) {
  const id = fresh("question");
  const kind = model.get("kind");
  const control = CONTROLS[kind](model, id);
  const status = html("div", { class: "tfw-verdict", role: "status" });
  const solution = answer(model);
  solution.hidden = true;
  const hint = model.get("hint");
  const onPage = !("widget_manager" in model);
  const stored = progress(model);

  function draw() {
    const checked = model.get("checked");
    control.show?.(checked);
    const { right, lines } = checked ? judged(model) : { right: false, lines: [] };
    status.replaceChildren(...lines.map(({ mark, text }) => html("p", {},
      ...(mark ? [html("strong", {}, `${mark}: `)] : []), ...elements(text))));
    status.classList.toggle("tfw-right", checked && right);
    status.classList.toggle("tfw-wrong", checked && !right);
    const tried = checked && (kind === "number" || kind === "choices") && model.get("given").length;
    if (tried) solution.hidden = right;
    if (right && onPage) remember(model.get("key"));
  }

  const stop = watch(model, ["given", "checked"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-self-check" },
    html("p", { class: "tfw-asked", id }, html("strong", {}, "Self-check. "),
      ...elements(model.get("question"))),
    control.element,
    html("div", { class: "tfw-steps" }, checkButton(model)),
    status,
    ...(hint.length ? [folded("Hint", html("p", {}, ...elements(hint)))] : []),
    solution,
    ...(onPage ? [stored.element] : [])));
  draw();
  return () => [stop, control.stop, stored.stop].forEach((end) => end());
}

export default { render };
