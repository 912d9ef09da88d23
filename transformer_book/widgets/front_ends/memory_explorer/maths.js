// @ts-check
// In how many turns a step fits a device, and what one of them keeps; tests hold both equal to Python's.

/**
 * @typedef {{parts: {model: number, loss: number, layers: number}, tokens: number, least: number,
 *   most: number}} Constants `parts`: of the whole step, in GB; `least`, `most`: GB of a device
 */

/** @param {Constants} constants @param {number} memory of the device in GB */
export function turnsFor({ parts: { model, loss, layers } }, memory) {
  return Math.ceil((loss + layers) / (memory - model));
}

/** GB of each part in one of so many turns. @param {Constants} constants @param {number} turns */
export function keptIn({ parts: { model, loss, layers } }, turns) {
  return { model, loss: loss / turns, layers: layers / turns };
}
