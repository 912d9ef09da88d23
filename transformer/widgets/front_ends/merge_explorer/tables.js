// @ts-check
// Words in pieces, and the pairs of neighbours with bars for their counts.

import { html } from "../kit/elements.js";

/** @typedef {import("./maths.js").CountedPair} CountedPair */

const MERGE_ROWS = 8;

/** @param {number} count */
export const mergeNumber = (count) => count.toLocaleString("en");

/**
 * Pieces as boxes; those that the last merge has made are marked. Each keeps its own direction.
 * @param {string[]} pieces @param {string} made
 */
export function mergePieces(pieces, made) {
  return html("span", { class: "tfw-merge-pieces" }, ...pieces.flatMap((piece) => [
    html("bdi", { class: `tfw-merge-piece${piece === made ? " tfw-merge-made" : ""}` }, piece),
    " ",
  ]));
}

/** A pair with a plus between. @param {{left: string, right: string}} pair */
export function mergePair({ left, right }) {
  return html("span", { class: "tfw-merge-pair" },
    html("bdi", {}, left), html("span", { class: "tfw-merge-plus" }, " + "), html("bdi", {}, right));
}

/** A table in a box of its own that scrolls, with what `show` puts into it. @param {string} label */
function mergeTable(label, /** @type {string[]} */ heads) {
  const caption = html("caption");
  const body = html("tbody");
  const element = html("div", { class: "tfw-scroll", tabindex: 0, role: "group",
    "aria-label": label },
    html("table", { class: "tfw-table tfw-merge-table" }, caption,
      html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)))),
      body));
  return { element, caption, body };
}

/** The words and their pieces. */
export function mergeWordsTable() {
  const { element, caption, body } = mergeTable("Words in pieces", ["count", "pieces"]);
  /** @param {string} title @param {number[]} counts @param {string[][]} pieces @param {string} made */
  function show(title, counts, pieces, made) {
    caption.textContent = title;
    body.replaceChildren(...pieces.map((word, i) => html("tr", {},
      html("td", {}, mergeNumber(counts[i])), html("td", {}, mergePieces(word, made)))));
  }
  return { element, show };
}

/** The most frequent pairs; the first one wins. */
export function mergePairsTable() {
  const { element, caption, body } = mergeTable("Pairs of neighbours", ["pair", "count"]);
  const rest = html("p", { class: "tfw-merge-rest" });
  /** @param {string} title @param {CountedPair[]} pairs */
  function show(title, pairs) {
    caption.textContent = title;
    body.replaceChildren(...pairs.slice(0, MERGE_ROWS).map((pair, i) => {
      const bar = html("span", { class: "tfw-merge-bar" });
      bar.style.width = `${(100 * pair.count) / pairs[0].count}%`;
      return html("tr", { "aria-current": i === 0 ? "true" : null },
        html("th", { scope: "row" },
          html("span", { "aria-hidden": "true" }, i === 0 ? "▸ " : ""), mergePair(pair)),
        html("td", {}, html("span", { class: "tfw-merge-track", "aria-hidden": "true" }, bar),
          html("span", { class: "tfw-merge-count" }, mergeNumber(pair.count))));
    }));
    const more = pairs.length - MERGE_ROWS;
    rest.textContent = more > 0 ? `and ${more} more, none of them more frequent` : "";
  }
  return { element: html("div", {}, element, rest), show };
}
