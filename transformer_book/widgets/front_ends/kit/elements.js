// @ts-check
// Elements of a page. Text goes in as text, so nothing that a token holds becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Object<string, string | number | boolean | null | undefined>} Attributes
 * @typedef {Node | string | number} Child
 */

/** @param {Element} node @param {Attributes} attributes @param {Child[]} children */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, String(value));
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * An HTML element with its attributes and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

/**
 * An SVG element with its attributes and children.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  fill(node, attributes, children);
  return node;
}

/** A box that scrolls by itself what is wider than the page. @param {string} label @param {...Child} parts */
export function scrolling(label, ...parts) {
  return html("div", { class: "tfw-scroll", tabindex: 0, role: "region", "aria-label": label },
    ...parts);
}

const CUT = 4; // pixels beyond an edge that are missed

/**
 * A box that scrolls; where it goes on beyond an edge, that edge is pale.
 * @template {HTMLElement} Box @param {Box} box
 * @param {() => number} [width] of what is to be seen in it
 * @returns {Box}
 */
export function paleWhereCut(box, width = () => box.scrollWidth) {
  const look = () => {
    const right = width() - box.clientWidth - box.scrollLeft;
    const below = box.scrollHeight - box.clientHeight - box.scrollTop;
    const sides = { left: box.scrollLeft, right, top: box.scrollTop, bottom: below };
    box.dataset.cut =
      Object.entries(sides).filter(([, beyond]) => beyond > CUT).map(([side]) => side).join(" ");
  };
  box.addEventListener("scroll", look, { passive: true });
  const sizes = new ResizeObserver(look);
  for (const one of [box, ...box.children]) sizes.observe(one);
  return box;
}

/** For what takes arrow keys: JupyterLab leaves them to it and does not move to another cell. */
export const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

let names = 0;

/** A name that no other element of the page has. @param {string} stem */
export function fresh(stem) {
  names += 1;
  return `tfw-${stem}-${names}-${Math.random().toString(36).slice(2, 8)}`;
}

/**
 * Puts off a redraw to the next frame; several calls in a frame redraw once.
 * @param {() => void} draw
 */
export function oncePerFrame(draw) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      draw();
    });
  };
}
