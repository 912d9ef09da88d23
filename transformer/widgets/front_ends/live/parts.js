// @ts-check
// The scripts in which a model comes, as bytes (transformer/packing.py writes them).

/** @param {string} text @returns {Uint8Array} */
export function fromBase64(text) {
  const native = /** @type {any} */ (Uint8Array).fromBase64; // of newer browsers
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const STEP = 2 ** 15; // bytes that are unpacked at once

/**
 * What zlib has packed, with a turn for the page after each step.
 * @param {Uint8Array} packed @param {() => Promise<void>} pause
 */
export async function inflatedBySteps(packed, pause) {
  const { readable, writable } = new DecompressionStream("deflate");
  const feed = async () => {
    const writer = writable.getWriter();
    for (let at = 0; at < packed.length; at += STEP) {
      await writer.write(/** @type {Uint8Array<ArrayBuffer>} */ (packed.slice(at, at + STEP)));
      await pause();
    }
    await writer.close();
  };
  const [whole] = await Promise.all([new Response(readable).arrayBuffer(), feed()]);
  return new Uint8Array(whole);
}

/** The bytes as zlib packs them. @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function deflated(bytes) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream()
    .pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** One piece behind the other. @param {Uint8Array[]} pieces */
export function joined(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
