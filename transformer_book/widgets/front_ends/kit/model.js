// @ts-check
// The widget's state, which Jupyter keeps in step with Python and a page keeps to itself.

/**
 * What a front end gets from its host (anywidget in Jupyter, widgets.js on the book's pages).
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, callback: () => void) => void} on
 * @property {(event: string, callback?: () => void) => void} off
 * @property {(progress: (share: number) => void) => Promise<any>} [load] on a page: loads the trained
 *   model that answers there, in place of a kernel
 * @property {[string, (model: any, live: any, asked: any) => Promise<void>]} [answers] the front end's
 *   own: which trait asks, and how the loaded model answers
 */

/**
 * Sets a trait here and in Python.
 * @param {Model} model @param {string} name @param {any} value
 */
export function assign(model, name, value) {
  model.set(name, value);
  model.save_changes();
}

/**
 * Calls back whenever one of the traits changes, here or in Python; returns how to stop.
 * @param {Model} model @param {string[]} names @param {() => void} callback
 */
export function watch(model, names, callback) {
  for (const name of names) model.on(`change:${name}`, callback);
  return () => {
    for (const name of names) model.off(`change:${name}`, callback);
  };
}

/**
 * The bytes of a trait, whatever kind of buffer the host hands over.
 * @param {any} value
 * @returns {Uint8Array}
 */
export function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** What zlib has packed. @param {Uint8Array} packed @returns {Promise<Uint8Array>} */
export async function inflate(packed) {
  const copy = /** @type {Uint8Array<ArrayBuffer>} */ (new Uint8Array(packed));
  const stream = new Blob([copy]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
