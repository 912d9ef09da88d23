// @ts-check
// Trees whose phrases hang elsewhere; tests hold it equal to transformer.text and transformer.evaluation.

/**
 * @typedef {{words: string[], labels: string[], parents: number[], over: number[], phrases: number[]}}
 *   Contents the true tree: of each node its label and its parent, of each word its node, and which
 *   nodes can be moved
 * @typedef {{label: string, start: number, end: number, depth: number, whole: boolean}} Span
 *   a constituent: `end` is the first word behind it; whole, if no word is missing in between
 */

/** The constituents, node by node. @param {Contents} contents @param {number[]} hangs @returns {Span[]} */
export function spansOf({ labels, parents, over, phrases }, hangs) {
  const hung = parents.map((parent, node) => hangs[phrases.indexOf(node)] ?? parent);
  /** @param {number} node @returns {number[]} it and all around it, up to the root */
  const up = (node) => (node < 0 ? [] : [node, ...up(hung[node])]);
  const around = over.map(up);
  return labels.map((label, node) => {
    const words = [...over.keys()].filter((word) => around[word].includes(node));
    const [start, end] = [words[0], words[words.length - 1] + 1];
    return { label, start, end, depth: up(node).length - 1, whole: words.length === end - start };
  });
}

/** The same with one phrase moved. @param {number[]} hangs @param {number} i @param {number} node */
export const moved = (hangs, i, node) => hangs.map((old, j) => (i === j ? node : old));

/**
 * The nodes from which phrase i can hang while every word stays where it is, from the top down. They
 * begin before the phrase, so no way up ever comes round to where it began.
 * @param {Contents} contents @param {number[]} hangs @param {number} i
 */
export function possible(contents, hangs, i) {
  const now = spansOf(contents, hangs);
  return [...now.keys()].filter((node) => now[node].start < now[contents.phrases[i]].start
    && spansOf(contents, moved(hangs, i, node)).every(({ whole }) => whole));
}

/** With each phrase as low as it can hang: no tree has more levels. @param {Contents} contents */
export function lowest(contents) {
  const { parents, phrases } = contents;
  return phrases.reduce((hangs, _, i) => moved(hangs, i, possible(contents, hangs, i).at(-1) ?? 0),
    phrases.map((node) => parents[node]));
}

/**
 * Which of the constituents the true tree lacks, and F1; each true one is found once.
 * @param {Span[]} said @param {Span[]} wanted
 */
export function judged(said, wanted) {
  const name = (/** @type {Span} */ { label, start, end }) => `${label} ${start} ${end}`;
  const left = wanted.map(name);
  const wrong = said.map((span) => {
    const at = left.indexOf(name(span));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const right = wrong.filter((one) => !one).length;
  return { wrong, right, f1: (200 * right) / (said.length + wanted.length) };
}
