// @ts-check
// Fits what a slide shows into what its words leave and magnifies it, keeps the keys of a widget in the
// widget, and says of reveal's other views what they leave out for who listens to them.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  };
  dark.addEventListener("change", follow);
  follow();

  const deck = /** @type {any} */ (globalThis).Reveal;
  if (!deck) return; // the index

  /**
   * A shortened lecture, `?without=3,5-7`, or without what is spare, `?core`: plan, minutes and pace are
   * those of what is left.
   * @param {string} without @param {boolean} core
   */
  function leaveOut(without, core) {
    const gone = [...without.matchAll(/(\d+)(?:-(\d+))?/g)].map(([, from, to = from]) => [Number(from), Number(to)]);
    const plan = document.querySelectorAll(".opening li");
    const slides = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".slides > section"));
    let [left, minutes] = [0, 0];
    slides.forEach((slide, number) => {
      const line = plan[number - 1]; // the title has none
      const spare = core && slide.dataset.spare;
      if (line && (spare || gone.some(([from, to]) => from <= number && number <= to))) {
        line.remove();
        slide.remove();
        return;
      }
      const begins = /** @type {Text | undefined} */ (line?.querySelector("p")?.firstChild);
      if (begins) begins.data = begins.data.replace(/[\d.]+/, String(minutes));
      left += line ? 1 : 0;
      minutes += Number(slide.dataset.timing) / 60;
    });
    for (const said of document.querySelectorAll(".slide-plan, .opening .notes > p")) {
      const text = said.textContent ?? "";
      said.textContent = text.replace(/\d+ slides/, `${left} slides`).replace(/[\d.]+ minute/, `${minutes} minute`);
    }
    if (!deck.isReady()) return;
    deck.sync();
    deck.slide(...location.hash.slice(2).split("/").map(Number));
  }
  const asked = new URLSearchParams(location.search);
  const [without, core] = [asked.get("without"), asked.has("core")];
  if (without || core) leaveOut(without ?? "", core);

  // How a training went on is shown where a cell has nothing else to show.
  for (const output of document.querySelectorAll(".slide-shown .cell_output")) {
    const training = [...output.children].filter((part) => part.querySelector("progress"));
    if (training.length < output.childElementCount) for (const part of training) part.remove();
  }

  const LARGEST = 2.6; // a small picture is enlarged no further
  const SMALLEST = 0.4;
  const GAIN = 1.15; // by which another arrangement has to be better
  const STEPS = 9; // of halving: a hundredth is left
  const MAGNIFIED = ".magnified, .alone, .with-one-part";

  // Of a part of a widget, what is cut only if it is enlarged too far
  const SIDEWAYS = ".tfw-scroll:not([data-wide]), .tfw > :not([data-picture])";

  const LEARNS = ".tfw-play"; // magnified, its pictures gain more than its letters

  /** Lines of code stay whole. @param {HTMLElement} stage @param {HTMLElement} shown @param {number} zoom */
  function fits(stage, shown, zoom) {
    shown.style.zoom = String(zoom);
    const width = `${stage.clientWidth / zoom}px`;
    if (shown.querySelector(".widget-place")) shown.style.width = width;
    else if (shown.querySelector("img, table:not(.chart)") && !shown.querySelector("pre")) shown.style.maxWidth = width;
    const boxes = stage.matches(".with-one-part") ? [...shown.querySelectorAll(SIDEWAYS)] : [];
    if (boxes.some((box) => box.scrollWidth > box.clientWidth)) return false;
    return stage.scrollHeight <= stage.clientHeight && stage.scrollWidth <= stage.clientWidth;
  }

  /**
   * The largest zoom at which a stage needs no scrolling; 0 where that is below `least`, which is found
   * out at once: a widget takes long to lay out.
   * @param {HTMLElement} stage
   */
  function fit(stage, least = 0) {
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    const limited = shown.querySelector(stage.matches(MAGNIFIED) ? LEARNS : "pre, table, .widget-place");
    const most = limited ? 1.6 : LARGEST;
    let low = SMALLEST;
    let high = most;
    if (least && (least > most || !fits(stage, shown, least))) return 0;
    if (fits(stage, shown, most)) return most;
    for (let step = 0; step < STEPS; step += 1) {
      const middle = (low + high) / 2;
      if (fits(stage, shown, middle)) low = middle;
      else high = middle;
    }
    fits(stage, shown, low);
    return low;
  }

  /**
   * Fits a stage, a tall widget in two columns where its letters gain by that. How large all has become: of
   * a picture, whose width has a limit, its own scale; 0 of a widget that stays below `least`.
   * @param {HTMLElement} stage
   */
  function settled(stage, least = 0) {
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    shown.classList.remove("in-columns");
    const widget = shown.querySelector(".widget-place");
    const zoom = fit(stage, widget ? least : 0);
    const image = shown.querySelector("img");
    if (image?.clientWidth) return image.getBoundingClientRect().width / image.naturalWidth;
    if (!widget) return zoom;
    shown.classList.add("in-columns");
    const halved = fit(stage, Math.max(least, GAIN * zoom));
    if (halved) return halved;
    shown.classList.remove("in-columns");
    if (zoom) fits(stage, shown, zoom);
    return zoom;
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

  const COVERED = ".fragment:not(.visible, table)"; // of a table the last column alone

  /** Whether all that answers its question comes with the next key. @param {Element} body */
  function asks(body) {
    return body.querySelector(`:is(.slide-words, .slide-shown) > ${COVERED}`) !== null &&
      !body.querySelector(`.slide-shown > :not(${COVERED})`);
  }

  /** Words above or beside, whichever leaves more. @param {HTMLElement} slide */
  function arrange(slide) {
    const body = slide.querySelector(":scope > .slide-body");
    if (!body || !slide.offsetHeight) return;
    const stage = /** @type {HTMLElement} */ (body.querySelector(":scope > .slide-stage"));
    const words = body.querySelectorAll(":scope > :is(.slide-words, .slide-then):has(*)").length;
    body.classList.toggle("asks", asks(body));
    body.classList.toggle("only-words", asks(body) || !stage.firstElementChild?.childElementCount);
    body.classList.toggle("only-stage", words === 0);
    body.classList.remove("beside", "many-words");
    fitFormulas(body);
    if (body.classList.contains("only-words")) {
      body.classList.toggle("many-words", body.scrollHeight > body.clientHeight);
      fitFormulas(body);
      return;
    }
    const above = settled(stage);
    if (words === 0) return;
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    const columns = shown.classList.contains("in-columns");
    const style = shown.style.cssText;
    body.classList.add("beside");
    const beside = settled(stage, GAIN * above);
    const whole = body.scrollHeight <= body.clientHeight && body.scrollWidth <= body.clientWidth;
    if (beside > GAIN * above && whole) return;
    body.classList.remove("beside");
    shown.classList.toggle("in-columns", columns);
    shown.style.cssText = style;
  }

  const READABLE = 0.8; // a picture that is made smaller than that is shown in parts, too
  const ENLARGED = 1.15; // at least so much of its own size has a part
  const OVERLAP = 0.04; // of a part with the next, on either side
  const NEAR = 0.25; // by such a share of a part a cut may be moved to a gap

  /**
   * A tall picture, which would be small as a whole, is enlarged with the next keys: its upper part, and
   * so on down. Each part is a fragment of reveal's.
   * @param {HTMLElement} slide
   */
  function inParts(slide) {
    const stage = /** @type {HTMLElement | null} */ (slide.querySelector(".slide-stage"));
    const image = stage?.querySelector("img");
    if (!stage?.clientWidth || !image?.naturalWidth || stage.querySelector(".widget-place, table")) return;
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    const { clientWidth: width, clientHeight: height } = stage;
    const tall = image.naturalHeight / image.naturalWidth;
    const wanted = Math.ceil((ENLARGED * image.naturalHeight) / height);
    const parts = Math.min(wanted, Math.round(tall * (width / height))); // no wider than the slide
    if (!stage.querySelector(".slide-part")) {
      const scale = (image.getBoundingClientRect().height / deck.getScale()) / image.naturalHeight;
      if (parts < 2 || scale > READABLE) return;
      for (let part = 0; part < parts; part += 1) {
        const step = document.createElement("span");
        step.className = "slide-part fragment";
        stage.append(step);
      }
      deck.syncFragments(slide);
    }
    const part = stage.querySelectorAll(".slide-part.visible").length;
    stage.classList.toggle("in-parts", part > 0);
    if (!part) return;
    const cut = cuts(image.dataset.gaps, stage.querySelectorAll(".slide-part").length);
    const all = Math.min(height / Math.max(...cut.map(([top, bottom]) => bottom - top)), width * tall);
    const [top, bottom] = cut[part - 1];
    shown.style.cssText = `zoom: 1; width: ${width}px; height: ${all * (bottom - top)}px`;
    image.style.height = `${all}px`;
    image.style.marginTop = `${-all * top}px`;
  }

  /**
   * Where the parts of a picture begin and end, as shares of it: in the widest gap near where equal parts
   * would, else with some of the part before.
   * @param {string | undefined} empty @param {number} parts
   */
  function cuts(empty, parts) {
    const gaps = (empty ?? "").split(" ").filter(Boolean).map(Number); // the widest first
    const ends = Array.from({ length: parts - 1 }, (_, part) => {
      const middle = (part + 1) / parts;
      const gap = gaps.find((at) => Math.abs(at - middle) < NEAR / parts);
      return gap ? [gap, gap] : [middle - OVERLAP / parts, middle + OVERLAP / parts];
    });
    return Array.from({ length: parts }, (_, part) => [ends[part - 1]?.[0] ?? 0, ends[part]?.[1] ?? 1]);
  }

  /** @param {HTMLElement} slide */
  function whole(slide) {
    const stage = slide.querySelector(".slide-stage");
    if (stage?.querySelector(".slide-part")) {
      stage.classList.remove("in-parts");
      /** @type {HTMLElement} */ (stage.firstElementChild).style.cssText = "";
      for (const image of stage.querySelectorAll("img")) image.style.cssText = "";
    }
    // While arrangements are tried, a wide one lets go of what was scrolled.
    const scrolled = [...slide.querySelectorAll(".tfw-scroll")].map((box) => ({ box, left: box.scrollLeft }));
    arrange(slide);
    inParts(slide);
    for (const { box, left } of scrolled) box.scrollLeft = left;
  }

  /** @param {Element | null | undefined} slide */
  function settle(slide) {
    if (!(slide instanceof HTMLElement)) return;
    whole(slide);
    for (const image of slide.querySelectorAll("img")) {
      if (!image.complete) image.addEventListener("load", () => whole(slide), { once: true });
    }
    const widget = /** @type {HTMLElement | null} */ (slide.querySelector(".widget-place"));
    if (!widget) return;
    const height = widget.offsetHeight;
    const again = () => widget.offsetHeight === height || slide.querySelector(MAGNIFIED) || whole(slide);
    requestAnimationFrame(() => requestAnimationFrame(again)); // it may have drawn anew for the room it has
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
      // What is folded is so whether a widget was drawn on its slide, with room, or before.
      for (const fold of /** @type {Element} */ (target).querySelectorAll("details.tfw-more")) {
        fold.toggleAttribute("open", fold.matches(".tfw-shapes-details > :first-child"));
      }
      const slide = /** @type {Element} */ (target).closest(".slides > section");
      if (slide === deck.getCurrentSlide()) settle(slide); // another is settled when it is turned to
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
    const typed = target.matches("textarea, select, input:not([type=range], [type=checkbox], [type=radio])");
    if (event.key.toLowerCase() === "m" && !typed && !event.ctrlKey && !event.metaKey && !event.altKey) {
      magnify();
      return;
    }
    const [next, prev] = [() => deck.next(), () => deck.prev()];
    const arrows = target.matches(".tfw-button:not([data-lm-suppress-shortcuts]), [type=checkbox]") && { ArrowRight: next, ArrowLeft: prev };
    const turn = { PageDown: next, PageUp: prev, Escape: unmagnify, ...arrows }[event.key];
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
    const pace = view.querySelector(".pacing-title");
    if (pace && pace.textContent !== PACE) pace.textContent = PACE;
  }

  const PACE = "Until this slide should end";
  // The labels have a strip of their own, and the time one line, so that the notes have the rest.
  const LOOK_OF_VIEW = [
    ".mute { opacity: 1 !important; color: #666; }",
    "h1 { position: absolute; overflow: hidden; width: 1px; height: 1px; margin: 0; }",
    "#upcoming-slide { padding-top: 42px !important; }",
    "#upcoming-slide .label, #speaker-layout { top: 4px; }",
    "[data-last] #upcoming-slide iframe { visibility: hidden; }",
    ".speaker-controls-time { display: grid; grid-template-columns: auto 1fr auto; padding: 0 16px 6px !important; }",
    ".speaker-controls-time .clear { display: none; }",
    ".speaker-controls-time > * { width: auto !important; margin: 0 !important; }",
    ".speaker-controls-time .timer { grid-area: 2 / 1; }",
    ".speaker-controls-time :is(.pacing, .pacing-title) { grid-column: 2; text-align: center; }",
    ".speaker-controls-time .clock { grid-area: 2 / 3; }",
    ".speaker-controls-notes { padding: 4px 16px !important; }",
    ".speaker-controls-notes .value :is(p, ol) { margin: 0 0 0.4em; }",
    ".speaker-controls-notes .value li p { margin: 0; }",
    ".speaker-controls-notes .value { margin: 0; font-size: 1em !important; line-height: 1.35 !important; }",
  ].join("\n");

  /** Notes that are too long for their place get smaller letters. @param {Document} view */
  function shorten(view) {
    const box = view.querySelector("#speaker-controls");
    const notes = /** @type {HTMLElement | null} */ (view.querySelector(".speaker-controls-notes"));
    if (!box || !notes) return;
    for (let size = 18; size >= 13; size -= 1) {
      notes.style.fontSize = `${size}px`;
      if (box.scrollHeight <= box.clientHeight) return;
    }
  }

  // What a preview says to the speaker's view, where keys are pressed; the view reads all that is said as JSON.
  const MAGNIFY = JSON.stringify({ book: "magnify" });
  const UNMAGNIFY = JSON.stringify({ book: "unmagnify" });
  const READY = JSON.stringify({ book: "ready" }); // a preview may be so after it was told what to show
  const tell = (/** @type {string} */ message) => parent !== window && parent.postMessage(message, "*");
  const open = globalThis.open.bind(globalThis);
  globalThis.open = (address, target) => {
    const opened = open(address, target, `width=${screen.availWidth},height=${screen.availHeight}`);
    // What the plug-in writes into the window, it writes as soon as it has it.
    setTimeout(() => {
      const view = opened?.document;
      if (!view?.querySelector("#speaker-controls")) return;
      opened?.addEventListener("message", ({ data }) => {
        if (data === MAGNIFY) magnify();
        if (data === UNMAGNIFY) unmagnify();
        if (data === READY) deck.dispatchEvent({ type: "resumed" });
      });
      const title = view.createElement("h1");
      title.textContent = "The speaker\u2019s view";
      const look = view.createElement("style");
      look.textContent = LOOK_OF_VIEW;
      view.head.append(look);
      view.querySelector("#speaker-controls")?.prepend(title);
      const label = view.querySelector("#upcoming-slide .label");
      const told = () => {
        name(view);
        // Where nothing comes, the view would show the last slide once more.
        const isLast = deck.isLastSlide() && !deck.availableFragments().next;
        view.body.toggleAttribute("data-last", isLast);
        const says = isLast ? "The end" : "Upcoming";
        if (label && label.textContent !== says) label.textContent = says;
        shorten(view);
      };
      told();
      opened?.addEventListener("resize", () => shorten(view));
      for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"]) deck.on(event, told);
      new MutationObserver(told).observe(view.body, { childList: true, subtree: true });
    });
    return opened;
  };

  const PICTURE = "svg, canvas, table, .tfw-heatmap";
  const HANDLE = ".tfw-control, .tfw-steps, .tfw-button";
  // Of a model that learns: the guess, what is pressed, and what its verdict asks to change
  const GUESS = ".tfw-play > .tfw-pick";
  const KEPT = `${GUESS}, .tfw-play-train, .tfw-play-train ~ .tfw-tick ~ .tfw-control`;
  const SAID = ".tfw-play-status, .tfw-play-results > [role=status]"; // of it, beside what it is about

  const [ESCAPE, M] = [27, 77]; // as reveal counts keys

  /** The handles that were used last, the latest one first. @type {Element[]} */
  let used = [];
  for (const event of ["focusin", "input"]) {
    addEventListener(event, ({ target }) => {
      const handle = /** @type {Element} */ (target).closest?.(HANDLE);
      if (handle?.closest(".slide-stage:not(.with-one-part)")) {
        used = [handle, ...used.filter((other) => other !== handle && other.isConnected)];
      }
    });
  }

  /**
   * The pictures and tables of a widget; of some in a grid each by itself.
   * @param {Element} box @returns {Element[]}
   */
  function pictures(box) {
    return [...box.children].flatMap((part) => {
      const shows = [part, ...part.querySelectorAll(PICTURE)].some((one) => one.matches(PICTURE) && one.checkVisibility());
      if (!shows || part.matches("details")) return [];
      const grid = getComputedStyle(part).display === "grid" && !part.matches(".tfw-together");
      const inner = grid ? pictures(part) : [];
      return inner.length > 1 ? inner : [part];
    });
  }

  /** Takes away what stands beside what is kept. @param {Element} box @param {Element[]} kept */
  function clear(box, kept) {
    for (const part of /** @type {HTMLElement[]} */ ([...box.children])) {
      if (kept.includes(part)) continue;
      if (kept.some((one) => part.contains(one))) clear(part, kept);
      else part.dataset.away = "";
    }
  }

  /** Of the largest thing drawn: a box around it may lie across both columns. @param {Element} picture */
  function area(picture) {
    const drawn = picture.matches(PICTURE) ? [picture] : [...picture.querySelectorAll(PICTURE)];
    return Math.max(...drawn.map((one) => one.getBoundingClientRect()).map(({ width, height }) => width * height));
  }

  /** All of a widget. @param {Element} stage */
  function restore(stage) {
    stage.classList.remove("with-one-part", "part-beside");
    for (const mark of ["data-away", "data-picture", "data-wide"]) {
      for (const part of stage.querySelectorAll(`[${mark}]`)) part.removeAttribute(mark);
    }
  }

  /**
   * The next picture of a widget that gains by it fills the slide, with the handles that it keeps and those that were
   * used last, two in all (before that, with its first slider or else its first handle), with what is
   * dragged beside it, and with the sentence that says what happens; after the last one the whole again. False
   * where a widget cannot be taken apart.
   * @param {HTMLElement} stage @param {HTMLElement} shown @param {Element} widget @returns {boolean}
   */
  function onePart(stage, shown, widget) {
    const before = Number(shown.dataset.part ?? 0);
    restore(stage);
    if (before) arrange(/** @type {HTMLElement} */ (stage.closest("section")));
    const columns = shown.classList.contains("in-columns");
    shown.classList.remove("in-columns");
    const parts = pictures(widget);
    const looks = / will it look /.test(widget.querySelector(GUESS)?.textContent ?? "");
    if (looks) parts.reverse(); // its heads first
    const indivisible = !parts.length || getComputedStyle(widget).display === "grid";
    shown.classList.toggle("in-columns", columns);
    if (indivisible) return false;
    const next = (before + 1) % (parts.length + 1);
    shown.dataset.part = String(next);
    if (!next) return true;
    const picture = parts[next - 1];
    const small = area(picture);
    stage.classList.add("with-one-part");
    const asks = widget.querySelector(".tfw-play-train[aria-disabled=true]");
    const handles = [...widget.querySelectorAll(HANDLE)].filter((handle) =>
      handle.checkVisibility() && !handle.closest("details"));
    for (const box of widget.querySelectorAll(".tfw-scroll")) {
      box.toggleAttribute("data-wide", box.scrollWidth > box.clientWidth);
    }
    const kept = handles.filter((one) => one.matches(KEPT));
    const last = [...new Set([...kept, ...used.filter((one) => handles.includes(one))])]
      .slice(0, Math.max(2, kept.length));
    if (!last.length) last.push(...handles.filter((one) => one.querySelector("input[type=range]")).slice(0, 1));
    if (!last.length && !picture.querySelector(HANDLE)) last.push(...handles.slice(0, 1));
    last.push(...widget.querySelectorAll(":scope > :has(> [role=slider])"));
    let said = [...widget.querySelectorAll(":scope > [role=status]")].slice(-1);
    if (picture.querySelector("[role=status]")) said = [...widget.querySelectorAll(SAID)];
    shown.classList.remove("in-columns");
    clear(widget, [picture, ...said, ...last]);
    for (const part of widget.children) part.toggleAttribute("data-picture", part.contains(picture));
    const ways = [() => stage.classList.toggle("part-beside")];
    // A chart, and what scrolls sideways, would lose in a column what their letters gain.
    const broad = ".tfw-chart, [data-wide]";
    if (!picture.matches(broad) && !picture.querySelector(broad)) ways.push(() => shown.classList.toggle("in-columns"));
    let most = fit(stage);
    let best = () => {};
    if (widget.matches(LEARNS)) best = ways[0];
    else for (const arranged of ways) {
      arranged();
      const zoom = fit(stage);
      arranged();
      if (zoom > GAIN * most) [most, best] = [zoom, arranged];
    }
    best();
    fit(stage);
    const first = asks && next === 1; // the question is read with it
    return first || area(picture) > GAIN * small || onePart(stage, shown, widget);
  }

  /** The same part once more: of a question that was answered one line is left. @param {HTMLElement} stage */
  function answered(stage) {
    const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
    const part = Number(shown.dataset.part);
    restore(stage);
    arrange(/** @type {HTMLElement} */ (stage.closest("section")));
    shown.dataset.part = String(part - 1);
    onePart(stage, shown, /** @type {Element} */ (shown.querySelector(".widget-place .tfw")));
    /** @type {HTMLElement | null} */ (stage.querySelector(".tfw-play-train"))?.focus();
  }
  addEventListener("input", ({ target }) => {
    const guess = /** @type {Element} */ (target).closest?.(GUESS);
    const stage = /** @type {HTMLElement | null} */ (guess?.closest(".slide-stage.with-one-part"));
    // The widget takes it up with the next frame.
    if (stage) requestAnimationFrame(() => requestAnimationFrame(() => answered(stage)));
  });

  /**
   * What is shown fills the slide; of a picture that would gain too little by that, one after the other of
   * those that stand side by side in it. Then the slide again. False where nothing of this enlarges it.
   * @param {HTMLElement} stage @param {HTMLElement} shown @returns {boolean}
   */
  function alone(stage, shown) {
    const picture = shown.querySelector("table, .widget-place") ? null : shown.querySelector("img");
    const parts = picture ? [2, 3].map((many) => cuts(picture.dataset.columns, many)).find(inGaps) ?? [] : [];
    const before = Number(shown.dataset.part ?? 0);
    if (!before) {
      const size = () => picture?.getBoundingClientRect().width ?? Number(shown.style.zoom);
      const small = size();
      stage.classList.add("alone");
      fit(stage);
      const gains = size() > GAIN * small;
      if (!picture && !gains) return !unmagnify();
      shown.dataset.part = "1";
      if (gains || !parts.length) return true; // a picture is not cut through what it shows
    } else if (!stage.matches(".sideways") || before === parts.length) {
      return unmagnify();
    }
    if (picture) beside(stage, shown, picture, parts[before]);
    shown.dataset.part = String(before + 1);
    return true;
  }

  /** Whether no part has anything of another. @param {number[][]} parts */
  const inGaps = (parts) => parts.every(([, end], part) => end === (parts[part + 1]?.[0] ?? 1));

  /**
   * One of the parts that a picture has side by side.
   * @param {HTMLElement} stage @param {HTMLElement} shown @param {HTMLImageElement} picture @param {number[]} part
   */
  function beside(stage, shown, picture, [left, right]) {
    const { naturalWidth: width, naturalHeight: height } = picture;
    const scale = Math.min(LARGEST, stage.clientWidth / ((right - left) * width), stage.clientHeight / height);
    stage.classList.add("sideways");
    shown.style.cssText = `zoom: 1; width: ${scale * (right - left) * width}px`;
    picture.style.cssText = `width: ${scale * width}px; margin-left: ${-scale * left * width}px`;
  }

  /** All of what is shown, or the next part of it; then the slide again. */
  function magnify() {
    const stage = deck.getCurrentSlide().querySelector(".slide-stage");
    const shown = /** @type {HTMLElement | undefined} */ (stage?.firstElementChild);
    if (!shown?.childElementCount || !stage.clientHeight || stage.matches(".in-parts")) return;
    const widget = shown.querySelector(".widget-place .tfw");
    if (widget && onePart(stage, shown, widget)) return;
    if (!stage.matches(".magnified") && alone(stage, shown)) return;
    shown.style.transform = "";
    const box = shown.getBoundingClientRect();
    const room = stage.getBoundingClientRect();
    const ends = (/** @type {number} */ size, /** @type {number} */ most) =>
      (2 * size > most ? ["0%", "100%"] : ["50%"]);
    const parts = ends(box.height, room.height)
      .flatMap((y) => ends(box.width, room.width).map((x) => `${x} ${y}`));
    const next = (Number(shown.dataset.part ?? 0) + 1) % (parts.length + 1);
    if (!next) {
      unmagnify();
      return;
    }
    shown.dataset.part = String(next);
    stage.classList.add("magnified");
    shown.style.transform = "scale(2)";
    shown.style.transformOrigin = parts[next - 1];
  }

  /** Whoever leaves a slide finds it whole again. */
  function shrink() {
    for (const stage of document.querySelectorAll(`.slide-stage:is(${MAGNIFIED})`)) {
      const shown = /** @type {HTMLElement} */ (stage.firstElementChild);
      restore(stage);
      if (stage.matches(".sideways")) for (const image of shown.querySelectorAll("img")) image.style.cssText = "";
      stage.classList.remove("magnified", "alone", "sideways");
      shown.style.cssText = "";
      delete shown.dataset.part;
    }
  }

  /** The slide again; false where nothing of it is magnified. */
  function unmagnify() {
    const slide = deck.getCurrentSlide();
    if (!slide.querySelector(`.slide-stage:is(${MAGNIFIED})`)) return false;
    shrink();
    settle(slide);
    return true;
  }

  function start() {
    deck.addKeyBinding({ keyCode: M, key: "M", description: "Magnify, part by part" }, () => {
      tell(MAGNIFY);
      magnify();
    });
    deck.configure({
      // The slide with the title does not count: plans and addresses number the others.
      slideNumber: (/** @type {HTMLElement} */ slide = deck.getCurrentSlide()) => {
        const number = deck.getSlides().indexOf(slide);
        return number ? [number, "/", deck.getTotalSlides() - 1] : [""];
      },
      // A key from the speaker's window comes without a target, and with its code alone.
      keyboardCondition: (/** @type {KeyboardEvent} */ event) => {
        if (/** @type {Element | null} */ (event.target)?.closest?.(".widget-place, .slide-stage:focus")) return false;
        if (event.keyCode !== ESCAPE || !unmagnify()) return true;
        tell(UNMAGNIFY);
        return false;
      },
    });
    settle(deck.getCurrentSlide());
    tell(READY);
  }
  for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"]) {
    deck.on(event, () => {
      shrink();
      settle(deck.getCurrentSlide());
    });
  }
  if (deck.isReady()) start();
  else deck.on("ready", start);
})();
