// Boxes that scroll sideways must be reachable by keyboard; boxes that do not must not be.
// Formulas in running text that are wider than their column become such boxes.
"use strict";

function adapt() {
  for (const formula of document.querySelectorAll("span.math")) {
    const column = formula.closest("p, li, td, th, dd") ?? formula.parentElement;
    const drawn = formula.firstElementChild;
    if (!column || !drawn) continue;
    const wide = drawn.getBoundingClientRect().width > column.clientWidth;
    formula.classList.toggle("wide", wide);
  }
  const boxes = ".math-scroll, span.math, div.cell_output .output, div.highlight pre, pre";
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(boxes))) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

// Whoever comes to a heading that has moved goes on to where it is now.
function follow() {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const link = at?.matches(".moved-anchor") ? at.querySelector("a") : null;
  if (link) location.replace(link.href);
}

addEventListener("hashchange", follow);
document.addEventListener("DOMContentLoaded", () => {
  follow();
  document.fonts.ready.then(adapt);
  // Folded boxes have no width until they open.
  document.addEventListener("click", () => setTimeout(adapt));
  new ResizeObserver(adapt).observe(document.documentElement);
});
