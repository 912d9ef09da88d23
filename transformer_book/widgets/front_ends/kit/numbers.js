// @ts-check
// How numbers are written: all widgets write them in one of these three ways.

const MINUS = "\u2212";

/**
 * A number in as few signs as tell it.
 * @param {number} value @param {number} [digits] that count; if absent four, or all of a whole number
 */
export function short(value, digits) {
  const number = digits ? Number(value.toPrecision(digits)) : value;
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e3 && size < 1e7 && Number.isInteger(number)) return grouped(number);
  if (size >= 1e4 || size < 1e-3) {
    return number.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e").replaceAll("-", MINUS);
  }
  return String(Number(number.toPrecision(4))).replace("-", MINUS);
}

/**
 * A number with all its decimals, for columns; a dash where there is none.
 * @param {number | null} value @param {number} decimals
 */
export function fixed(value, decimals) {
  if (value == null) return "\u2013";
  if (!Number.isFinite(value)) return value < 0 ? `${MINUS}\u221e` : "\u221e";
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", MINUS);
}

/** A whole number, with commas between thousands. @param {number} value */
export function grouped(value) {
  return value.toLocaleString("en").replace("-", MINUS);
}
