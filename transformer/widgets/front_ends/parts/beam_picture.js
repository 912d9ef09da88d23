// @ts-check
// The tree of a beam search: a column for each step, its most probable candidate on top.

import { OWN_KEYS, html, svg } from "../kit/elements.js";

/** @typedef {import("./beam_data.js").BeamTree} BeamTree */

const BEAM_NODE = { width: 88, height: 36 };
const BEAM_GAP = { x: 26, y: 8 };
const BEAM_MARGIN = 8;
const BEAM_HEAD = 22;
const BEAM_LETTERS = 9; // of a token that fit
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
    drawn = next.nodes.map(({ piece, total, fate, length, rank }, node) => {
      const x = beamX(length);
      const y = beamY(rank);
      const middle = x + BEAM_NODE.width / 2;
      const label = svg("text", { x: middle, y: y + 15 }, beamLabel(piece) + BEAM_SIGNS[fate]);
      const sum = svg("text", { x: middle, y: y + 30, class: "tfw-beam-sum" },
        node ? total.toFixed(2).replace("-", "\u2212") : "");
      return svg("g", { "data-node": node },
        svg("rect", { x, y, width: BEAM_NODE.width, height: BEAM_NODE.height, rx: 6 }), label, sum);
    });
    lines = next.nodes.map(({ parent, length, rank }) => {
      if (parent < 0) return svg("path", {});
      const left = beamX(length - 1) + BEAM_NODE.width;
      const right = beamX(length);
      const from = beamY(next.nodes[parent].rank) + BEAM_NODE.height / 2;
      const to = beamY(rank) + BEAM_NODE.height / 2;
      const middle = (left + right) / 2;
      return svg("path", { d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}` });
    });
    boxes.replaceChildren(...drawn);
    edges.replaceChildren(...lines);
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
      drawn[node].setAttribute("class", look);
      lines[node].setAttribute("class", look);
    });
    heads.childNodes.forEach((head, at) =>
      /** @type {Element} */ (head).classList.toggle("tfw-beam-later", at > step));
    // The step in question stays in sight, at the right edge of what has grown.
    box.scrollLeft = beamX(step) + BEAM_NODE.width + BEAM_MARGIN - box.clientWidth;
  }

  return { element: box, picture, build, show };
}
