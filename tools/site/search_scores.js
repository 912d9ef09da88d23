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
// with its description. The last of Sphinx' list is shown first.
const everyMatch = Search._performSearch;
Search._performSearch = (...query) => {
  const pages = new Set();
  return everyMatch(...query).reverse().filter(([page, , , description]) =>
    description || (!pages.has(page) && pages.add(page))).reverse();
};
