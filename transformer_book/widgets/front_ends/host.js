// @ts-check
// Brings the widgets of a page to life without a kernel. Each front end is loaded when its widget
// comes near the window; its state stands in the page. All are plain scripts and no modules, since a
// browser loads no module for a page that was opened from the disk.
(() => {
  /** @typedef {{render: (host: {model: PageModel, el: HTMLElement}) => unknown}} FrontEnd */

  const STATIC = /** @type {HTMLScriptElement} */ (document.currentScript).src;
  const VERSION = new URL(STATIC).search; // of this script and of all front ends
  document.documentElement.dataset.widgets = ""; // else host.css says that this script is missing

  /** The state of a widget that nobody shares: set, tell those who watch, forget nothing else. */
  class PageModel {
    /** @param {Object<string, any>} state */
    constructor(state) {
      this.state = state;
      /** @type {Map<string, Set<() => void>>} */
      this.watchers = new Map();
    }

    /** @param {string} name */
    get(name) {
      return this.state[name];
    }

    /** @param {string} name @param {any} value */
    set(name, value) {
      if (Object.is(this.state[name], value)) return;
      this.state[name] = value;
      for (const event of [`change:${name}`, "change"]) {
        for (const callback of [...(this.watchers.get(event) ?? [])]) callback();
      }
    }

    save_changes() {} // there is nowhere to save them

    /** @param {string} event @param {() => void} callback */
    on(event, callback) {
      if (!this.watchers.has(event)) this.watchers.set(event, new Set());
      this.watchers.get(event)?.add(callback);
    }

    /** @param {string} event @param {() => void} [callback] */
    off(event, callback) {
      if (callback) this.watchers.get(event)?.delete(callback);
      else this.watchers.delete(event);
    }
  }

  const page = /** @type {any} */ (globalThis); // where scripts leave what they bring

  /** Runs a script of the site. @param {string} path @returns {Promise<void>} */
  function run(path) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(path, STATIC).href;
      script.addEventListener("load", () => resolve());
      script.addEventListener("error", () => {
        script.remove(); // so that a second try is one
        reject(new Error(`${script.src} did not load`));
      });
      document.head.append(script);
    });
  }

  /** @type {Map<string, Promise<any>>} */
  const made = new Map();

  /**
   * What is made once a page; what failed is tried again when it is asked for again.
   * @template T @param {string} name @param {() => Promise<T>} make @returns {Promise<T>}
   */
  function once(name, make) {
    let coming = made.get(name);
    if (!coming) {
      coming = make();
      coming.catch(() => made.delete(name));
      made.set(name, coming);
    }
    return coming;
  }

  /**
   * The front end of a name, which its script leaves in `bookWidgets`.
   * @param {string} name @returns {Promise<FrontEnd & Object<string, any>>}
   */
  const frontEndOf = (name) => once(name, async () => {
    await run(`widgets/${name}.js${VERSION}`);
    return page.bookWidgets[name];
  });

  /** @type {Map<string, Set<(share: number) => void>>} who wants to know how much of a model is there */
  const listeners = new Map();

  /**
   * The trained model that a widget names, to be run here: loaded once a page, when a reader asks.
   * An error named "Damaged" says that its scripts are there and their content is not sound.
   * @param {{name: string, parts: number, digests?: number[]}} model how many scripts it comes in
   * @param {(share: number) => void} progress is told how much of it is there, 0 to 1
   */
  async function trained({ name, parts, digests }, progress) {
    const live = await frontEndOf("live");
    const told = listeners.get(name) ?? new Set();
    listeners.set(name, told.add(progress));
    const model = await once(`model ${name}`, async () => {
      for (let i = 0; i < parts; i += 1) {
        const version = digests ? `?v=${digests[i]}` : "";
        if (!page.bookModels?.[name]?.[i]) await run(`models/${name}/${i}.js${version}`);
        for (const tell of told) tell((i + 1) / parts);
      }
      try {
        return await live.open(Array.from({ length: parts }, (_, i) => page.bookModels[name][i]),
          { digests });
      } catch (error) {
        throw Object.assign(new Error(`${error}`), { name: "Damaged" });
      } finally {
        listeners.delete(name);
        delete page.bookModels?.[name]; // as text it is needed no more; what is damaged is fetched anew
      }
    });
    return { live, model };
  }

  /** @param {string} text */
  function fromBase64(text) {
    const binary = atob(text);
    return new DataView(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)).buffer);
  }

  /** Its picture for paper: hidden, it is near no window, and a print may not wait. @param {HTMLElement} place */
  function fetchTwin(place) {
    const twin = place.nextElementSibling?.querySelector("img");
    const { connection } = /** @type {any} */ (navigator);
    if (twin && !connection?.saveData) Object.assign(twin, { fetchPriority: "low", loading: "eager" });
  }

  /** @param {HTMLElement} place */
  async function start(place) {
    const script = place.querySelector("script");
    const { state, buffers } = JSON.parse(script?.textContent ?? "{}");
    for (const [name, text] of Object.entries(buffers)) state[name] = fromBase64(text);
    try {
      const frontEnd = await frontEndOf(state.front_end);
      const model = new PageModel(state);
      if (state.live?.name) {
        let answered = false; // once, however often it is asked to load
        Object.assign(model, { load: async (/** @type {(share: number) => void} */ progress) => {
          const found = await trained(state.live, progress);
          if (!answered) found.live.answer(model, found.model);
          answered = true;
          return found.model;
        } });
      }
      const before = place.getBoundingClientRect();
      await frontEnd.render({ model, el: place });
      // For tests and for curious readers.
      Object.assign(place, { model });
      place.dataset.state = "live"; // which ends the height that was kept for it
      fetchTwin(place);
      // Safari does not hold what its reader looks at while something above it grows.
      if (!CSS.supports("overflow-anchor", "auto") && before.bottom < innerHeight / 4) {
        scrollBy({ top: place.offsetHeight - before.height, behavior: "instant" });
      }
    } catch (error) {
      place.dataset.state = "failed"; // host.css says so; the picture for print takes its place
      throw error;
    }
  }

  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      start(/** @type {HTMLElement} */ (target));
    }
  }, { rootMargin: "600px" });

  for (const place of document.querySelectorAll(".widget-place")) near.observe(place);
})();
