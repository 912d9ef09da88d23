// @ts-check
// A number as readers type it: 1/8, 0,125, 12.5 %, 2^16, 65 536, 6.4e-5, 512 * 64, sqrt(64).

const LONGEST = 100;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const RAISED = /([⁺⁻]?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g;
/** @type {Object<string, number>} */
const WORDS = { thousand: 1e3, million: 1e6, billion: 1e9, "%": 0.01, percent: 0.01 };
/** @type {Object<string, (x: number) => number>} */
const FUNCTIONS = { sqrt: Math.sqrt, ln: Math.log, exp: Math.exp };
// A blank, an underscore or an apostrophe parts thousands in both ways of writing numbers; of point
// and comma one does, and the other begins the decimals.
const STYLES = [".", ","].map((point) => {
  const comma = point === "." ? "," : "\\.";
  const decimals = point === "." ? "\\." : ",";
  const grouped = `[1-9]\\d{0,2}(?:[ _'’${comma}]\\d{3})+(?!\\d)(?:${decimals}\\d+)?`;
  const plain = `\\d+(?:${decimals}\\d*)?|${decimals}\\d+`;
  return {
    point,
    token: new RegExp(`(?<number>(?:${grouped}|${plain})(?:e[+-]?\\d+)?)|(?<word>[a-z]+|%)`
      + "|(?<sign>[-+*/^()])|(?<blank>\\s+)", "y"),
  };
});

/** Signs that mean the same, written in one way. @param {string} text */
function tidied(text) {
  return text.toLowerCase()
    .replace(RAISED, (_, sign, digits) => `^(${sign === "⁻" ? "-" : ""}${
      [...digits].map((digit) => SUPERSCRIPTS.indexOf(digit)).join("")})`)
    .replace(/[\u00a0\u2009\u202f\s]+/g, " ")
    .replace(/[−–—]/g, "-").replace(/[×·⋅∙]/g, "*").replace(/[÷:]/g, "/")
    .replace(/(?<=[\d)] ?)x(?= ?[\d(])/g, "*").replace(/\*\*/g, "^")
    .replace(/√/g, "sqrt").replace(/per cent/g, "percent").trim();
}

/**
 * The tokens of a text in one way of writing numbers; null where it cannot be read in it.
 * @param {string} text @param {{point: string, token: RegExp}} style @returns {(number | string)[] | null}
 */
function tokens(text, { point, token }) {
  /** @type {(number | string)[]} */
  const found = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const { number, word, sign } = token.exec(text)?.groups ?? {};
    if (!token.lastIndex) return null; // nothing fitted
    if (number) {
      const plain = number.replace(/[ _'’]/g, "");
      found.push(Number(point === "." ? plain.replaceAll(",", "")
        : plain.replaceAll(".", "").replace(",", ".")));
    } else if (word || sign) found.push(word || sign);
  }
  return found;
}

/** The value of tokens, by the usual rules; NaN where they make no sense. @param {(number | string)[]} list */
function value(list) {
  let at = 0;
  /** @param {string | number} token */
  const took = (token) => list[at] === token && (at += 1) > 0;

  /** @returns {number} */
  function atom() {
    const token = list[at];
    at += 1;
    if (typeof token === "number") return token;
    if (token === "(") {
      const inside = sum();
      return took(")") ? inside : NaN;
    }
    return typeof token === "string" && Object.hasOwn(FUNCTIONS, token)
      ? FUNCTIONS[token](atom()) : NaN;
  }
  /** @returns {number} */
  function power() {
    const base = atom();
    return took("^") ? base ** signed() : base;
  }
  function counted() {
    let result = power();
    while (typeof list[at] === "string" && Object.hasOwn(WORDS, list[at])) {
      result *= WORDS[list[at]];
      at += 1;
    }
    return result;
  }
  /** @returns {number} */
  function signed() {
    if (took("-")) return -signed();
    return took("+") ? signed() : counted();
  }
  function product() {
    let result = signed();
    for (;;) {
      if (took("*")) result *= signed();
      else if (took("/")) result /= signed();
      else return result;
    }
  }
  /** @returns {number} */
  function sum() {
    let result = product();
    for (;;) {
      if (took("+")) result += product();
      else if (took("-")) result -= product();
      else return result;
    }
  }
  const result = sum();
  return at === list.length ? result : NaN;
}

/**
 * How much its last digit counts, in one way of writing numbers; 0 for a formula.
 * @param {string} tidy @param {string} point
 */
function lastDigit(tidy, point) {
  const found = /^[-+]?([\d _'’.,]+?)(?:(?: ?\* ?10\^\(?|e)([-+]?\d+)\)?)? ?(%|percent)?$/.exec(tidy);
  if (!found) return 0;
  const [, digits, power = "0", share] = found;
  const decimals = (digits.trim().split(point)[1] ?? "").length;
  return 10 ** (Number(power) - decimals) * (share ? 0.01 : 1);
}

/**
 * What a text may mean as a number; "65,536" is one in English and another in German, so there may
 * be two. Or what is wrong with it.
 * @param {string} text @param {string} [unit] may stand behind the number
 * @returns {{values: number[], steps: number[], problem: string}} the steps: how much the last digit
 *   of each value counts, 0 where there is none, as in a formula
 */
export function readings(text, unit = "") {
  const refused = (/** @type {string} */ problem) => ({ values: [], steps: [], problem });
  if (text.length > LONGEST) {
    return refused(`That is too long to be read: a number or a short formula, please, of ${
      LONGEST} characters at most.`);
  }
  let tidy = tidied(text);
  const name = tidied(unit);
  if (!tidy) return refused("Enter a number first.");
  const behind = name === "%" ? /(?:%|percent)$/.exec(tidy)?.[0] : name;
  if (behind && tidy.endsWith(behind)) tidy = tidy.slice(0, -behind.length).trim();
  const found = new Map(STYLES.map((style) => {
    const list = tokens(tidy, style);
    return /** @type {[number, number]} */ ([list?.length ? value(list) : NaN,
      lastDigit(tidy, style.point)]);
  }).filter(([one]) => Number.isFinite(one)));
  if (found.size) return { values: [...found.keys()], steps: [...found.values()], problem: "" };
  return refused("That is not a number that can be read here. These can: 1/8, 0.125, 12.5 %, "
    + "2^16, 65,536, 6.4e-5, 512 * 64.");
}
