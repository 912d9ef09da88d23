"""No chapter uses a word before the chapter that introduces it; the glossary knows where that is.

What is walked: the numbered chapters of `_toc.yml`, in its order, main lines and second readings,
titles, boxes and exercises; of all that the prose, without code, formulas, and the targets of
references. What counts as the use of a word:

- the words of a glossary entry, their plural, and the forms that a line `.. forms:` names below
  the entry. A hyphen and a blank are the same; capitals matter only in abbreviations (BLEU, GRU);
- for a word that everybody uses (head, score, memory, target), only what fits the pattern that a
  line `.. only:` gives: a "target token" is the paper's, to target somebody is not;
- of a symbol ($d_k$) what stands in formulas and in code, `d_k`, too;
- in a row of a table nothing of the chapter to which the row leads: it is marked by that.

A word is introduced where it stands in a role {dfn}. A chapter may use it from the first line on,
since titles and questions come before explanations. Earlier chapters may use it only in a role
{later}, which says which chapter builds it, and which only the opening chapters may have. A word
marked `.. known:` is one that readers bring with them; it has its entry and its place all the same.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools.site.chapters import Chapter, numbered, walk

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "book/glossary.md"
OPENING = 5  # so many chapters may name what comes later
ROLE = re.compile(r"\{([\w:]+)\}`([^`]+)`")
TITLED = re.compile(r"^(.+?)\s*<([^<>]+)>$", re.DOTALL)
TEX = re.compile(r"\\(?:text|mathrm|mathbf)\b|[{}\\$]")


@dataclass
class Term:
    """An entry of the glossary."""

    names: list[str]
    chapter: str = ""
    forms: list[str] = field(default_factory=list)
    only: str = ""
    known: str = ""

    @property
    def is_symbol(self) -> bool:
        return "_" in self.names[0]

    def is_named(self, words: str) -> bool:
        """Whether these words, from a {dfn}, name this entry."""
        return any(re.fullmatch(form_of(name), words) for name in (*self.names, *self.forms))

    def used_in(self, prose: str) -> list[str]:
        """Where it is used, with some words around; of a mark such as <s>, only its kind is."""
        words = (name for name in (*self.names, *self.forms) if name[0] != "<")
        pattern = self.only or "|".join(map(form_of, words))
        flags = 0 if self.names[0] != self.names[0].lower() else re.IGNORECASE
        return [
            prose[max(0, match.start() - 40) : match.end() + 30]
            for match in re.finditer(pattern, prose, flags)
        ]


def form_of(name: str) -> str:
    """The pattern of a word and its plural."""
    words = r"[ -]".join(re.escape(word) for word in re.split(r"[ -]", name))
    return rf"(?<![\w-]){words}(?:s|es)?(?!\w)"


def plain(text: str) -> str:
    """A symbol as code writes it: d_k for $d_{k}$."""
    return TEX.sub("", text).replace("`", "").strip()


def read_glossary() -> list[Term]:
    """The entries in their order."""
    (glossary,) = Chapter(GLOSSARY).directives("glossary")
    terms: list[Term] = []
    defining = True
    for line in glossary.body:
        if note := re.match(r"\.\. (forms|only|known): (.*)", line):
            kind, words = note.groups()
            setattr(terms[-1], kind, words.split(", ") if kind == "forms" else words)
        elif line.startswith(" "):
            defining = True
            if label := re.search(r"\{ref\}`(chapter-[\w-]+)`", line):
                terms[-1].chapter = label[1]
        elif line and defining:
            terms.append(Term([plain(line)]))
            defining = False
        elif line:
            terms[-1].names.append(plain(line))
    return terms


@dataclass
class Words:
    """What a chapter says, and which words it marks."""

    name: str
    label: str
    lines: list[str]
    defined: list[str]
    later: list[str]

    def said_before(self, label: str) -> str:
        """All its text but the rows of tables that lead to this chapter."""
        rows = (line for line in self.lines if not (line.startswith("|") and label in line))
        return ROLE.sub(shown_words, " ".join(rows))

    def uses(self, term: Term) -> list[str]:
        """Where it uses a term that a later chapter introduces."""
        said = self.said_before(term.chapter)
        return term.used_in(symbols_of(said) if term.is_symbol else prose_of(said))


def read_words(path: Path) -> Words:
    chapter = Chapter(path)
    lines = list(prose_lines(chapter))
    roles = ROLE.findall(" ".join(lines))
    marks = {role: [words for name, words in roles if name == role] for role in ("dfn", "later")}
    defined = [plain((TITLED.match(words) or ("", "", words))[2]) for words in marks["dfn"]]
    return Words(
        name=path.stem,
        label=chapter.label,
        lines=lines,
        defined=defined,
        later=[(TITLED.match(words) or ("", words, ""))[1] for words in marks["later"]],
    )


def prose_of(text: str) -> str:
    """A text without code, formulas and marks."""
    return re.sub(r"`[^`]*`|\$[^$]+\$|[*>]", " ", text)


def symbols_of(text: str) -> str:
    """A text in which formulas and code stand side by side, as code writes them."""
    return plain(text)


def shown_words(match: re.Match[str]) -> str:
    """What of a role a reader sees and its author wrote: neither numbers nor titles of chapters."""
    name, words = match.groups()
    titled = TITLED.match(words)
    if name == "dfn":
        return titled[1] if titled else words
    return titled[1] if titled and name in ("ref", "doc") else " "


def prose_lines(chapter: Chapter) -> Iterator[str]:
    """The lines that are prose: no code, no displayed formulas, no options, no labels."""
    for block in walk(chapter.body):
        if block.kind == "heading" or (block.kind == "directive" and block.has_text):
            yield block.title
        elif block.kind == "text":
            yield from (line.strip().removeprefix(">").strip() for line in block.own_lines)


def chapters() -> list[Words]:
    """The numbered ones, in the order of the contents."""
    return [read_words(ROOT / f"{name}.md") for name in numbered(ROOT)]


TERMS = read_glossary()
CHAPTERS = chapters()
ORDER = {chapter.label: i for i, chapter in enumerate(CHAPTERS)}


def test_the_glossary_is_sorted_and_says_where_each_word_is_introduced() -> None:
    def key(term: Term) -> str:
        return re.sub(r"\W", "", term.names[0].lower())

    assert [key(term) for term in TERMS] == sorted(map(key, TERMS))
    assert {term.chapter for term in TERMS} <= ORDER.keys()


def test_every_word_that_is_marked_has_an_entry() -> None:
    missing = [
        f"{chapter.name}: {words}"
        for chapter in CHAPTERS
        for words in chapter.defined
        if not any(term.is_named(words) for term in TERMS)
    ]
    assert missing == []


def test_every_entry_is_introduced_in_the_chapter_to_which_it_leads_and_in_no_other() -> None:
    wrong = {}
    for term in TERMS:
        found = {c.label for c in CHAPTERS for words in c.defined if term.is_named(words)}
        if found != {term.chapter}:
            wrong[term.names[0]] = f"introduced in {sorted(found)}, leads to {term.chapter}"
    assert wrong == {}


def test_the_words_of_an_experiment_have_entries() -> None:
    words = {"baseline", "ensemble", "epoch", "n-best list", "nat", "reference translation", "seed"}
    names = {name for term in TERMS for name in term.names}
    assert words | {"significant", "test set", "validation set"} <= names


def test_no_word_is_introduced_twice() -> None:
    counts = Counter(words for chapter in CHAPTERS for words in chapter.defined)
    assert [words for words, times in counts.items() if times > 1] == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_no_chapter_uses_a_word_that_a_later_one_introduces(chapter: Words) -> None:
    early = {
        term.names[0]: uses
        for term in TERMS
        if ORDER.get(term.chapter, 0) > ORDER[chapter.label] and not term.known
        if (uses := chapter.uses(term))
    }
    assert early == {}


def test_only_the_opening_chapters_speak_of_what_comes_later() -> None:
    assert [c.name for c in CHAPTERS[OPENING:] if c.later] == []


def test_only_words_that_readers_bring_with_them_are_exempt() -> None:
    assert {term.names[0] for term in TERMS if term.known} <= {"batch", "parameter"}


SAMPLE = """---
kernelspec: {name: python3}
---

