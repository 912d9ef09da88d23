// @ts-check
// The text field for the dimensions that are drawn.

import { field } from "../kit/controls.js";

/** @param {import("../kit/model.js").Model} model @param {number} most how many may be chosen */
export function dimensionsField(model, most) {
  return field(model, "dimensions", {
    label: `up to ${most} dimensions`,
    write: (dimensions) => dimensions.join(", "),
    read: (text) => {
      const parts = text.split(/[\s,;]+/).filter(Boolean);
      const last = model.get("d_model") - 1;
      const wrong = parts.find((part) => !/^\d+$/.test(part) || Number(part) > last);
      const value = [...new Set(parts.map(Number))];
      if (wrong) {
        return { value, problem: `There is no dimension ${wrong}; give numbers from 0 to ${last}.` };
      }
      const few = value.length >= 1 && value.length <= most;
      return { value, problem: few ? ""
        : `Here are ${value.length} dimensions; give 1 to ${most}, with commas between.` };
    },
  });
}
