// @ts-check
// Random numbers that come again with their seed.

/** Numbers from 0 to 1, of 32 bits of state (splitmix32). @param {number} seed */
export function random(seed) {
  let state = (seed * 0x9e3779b9) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** A normal number, of two uniform ones (Box and Muller). @param {() => number} uniform */
export function normal(uniform) {
  return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