(chapter-sample)=
# Why heads?

:::{admonition} After this chapter you can
:class: objectives
- say what *BLEU* is;
:::

> A {dfn}`decoder <decoder>` has `n_heads` and a {later}`mask <chapter-masks>`,
> see {ref}`embedding <chapter-embedding>` and {ref}`chapter-masks`. {dfn}`$d_{\\text{model}}$`

$$
softmax
$$ (eq-x)

```{code-cell} ipython3
:tags: [check]
beam = search
```

````{dropdown} A title
```python
logits = 1
```
Behind the code.
````

Here $d_k$ is 3, and a `memory`.

| box | built in |
| --- | --- |
| Sinusoids | {ref}`chapter-positions` |
"""


def test_prose_is_what_a_reader_reads(tmp_path: Path) -> None:
    path = tmp_path / "sample.md"
    path.write_text(SAMPLE)
    chapter = read_words(path)
    assert chapter.label == "chapter-sample"
    assert chapter.defined == ["decoder", "d_model"]
    assert chapter.later == ["mask"]
    prose = prose_of(chapter.said_before("chapter-masks"))
    for words in ("Why heads?", "After this chapter", "BLEU", "decoder", "embedding", "A title"):
        assert words in prose
    for words in ("softmax", "beam", "logits", "mask", "memory", "objectives", "python3", "eq-x"):
        assert words not in prose
    assert "Behind the code." in prose and "Sinusoids" in prose
    assert "Sinusoids" not in chapter.said_before("chapter-positions")
    symbols = symbols_of(chapter.said_before("chapter-masks"))
    assert "d_k" in symbols and "d_model" in symbols


@pytest.mark.parametrize(
    ("name", "prose", "uses"),
    [
        ("layer norm", "the layer norms and layer-norm", 2),
        ("mask", "It masks a mask, unmasked and masked.", 3),
        ("BLEU", "bleu BLEU", 1),
        ("entropy", "the cross-entropy and the entropy", 1),
        ("head", "over your head, but a head and multi-head", 2),
        ("memory", "GPU memory, and the memory at which it looks", 1),
        ("score", "the score of a query and a key; a BLEU score", 1),
        ("id", "an idea has ids", 1),
        ("token", "tokenizer, tokens", 1),
    ],
)
def test_uses_are_found_as_the_book_means_them(name: str, prose: str, uses: int) -> None:
    (term,) = (term for term in TERMS if name in term.names)
    assert len(term.used_in(prose)) == uses
