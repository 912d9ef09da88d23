// @ts-check
// The book without a network. This file is `service_worker.js` on the site; the build writes in what
// the site consists of (tools/site/after/offline.py), so that each edition has a worker of its own.
//
// An edition is kept whole or not at all: a file goes into its cache only if it has the content that
// the edition names, and a page never gets a script of another edition. What has not changed is taken
// over from the edition before. Pictures are named after their content, so editions share them.
"use strict";

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** @type {{version: string, core: Object<string, string>, later: Object<string, string>}} */
const EDITION = JSON.parse("EDITION");
const SCOPE = worker.registration.scope;
const PREFIX = `book ${SCOPE} `;
const NAME = PREFIX + EDITION.version;
const PICTURES = `${PREFIX}pictures`;
const LIST = `${SCOPE}edition.json`; // in a cache: what its edition consists of
const PICTURE = /_images\/[0-9a-f]{64}(-[0-9a-f]{8})?\.\w+/g;
const TAG = /<img (?:[^>"]|"[^"]*")*>/g;
const NOT_FOUND = "404.html";
// What a page needs to look like one: all that a reader who saves data gets without asking.
const ESSENTIAL = /^(404\.html|_static\/(?!widgets\/))/;

/** Whether the reader has asked for few bytes. */
function sparing() {
  return Boolean(/** @type {any} */ (worker.navigator).connection?.saveData);
}

/** A file of this edition, from the server: an error if it has another content. @param {string} path */
async function exact(path) {
  const integrity = EDITION.core[path] ?? EDITION.later[path];
  const response = await fetch(SCOPE + path, { integrity, cache: "no-cache" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** The caches of other editions, each with what it consists of. */
async function editionsBefore() {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  const others = names.filter((name) => ![NAME, PICTURES].includes(name));
  return Promise.all(others.map(async (name) => {
    const cache = await caches.open(name);
    const list = await cache.match(LIST);
    return { cache, files: list ? await list.json() : {} };
  }));
}

/** Puts files of this edition into its cache. @param {string[]} paths */
async function keep(paths) {
  const cache = await caches.open(NAME);
  const before = await editionsBefore();
  const files = { ...EDITION.core, ...EDITION.later };
  await cache.put(LIST, new Response(JSON.stringify(files)));
  await Promise.all(paths.map(async (path) => {
    if (await cache.match(SCOPE + path)) return;
    const same = before.find((edition) => edition.files[path] === files[path]);
    await cache.put(SCOPE + path, (await same?.cache.match(SCOPE + path)) ?? (await exact(path)));
  }));
}

/** What a new edition keeps: all pages and what they share, and what the one before has fetched. */
async function install() {
  const all = Object.keys(EDITION.core);
  await keep(sparing() ? all.filter((path) => ESSENTIAL.test(path)) : all);
  for (const { cache } of await editionsBefore()) {
    const kept = (await cache.keys()).map(({ url }) => url.slice(SCOPE.length));
    // One that cannot be had is asked for again when it is needed.
    await keep(kept.filter((path) => path in EDITION.later)).catch(() => {});
  }
}

/** The pictures of kept pages but those of a class. @param {string[]} paths @param {string} [hidden] @returns {Promise<string[]>} */
async function picturesOf(paths, hidden) {
  const cache = await caches.open(NAME);
  const texts = await Promise.all(paths.map(async (path) => (await cache.match(SCOPE + path))?.text()));
  const shown = (/** @type {string} */ tag) => (hidden && new RegExp(`class="[^"]*${hidden}`).test(tag) ? "" : tag);
  return [...new Set(texts.flatMap((text) => text?.replace(TAG, shown).match(PICTURE) ?? []))];
}

/** Forgets earlier editions, and the pictures that this one lacks. */
async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && ![NAME, PICTURES].includes(name)) await caches.delete(name);
  }
  const shown = new Set(await picturesOf(Object.keys(EDITION.core).filter((path) => path.endsWith(".html"))));
  const pictures = await caches.open(PICTURES);
  for (const request of await pictures.keys()) {
    const path = request.url.slice(SCOPE.length);
    if (path.startsWith("_images/") && !shown.has(path)) await pictures.delete(request);
  }
  await worker.clients.claim();
}

/** Fetches pictures that are not kept yet, and says how far it is. @param {string[]} paths @param {(done: number, of: number) => void} [progress] */
async function keepPictures(paths, progress) {
  const cache = await caches.open(PICTURES);
  for (const [i, path] of paths.entries()) {
    if (!(await cache.match(SCOPE + path))) await cache.add(SCOPE + path);
    progress?.(i + 1, paths.length);
  }
}

/** The path of an address below the book's own, without what stands behind `?` or `#`. @param {string} url */
function pathOf(url) {
  const path = url.slice(SCOPE.length).replace(/[?#].*/, "");
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}

/** Lets a newer edition begin where only the page that is being left would notice. */
async function givesWay() {
  const newer = worker.registration.waiting;
  if (!newer || (await worker.clients.matchAll({ type: "window" })).length > 1) return false;
  newer.postMessage({ begin: true });
  return true;
}

/** What is kept, else what is fetched, which is kept from then on. @param {Request} request @param {string} path */
async function found(request, path) {
  const kept = await caches.match(SCOPE + path, { cacheName: NAME });
  if (kept) return kept;
  if (path in EDITION.core || path in EDITION.later) {
    await keep([path]).catch(() => {}); // the site may have gone on, or nobody answers
    const now = await caches.match(SCOPE + path, { cacheName: NAME });
    return now ?? fetch(request);
  }
  const shared = path.match(PICTURE)?.[0] === path || path.startsWith("notebooks/");
  if (!shared) return fetch(request);
  const pictures = await caches.open(PICTURES);
  const earlier = await pictures.match(SCOPE + path);
  // A notebook's name says nothing about its content: the newest there is.
  if (earlier && !path.startsWith("notebooks/")) return earlier;
  try {
    const response = await fetch(request);
    if (response.ok) await pictures.put(SCOPE + path, response.clone());
    return response;
  } catch (error) {
    if (earlier) return earlier;
    throw error;
  }
}

/** The page that says that there is none, at whatever address the book stands. */
async function notHere() {
  const page = await caches.match(SCOPE + NOT_FOUND, { cacheName: NAME });
  if (!page) return Response.error();
  const text = (await page.text()).replace(/(<html [^>]*data-base=")([^"]*)("[^]*)/, (_, open, base, rest) =>
    open + base + rest.replaceAll(`"${base}`, `"${new URL(SCOPE).pathname}`));
  return new Response(text, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** @param {Request} request */
async function answer(request) {
  const navigates = request.mode === "navigate";
  // An empty page that is loaded again at once, by the newer edition then.
  if (navigates && (await givesWay())) return new Response("", { headers: { Refresh: "0" } });
  try {
    return await found(request, pathOf(request.url));
  } catch (error) {
    if (navigates) return notHere();
    throw error;
  }
}

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(SCOPE)) event.respondWith(answer(request));
});
worker.addEventListener("message", (event) => {
  const { begin, reading, hidden, everything } = event.data;
  if (begin) event.waitUntil(worker.skipWaiting());
  // The pages that a reader is at and may turn to: whole, with their pictures, by day or by night.
  if (reading) {
    const paths = reading.map(pathOf).filter((/** @type {string} */ path) => path in EDITION.core);
    const now = sparing() ? paths.slice(0, 1) : paths;
    event.waitUntil(keep(now).then(() => picturesOf(now, hidden)).then((all) => keepPictures(all)).catch(() => {}));
  }
  if (everything) {
    const say = (/** @type {any} */ message) => event.source?.postMessage(message);
    event.waitUntil((async () => {
      try {
        const all = Object.keys(EDITION.core);
        await keep(all);
        await keepPictures(await picturesOf(all), (done, of) => say({ done, of }));
      } catch {
        say({ failed: true });
      }
    })());
  }
});
