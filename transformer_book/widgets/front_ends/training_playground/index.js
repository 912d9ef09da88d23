// @ts-check
// A Transformer that learns in the page, a slice of work in each frame; nothing starts by itself.

import { button, choice, foretold, pick, tick } from "../kit/controls.js";
import { html, oncePerFrame } from "../kit/elements.js";
import { assign, watch } from "../kit/model.js";
import { fixed, grouped } from "../kit/numbers.js";
import { room } from "../kit/room.js";
import { plainEngine, simdEngine } from "../training/product.js";
import { controls } from "./controls.js";
import { curve } from "./curve.js";
import { heads } from "./heads.js";
import { Run, SETTINGS, knownAs, settingsOf, sizeOf } from "./run.js";
import { samples } from "./samples.js";

const NUMBERS = 16e6; // of memory, which is taken only as far as it is used
const SLICE = 12; // milliseconds of a frame
const EARLIER = 3; // runs that stay in the picture

/** @param {{model: import("../kit/model.js").Model, el: HTMLElement}} host */
function render({ model, el }) {
  const get = (/** @type {string} */ name) => model.get(name);
  const { n_tests: tests, enough } = get("constants");
  const settings = () => settingsOf(get);
  const [asked, first] = [settings(), get("task")]; // what the question is about
  const apart = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 95;
  let run = new Run(get);
  /** @type {Run[]} */
  const earlier = [];
  /** @type {Promise<import("../training/product.js").Engine> | null} */
  let engine = null;
  /** @type {Generator<import("./run.js").Event> | null} */
  let work = null;
  let goal = 0; // the step to train to, Infinity: until it has learned; 0: it rests
  let [within, visible, drawn, due] = [false, true, 0, 0]; // within a step

  const train = button("Train", () => {
    if (goal) rest();
    else {
      assign(model, "training", true);
      bring(train.element.parentElement, "start", looked);
    }
  });
  train.element.classList.add("tfw-play-train");
  const one = button("One step", () => assign(model, "trained", run.step + 1));
  const again = button("Start again", () => {
    rest();
    assign(model, "trained", 0);
  });
  const fast = tick(model, "fast", { label: "full speed" });
  const chosen = controls(model);
  const own = html("div", { class: "tfw-controls" }, ...chosen.own.map(({ element }) => element));
  const parts = chosen.parts.map(({ element }) => element);
  const few = parts.length < 3;
  const looking = choice(model, "attention", { label: "attention", options: [
    ["cross-attention", "cross"], ["encoder, self-attention", "encoder"],
    ["decoder, self-attention", "decoder"]] });
  const guess = get("question") ? pick(model, "guess", { label: get("question"),
    options: get("answers").map((/** @type {string} */ text, /** @type {number} */ i) => [text, i]) }) : null;
  const beside = parts.slice(0, few ? 2 : guess ? 1 : 0); // of a question what it is about
  const tasks = chosen.task.map(({ element }) => element);
  const folded = few ? [] : [html("details", {}, html("summary", {}, tasks.length ? "Other parts and tasks" : "Take parts out"),
    html("div", { class: "tfw-controls" }, ...tasks.splice(0), ...parts.slice(beside.length)))];
  const status = html("p", { class: "tfw-play-status" });
  const verdict = room("tfw-verdict");
  const [line, text, looks] = [curve(get("constants")), samples(), heads()];

  /**
   * On a small screen what forms is seen while it forms, and what is said of it then; who has gone on is left alone.
   * @param {any} part an element, as `last` @param {ScrollLogicalPosition} block @param {any} [last] which may lie too low
   */
  function bring(part, block, last = part) {
    const low = (/** @type {Element} */ one) => one.getBoundingClientRect().bottom > innerHeight;
    if (low(last) && !low(train.element)) part.scrollIntoView({ block, behavior: apart > 99 ? "auto" : "smooth" });
  }

  /** Trains up to a step. @param {number} to */
  async function go(to) {
    goal = to;
    draw();
    const ready = await (engine ??= simdEngine(NUMBERS).then((found) => found ?? plainEngine(NUMBERS)));
    if (!goal) return;
    cancelAnimationFrame(due);
    work ??= run.life(ready);
    due = requestAnimationFrame(frame);
  }

  /** @param {number} now */
  function frame(now) {
    due = requestAnimationFrame(frame);
    if (!visible || !work) return;
    const shows = now - drawn > apart;
    if (shows) run.unseen = true;
    const until = performance.now() + SLICE;
    do {
      within = work.next().value !== "step";
      if (!within && (goal < Infinity ? run.step >= goal : run.ended)) {
        rest();
        return;
      }
    } while ((within || get("fast") || goal < Infinity) && performance.now() < until);
    if (!shows) return;
    drawn = now;
    draw();
  }

  /** Stops after the step that it is at, and shows what it writes then, whenever it has last shown it. */
  function rest() {
    goal = 0;
    cancelAnimationFrame(due);
    while (within) within = work?.next().value !== "step";
    const look = run.look();
    while (!look.next().done) ;
    draw();
    assign(model, "trained", run.step);
    assign(model, "training", false);
    if (run.ended) bring(verdict.element.firstElementChild, "end");
  }

  function startAnew() {
    if (run.step && run.settings !== settings()) earlier.push(run);
    if (earlier.length > EARLIER) earlier.shift();
    run = new Run(get);
    work = null;
    within = false;
    goal = 0;
    cancelAnimationFrame(due);
    keep();
    draw();
  }

  /** To the step that somebody wants, which is the same whoever goes there, and how. */
  function seek() {
    const to = get("trained");
    if (to === run.step && !goal) return;
    if (to < run.step) startAnew();
    if (to > run.step) go(to);
    else if (get("training")) go(Infinity);
    else rest();
  }

  function change() {
    if (run.settings === settings()) return;
    const to = goal < Infinity ? goal : 0;
    startAnew();
    assign(model, "training", false);
    if (to) go(to);
    else assign(model, "trained", 0);
  }

  /** What came of a guess. @param {number} answer */
  const judged = (answer) => foretold(get("answers"), answer, get("right"));

  const judges = () => !!guess && get("guess") >= 0 && settings() === asked;

  /** What came out, in words. @returns {string[]} */
  function said() {
    const values = { steps: grouped(run.step), right: run.right.at(-1) ?? 0, loss: fixed(run.losses.at(-1) ?? 0, 2) };
    const lines = [(run.learned ? "It has learned. " : "") + get("outcome").replace(/\{(\w+)\}/g,
      (/** @type {string} */ _, /** @type {keyof typeof values} */ name) => String(values[name]))];
    if (judges()) {
      lines.unshift(judged(get("guess")));
      lines.push(get("why"));
    }
    const known = get("known");
    const [such, whole] = [knownAs(get), sizeOf(get)].map((name) => known[name]);
    const share = (/** @type {number[]} */ [learned, all, , median], says = "") => `${learned} of ${all}${says}${
      learned > 1 ? `, half of these by step ${grouped(median)}` : ""}`;
    if (such) {
      lines.push(`Our own runs of ${grouped(such[2])} steps: ${share(such, " learned")}${
        !whole || String(whole) === String(such) ? "" : `; ${get("whole")} ${share(whole)}`}.`);
    } else if (Object.keys(known).length) {
      lines.push("Another run may differ.");
    }
    return lines;
  }

  /** Keeps a place for that: of what is said of a run as many letters as the longest has, which nobody sees. */
  function keep() {
    const run = ["It has learned. " + get("outcome"), "steps ".repeat(Object.keys(get("known")).length && 25)];
    verdict.keep((guess && get("task") === first ? guess.inputs : [null]).map((input, answer) =>
      input ? [judged(answer), ...run, get("why")] : run));
  }

  function draw() {
    results.setAttribute("aria-busy", String(goal > 0));
    const ended = run.ended && !goal;
    train.element.textContent = goal ? "Pause" : "Train";
    train.element.classList.toggle("tfw-play-done", ended);
    const allowed = !guess || get("guess") >= 0;
    train.allow(allowed);
    one.allow(allowed && !goal);
    again.allow(run.step + goal > 0);
    own.hidden = get("task") !== "own";
    for (const other of [...tasks, ...folded]) other.hidden = !allowed;
    const right = run.right.at(-1) ?? 0;
    for (const [i, input] of (guess?.inputs ?? []).entries()) {
      input.parentElement?.classList.toggle("tfw-play-true", ended && judges() && i === get("right"));
    }
    status.textContent = !allowed ? "Say first what you expect." : run.step ? `step ${grouped(run.step)} \u00b7 loss ${
      fixed(run.losses.at(-1) ?? 0, 2)} \u00b7 ${right} of ${tests} right` + (run.longer.length
      ? ` \u00b7 with one digit more ${run.rightOfLonger}` : "")
      : "It has learned nothing yet.";
    verdict.say(ended ? said() : []);
    verdict.element.classList.toggle("tfw-right", ended && (judges() ? get("guess") === get("right") : right >= enough));
    line.show(run, earlier, get("steps") / (guess ? 1 : 2), [
      ...(ended && judges() ? get("marks") : []),
      ...(run.learned ? [["learned", run.learned, `learned: ${grouped(run.learned)}`]] : [])]);
    text.show(run);
    looks.element.hidden = looks.heading.hidden = get("attention") === "cross" && !run.config.cross;
    looks.show(run, get("attention"));
  }

  const stop = [watch(model, SETTINGS, oncePerFrame(change)), watch(model, ["trained"], seek),
    watch(model, ["training"], () => {
      if (get("training")) go(Infinity);
      else if (goal) rest();
    }),
    watch(model, ["attention", "guess"], oncePerFrame(draw))];
  const observer = new IntersectionObserver((entries) => {
    visible = entries[entries.length - 1].isIntersecting; // the latest
  });
  const reads = html("div", { class: "tfw-play-reads" },
    html("p", { class: "tfw-heading" }, "grey: read; underlined: wrong; \u23ce: end"), text.element);
  const results = html("div", { class: "tfw-play-results" },
    html("div", { class: "tfw-play-seen" }, line.element, reads), verdict.element);
  const looked = html("div", { class: "tfw-play-looks" }, looks.heading, ...(guess ? [] : [looking.element]),
    looks.element);
  el.append(html("div", { class: "tfw tfw-play" },
    ...(guess ? [guess.element] : []),
    html("div", { class: "tfw-controls" }, train.element, one.element, again.element,
      fast.element, ...beside.slice(0, 1), ...tasks, ...beside.slice(1)),
    own, ...folded, status,
    html("div", { class: "tfw-play-drawn" }, results, looked)));
  keep();
  observer.observe(el);
  if (get("trained")) seek();
  else draw();
  return () => {
    goal = 0;
    cancelAnimationFrame(due);
    observer.disconnect();
    for (const end of stop) end();
    for (const control of [fast, looking, ...chosen.task, ...chosen.own, ...chosen.parts,
      ...(guess ? [guess] : [])]) control.stop();
  };
}

export default { render };
