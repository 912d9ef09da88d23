// @ts-check
// The likely tokens of a step as bars, each with a button that takes it; and the one that was written.

import { button } from "../kit/controls.js";
import { html } from "../kit/elements.js";
import { fixed, grouped } from "../kit/numbers.js";

/** @typedef {{token: number, piece: string, probability: number, drawn: number}} Candidate */

/** A probability; a dash where a token cannot be drawn. @param {number} share */
const written = (share) => {
  if (share === 0) return fixed(null, 3);
  return share < 0.0005 ? "< 0.001" : fixed(share, 3);
};

/** @param {string} cls */
const bar = (cls) => html("div", { class: `tfw-decoder-bar ${cls}`, "aria-hidden": "true" });

/** @param {(token: number) => void} onTake */
function rowOf(onTake) {
  let token = -1;
  const take = button("", () => onTake(token)).element;
  const mark = html("td", { class: "tfw-decoder-mark" });
  const own = html("td", { class: "tfw-decoder-own" });
  const drawn = html("td", { class: "tfw-decoder-drawn" });
  const [ownBar, drawnBar] = [bar("tfw-decoder-by-model"), bar("tfw-decoder-by-draw")];
  const element = html("tr", {}, html("th", { scope: "row" }, take),
    html("td", { class: "tfw-decoder-bars" }, ownBar, drawnBar), own, drawn, mark);
  /** @param {Candidate | undefined} one @param {boolean} chosen @param {boolean} both */
  function show(one, chosen, both) {
    // Without a token its place is kept, so that nothing below jumps.
    element.classList.toggle("tfw-kept-place", !one);
    drawn.hidden = drawnBar.hidden = !both;
    if (!one) {
      token = -1;
      take.replaceChildren("\u00a0");
      for (const cell of [mark, own, drawn]) cell.textContent = "";
      return;
    }
    token = one.token;
    take.replaceChildren(html("bdi", {}, one.piece));
    take.setAttribute("aria-label", chosen ? `${one.piece}, written` : `Take ${one.piece} instead`);
    element.classList.toggle("tfw-decoder-written", chosen);
    mark.textContent = chosen ? "\u2713 written" : "";
    own.textContent = written(one.probability);
    drawn.textContent = written(one.drawn);
    ownBar.style.width = `${100 * one.probability}%`;
    drawnBar.style.width = `${100 * one.drawn}%`;
  }
  return { element, show };
}

/**
 * The table. `show` shows another step in it, without moving the keyboard's focus.
 * @param {number} most how many likely tokens there are @param {(token: number) => void} onTake
 */
export function candidateTable(most, onTake) {
  const rows = Array.from({ length: most }, () => rowOf(onTake));
  const [titleText, afterText] = ["", "tfw-decoder-after"].map((cls) => html("span", { class: cls }));
  const caption = html("caption", {}, titleText, afterText);
  const drawnHead = html("th", { scope: "col" }, "drawn with");
  const rest = html("th", { scope: "row" });
  const [restOwn, restDrawn] = [html("td", {}), html("td", {})];
  const element = html("table", { class: "tfw-table tfw-decoder-candidates" }, caption,
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "token"),
      html("td", { class: "tfw-decoder-bars" }), html("th", { scope: "col" }, "model"), drawnHead,
      html("td", {}))),
    html("tbody", {}, ...rows.map((row) => row.element),
      html("tr", { class: "tfw-decoder-rest" }, rest, html("td", {}), restOwn, restDrawn,
        html("td", {}))));

  /**
   * @param {{title: string, after: string, likely: Candidate[], chosen: Candidate, both: boolean, cut: boolean,
   *   vocab: number}} step `both`: whether to show also with what a token is drawn; `cut`: whether
   *   none but the likely ones can be drawn
   */
  function show({ title, after, likely, chosen, both, cut, vocab }) {
    const there = likely.some(({ token }) => token === chosen.token);
    // A written token that is not among them has the place of the last.
    const shown = there ? likely : [...likely.slice(0, most - 1), chosen];
    titleText.textContent = title;
    afterText.textContent = after;
    rows.forEach((row, i) => row.show(shown[i], shown[i]?.token === chosen.token, both));
    drawnHead.hidden = restDrawn.hidden = !both;
    const left = (/** @type {"probability" | "drawn"} */ name) =>
      shown.reduce((sum, one) => sum - one[name], 1);
    rest.textContent = `all ${grouped(vocab - shown.length)} others`;
    restOwn.textContent = written(Math.max(left("probability"), 1e-9));
    restDrawn.textContent = written(cut && there ? 0 : Math.max(left("drawn"), 1e-9));
  }

  return { element, show };
}
