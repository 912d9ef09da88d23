// @ts-check
// Remembers, in this browser and nowhere else, which chapters were read to their end and where one
// stopped. Marks the chapters in the contents, offers to go on, and shows all of it on one page.
(() => {
  const KEY = "book-reading";
  const NUMBERED = /^\d+\. /;
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);

  /** @typedef {{page: string, anchor: string, title: string}} Stop */
  /** @type {{read: string[], stop: Stop | null}} */
  let reading = { read: [], stop: null };

  /** What is remembered; a browser may forbid to ask. */
  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      reading = { read: Array.isArray(found.read) ? found.read : [], stop: found.stop ?? null };
    } catch {
      reading = { read: [], stop: null };
    }
  }

  function save() {
    try {
      if (reading.read.length || reading.stop) localStorage.setItem(KEY, JSON.stringify(reading));
      else localStorage.removeItem(KEY);
    } catch {
      // then this page is as ever, and the next one knows nothing
    }
  }

  /** The name of a page of the book, such as `book/why/attention`. @param {string} address */
  const nameOf = (address) =>
    address.slice(root.href.length).replace(/[?#].*/, "").replace(/\.html$/, "");

  /** The chapters in the contents beside the page, with their links. */
  const links = /** @type {HTMLAnchorElement[]} */ (
    [...document.querySelectorAll(".bd-docs-nav .bd-sidenav a.reference")]);
  const chapters = new Map(links.map((link) => [nameOf(link.href), link]));
  const numbered = [...chapters].filter(([, link]) => NUMBERED.test(link.textContent?.trim() ?? ""));
  const here = nameOf(location.href);

  /** @param {string} name @param {Object<string, any>} properties @param {...(Node | string)} content */
  function element(name, properties, ...content) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...content);
    return made;
  }

  /** Puts a sign behind what was read, with a word for those who hear the page. */
  function mark() {
    for (const [name, link] of numbered) {
      const sign = link.querySelector(".read-mark");
      const read = reading.read.includes(name);
      if (read && !sign) {
        const word = element("span", { className: "visually-hidden" }, " (read)");
        link.append(element("span", { className: "read-mark" }, element("span", { ariaHidden: "true" }, " ✓"), word));
      } else if (!read) sign?.remove();
    }
  }

  /** Where a reader stopped, as a link. @param {string} words */
  function onward(words) {
    const { stop } = reading;
    if (!stop || !chapters.has(stop.page)) return null;
    const address = new URL(`${stop.page}.html${stop.anchor ? `#${stop.anchor}` : ""}`, root);
    return element("p", { className: "reading-stop" }, words, element("a", { href: address.href }, stop.title));
  }

  /** @param {string} name @param {boolean} read */
  function setRead(name, read) {
    load(); // another tab may have written
    reading.read = reading.read.filter((other) => other !== name);
    if (read) reading.read.push(name);
    save();
    mark();
  }

  /** The section that the top of the window shows. */
  function atNow() {
    const headings = [...document.querySelectorAll("article section > :is(h1, h2, h3)")];
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const heading = above.at(-1) ?? headings[0];
    if (!heading) return;
    const words = /** @type {HTMLElement} */ (heading.cloneNode(true));
    words.querySelector(".headerlink")?.remove();
    const chapter = chapters.get(here)?.textContent?.replace(/ ✓.*/, "").trim() ?? "";
    const title = words.textContent?.trim() ?? "";
    load();
    const anchor = heading.matches("h1") ? "" : heading.parentElement?.id ?? "";
    reading.stop = { page: here, anchor, title: anchor ? `${chapter}: ${title}` : chapter };
    save();
  }

  /** On a chapter: when its end has been seen, and where a reader leaves it. */
  function watch() {
    const end = document.querySelector(".prev-next-footer");
    if (end) {
      new IntersectionObserver((entries, observer) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        setRead(here, true);
      }).observe(end);
    }
    let moved = false;
    addEventListener("scroll", () => { moved = true; }, { passive: true });
    // Not before a reader has moved: who only looks in has stopped nowhere.
    document.addEventListener("visibilitychange", () => { if (document.hidden && moved) atNow(); });
  }

  /** The page about it: what was read, to be changed and to be forgotten. @param {Element} box */
  function show(box) {
    const said = element("p", { role: "status" });
    const list = element("ul", { className: "reading-list" });
    const bar = element("progress", { max: numbered.length, ariaLabel: "Chapters read" });
    const forget = element("button", { type: "button", className: "btn btn-sm btn-outline-primary" }, "Forget all this");

    function draw() {
      const n = numbered.filter(([name]) => reading.read.includes(name)).length;
      said.textContent = `${n} of ${numbered.length} chapters read.`;
      Object.assign(bar, { value: n });
    }

    for (const [name, link] of numbered) {
      const tick = /** @type {HTMLInputElement} */ (
        element("input", { type: "checkbox", checked: reading.read.includes(name) }));
      tick.addEventListener("change", () => {
        setRead(name, tick.checked);
        draw();
      });
      const title = link.textContent?.replace(/ ✓.*/, "").trim() ?? "";
      const go = element("a", { href: link.href }, "open");
      go.setAttribute("aria-label", `open ${title}`);
      list.append(element("li", {}, element("label", {}, tick, ` ${title}`), " ", go));
    }
    forget.addEventListener("click", () => {
      reading = { read: [], stop: null };
      save();
      mark();
      for (const tick of list.querySelectorAll("input")) tick.checked = false;
      box.querySelector(".reading-stop")?.remove();
      draw();
    });
    const stop = onward("You stopped at ");
    box.replaceChildren(said, bar, ...(stop ? [stop] : []), list, forget);
    draw();
  }

  load();
  mark();
  if (numbered.some(([name]) => name === here)) watch();
  const box = document.getElementById("reading-progress");
  if (box) show(box);
  const front = here === [...chapters.keys()][0]; // the first of all pages
  const stop = front ? onward("Go on where you stopped: ") : null;
  if (stop) document.querySelector("article h1")?.after(stop);
})();
