// @ts-check
// Which questions have been solved: kept in this browser, sent nowhere, gone when the reader wishes.
// Where a browser keeps nothing (in private windows, for files from the disk) all else works.

const KEY = "transformer-book:self-checks";
const MOST = 1000; // eight characters each
const CHANGED = "tfw-self-checks";

/** The keys of the questions that have been solved. @returns {string[]} */
function solved() {
  try {
    const found = JSON.parse(globalThis.localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string[]} keys */
function keep(keys) {
  try {
    if (keys.length) globalThis.localStorage.setItem(KEY, JSON.stringify(keys.slice(-MOST)));
    else globalThis.localStorage.removeItem(KEY);
  } catch {
    return; // then it is forgotten with the page
  }
  document.dispatchEvent(new Event(CHANGED));
}

/** Whether this question has been solved before. @param {string} key */
export function isSolved(key) {
  return solved().includes(key);
}

/** @param {string} key */
export function remember(key) {
  if (!isSolved(key)) keep([...solved(), key]);
}

export function forgetAll() {
  keep([]);
}

/** Calls back when that changes; returns how to stop. @param {() => void} callback */
export function onChange(callback) {
  document.addEventListener(CHANGED, callback);
  return () => document.removeEventListener(CHANGED, callback);
}

/** How far the reader is on this page and in the book, in one line; empty at the beginning. */
export function summary() {
  const all = solved();
  if (!all.length) return "";
  const here = [...document.querySelectorAll(".widget-place[data-front-end=self_check]")]
    .map((place) => /** @type {HTMLElement} */ (place).dataset.key ?? "");
  const done = here.filter((key) => all.includes(key)).length;
  return `Solved: ${done} of ${here.length} on this page, ${all.length} in the book. `
    + "Only this browser knows.";
}
