// Boxes that scroll sideways must be reachable by keyboard; boxes that do not must not be.
// Formulas in running text that are wider than their column become such boxes.
"use strict";

const BOXES = ".math-scroll, div.cell_output .output, div.highlight pre, pre, .wide-picture, "
  + ".pst-scrollable-table-container";

// The edge behind which a box goes on fades.
/** @param {Element} box */
function fade(box) {
  const { scrollLeft: before, scrollWidth, clientWidth } = box;
  const after = scrollWidth - clientWidth - before;
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
  for (const { formula, wide } of formulas) {
    formula.classList.toggle("wide", wide);
    mark(formula, wide);  // not measured again: rounded to pixels, the box could seem to hold all
  }
  const boxes = shown(BOXES);
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth);
  for (const [i, box] of boxes.entries()) mark(box, scrolling[i]);
  for (const box of boxes.filter((_, i) => scrolling[i])) fade(box);
  for (const box of boxes.filter((_, i) => !scrolling[i])) box.classList.remove("goes-on-left", "goes-on-right");
}

// Whoever comes to a heading that has moved goes on to where it is now.
function follow() {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const link = at?.matches(".moved-anchor") ? at.querySelector("a") : null;
  if (link) location.replace(link.href);
}

// A search's words are marked in the page to which it leads. Where that is a whole chapter, it shows the
// first section that has most of them, where those of a heading count twice and what is folded not at all.
function toMarked() {
  if (location.hash) return;
  /** @type {Map<Element, Set<string>>} */
  const words = new Map();
  for (const mark of document.querySelectorAll("article .highlighted")) {
    const section = mark.closest("section");
    if (!section || mark.closest("pre, details")) continue;
    const word = mark.textContent?.toLowerCase() ?? "";
    const found = words.get(section) ?? new Set();
    words.set(section, found.add(word).add(mark.closest("h1, h2, h3, h4") ? `${word} in a heading` : word));
  }
  const most = Math.max(...[...words.values()].map((found) => found.size));
  const [section] = [...words].find(([, found]) => found.size === most) ?? [];
  if (section?.parentElement?.closest("section")) section.scrollIntoView();
}

// Paper is white: whoever reads in the dark prints in the light colours.
{
  const page = document.documentElement.dataset;
  /** @type {string | undefined} */
  let read;
  addEventListener("beforeprint", () => {
    read ??= page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => {
    page.theme = read;
    read = undefined;
  });
}

addEventListener("hashchange", follow);
document.addEventListener("scroll", ({ target }) => {
  if (target instanceof Element && target.matches(BOXES)) fade(target);
}, { capture: true, passive: true });
document.addEventListener("DOMContentLoaded", () => {
  follow();
  setTimeout(toMarked, 20);  // Sphinx marks the words after 10 ms
  document.fonts.ready.then(adapt);
  // Folded boxes have no width until they open.
  document.addEventListener("click", () => setTimeout(adapt));
  new ResizeObserver(adapt).observe(document.documentElement);
});
