// What a search of the book ranks first: chapters before names of the module, which people find whose
// code names them. Sphinx reads this as `html_search_scorer`.
var Scorer = { // eslint-disable-line no-var, no-unused-vars -- Sphinx' script asks whether there is one
  objNameMatch: 3,
  objPartialMatch: 1,
  objPrio: { 0: 0, 1: 0, 2: -1 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// One entry a page: its title, a heading and a term often match at once. Names of the module stay, each
// with its description, where the word begins a part of them: RoPE is not in `lacking_property`. A
// chapter with the query as its title comes first, then those with most of its words in a heading. The last
// of Sphinx' list is shown first.
const everyMatch = Search._performSearch;
Search._performSearch = (query, ...terms) => {
  const pages = new Set();
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  const found = everyMatch(query, ...terms).reverse().filter(([page, title, , description]) => {
    if (!description) return !pages.has(page) && pages.add(page);
    const parts = title.split(/[._]|(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase());
    return words.some((word) => word.includes("_") || parts.some((part) => part.startsWith(word)));
  });
  if (!found.length) suggest(words);
  const asked = query.toLowerCase().trim();
  const { docnames, alltitles } = Search._index;
  const headed = {}; // page -> how many of the words its best heading has, if most of them
  for (const [heading, places] of Object.entries(alltitles)) {
    const has = words.filter((word) => heading.toLowerCase().split(/\W+/).includes(word)).length;
    if (has < 2 || 2 * has <= words.length) continue;
    for (const [page] of places) headed[docnames[page]] = Math.max(has, headed[docnames[page]] ?? 0);
  }
  const rank = ([page, title]) =>
    title.toLowerCase().replace(/<[^>]*>|\d+\. /g, "").trim() === asked ? words.length + 1 : headed[page] ?? 0;
  return found.sort((one, other) => rank(other) - rank(one)).reverse();
};

// A slip of the pen: the words of headings and of the index that are nearest to those which found nothing.
function suggest(words) {
  const { alltitles, indexentries } = Search._index;
  const known = [...Object.keys(alltitles), ...Object.keys(indexentries)].join(" ").toLowerCase();
  const all = [...new Set(known.match(/[a-z]{4,}/g))];
  const meant = words.map((word) => {
    const far = (other) => edits(word, other) + Number(word[0] !== other[0]) / 2;  // seldom the first
    const [near] = all.map((other) => [far(other), other]).sort(([one], [other]) => one - other);
    return near && near[0] <= (word.length < 6 ? 1 : 2) ? near[1] : word;
  }).join(" ");
  if (meant === words.join(" ")) return;
  const link = Object.assign(document.createElement("a"), { textContent: meant });
  link.href = `?${new URLSearchParams({ q: meant })}`;
  const line = document.createElement("p");
  line.append("Did you mean ", link, "?");
  document.getElementById("search-results").append(line);
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
