// @ts-check
// The tree of a beam search: a column for each step, its most probable candidate on top.

import { OWN_KEYS, html, svg } from "../kit/elements.js";

/** @typedef {import("./data.js").BeamTree} BeamTree */

const BEAM_NODE = { width: 88, height: 36 };
const BEAM_GAP = { x: 26, y: 8 };
const BEAM_MARGIN = 8;
const BEAM_HEAD = 22;
const BEAM_LETTERS = 9; // of a token that fit
const BEAM_COLUMNS = 3; // drawn in a frame, so that the page never waits for a large tree
const BEAM_SIGNS = { l: "", f: " \u2713", d: " \u2717" };

const beamX = (/** @type {number} */ step) => BEAM_MARGIN + step * (BEAM_NODE.width + BEAM_GAP.x);
const beamY = (/** @type {number} */ rank) =>
  BEAM_HEAD + BEAM_MARGIN + rank * (BEAM_NODE.height + BEAM_GAP.y);

/** @param {string} piece */
const beamLabel = (piece) => {
  const letters = [...piece];
  return letters.length > BEAM_LETTERS
    ? `${letters.slice(0, BEAM_LETTERS - 1).join("")}\u2026` : piece;
};

/**
 * @param {{onStep: (change: number) => void, onEdge: (last: boolean) => void,
 *   onNode: (node: number) => void, onMove: (change: number) => void}} act
 */
export function beamPicture(act) {
  const edges = svg("g", {});
  const boxes = svg("g", {});
  const heads = svg("g", { class: "tfw-beam-heads" });
  const picture = svg("svg", {
    ...OWN_KEYS,
    class: "tfw-beam-tree",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "tree",
    "aria-label": "The tree of beginnings. Left and right arrow keys take steps, up and down arrow "
      + "keys move over the candidates of a step.",
  }, heads, edges, boxes);
  const box = html("div", { class: "tfw-scroll" }, picture);

  /** @type {BeamTree | null} */
  let tree = null;
  /** @type {SVGElement[]} */
  let drawn = [];
  /** @type {SVGElement[]} */
  let lines = [];
  /** @type {string[]} */
  let looks = [];
  let upTo = 0; // the last column that is to be seen

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

  /** Another tree. @param {BeamTree} next */
  function build(next) {
    tree = next;
    looks = [];
    const rows = Math.max(...next.columns.map((column) => column.length));
    const width = beamX(next.steps) + BEAM_NODE.width + BEAM_MARGIN;
    const height = beamY(rows - 1) + BEAM_NODE.height + BEAM_MARGIN;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    heads.replaceChildren(...next.columns.map((_, step) => svg("text", {
      x: beamX(step) + BEAM_NODE.width / 2, y: 15 }, step ? `step ${step}` : "start")));
    drawn = [];
    lines = [];
    boxes.replaceChildren();
    edges.replaceChildren();
    picture.setAttribute("aria-busy", "false"); // nobody draws the old one any more
  }

  /** The box of a node and the line to it. @param {BeamTree} of @param {number} node */
  function drawNode({ nodes }, node) {
    const { parent, piece, total, fate, length, rank } = nodes[node];
    const x = beamX(length);
    const y = beamY(rank);
    const label = svg("text", { x: x + BEAM_NODE.width / 2, y: y + 15 },
      beamLabel(piece) + BEAM_SIGNS[fate]);
    const sum = svg("text", { x: x + BEAM_NODE.width / 2, y: y + 30, class: "tfw-beam-sum" },
      node ? total.toFixed(2).replace("-", "\u2212") : "");
    drawn[node] = svg("g", { "data-node": node, class: looks[node] },
      svg("rect", { x, y, width: BEAM_NODE.width, height: BEAM_NODE.height, rx: 6 }), label, sum);
    lines[node] = svg("path", { class: looks[node] });
    if (parent >= 0) {
      const left = beamX(length - 1) + BEAM_NODE.width;
      const from = beamY(nodes[parent].rank) + BEAM_NODE.height / 2;
      const to = y + BEAM_NODE.height / 2;
      const middle = (left + x) / 2;
      lines[node].setAttribute("d", `M${left} ${from}C${middle} ${from} ${middle} ${to} ${x} ${to}`);
    }
    boxes.append(drawn[node]);
    edges.append(lines[node]);
  }

  /**
   * Draws so many of the columns that are to be seen and are not there yet, the newest first, and
   * the others in the frames that follow.
   * @param {BeamTree} of @param {number} columns
   */
  function grow(of, columns) {
    if (tree !== of) return; // another tree has come since
    const due = of.columns.slice(0, upTo + 1).filter(([first]) => !drawn[first]).reverse();
    for (const column of due.slice(0, columns)) column.forEach((node) => drawNode(of, node));
    picture.setAttribute("aria-busy", String(due.length > columns));
    if (due.length > columns) requestAnimationFrame(() => grow(of, BEAM_COLUMNS));
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
    // The step in question stays in sight, at the right edge of what has grown.
    box.scrollLeft = beamX(step) + BEAM_NODE.width + BEAM_MARGIN - box.clientWidth;
  }

  return { element: box, picture, build, show };
}
