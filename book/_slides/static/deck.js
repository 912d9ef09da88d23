// @ts-check
// Fits what a slide shows into what its words leave, keeps the keys of a widget in the widget, and says of
// reveal's other views what they leave out for who listens to them.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  };
  dark.addEventListener("change", follow);
  follow();

  const deck = /** @type {any} */ (globalThis).Reveal;
  if (!deck) return; // the index

  const LARGEST = 2.6; // a small picture is enlarged no further
  const SMALLEST = 0.4;
  const GAIN = 1.15; // by which another arrangement has to be better
  const STEPS = 9; // of halving: a hundredth is left

  /** @param {HTMLElement} stage @param {HTMLElement} shown @param {number} zoom */
  function fits(stage, shown, zoom) {
    shown.style.zoom = String(zoom);
    const width = `${stage.clientWidth / zoom}px`;
    if (shown.querySelector(".widget-place")) shown.style.width = width;
    else if (shown.querySelector("img")) shown.style.maxWidth = width; // lines of code stay whole
    return stage.scrollHeight <= stage.clientHeight && stage.scrollWidth <= stage.clientWidth;
  }

  /** The largest zoom at which a stage needs no scrolling. @param {HTMLElement} stage */
  function fit(stage) {
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    const most = shown.querySelector("pre, table, .widget-place") ? 1.6 : LARGEST;
    let low = SMALLEST;
    let high = most;
    if (fits(stage, shown, most)) return most;
    for (let step = 0; step < STEPS; step += 1) {
      const middle = (low + high) / 2;
      if (fits(stage, shown, middle)) low = middle;
      else high = middle;
    }
    fits(stage, shown, low);
    return low;
  }

  /** The same; a tall widget stands in two columns where its letters gain by that. @param {HTMLElement} stage */
  function settled(stage) {
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    shown.classList.remove("in-columns");
    const whole = fit(stage);
    if (!shown.querySelector(".widget-place")) return whole;
    shown.classList.add("in-columns");
    const halved = fit(stage);
    if (halved > GAIN * whole) return halved;
    shown.classList.remove("in-columns");
    return fit(stage);
  }

  /** A formula that is too long gets smaller letters. @param {Element} body */
  function fitFormulas(body) {
    for (const formula of body.querySelectorAll(".slide-words > .math-display")) {
      const line = /** @type {HTMLElement} */ (formula);
      line.style.fontSize = "";
      if (line.scrollWidth <= line.clientWidth) continue;
      const share = (0.99 * line.clientWidth) / line.scrollWidth;
      line.style.fontSize = `${share * parseFloat(getComputedStyle(line).fontSize)}px`;
    }
  }

  /** Words above or beside, whichever leaves more. @param {HTMLElement} slide */
  function arrange(slide) {
    const body = slide.querySelector(":scope > .slide-body");
    if (!body || !slide.offsetHeight) return;
    const stage = /** @type {HTMLElement} */ (body.querySelector(":scope > .slide-stage"));
    const words = body.querySelectorAll(":scope > :is(.slide-words, .slide-then):has(*)").length;
    body.classList.toggle("only-words", !stage.firstElementChild?.childElementCount);
    body.classList.toggle("only-stage", words === 0);
    body.classList.remove("beside");
    fitFormulas(body);
    if (body.classList.contains("only-words")) return;
    const above = settled(stage);
    if (words === 0) return;
    body.classList.add("beside");
    const beside = settled(stage);
    const whole = body.scrollHeight <= body.clientHeight && body.scrollWidth <= body.clientWidth;
    if (beside > GAIN * above && whole) return;
    body.classList.remove("beside");
    settled(stage);
  }

  /** @param {Element | null | undefined} slide */
  function settle(slide) {
    if (!(slide instanceof HTMLElement)) return;
    arrange(slide);
    for (const image of slide.querySelectorAll("img")) {
      if (!image.complete) image.addEventListener("load", () => arrange(slide), { once: true });
    }
  }

  /** What grows while it is used is fitted again. */
  const grown = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const stage = /** @type {HTMLElement} */ (target.closest(".slide-stage"));
      const over = stage.scrollHeight > stage.clientHeight || stage.scrollWidth > stage.clientWidth;
      if (over && stage.clientHeight) fit(stage);
    }
  });
  const begun = new MutationObserver((records) => {
    for (const { target } of records) {
      settle(/** @type {Element} */ (target).closest(".slides > section"));
      grown.observe(/** @type {Element} */ (target));
    }
  });
  for (const place of document.querySelectorAll(".widget-place")) {
    begun.observe(place, { attributes: true, attributeFilter: ["data-state"] });
  }

  // Capturing: before the widget and before reveal.js. A clicker sends these keys.
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!target.closest?.(".widget-place")) return;
    const turn = { PageDown: () => deck.next(), PageUp: () => deck.prev(), Escape: () => {} }[event.key];
    if (!turn) return;
    event.preventDefault();
    event.stopPropagation();
    target.blur();
    turn();
  }, true);

  /** All slides at once: nothing of them is reached by the tab key. */
  function overview() {
    const all = deck.isOverview();
    for (const slide of document.querySelectorAll(".slides > section")) {
      slide.querySelector(".slide-body")?.toggleAttribute("inert", all);
      if (all) slide.removeAttribute("aria-hidden");
    }
  }
  for (const event of ["overviewshown", "overviewhidden", "slidechanged"]) deck.on(event, overview);

  const REGIONS = {
    "#current-slide": "This slide",
    "#upcoming-slide": "The next slide",
    "#speaker-controls": "Time and notes",
    "#speaker-layout": "Arrangement",
  };

  /** Names for the parts of the speaker's view. @param {Document} view */
  function name(view) {
    for (const [selector, label] of Object.entries(REGIONS)) {
      const part = view.querySelector(selector);
      const controls = selector === "#speaker-controls";
      part?.setAttribute("role", controls ? "main" : "region");
      part?.setAttribute("aria-label", label);
      if (controls) part?.setAttribute("tabindex", "0"); // long notes scroll
      for (const frame of part?.querySelectorAll("iframe") ?? []) frame.title = label;
    }
    for (const heading of view.querySelectorAll("h4")) heading.setAttribute("aria-level", "2");
    view.querySelector("select")?.setAttribute("aria-label", "Arrangement of this view");
  }

  const open = globalThis.open.bind(globalThis);
  globalThis.open = (...how) => {
    const opened = open(...how);
    // What the plug-in writes into the window, it writes as soon as it has it.
    setTimeout(() => {
      const view = opened?.document;
      if (!view?.querySelector("#speaker-controls")) return;
      const title = view.createElement("h1");
      title.textContent = "The speaker\u2019s view";
      const look = view.createElement("style");
      look.textContent = ".mute { opacity: 1 !important; color: #666; } " +
        "h1 { position: absolute; overflow: hidden; width: 1px; height: 1px; margin: 0; }";
      view.head.append(look);
      view.querySelector("#speaker-controls")?.prepend(title);
      name(view);
      new MutationObserver(() => name(view)).observe(view.body, { childList: true, subtree: true });
    });
    return opened;
  };

  function start() {
    deck.configure({
      keyboardCondition: (/** @type {KeyboardEvent} */ event) =>
        !(/** @type {Element} */ (event.target).closest?.(".widget-place, .slide-stage:focus")),
    });
    settle(deck.getCurrentSlide());
  }
  deck.on("slidechanged", (/** @type {any} */ event) => settle(event.currentSlide));
  if (deck.isReady()) start();
  else deck.on("ready", start);
})();
