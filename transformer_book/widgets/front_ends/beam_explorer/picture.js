// @ts-check
// The tree of a beam search: a column for each step, its most probable candidate on top.

import { OWN_KEYS, html, paleWhereCut, svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { keepsStill } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";

/** @typedef {import("./data.js").Tree} Tree */

// A box, where its lines of text stand, and the gaps, of which the vertical one is what the rows leave.
const WIDE = { width: 88, height: 32, text: 14, sum: 27, gap: 26, least: 3, most: 40 };
const NARROW = { width: 78, height: 28, text: 12, sum: 24, gap: 16, least: 2, most: 32 };
const MARGIN = 8;
const ROOM = 34; // to the right of the last column, for the handle
const PULL = 57; // pixels of a drag that are a step
const HEAD = 22;
const LETTERS = 9; // of a token that fit
const COLUMNS = 3; // drawn in a frame, so that the page never waits for a large tree
const SIGNS = { l: "", f: " \u2713", d: " \u2717" };

/** @param {string} piece */
const label = (piece) => {
  const letters = [...piece];
  return letters.length > LETTERS
    ? `${letters.slice(0, LETTERS - 1).join("")}\u2026` : piece;
};

/**
 * The picture keeps its height whatever tree it shows: that of the largest, of so many rows.
 * @param {number} mostRows
 * @param {{onStep: (change: number) => void, onEdge: (last: boolean) => void,
 *   onNode: (node: number) => void, onMove: (change: number) => void,
 *   goTo: (step: number) => void}} act
 */
export function treePicture(mostRows, act) {
  const size = matchMedia("(width <= 40rem)").matches ? NARROW : WIDE;
  const xOf = (/** @type {number} */ step) => MARGIN + step * (size.width + size.gap);
  const edges = svg("g", { class: "tfw-beam-edges" });
  const boxes = svg("g", {});
  const heads = svg("g", { class: "tfw-beam-heads" });
  const picture = svg("svg", {
    ...OWN_KEYS,
    class: "tfw-beam-tree",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "tree",
    "aria-label": "The tree of prefixes. Left and right arrow keys take steps, up and down arrow "
      + "keys move over the candidates of a step.",
  });
  const front = svg("g", {}, svg("rect", { class: "tfw-grip-room", x: -16, width: 38 }),
    svg("line", { class: "tfw-beam-front" }), svg("circle", { class: "tfw-grip-dot", r: 9 }),
    svg("path", { class: "tfw-beam-arrows", d: "M-12 -6l-7 6l7 6zM12 -6l7 6l-7 6z" }));
  const height = HEAD + 2 * MARGIN + mostRows * (size.height + size.least);
  let pitch = size.height + size.least; // from one row to the next
  const yOf = (/** @type {number} */ rank) => HEAD + MARGIN + rank * pitch;
  picture.append(heads, edges, boxes, front);
  /** How wide is what has grown. */
  const grown = () => xOf(upTo) + size.width + ROOM;
  const box = paleWhereCut(html("div", { class: "tfw-scroll" }, picture), grown);

  /** @type {Tree | null} */
  let tree = null;
  /** @type {SVGElement[]} */
  let drawn = [];
  /** @type {SVGElement[]} */
  let lines = [];
  /** @type {string[]} */
  let looks = [];
  let upTo = 0; // the last column that is to be seen
  let pulledFrom = { step: 0, x: 0, held: false };
  // The tree scrolls under the hand so that the front stays in sight: a drag counts from where it began.
  const handle = grip(front, {
    label: "step",
    drag: (clientX) => act.goTo(pulledFrom.step + Math.round((clientX - pulledFrom.x) / PULL)),
    step: (by) => (Number.isFinite(by) ? act.onStep(by) : act.onEdge(by > 0)),
    onHold: (held, x) => {
      pulledFrom = { step: upTo, x, held };
    },
  });
  front.addEventListener("click", (event) => event.stopPropagation());

  picture.addEventListener("keydown", (event) => {
    /** @type {Object<string, () => void>} */
    const moves = {
      ArrowLeft: () => act.onStep(-1),
      ArrowRight: () => act.onStep(1),
      ArrowUp: () => act.onMove(-1),
      ArrowDown: () => act.onMove(1),
      Home: () => act.onEdge(false),
      End: () => act.onEdge(true),
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  });
  picture.addEventListener("click", (event) => {
    const group = /** @type {Element} */ (event.target).closest("[data-node]");
    if (group) act.onNode(Number(group.getAttribute("data-node")));
  });

  /** Another tree. @param {Tree} next */
  function build(next) {
    tree = next;
    looks = [];
    const rows = Math.max(...next.columns.map((column) => column.length));
    const width = xOf(next.steps) + size.width + ROOM;
    pitch = Math.min((height - HEAD - 2 * MARGIN) / rows, size.height + size.most);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    heads.replaceChildren(...next.columns.map((_, step) => svg("text", {
      x: xOf(step) + size.width / 2, y: 15 }, step ? `step ${step}` : "start")));
    drawn = [];
    lines = [];
    boxes.replaceChildren();
    edges.replaceChildren();
    picture.setAttribute("aria-busy", "false"); // nobody draws the old one any more
  }

  /** The box of a node and the line to it. @param {Tree} of @param {number} node */
  function drawNode({ nodes }, node) {
    const { parent, piece, total, fate, length, rank } = nodes[node];
    const x = xOf(length);
    const y = yOf(rank);
    const word = svg("text", { x: x + size.width / 2, y: y + size.text },
      label(piece) + SIGNS[fate]);
    const sum = svg("text", { x: x + size.width / 2, y: y + size.sum, class: "tfw-beam-sum" },
      node ? fixed(total, 2) : "");
    drawn[node] = svg("g", { "data-node": node, class: looks[node] },
      svg("rect", { x, y, width: size.width, height: size.height, rx: 6 }), word, sum);
    lines[node] = svg("path", { class: looks[node] });
    if (parent >= 0) {
      const left = xOf(length - 1) + size.width;
      const from = yOf(nodes[parent].rank) + size.height / 2;
      const to = y + size.height / 2;
      const middle = (left + x) / 2;
      lines[node].setAttribute("d", `M${left} ${from}C${middle} ${from} ${middle} ${to} ${x} ${to}`);
    }
    boxes.append(drawn[node]);
    edges.append(lines[node]);
  }

  /**
   * Draws so many of the columns that are to be seen and are not there yet, the newest first, and
   * the others in the frames that follow.
   * @param {Tree} of @param {number} columns
   */
  function grow(of, columns) {
    if (tree !== of) return; // another tree has come since
    const due = of.columns.slice(0, upTo + 1).filter(([first]) => !drawn[first]).reverse();
    for (const column of due.slice(0, columns)) column.forEach((node) => drawNode(of, node));
    picture.setAttribute("aria-busy", String(due.length > columns));
    if (due.length > columns) requestAnimationFrame(() => grow(of, COLUMNS));
  }

  /**
   * What is to be seen of the tree.
   * @param {number} step @param {number} best where the best finished hypothesis ends, or -1
   * @param {number} selected the node under the cursor
   */
  function show(step, best, selected) {
    if (!tree) return;
    const { nodes, ends } = tree;
    /** @type {boolean[]} */
    const alive = [];
    /** @type {boolean[]} */
    const onBest = [];
    /** @param {number} node @param {boolean[]} marks */
    const mark = (node, marks) => {
      for (let at = node; at >= 0 && !marks[at]; at = nodes[at].parent) marks[at] = true;
    };
    nodes.forEach(({ fate, length }, node) => {
      if (length === step && fate === "l") mark(node, alive);
    });
    if (best >= 0) mark(best, onBest);
    const finished = new Set(ends.map(({ node }) => node));
    nodes.forEach(({ fate, length }, node) => {
      let look = "tfw-beam-later";
      if (length <= step) {
        look = fate === "d" ? "tfw-beam-dropped" : alive[node] ? "tfw-beam-alive" : "tfw-beam-past";
        if (finished.has(node)) look = "tfw-beam-finished";
        if (onBest[node]) look += " tfw-beam-best";
        if (node === selected) look += " tfw-beam-selected";
      }
      if (looks[node] === look) return;
      looks[node] = look;
      drawn[node]?.setAttribute("class", look);
      lines[node]?.setAttribute("class", look);
    });
    upTo = step;
    if (picture.getAttribute("aria-busy") !== "true") grow(tree, 1);
    heads.childNodes.forEach((head, at) =>
      /** @type {Element} */ (head).classList.toggle("tfw-beam-later", at > step));
    const middle = (HEAD + height) / 2;
    front.setAttribute("transform", `translate(${xOf(step) + size.width + 16} ${middle})`);
    for (const [part, top] of [[front.children[0], "y"], [front.children[1], "y1"]]) {
      /** @type {Element} */ (part).setAttribute(/** @type {string} */ (top), String(HEAD - middle));
    }
    front.children[0].setAttribute("height", String(height - HEAD));
    front.children[1].setAttribute("y2", String(height - MARGIN - middle));
    handle.show(step, 0, tree.steps, `${step} of ${tree.steps}`);
    follow(true);
  }

  /** The step in question stays in sight, at the right edge of what has grown. */
  function follow(moves = false) {
    const left = Math.max(grown() - box.clientWidth, 0);
    if (moves && !pulledFrom.held && !keepsStill()) box.scrollTo({ left, behavior: "smooth" });
    else box.scrollLeft = left;
  }
  // A slide, say, gives the box its width only after the first step is shown.
  new ResizeObserver(() => follow()).observe(box);

  return { element: box, picture, build, show };
}
