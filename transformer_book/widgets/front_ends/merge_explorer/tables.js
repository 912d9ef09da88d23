// @ts-check
// Words in pieces, and the pairs of neighbours with bars for their counts.

import { html, scrolling } from "../kit/elements.js";
import { grouped } from "../kit/numbers.js";

/** @typedef {import("./maths.js").CountedPair} CountedPair */

const ROWS = 5;

/**
 * Pieces as boxes; those that the last merge has made are marked. Each keeps its own direction.
 * @param {string[]} pieces @param {string} made
 */
export function piecesElement(pieces, made) {
  return html("span", { class: "tfw-merge-pieces" }, ...pieces.flatMap((piece) => [
    html("bdi", { class: `tfw-merge-piece${piece === made ? " tfw-merge-made" : ""}` }, piece),
    " ",
  ]));
}

/** A pair with a plus between. @param {{left: string, right: string}} pair */
export function pairElement({ left, right }) {
  return html("span", { class: "tfw-merge-pair" },
    html("bdi", {}, left), html("span", { class: "tfw-merge-plus" }, " + "), html("bdi", {}, right));
}

/** A table in a box of its own that scrolls, with what `show` puts into it. @param {string} label */
function table(label, /** @type {string[]} */ heads) {
  const caption = html("caption");
  const body = html("tbody");
  const element = scrolling(label, html("table", { class: "tfw-table tfw-merge-table" }, caption,
    html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)))),
    body));
  return { element, caption, body };
}

/** The words and their pieces. */
export function wordsTable() {
  const { element, caption, body } = table("Words in pieces", ["count", "pieces"]);
  /** @param {string} title @param {number[]} counts @param {string[][]} pieces @param {string} made */
  function show(title, counts, pieces, made) {
    caption.textContent = title;
    body.replaceChildren(...pieces.map((word, i) => html("tr", {},
      html("td", {}, grouped(counts[i])), html("td", {}, piecesElement(word, made)))));
  }
  return { element, show };
}

/** The most frequent pairs; the first one wins. It is as tall as its tallest state. */
export function pairsTable() {
  const { element, caption, body } = table("Pairs of neighbours", ["pair", "count"]);
  caption.remove(); // the fold around it is named so
  const rest = html("p", { class: "tfw-merge-rest" });
  const all = html("div", { class: "tfw-merge-pairs" }, element, rest);
  /** @param {CountedPair[]} pairs @param {number} most in any state */
  function show(pairs, most) {
    all.style.setProperty("--rows", `${Math.min(most, ROWS)}`);
    body.replaceChildren(...pairs.slice(0, ROWS).map((pair, i) => {
      const bar = html("span", { class: "tfw-merge-bar" });
      bar.style.width = `${(100 * pair.count) / pairs[0].count}%`;
      return html("tr", { "aria-current": i === 0 ? "true" : null },
        html("th", { scope: "row" },
          html("span", { "aria-hidden": "true" }, i === 0 ? "▸ " : ""), pairElement(pair)),
        html("td", {}, html("span", { class: "tfw-merge-track", "aria-hidden": "true" }, bar),
          html("span", { class: "tfw-merge-count" }, grouped(pair.count))));
    }));
    const more = pairs.length - ROWS;
    rest.textContent = more > 0 ? `and ${more} more` : pairs.length ? "" : "No pairs are left.";
  }
  return { element: all, show };
}
