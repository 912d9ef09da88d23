// @ts-check
// A sentence's tree: a phrase is dragged from one constituent to another, and F1 is watched.

import { html, oncePerFrame, svg } from "../kit/elements.js";
import { grip, nearest } from "../kit/grip.js";
import { assign, watch } from "../kit/model.js";
import { glide } from "../kit/motion.js";
import { fixed } from "../kit/numbers.js";
import { judged, lowest, moved, possible, spansOf } from "./maths.js";

const [ROW, BOX] = [38, 27]; // from one level to the next; how high a box is
const [LETTER, SPACE, GAP] = [8, 9, 2]; // widths: of a word by its letters, and between two boxes

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  /** @type {import("./maths.js").Contents} */
  const contents = model.get("contents");
  const { words, parents, over, phrases } = contents;
  const wanted = spansOf(contents, phrases.map((node) => parents[node]));
  const rows = Math.max(...spansOf(contents, lowest(contents)).map(({ depth }) => depth)) + 1;
  const edges = words.reduce((all, word) => [...all, all[all.length - 1] + LETTER * word.length + SPACE], [0]);
  const bottom = rows * ROW;
  const [width, height] = [edges[words.length] + 2 * GAP, bottom + BOX];
  const middle = (/** @type {number} */ word) => (edges[word] + edges[word + 1]) / 2;
  const text = (/** @type {number} */ start, /** @type {number} */ end) => words.slice(start, end).join(" ");

  /** @type {number[]} */
  let hangs = model.get("hangs");
  let spans = spansOf(contents, hangs);

  /** Hangs a phrase elsewhere. @param {number} i @param {(nodes: number[]) => number} choose */
  const hang = (i, choose) => {
    const now = model.get("hangs"); // which may have changed since the last frame
    const node = choose(possible(contents, now, i));
    if (node !== now[i]) assign(model, "hangs", moved(now, i, node));
  };
  const nodes = wanted.map(({ label }, node) => {
    const i = phrases.indexOf(node);
    const box = svg("rect", { class: "tfw-tree-box", y: 0, height: BOX, rx: 5 });
    const name = svg("text", { y: BOX / 2 });
    const inside = svg("g", {}, svg("rect", { class: "tfw-grip-room", y: BOX - ROW, height: ROW }), box, name);
    const line = svg("path", { class: "tfw-tree-line" });
    const slots = svg("g", { class: "tfw-tree-slots" });
    const element = svg("g", { class: "tfw-tree-node" }, inside);
    const hold = i < 0 ? null : grip(element, {
      label: `“${text(wanted[node].start, wanted[node].end)}”`,
      orientation: "vertical",
      drag: (_, y) => {
        const seen = picture.getBoundingClientRect();
        const row = ((y - seen.top) / seen.height) * (height / ROW) - 0.5;
        hang(i, (all) => {
          const now = spansOf(contents, model.get("hangs"));
          const depth = nearest(all.map((one) => now[one].depth), row - 1); // it hangs a row below
          return all.find((one) => now[one].depth === depth) ?? all[0];
        });
      },
      step: (by) => hang(i, (all) => {
        const at = all.indexOf(model.get("hangs")[i]) - by; // up the tree is to the front
        return all[Math.min(Math.max(at, 0), all.length - 1)];
      }),
    });
    return { label, i, box, name, inside, line, slots, element, hold };
  });
  const lines = words.map(() => svg("path", { class: "tfw-tree-line" }));
  const picture = svg("svg", { class: "tfw-tree-picture", viewBox: `${-GAP} ${-GAP} ${width} ${height}` },
    ...lines, ...nodes.map(({ line }) => line), ...nodes.flatMap(({ element, slots }) => [element, slots]),
    ...words.map((word, i) => svg("text", { class: "tfw-tree-word", x: middle(i), y: bottom + BOX / 2 }, word)));
  const readout = html("p", { class: "tfw-readout", role: "status" });
  const lacking = html("p", { class: "tfw-tree-lacking" });

  // Of each node where it ends, and on which level it stands; where it begins never changes.
  const motion = glide((values) => {
    nodes.forEach(({ i, box, name, inside, line }, node) => {
      const [start, end, y] = [edges[spans[node].start] + GAP, values[2 * node] - GAP, values[2 * node + 1] * ROW];
      inside.setAttribute("transform", `translate(${start} ${y})`);
      for (const rect of [box, ...(i < 0 ? [] : [inside.firstElementChild])]) {
        rect?.setAttribute("width", String(end - start));
      }
      name.setAttribute("x", String((end - start) / 2));
      line.setAttribute("d", node ? `M${(start + end) / 2} ${y - ROW + BOX}V${y}` : "");
    });
    lines.forEach((line, word) => line.setAttribute("d",
      `M${middle(word)} ${values[2 * over[word] + 1] * ROW + BOX}V${bottom + 3}`));
  });

  function draw() {
    hangs = model.get("hangs");
    spans = spansOf(contents, hangs);
    const { wrong, right, f1 } = judged(spans, wanted);
    nodes.forEach(({ label, i, name, slots, element, hold }, node) => {
      element.classList.toggle("tfw-tree-wrong", wrong[node]);
      name.textContent = `${label}${hold ? " ↕" : ""}${wrong[node] ? " ✗" : ""}`;
      if (!hold) return;
      const [own, all] = [spans[node], possible(contents, hangs, i)];
      const from = (/** @type {number} */ one) =>
        `${spans[one].label} “${text(spans[one].start, own.start)}”`;
      hold.show(all.length - 1 - all.indexOf(hangs[i]), 0, all.length - 1,
        `hangs from ${from(hangs[i])}, F1 ${fixed(f1, 1)}`);
      slots.replaceChildren(...all.filter((one) => one !== hangs[i]).map((one) => svg("circle", {
        cx: edges[own.end] - 12, cy: (spans[one].depth + 1) * ROW + BOX / 2, r: 5 })));
    });
    readout.replaceChildren(html("span", {}, `${right} of ${spans.length} proposed are right (P), `),
      html("span", {}, `${right} of ${wanted.length} true are found (R): `),
      html("b", {}, `F1 = ${fixed(f1, 1)}`));
    const said = spans.filter((_, node) => wrong[node]).map(({ label, start, end }) =>
      `${label} “${text(start, end)}”`);
    lacking.textContent = said.length ? `✗ Not in the true tree: ${said.join(", ")}.` : "This is the true tree.";
    motion.to(spans.flatMap(({ end, depth }) => [edges[end], depth]));
  }

  const stop = watch(model, ["hangs"], oncePerFrame(draw));
  el.append(html("div", { class: "tfw tfw-tree" },
    html("p", { class: "tfw-question" }, model.get("question")),
    html("div", { class: "tfw-tree-parts" }, picture, html("div", {}, readout, lacking))));
  draw();
  return () => {
    stop();
    motion.stop();
  };
}

export default { render };
