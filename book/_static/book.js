// Boxes that scroll sideways must be reachable by keyboard; boxes that do not must not be.
// Formulas in running text that are wider than their column become such boxes.
"use strict";

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
  const boxes = shown(".math-scroll, div.cell_output .output, div.highlight pre, pre, .wide-picture");
  const scrolling = boxes.map((box) => box.scrollWidth > box.clientWidth);
  for (const [i, box] of boxes.entries()) mark(box, scrolling[i]);
}

// Whoever comes to a heading that has moved goes on to where it is now.
function follow() {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const link = at?.matches(".moved-anchor") ? at.querySelector("a") : null;
  if (link) location.replace(link.href);
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
document.addEventListener("DOMContentLoaded", () => {
  follow();
  document.fonts.ready.then(adapt);
  // Folded boxes have no width until they open.
  document.addEventListener("click", () => setTimeout(adapt));
  new ResizeObserver(adapt).observe(document.documentElement);
});
