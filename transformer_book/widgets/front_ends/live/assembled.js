// @ts-check
// WebAssembly from a text that stands in a script: no file has to be fetched, from the disk neither.

/** @param {string} text @returns {Uint8Array} */
export function fromBase64(text) {
  const native = /** @type {any} */ (Uint8Array).fromBase64; // of newer browsers
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * An assembled module and the memory that it imports as `page.memory`. It fails where the browser has
 * no WebAssembly, or a page's policy forbids it, or there is not so much memory.
 * @param {string} text the module in base64 @param {number} bytes of memory
 */
export async function assembled(text, bytes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
  const module = /** @type {BufferSource} */ (fromBase64(text));
  const { instance } = await WebAssembly.instantiate(module, { page: { memory } });
  const functions =
    /** @type {{[name: string]: (...numbers: number[]) => number}} */ (instance.exports);
  return { memory, functions };
}
