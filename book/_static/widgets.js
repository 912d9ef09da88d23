// @ts-check
// Brings the widgets of a page to life without a kernel. Each front end is loaded when its widget
// comes near the window; its state stands in the page. All are plain scripts and no modules, since a
// browser loads no module for a page that was opened from the disk.
(() => {
  /** @typedef {{render: (host: {model: PageModel, el: HTMLElement}) => unknown}} FrontEnd */

  const WIDGETS = new URL("widgets/", /** @type {HTMLScriptElement} */ (document.currentScript).src);

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

  /** @type {Map<string, Promise<FrontEnd>>} */
  const frontEnds = new Map();

  /** The front end of a name, which its script leaves in `bookWidgets`. @param {string} name */
  function frontEndOf(name) {
    let coming = frontEnds.get(name);
    if (!coming) {
      coming = new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(`${name}.js`, WIDGETS).href;
        script.addEventListener("load", () =>
          resolve(/** @type {any} */ (globalThis).bookWidgets[name]));
        script.addEventListener("error", () => reject(new Error(`${script.src} did not load`)));
        document.head.append(script);
      });
      frontEnds.set(name, coming);
    }
    return coming;
  }

  /** @param {string} text */
  function fromBase64(text) {
    const binary = atob(text);
    return new DataView(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)).buffer);
  }

  /** @param {HTMLElement} place */
  async function start(place) {
    const script = place.querySelector("script");
    const { state, buffers } = JSON.parse(script?.textContent ?? "{}");
    for (const [name, text] of Object.entries(buffers)) state[name] = fromBase64(text);
    try {
      const frontEnd = await frontEndOf(state.front_end);
      const model = new PageModel(state);
      await frontEnd.render({ model, el: place });
      // For tests and for curious readers.
      Object.assign(place, { model });
      place.dataset.state = "live";
    } catch (error) {
      place.dataset.state = "failed"; // the picture for print takes its place
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
