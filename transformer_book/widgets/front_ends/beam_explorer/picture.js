// @ts-check
// The tree of a beam search: a column for each step, its most probable candidate on top.

import { OWN_KEYS, html, svg } from "../kit/elements.js";
import { grip } from "../kit/grip.js";
import { keepsStill } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";

/** @typedef {import("./data.js").Tree} Tree */

const NODE = { width: 88, height: 32 };
const GAP = { x: 26, least: 3, most: 40 }; // upwards as the number of rows leaves
const MARGIN = 8;
const ROOM = 34; // to the right of the last column, for the handle
const PULL = 57; // pixels of a drag that are a step
const HEAD = 22;
const LETTERS = 9; // of a token that fit
const COLUMNS = 3; // drawn in a frame, so that the page never waits for a large tree
const SIGNS = { l: "", f: " \u2713", d: " \u2717" };

const xOf = (/** @type {number} */ step) => MARGIN + step * (NODE.width + GAP.x);
/** How high the tree of so many rows is at least. @param {number} rows */
const leastHeight = (rows) => HEAD + 2 * MARGIN + rows * (NODE.height + GAP.least);

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
  const height = leastHeight(mostRows);
  let pitch = NODE.height + GAP.least; // from one row to the next
  const yOf = (/** @type {number} */ rank) => HEAD + MARGIN + rank * pitch;
  picture.append(heads, edges, boxes, front);
  const box = html("div", { class: "tfw-scroll" }, picture);

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
    const width = xOf(next.steps) + NODE.width + ROOM;
    pitch = Math.min((height - HEAD - 2 * MARGIN) / rows, NODE.height + GAP.most);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    heads.replaceChildren(...next.columns.map((_, step) => svg("text", {
      x: xOf(step) + NODE.width / 2, y: 15 }, step ? `step ${step}` : "start")));
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
    const word = svg("text", { x: x + NODE.width / 2, y: y + 14 },
      label(piece) + SIGNS[fate]);
    const sum = svg("text", { x: x + NODE.width / 2, y: y + 27, class: "tfw-beam-sum" },
      node ? fixed(total, 2) : "");
    drawn[node] = svg("g", { "data-node": node, class: looks[node] },
      svg("rect", { x, y, width: NODE.width, height: NODE.height, rx: 6 }), word, sum);
    lines[node] = svg("path", { class: looks[node] });
    if (parent >= 0) {
      const left = xOf(length - 1) + NODE.width;
      const from = yOf(nodes[parent].rank) + NODE.height / 2;
      const to = y + NODE.height / 2;
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
    front.setAttribute("transform", `translate(${xOf(step) + NODE.width + 16} ${middle})`);
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
    const left = Math.max(xOf(upTo) + NODE.width + ROOM - box.clientWidth, 0);
    if (moves && !pulledFrom.held && !keepsStill()) box.scrollTo({ left, behavior: "smooth" });
    else box.scrollLeft = left;
  }
  // A slide, say, gives the box its width only after the first step is shown.
  new ResizeObserver(() => follow()).observe(box);

  return { element: box, picture, build, show };
}
