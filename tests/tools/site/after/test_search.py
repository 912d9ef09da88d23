"""What the search index has of a page: sections, prose, formulas as words, and no code."""

import json

import pytest

from tools.site.after.search import index, sections_of, words_of

PAGE = """<html><nav>menu</nav><article>
<section id="masks"><h1>12. Masks<a class="headerlink" href="#masks">#</a></h1>
<p class="chapter-head">9 minutes to read</p>
<p>A <dfn id="term-causal-mask">causal mask</dfn> hides <em>later</em> words.</p>
<div class="cell_input"><pre>import torch</pre></div><div class="cell_output"><p>0.5</p></div>
<section id="scale"><h2>Divide by <math><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></math></h2>
<p>Where <math><mfrac><mn>1</mn><msup><mi>x</mi><mn>2</mn></msup></mfrac></math> is small,
<br />as <code class="literal"><span class="pre">noam_rate</span></code> says.</p>
<table><tr><td>one</td><td></td><td>two</td></tr></table></section>
<div class="exercise admonition" id="ex-1"><p class="admonition-title">Exercise 12.1 (Hide)</p>
<section id="exercise-content"><p>Write it.</p></section></div>
<div class="solution admonition" id="s-1"><p class="admonition-title">Solution</p><p>True</p></div>
</section>
<section id="glossary"><h1>Glossary</h1><dl class="glossary">
<dt id="term-rotary">rotary positions</dt><dt id="term-RoPE">RoPE</dt><dd><p>They turn.</p></dd>
<dt id="term-key">key</dt><dd><p>To be found by.</p></dd></dl><p>The end.</p></section>
<section id="module"><h2>module</h2><dl><dt class="sig" id="a.b.C">class C(x: int)</dt>
<dd><p>A class.</p><dl class="field-list"><dt>Parameters:</dt><dd>x</dd></dl></dd></dl></section>
</article></html>"""


def test_a_page_has_its_sections_with_their_prose_and_formulas_as_words() -> None:
    found = [(s.anchor, s.heading, s.prose, s.terms) for s in sections_of(PAGE)]
    assert found == [
        ("masks", "12. Masks", "A causal mask hides later words.", ["causal mask"]),
        ("scale", "Divide by √d_k", "Where 1/x^2 is small, as noam_rate says. one · two ·", []),
        ("ex-1", "Exercise 12.1 (Hide)", "Write it.", []),
        ("glossary", "Glossary", "The end.", []),
        ("term-rotary", "rotary positions, RoPE", "They turn.", []),
        ("term-key", "key", "To be found by.", []),
        ("module", "module", "", []),
        ("a.b.C", "a.b.C", "A class.", []),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the warm-up", {"warmup", "warm", "up"}),
        ("Keys, queries and 4 words", {"key", "query", "word"}),
        ("√d_k", {"root", "d_k"}),
        ("O(n^2⋅d_k^2)", {"n^2", "d_k^2", "d_k"}),
        ("ein Glas für ß", {"ein", "gla", "für"}),
    ],
)
def test_words_are_in_the_singular_and_with_a_hyphen_also_whole(text: str, words: set) -> None:
    assert set(words_of(text)) == words


def test_the_index_counts_the_sections_of_a_word_through_all_pages() -> None:
    twice = "<article><section id='a'><h1>Beam</h1>%s</section></article>"
    pages = {
        "one": sections_of(twice % "<p>A dog.</p>"),
        "two": sections_of(PAGE),
        "three": sections_of(twice % "<p>A dog, dogs, and a dog.</p>"),
    }
    script = index(pages)
    found = json.loads(script.removeprefix("Search.setIndex(").removesuffix(");\n"))
    assert found["words"]["dog"] == "0 9!"
    assert found["words"]["beam"] == "0 9"
    assert found["words"]["key"] == "6"
    one, two, _ = found["pages"]
    assert one == ["one", ["a", "Beam"]]
    assert two[1] == ["", "12. Masks", "causal mask"] and two[-2:] == [
        ["module", ""],
        ["a.b.C", ""],
    ]
