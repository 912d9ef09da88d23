// Boxes that scroll sideways must be reachable by keyboard; boxes that do not must not be.
// Formulas in running text that are wider than their column become such boxes.
"use strict";

const BOXES = ".math-scroll, div.cell_output .output, div.highlight pre, pre, .wide-picture, "
  + ".pst-scrollable-table-container";

/** How far a box goes on to each side. @param {Element} box */
function room({ scrollLeft: before, scrollWidth, clientWidth }) {
  return { scrolls: scrollWidth > clientWidth, before, after: scrollWidth - clientWidth - before };
}

// The edge behind which a box goes on fades.
/** @param {Element} box @param {{before: number, after: number}} room */
function fade(box, { before, after }) {
  box.classList.toggle("goes-on-left", before > 1);
  box.classList.toggle("goes-on-right", after > 1);
}

// What is folded is not measured, since that would have it laid out; nothing is changed before all is
// measured, since that would have the page laid out anew each time.
function adapt() {
  /** @param {string} kinds @returns {HTMLElement[]} */
  const shown = (kinds) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(kinds)])
    .filter((box) => !box.closest("details:not([open])"));
  /** @param {HTMLElement} box @param {boolean} scrolls */
  const mark = (box, scrolls) => {
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const formulas = shown("span.math").map((formula) => {
    const column = formula.closest("p, li, td, th, dd") ?? formula.parentElement;
    const drawn = formula.firstElementChild;
    const wide = column && drawn && drawn.getBoundingClientRect().width > column.clientWidth + 1;
    return { formula, wide: Boolean(wide) };
  });
  const boxes = shown(BOXES).map((box) => ({ box, ...room(box) }));
  for (const { formula, wide } of formulas) {
    formula.classList.toggle("wide", wide);
    mark(formula, wide);  // not measured again: rounded to pixels, the box could seem to hold all
  }
  for (const { box, scrolls, ...sides } of boxes) {
    mark(box, scrolls);
    fade(box, sides);
  }
}

// Whoever comes to a heading that has moved goes on to where it is now.
function follow() {
  const at = document.getElementById(location.hash.slice(1));
  const link = at?.matches(".moved-anchor") ? at.querySelector("a") : null;
  if (link) location.replace(link.href);
}

// Paper is white and does not move. A print is light and has all pictures; answers and solutions stand at its end
// under one heading, as in the printed book (tools/site/formats/paper.py). Hints and code unfold in book.css.
{
  const SHORT = 16; // lines of code that stay on one sheet, as in paper.py
  const page = document.documentElement.dataset;
  /** @type {(() => void)[]} what makes it a screen again, last first */
  const undo = [];

  function gatherAnswers() {
    const folded = [...document.querySelectorAll("article details:not(.fold), article .solution")]
      .filter((each) => !each.parentElement?.closest(".solution, .widget-place"))
      .filter((each) => each.matches(".solution") || each.textContent?.trim().startsWith("Answer"));
    if (!folded.length) return;
    const end = document.createElement("section");
    end.className = "answers";
    end.append(Object.assign(document.createElement("h2"), { textContent: "Answers and solutions" }));
    let number = 0;
    for (const answer of folded) {
      const pointer = document.createElement("p");
      pointer.className = "to-answer";
      pointer.textContent = "Solution: at the end.";
      if (!answer.matches(".solution")) {
        number += 1;
        pointer.textContent = `Answer ${number}: at the end.`;
        const section = answer.closest("section")?.querySelector(".section-number")?.textContent ?? "";
        const title = document.createElement("h3");
        title.textContent = `Answer ${number}${section && `, to section ${section.replace(/\.\s*$/, "")}`}`;
        end.append(title);
      }
      const hidden = answer.matches(".toggle-hidden"); // unless the theme has opened it already
      answer.classList.remove("toggle-hidden");
      answer.replaceWith(pointer);
      end.append(answer);
      undo.push(() => {
        if (hidden) answer.classList.add("toggle-hidden");
        pointer.replaceWith(answer);
      });
    }
    document.querySelector("article > section")?.append(end);
    undo.push(() => end.remove());
  }

  function sayWhereWidgetsMove() {
    const href = document.querySelector('link[rel="canonical"]')?.getAttribute("href") ?? location.href;
    for (const twin of document.querySelectorAll(".widget-twin")) {
      const line = document.createElement("p");
      line.append("This figure moves on the page: ", Object.assign(document.createElement("a"), { href, textContent: href }));
      twin.append(line);
      undo.push(() => line.remove());
    }
  }

  const pictures = () => /** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll("article img:not(.only-dark)"));

  function toPaper() {
    if (undo.length) return;
    const read = page.theme;
    page.theme = "light";
    undo.push(() => { page.theme = read; });
    for (const picture of pictures()) picture.loading = "eager";
    for (const block of document.querySelectorAll("article pre")) {
      block.classList.toggle("short", (block.textContent ?? "").split("\n").length <= SHORT);
    }
    gatherAnswers();
    sayWhereWidgetsMove();
  }

  function toScreen() {
    while (undo.length) undo.pop()?.();
  }

  // A picture that no window has shown is not there yet. Chromium's dialog waits for it; who has the page printed
  // by a program, or by a script, does not. From the disk nothing can be fetched like this.
  function fetchPictures() {
    for (const picture of pictures()) {
      if (picture.complete && picture.naturalWidth) continue;
      try {
        const request = new XMLHttpRequest();
        request.open("GET", picture.src, false);
        request.overrideMimeType("text/plain; charset=x-user-defined"); // as bytes, in the low half of each letter
        request.send();
        const bytes = [...request.responseText].map((letter) => String.fromCharCode(letter.charCodeAt(0) & 255));
        if (request.status === 200) picture.src = `data:image/png;base64,${btoa(bytes.join(""))}`;
      } catch { /* the browser may still have it in time */ }
    }
  }

  let printing = false;
  addEventListener("beforeprint", () => {
    printing = true;
    toPaper();
    fetchPictures();
  });
  addEventListener("afterprint", () => {
    printing = false;
    toScreen();
  });
  // Where the medium is only tried, as in a browser's tools.
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (!printing) (matches ? toPaper : toScreen)();
  });
}

addEventListener("hashchange", follow);
document.addEventListener("scroll", ({ target }) => {
  if (target instanceof Element && target.matches(BOXES)) fade(target, room(target));
}, { capture: true, passive: true });
document.addEventListener("DOMContentLoaded", () => {
  follow();
  document.fonts.ready.then(adapt);
  // Folded boxes have no width until they open.
  document.addEventListener("click", () => setTimeout(adapt));
  new ResizeObserver(adapt).observe(document.documentElement);
});
