// @ts-check
// A model that learns, one operation at a time.

import { noamRate } from "../schedule_explorer/maths.js";
import { Parameters, transformer } from "./network.js";
import { random } from "./random.js";

const JUDGED_AT_ONCE = 20;

/**
 * @typedef {import("./network.js").Pair} Pair
 * @typedef {{batch: number, smoothing: number, warmup: number, factor: number, rising: boolean}} Recipe
 *   of training; without `rising` the rate has its highest value from the first step on
 */

/** Equation 3. @param {number} step from 1 @param {number} width @param {Recipe} recipe */
export function rateAt(step, width, { warmup, factor, rising }) {
  return noamRate(rising ? step : Math.max(step, warmup), width, warmup, factor);
}

export class Trainer {
  /**
   * @param {import("./product.js").Engine} engine whose places are all free
   * @param {import("./network.js").Config} config
   * @param {import("./tasks.js").Task} task @param {Recipe} recipe @param {number} seed
   */
  constructor(engine, config, task, recipe, seed) {
    const { places } = task;
    this.task = task;
    this.recipe = recipe;
    this.engine = engine;
    this.parameters = new Parameters(config, engine);
    this.parameters.draw(random(seed));
    this.uniform = random(seed + 7777);
    const { batch, smoothing } = recipe;
    this.model = transformer(this.parameters, engine, { batch, places, learns: true, smoothing });
    this.judge = this.with(JUDGED_AT_ONCE);
    this.step = 0;
    this.loss = NaN;
  }

  /** The same model for other sentences, which it does not learn from. @param {number} batch */
  with(batch) {
    return transformer(this.parameters, this.engine, { batch, places: this.task.places });
  }

  /** One step of training. @param {Pair[]} [pairs] */
  * update(pairs = Array.from({ length: this.recipe.batch }, () => this.task.draw(this.uniform))) {
    const { model, parameters } = this;
    model.fill(pairs);
    parameters.grad.fill(0);
    yield* model.graph.step();
    this.step += 1;
    yield* parameters.adam(rateAt(this.step, parameters.config.d_model, this.recipe));
    this.loss = /** @type {Float64Array} */ (model.loss)[0];
  }

  /**
   * How many of the sentences are written right as a whole. With the causal mask it is enough to
   * look what the model would write after the true tokens: if that is right at each place, greedy
   * search, which reads its own, reads the same.
   * @param {Pair[]} pairs a multiple of 20
   */
  * rightOf(pairs) {
    let right = 0;
    for (let i = 0; i < pairs.length; i += JUDGED_AT_ONCE) {
      this.judge.fill(pairs.slice(i, i + JUDGED_AT_ONCE));
      const found = this.parameters.config.causal
        ? yield* this.judge.read() : yield* this.judge.write();
      right += this.judge.right(found).filter(Boolean).length;
    }
    return right;
  }
}
