// @ts-check
// Fits what a slide shows into what its words leave, and keeps the keys of a widget in the widget.
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

  /** Words above or beside, whichever leaves more. @param {HTMLElement} slide */
  function arrange(slide) {
    const body = slide.querySelector(":scope > .slide-body");
    if (!body || !slide.offsetHeight) return;
    const stage = /** @type {HTMLElement} */ (body.querySelector(":scope > .slide-stage"));
    const words = body.querySelectorAll(":scope > :is(.slide-words, .slide-then):has(*)").length;
    body.classList.toggle("only-words", !stage.firstElementChild?.childElementCount);
    body.classList.toggle("only-stage", words === 0);
    body.classList.remove("beside");
    if (body.classList.contains("only-words")) return;
    const above = fit(stage);
    if (words === 0) return;
    body.classList.add("beside");
    const beside = fit(stage);
    const whole = body.scrollHeight <= body.clientHeight;
    if (beside > 1.15 * above && whole) return;
    body.classList.remove("beside");
    fit(stage);
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
