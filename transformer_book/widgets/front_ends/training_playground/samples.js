// @ts-check
// What the model writes, below what it reads; wrong tokens are underlined.

import { html } from "../kit/elements.js";

/** @typedef {import("./run.js").Run} Run */

export function samples() {
  const element = html("div", { class: "tfw-play-samples" });
  /** @type {Run | null} */
  let of = null;
  /** @type {{box: HTMLElement, tiles: HTMLElement[]}[]} */
  let places = [];

  /** The elements, once for each run: ten times a second only words and classes change. @param {Run} run */
  function build({ task, shown }) {
    const row = (/** @type {number[]} */ tokens) => html("div", {},
      ...tokens.map((token) => html("span", {}, task.words[token])));
    places = shown.map(({ source, target }) => {
      const tiles = Array.from({ length: task.places }, () => html("span"));
      // Behind what it writes lies unseen what it should write: nothing moves when it does.
      return { tiles, box: html("div", { role: "img" }, row(source),
        html("div", { class: "tfw-room" }, html("div", {}, ...tiles), row(target))) };
    });
    element.replaceChildren(...places.map(({ box }) => box));
  }

  /** @param {Run} run */
  function show(run) {
    if (of !== run) build(run);
    of = run;
    const { words } = run.task;
    run.shown.forEach(({ source, target }, n) => {
      const written = run.writtenFor(n);
      const wanted = [...target, 2];
      let wrong = 0;
      places[n].tiles.forEach((tile, i) => {
        const there = i < written.length;
        const bad = there && written[i] !== wanted[i];
        const text = there ? words[written[i]] || "\u25b8" : "";
        wrong += Number(bad);
        if (tile.textContent !== text) tile.textContent = text;
        tile.className = bad ? "tfw-play-wrong" : there ? "tfw-play-right" : "";
      });
      const said = (/** @type {number[]} */ tokens) => tokens.map((token) => words[token]).join(" ");
      places[n].box.setAttribute("aria-label", written.length
        ? `${said(source)}: it writes ${said(written)}, ${wrong || "nothing"} wrong`
        : `${said(source)}: it has written nothing yet`);
    });
  }

  return { element, show };
}
