// @ts-check
// One training from its first step on, as a list of operations that may stop between any two.

import { random } from "../training/random.js";
import { taskOf } from "../training/tasks.js";
import { Trainer } from "../training/trainer.js";

const SHOWN = 4; // sequences
export const SETTINGS = ["task", "positions", "causal", "cross", "scaled", "wide_keys", "shortcuts",
  "norm", "feed_forward", "warm_up", "n_heads", "n_layers", "order", "becomes", "seed"];

/**
 * @typedef {(name: string) => any} Get
 * @typedef {"step" | void} Event a step of training is done, and judged where that is due
 */

/** What makes a run: two with the same settings are the same. @param {Get} get */
export const settingsOf = (get) => JSON.stringify(SETTINGS.map(get));
/** The name under which Python has counted such runs. @param {Get} get */
export const knownAs = (get) => JSON.stringify(SETTINGS.slice(0, -3).map(get));
/** The name for runs of that size with all their parts. @param {Get} get */
export const sizeOf = (get) => JSON.stringify(["task", "wide_keys", "n_layers"].map(get));

export class Run {
  /** @param {Get} get the widget's traits */
  constructor(get) {
    const { n_tests: n, recipe, widths, wide_keys: wide } = get("constants");
    this.get = get;
    this.settings = settingsOf(get);
    this.task = taskOf(get("task"), { order: get("order"), becomes: get("becomes") });
    const { task } = this;
    this.recipe = { ...recipe, rising: get("warm_up") };
    /** @type {any} */
    this.config = { ...widths, ...Object.fromEntries(SETTINGS.map((name) => [name, get(name)])),
      d_k: get("wide_keys") ? wide : widths.d_model / get("n_heads"),
      vocab: task.words.length, max_len: task.places };
    this.seed = get("seed");
    const uniform = random(1e6 + this.seed);
    const some = (/** @type {number} */ many, draw = task.test) =>
      Array.from({ length: many }, () => draw(uniform));
    this.tests = some(n);
    this.longer = task.longer ? some(n, task.longer) : [];
    this.shown = [...this.tests.slice(0, SHOWN - 1), this.longer[0] ?? this.tests[SHOWN - 1]];
    /** @type {number[]} of each step */
    this.losses = [];
    /** @type {number[]} how many were right, each time it was judged */
    this.right = [];
    this.rightOfLonger = 0;
    /** @type {Int32Array | null} what it writes for those that are shown */
    this.written = null;
    this.learned = 0; // after so many steps
    this.unseen = true; // whether somebody wants to see what it writes now
    /** @type {Trainer | null} */
    this.trainer = null;
    /** @type {ReturnType<Trainer["with"]> | null} for the sequences that are shown */
    this.window = null;
  }

  get step() {
    return this.losses.length;
  }

  /** Whether it has just learned, or its time is up. */
  get ended() {
    return this.step > 0 && (this.step === this.learned || this.step % this.get("steps") === 0);
  }

  /** All that it does, for ever. @param {import("../training/product.js").Engine} engine @returns {Generator<Event>} */
  * life(engine) {
    const { judged_every: every } = this.get("constants");
    engine.clear();
    const trainer = this.trainer = new Trainer(engine, this.config, this.task, this.recipe, this.seed);
    this.window = trainer.with(SHOWN);
    yield* this.judge();
    for (;;) {
      yield* trainer.update();
      this.losses.push(trainer.loss);
      if (this.step % every === 0) yield* this.judge();
      if (this.unseen) yield* this.look();
      yield "step";
    }
  }

  /** Counts what it gets right of what it has never seen. @returns {Generator<Event>} */
  * judge() {
    const { trainer } = this;
    if (!trainer) return;
    const right = yield* trainer.rightOf(this.tests);
    this.right.push(right);
    this.rightOfLonger = yield* trainer.rightOf(this.longer);
    if (!this.learned && right >= this.get("constants").enough) this.learned = this.step;
  }

  /** Lets it write. @returns {Generator<Event>} */
  * look() {
    const { window } = this;
    if (!window) return;
    this.unseen = false;
    window.fill(this.shown);
    this.written = yield* window.write(this.written ?? undefined);
    if (this.config.causal) return;
    window.fill(this.shown);
    yield* window.read(); // as in training: there alone it can look ahead
  }

  /** What it has written for a sequence that is shown, up to its end. @param {number} n @returns {number[]} */
  writtenFor(n) {
    const { places } = this.task;
    const found = Array.from(this.written?.subarray(n * places, (n + 1) * places) ?? []);
    const end = found.indexOf(2);
    return end < 0 ? found : found.slice(0, end + 1);
  }

  /**
   * The weights of the last layer's heads for the first sequence that is shown, a row for each query.
   * @param {"cross" | "encoder" | "decoder"} kind
   */
  heads(kind) {
    const { n_layers: layers, n_heads: n } = this.config;
    const stack = kind === "encoder" ? kind : "decoder";
    const name = `${stack}.layers.${layers - 1}.${kind === "cross" ? kind : "self"}_attention`;
    const data = this.window?.weights.get(name)?.data;
    const { places } = this.task;
    return data
      ? Array.from({ length: n }, (_, h) => data.subarray(h * places ** 2, (h + 1) * places ** 2)) : [];
  }
}
