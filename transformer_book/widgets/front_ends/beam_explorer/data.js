// @ts-check
// The trees of beam search as Python sends them, and as the explorer reads them.

/**
 * A tree in columns; node 0, the root, is not among them.
 * @typedef {{parent: number[], token: number[], log_prob: number[], total: number[], fate: string,
 *   cut: boolean}} Columns
 * @typedef {{source: string, trees: Object<string, Columns>}} Example
 * @typedef {{alpha: number, beam_sizes: number[], pieces: string[], end: number, marked: boolean,
 *   examples: Example[], unsure_below?: number}} Contents with unsure_below for a model of two
 *   directions
 */

/**
 * A token in the tree.
 * @typedef {object} Node
 * @property {number} parent the place of its parent; -1 for the root
 * @property {string} piece
 * @property {number} logProb @property {number} total
 * @property {"l" | "f" | "d"} fate lives on, is finished, or is dropped
 * @property {number} length how many tokens lead here
 * @property {number} rank its place in its step, from 0
 * @property {boolean} end whether it is the end mark
 */

/**
 * @typedef {object} Tree
 * @property {Node[]} nodes parents first
 * @property {number} steps
 * @property {number[][]} columns the nodes of each step
 * @property {{node: number, length: number, total: number}[]} ends where hypotheses end
 */

/** @param {Contents} contents @param {Columns} columns @returns {Tree} */
export function treeOf(contents, columns) {
  /** @type {Node[]} */
  const nodes = [{ parent: -1, piece: "<s>", logProb: 0, total: 0, fate: "l", length: 0, rank: 0,
    end: false }];
  /** @type {number[][]} */
  const steps = [[0]];
  columns.parent.forEach((parent, i) => {
    const length = nodes[parent].length + 1;
    if (!steps[length]) steps[length] = [];
    const token = columns.token[i];
    nodes.push({ parent, piece: contents.pieces[token], logProb: columns.log_prob[i],
      total: columns.total[i], fate: /** @type {"l" | "f" | "d"} */ (columns.fate[i]), length,
      rank: steps[length].length, end: token === contents.end });
    steps[length].push(nodes.length - 1);
  });
  const last = steps.length - 1;
  const ends = nodes.flatMap(({ fate, length, total }, node) =>
    fate === "f" || (columns.cut && length === last && fate === "l")
      ? [{ node, length, total }] : []);
  return { nodes, steps: last, columns: steps, ends };
}

/** The nodes from the first token to one. @param {Tree} tree @param {number} node */
function wayTo({ nodes }, node) {
  const path = [];
  for (let at = node; at > 0; at = nodes[at].parent) path.push(at);
  return path.reverse();
}

/** The text up to a node. @param {Tree} tree @param {number} node @param {boolean} marked */
export function textOf(tree, node, marked) {
  const pieces = wayTo(tree, node).map((at) => tree.nodes[at]).filter(({ end }) => !end)
    .map(({ piece }) => piece);
  return marked ? pieces.join("").replaceAll("\u2581", " ").trim() : pieces.join(" ");
}

/** What became of a node, in words. @param {Tree} tree @param {number} node */
export function fateOf(tree, node) {
  if (tree.ends.some((end) => end.node === node)) {
    return tree.nodes[node].fate === "f" ? "is finished" : "is cut off at the limit";
  }
  if (tree.nodes[node].fate === "d") return "is dropped";
  return tree.nodes[node].length < tree.steps ? "lives on" : "is left over";
}
