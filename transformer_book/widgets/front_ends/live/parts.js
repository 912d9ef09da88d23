// @ts-check
// The scripts in which a model comes, as bytes (transformer_book/page/model_scripts.py writes them).

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** The CRC-32 of bytes, as zlib has it. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
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
