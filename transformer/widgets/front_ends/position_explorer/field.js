// @ts-check
// The text field for the dimensions that are drawn.

import { fresh, html } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";

/** @param {import("../kit/model.js").Model} model @param {number} most how many may be chosen */
export function positionField(model, most) {
  const id = fresh("dimensions");
  const error = html("p", { class: "tfw-error", role: "alert", id: `${id}-error`, hidden: true });
  const input = html("input", { id, type: "text", autocomplete: "off",
    "aria-describedby": `${id}-error` });
  const element = html("div", { class: "tfw-control" },
    html("label", { for: id }, `dimensions (1 to ${most})`), input, error);

  /** @param {string} problem */
  const complain = (problem) => {
    error.textContent = problem;
    error.hidden = !problem;
    input.setAttribute("aria-invalid", String(Boolean(problem)));
  };
  const show = () => {
    input.value = model.get("dimensions").join(", ");
    complain("");
  };
  input.addEventListener("change", () => {
    const parts = input.value.split(/[\s,;]+/).filter(Boolean);
    const last = model.get("d_model") - 1;
    const wrong = parts.find((part) => !/^\d+$/.test(part) || Number(part) > last);
    const chosen = [...new Set(parts.map(Number))];
    if (wrong) complain(`There is no dimension ${wrong}; give numbers from 0 to ${last}.`);
    else if (!chosen.length || chosen.length > most) {
      complain(`Here are ${chosen.length} dimensions; give 1 to ${most}, with commas between.`);
    } else {
      assign(model, "dimensions", chosen);
      show();
    }
  });
  const stop = watch(model, ["dimensions"], show);
  show();
  return { element, stop };
}
