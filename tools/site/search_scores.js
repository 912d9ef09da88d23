// How the search ranks and shows what it finds: pages, each with its best section. Sphinx' script has the field
// and the list, and takes this file as its `html_search_scorer`; tools/site/after/search.py makes the index.
{
  const PAGES = 10; // shown at once
  const ALSO = 3; // sections of a page beside its best one
  const EXCERPT = 180; // characters
  const EXERCISE = /^Exercise|Exercises$/;
  const LAST = /What comes next$/; // of the main line: second readings follow

  const made = (tag, properties, ...content) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...content);
    return element;
  };
  const grouped = (all, keyOf) => {
    const groups = new Map();
    for (const one of all) groups.set(keyOf(one), [...groups.get(keyOf(one)) ?? [], one]);
    return groups;
  };
  const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

  // The words of a text as the index has them; those with a hyphen stay together, and powers; a root has one name.
  const WORD = /[\p{L}\p{N}_]+([-^][\p{L}\p{N}_]+)*|√/gu;
  const singular = (word) => word.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
  const joined = (text) => (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace(/^(√|sqrt)$/, "root"));
  const partsOf = (word) => [word.replaceAll("-", ""), ...word.split(/[-^]/)].map(singular);
  const nameOf = (text) => joined(text).flatMap((word) => word.split(/[-^]/)).map(singular).join("");
  const isWord = (word) => word.length > 1 && !/^\d+$/.test(word) && !stopwords.includes(word);

  // What the index has, once it is asked: all sections in a row, and words by their stems.
  let sections, kin;
  const stemOf = (word) => new Stemmer().stemWord(word);
  function read({ pages, words }) {
    const mainLine = (found) => found.findIndex(([, given]) => LAST.test(given)) + 1 || found.length;
    sections = pages.flatMap(([page, ...found]) => found.map(([id, given, ...terms], i) => {
      const heading = given || id;
      const unnumbered = heading.replace(/^[\d.]+ /, "");
      const anchor = id || unnumbered.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
      return {
        page, heading, anchor, title: found[0][1], href: `${page}.html${i ? `#${anchor}` : ""}`,
        beside: EXERCISE.test(heading) || i >= mainLine(found),
        names: [unnumbered, ...unnumbered.split(", ")].map(nameOf), terms: terms.map(nameOf),
        headed: new Set(EXERCISE.test(heading) ? [] : joined(unnumbered).flatMap(partsOf).filter(isWord)),
      };
    }));
    kin = grouped(Object.keys(words), stemOf);
  }

  // A word that is asked for: its sections with how well they have it, and its forms there.
  function lookUp(word) {
    const { words } = Search._index;
    const related = kin.get(stemOf(word)) ?? Object.keys(words).filter((other) => word.length > 2 && other.includes(word));
    const places = new Map();
    for (const form of related) {
      let number = 0;
      for (const step of words[form].split(" ")) {
        number += parseInt(step);
        const worth = (form === word ? 1 : 0.4) * (step.endsWith("!") ? 1.5 : 1);
        places.set(number, Math.max(worth, places.get(number) ?? 0));
      }
    }
    // The fewer sections have a word, the more it says.
    return { word, related, places, weight: Math.log(2 + sections.length / places.size) };
  }

  // How much of it counts: less in a second reading or an exercise, and on pages beside the chapters, least for a name of
  // the module, unless one is asked for; and what a section gains by its heading and by a term that it introduces.
  function scored({ page, title, beside, headed, names, terms }, score, asked, query) {
    const [name, defines] = [nameOf(query), page === "book/glossary"];
    if (beside) score /= 2;
    if (asked.every(({ word }) => headed.has(word))) score += 10 + (defines ? 0 : 20 * asked.length / headed.size);
    if (names.includes(name)) score += 30;
    if (terms.includes(name)) score += 25;
    if (page.startsWith("book/reference/")) return /_|[a-z]\.?[A-Z]/.test(query) ? score : score / 10;
    if (!defines && !/^\d+\. /.test(title)) return score / 3;
    return score;
  }

  // The pages that have what is asked for, as lists of their sections, the best first.
  function find(query) {
    const { words } = Search._index;
    const asked = [...new Set(joined(query).flatMap((word) => {
      const [whole, ...parts] = partsOf(word);
      return Object.hasOwn(words, whole) ? whole : parts;
    }))].filter(isWord).map(lookUp);
    if (!asked.length || !asked.every(({ places }) => places.size)) return [];
    const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
    const found = sections.map((section, number) => {
      const has = asked.filter(({ places }) => places.has(number));
      const share = sum(has.map(({ weight }) => weight));
      const score = sum(has.map(({ word, weight, places }) => weight * places.get(number) * (section.headed.has(word) ? 3 : 1)));
      return { ...section, asked, share, score: scored(section, score, asked, query) };
    });
    const most = Math.max(...found.map(({ share }) => share)); // no section need have all words
    const best = found.filter(({ share }) => share > 0.75 * most).sort((one, other) => other.score - one.score);
    return [...grouped(best, ({ page }) => page).values()];
  }

  // The same, and then the pages that have another word of the glossary for it.
  function findAll(query) {
    const entry = sections.find(({ page, names }) => page === "book/glossary" && names.includes(nameOf(query)));
    const all = [query, ...entry?.heading.split(", ") ?? []].flatMap(find);
    return all.filter(([{ page }], i) => all.findIndex(([one]) => one.page === page) === i);
  }

  Search.query = async (query) => {
    Search._parseQuery(query); // notes the words, which the page to which a result leads will mark
    if (!sections) read(Search._index);
    let pages = findAll(query);
    const count = pages.reduce((sum, page) => sum + page.length, 0);
    const meant = !count && nearest(query);
    if (meant) {
      const link = made("a", { href: `?${new URLSearchParams({ q: meant })}` }, meant);
      Search.output.before(made("p", {}, "Did you mean ", link, "?"));
      pages = findAll(meant);
    }
    const show = async (some) => {
      // All at once: what has been read does not move when more comes.
      const texts = await Promise.all(some.map(([best]) => textOf(best)));
      Search.output.append(...some.map((page, i) => entry(page, texts[i])));
    };
    await show(pages.splice(0, PAGES));
    document.getElementById("search-progress")?.replaceChildren();
    _finishSearch(count);
    const more = counted(pages.length, "more page");
    if (count) Search.status.textContent = `Search finished: found in ${counted(count, "section")} of ${counted(Search.output.children.length + pages.length, "page")}.`;
    if (!pages.length) return;
    const button = made("button", { type: "button", className: "btn btn-outline-primary" }, `Show ${more}`);
    button.addEventListener("click", async () => {
      button.remove();
      await show(pages);
      Search.output.children[PAGES].querySelector("a").focus();
    });
    Search.output.after(button);
  };

  // A page: its best section, with some of its text, and links to others.
  function entry([best, ...others], text) {
    const link = ({ href }, ...content) => made("a", { href }, ...content);
    const page = best.title === best.heading ? [] : [made("span", { className: "of-page" }, best.title), " "];
    const item = made("li", {}, link(best, ...page, best.heading));
    if (text) item.append(made("p", { className: "context" }, ...quoted(text, best.asked)));
    const also = others.slice(0, ALSO).flatMap((section, i) => [i ? " · " : "Also: ", link(section, section.heading)]);
    if (also.length) item.append(made("p", { className: "also" }, ...also));
    return item;
  }

  // The text of a section. Without a network its page may be there still, while the file of texts is not.
  const loading = {};
  Search.texts = {};
  async function textOf({ page, anchor }) {
    await (loading[page] ??= new Promise((done) => {
      document.head.append(made("script", { src: `search/${page}.js`, onload: done, onerror: done }));
    }));
    if (Search.texts[page]) return Search.texts[page][anchor];
    const text = await fetch(`${page}.html`).then((response) => response.text()).catch(() => "");
    let box = new DOMParser().parseFromString(text, "text/html").getElementById(anchor);
    while (box?.matches("dt")) box = box.nextElementSibling;
    for (const one of box?.querySelectorAll("pre, script, section, h1, h2, h3, h4, summary") ?? []) one.remove();
    return box?.textContent.replace(/\s+/g, " ").trim();
  }

  // The part of a text that has most of the words, in bold, from where a sentence or a word begins.
  function quoted(text, asked) {
    const having = (forms) => [...text.matchAll(WORD)].filter(([word]) => joined(word).flatMap(partsOf).some((form) => forms.includes(form)));
    const exact = having(asked.map(({ word }) => word));
    const hits = exact.length ? exact : having(asked.flatMap(({ related }) => related));
    const near = ({ index }) => new Set(hits.filter((hit) => hit.index >= index && hit.index < index + EXCERPT / 2).map(String)).size;
    const at = hits.reduce((best, hit) => best && near(best) >= near(hit) ? best : hit, null)?.index ?? 0;
    const sentence = text.slice(0, at).search(/(?<=[.?!:] )[^.?!:]{0,60}$/);
    const start = at < 60 || text.length <= EXCERPT ? 0 : sentence > 0 ? sentence : text.lastIndexOf(" ", at - 40) + 1;
    const end = start + EXCERPT < text.length ? text.lastIndexOf(" ", start + EXCERPT) : text.length;
    const shown = [start ? "… " : ""];
    let from = start;
    for (const { 0: word, index } of hits.filter((hit) => hit.index >= start && hit.index < end)) {
      shown.push(text.slice(from, index), made("strong", {}, word));
      from = index + word.length;
    }
    return [...shown, text.slice(from, end), end < text.length ? " …" : ""];
  }

  // A slip of the pen: the words of headings and terms that are nearest to those which found nothing.
  function nearest(query) {
    const all = [...new Set(sections.flatMap(({ heading }) => heading.toLowerCase().match(/[a-z]{4,}/g) ?? []))];
    const words = query.toLowerCase().split(/\W+/).filter(Boolean);
    const meant = words.map((word) => {
      const far = (other) => edits(word, other) + Number(word[0] !== other[0]) / 2; // seldom the first
      const [near] = all.map((other) => [far(other), other]).sort(([one], [other]) => one - other);
      return near && near[0] <= (word.length < 6 ? 1 : 2) ? near[1] : word;
    }).join(" ");
    return meant === words.join(" ") ? null : meant;
  }

  // How many letters to insert, to drop, to change, or to swap with the next.
  function edits(one, other) {
    let before = [];
    let row = [...Array(other.length + 1).keys()];
    for (let i = 0; i < one.length; i++) {
      const next = [i + 1];
      for (let j = 0; j < other.length; j++) {
        const swapped = i && j && one[i] === other[j - 1] && one[i - 1] === other[j];
        next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + Number(one[i] !== other[j]),
          swapped ? before[j - 1] + 1 : Infinity));
      }
      [before, row] = [row, next];
    }
    return row[other.length];
  }
}
