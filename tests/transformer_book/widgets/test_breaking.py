"""Broken models: each part against what it is by definition, and the page's against Python's."""

import copy
import json
import re

import pytest
import torch

from tests.conftest import ROOT
from tests.helpers import small_model
from tests.helpers.node import in_node
from tests.transformer_book.widgets.broken_examples import DOG, MAN, OWN, bench, translator
from tests.transformer_book.widgets.in_node import answers, source_ids
from transformer.attention import MultiHeadAttention
from transformer.decoding import KeyValueCache, greedy_search
from transformer.introspect import attention_modules, record_attention
from transformer.masks import causal_mask, padding_mask
from transformer.text import BOS_ID, EOS_ID, WordTokenizer
from transformer.translation import Translator

from transformer_book.aligned import aligned_everyday
from transformer_book.heads.measures import without_heads
from transformer_book.page.model_scripts import rounded_translator
from transformer_book.shipped import shipped_model
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.breaking import EXTRA, broken, label_of, parts_of, write
from transformer_book.widgets.broken_translator import BrokenTranslator

SENTENCES = [pair.source_text for pair in aligned_everyday()][:30]
NAME = "everyday"
SRC = torch.tensor([[5, 7, 4, 9, 2]])
TGT = torch.tensor([[1, 6, 8, 5]])


def model(**settings):
    """A small model whose heads choose, as trained ones do."""
    made = small_model(seed=3, **settings)
    with torch.no_grad():
        for weight in made.parameters():
            weight.mul_(2.0) if weight.dim() == 2 else weight.add_(torch.randn_like(weight) / 5)
    return made


def logits(one):
    with torch.no_grad():
        return one(SRC, TGT)


def weights_of(one):
    with torch.no_grad(), record_attention(one) as weights:
        one(SRC, TGT)
    return weights


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_part_changes_the_copy_and_nothing_of_the_model(norm):
    whole = model(norm=norm).train()
    before = {name: tensor.clone() for name, tensor in whole.state_dict().items()}
    kinds = [type(part) for part in whole.modules()]
    found = [logits(broken(whole, []))]
    for part in [*parts_of(whole), "encoder.1.self.0", "decoder.0.self.1", "decoder.1.cross.0"]:
        found.append(logits(broken(whole, [part])))
    for i, one in enumerate(found):
        assert all((one - other).abs().max() > 1e-4 for other in found[:i])
    torch.testing.assert_close(found[0], logits(copy.deepcopy(whole).eval()))
    assert whole.training and [type(part) for part in whole.modules()] == kinds
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_without_positions_the_encoder_reads_a_bag_of_words():
    one, order = broken(model(), ["src_positions"]), torch.tensor([3, 0, 4, 1, 2])
    with torch.no_grad():
        torch.testing.assert_close(one.encode(SRC)[:, order], one.encode(SRC[:, order]))
        whole = broken(model(), ["tgt_positions"])
        assert (whole.encode(SRC)[:, order] - whole.encode(SRC[:, order])).abs().max() > 0.1


def test_weights_are_those_of_the_broken_equation():
    whole, width = model(d_k=5, d_v=3), 5
    heads = {"scaling": lambda q, k: q @ k.mT, "softmax": lambda q, k: 0 * (q @ k.mT),
             "roles": lambda q, k: q @ k.mT / width**0.5}  # fmt: skip
    x = torch.randn(1, 4, 16, dtype=torch.float64)
    for part, score in heads.items():
        part_broken = broken(whole, [part]).decoder.layers[0].self_attention
        sound = whole.decoder.layers[0].self_attention
        seen = []
        part_broken.on_weights = seen.append
        asks, asked = (sound.w_key, sound.w_query) if part == "roles" else (
            sound.w_query, sound.w_key)  # fmt: skip
        with torch.no_grad():
            part_broken(x, x, x, causal_mask(4))
            scores = score(sound.split(asks(x)), sound.split(asked(x)))
        expected = scores.masked_fill(~causal_mask(4), -torch.inf).softmax(-1)
        torch.testing.assert_close(seen[0], expected)


def test_without_the_causal_mask_everyone_looks_ahead_and_nothing_can_be_kept():
    one = broken(model(), ["causal_mask"])
    sound, seen = weights_of(model()), weights_of(one)
    later = ~causal_mask(4)[0, 0]
    assert (sound["decoder.0.self"][0][:, later] == 0).all()
    assert (seen["decoder.0.self"][0][:, later] > 0).all()
    with torch.no_grad():
        expected = model().decode(TGT, model().encode(SRC), SRC, tgt_mask=padding_mask(TGT, 0))
        torch.testing.assert_close(one.logits(expected), one(SRC, TGT))
    limits = {"bos_id": 1, "eos_id": 2, "max_len": 6}
    with pytest.raises(ValueError, match="nothing can be kept; search with use_cache=False"):
        one.decode(TGT[:, :1], one.encode(SRC), SRC, cache=KeyValueCache(2))
    ((found,),) = greedy_search(one, SRC, use_cache=False, **limits)
    assert len(found.tokens) <= 6
    assert greedy_search(one, SRC, **limits) == [[found]]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_shortcuts_layers_and_heads_are_gone(norm):
    whole = model(norm=norm)
    memory = {}
    for part in ("encoder.0", "encoder.1", "shortcuts"):
        with torch.no_grad():
            memory[part] = broken(whole, [part]).encode(SRC)
    with torch.no_grad():
        x = whole.src_positions(whole.src_embedding(SRC))
        mask = padding_mask(SRC, 0)
        for i in (0, 1):
            expected = whole.encoder.norm(whole.encoder.layers[1 - i](x, mask))
            torch.testing.assert_close(memory[f"encoder.{i}"], expected)
        for layer in whole.encoder.layers:
            for residual, sublayer in (
                (layer.self_attention_residual, lambda h, a=layer.self_attention: a(h, h, h, mask)),
                (layer.feed_forward_residual, layer.feed_forward),
            ):
                x = sublayer(residual.norm(x)) if norm == "pre" else residual.norm(sublayer(x))
        torch.testing.assert_close(memory["shortcuts"], whole.encoder.norm(x))
        all_gone = broken(whole, ["encoder.0", "encoder.1"])
        torch.testing.assert_close(
            all_gone.encode(SRC), whole.encoder.norm(whole.src_positions(whole.src_embedding(SRC)))
        )
    heads = ["decoder.1.cross.0", "encoder.0.self.1"]
    with without_heads(whole, {"decoder.1.cross": [0], "encoder.0.self": [1]}):
        torch.testing.assert_close(logits(broken(whole, heads)), logits(whole))
    assert len(attention_modules(broken(whole, heads))) == 6


@pytest.mark.parametrize("name", ["hope", "encoder.2", "decoder.0", "decoder.0.cross.2",
                                  "decoder.0.cross.x", "decoder.9.cross.0"])  # fmt: skip
def test_what_is_no_part_is_a_sentence(name):
    with pytest.raises(
        ValueError, match=r"is no part to break; there are src_positions, .* is named as"
    ):
        broken(model(), [name])


def test_an_output_is_greedy_search_and_its_rows_are_those_of_the_moment():
    one, source = translator().model, [*translator().tokenizer.encode(OWN), EOS_ID]
    found = write(broken(one, []), source)
    ((expected,),) = greedy_search(
        one, torch.tensor([source]), bos_id=BOS_ID, eos_id=EOS_ID, max_len=len(source) + EXTRA
    )
    assert found.tokens == [*expected.tokens, EOS_ID]
    for unmasked in ([], ["causal_mask"]):
        found = write(broken(one, unmasked), source)
        with torch.no_grad(), record_attention(changed := broken(one, unmasked)) as weights:
            for n in range(len(found.tokens)):
                changed(torch.tensor([source]), torch.tensor([[BOS_ID, *found.tokens[:n]]]))
                rows = [weights[f"decoder.{i}.cross"][0, :, -1] for i in (0, 1)]
                torch.testing.assert_close(found.cross[:, n], torch.cat(rows))


def test_a_layer_that_is_gone_looks_nowhere_and_the_others_keep_their_numbers():
    one, source = translator().model, [*translator().tokenizer.encode(OWN), EOS_ID]
    gone = broken(one, ["encoder.0"])
    found = write(gone, source).encoder.unflatten(0, (2, -1))  # (layers, heads, source, source)
    with torch.no_grad(), record_attention(gone) as weights:
        gone.encode(torch.tensor([source]))
    torch.testing.assert_close(found[1], weights["encoder.1.self"][0])
    assert (found[0] == 0).all() and "encoder.0.self" not in weights


@pytest.mark.slow
def test_who_stammers_is_stopped():
    one = broken(shipped_model().model, ["shortcuts"])
    source = source_ids(shipped_model(), SENTENCES[0])
    found = write(one, source)
    assert len(found.tokens) == len(source) + EXTRA == found.cross.size(1)
    assert EOS_ID not in found.tokens


def question(constants, sentence, parts, attention="cross"):
    asked = {"sentence": sentence, "broken": parts, "attention": attention}
    return {"method": "broken", "constants": constants, **asked}


def assert_same(ours, theirs):
    """A run of the page and one of Python."""
    assert {**ours, "weights": 0} == {**theirs, "weights": 0}
    difference = torch.tensor(ours["weights"]) - torch.tensor(theirs["weights"])
    assert difference.abs().max() <= 1  # a hundredth that is rounded the other way


TOGETHER = [
    ["src_positions", "tgt_positions"],
    ["roles", "scaling"],
    ["softmax", "roles", "scaling"],
    ["causal_mask", "tgt_positions", "encoder.1", "decoder.0.self.2"],
    ["shortcuts", "causal_mask", "encoder.0", "encoder.1", "encoder.2"],
    ["encoder.1.self.0", "decoder.2.self.1", "decoder.1.cross.3"],
]


@pytest.mark.slow
def test_the_page_writes_what_python_writes_with_the_same_parts_broken():
    one, texts = translator(NAME), SENTENCES[:3]
    expected = BrokenTranslator(one, texts, silent="decoder.2.cross.1")
    singles = [*parts_of(one.model), "decoder.2.cross.1"]
    asked = [(text, [part]) for text in texts for part in singles]
    asked += [(SENTENCES[3], parts) for parts in TOGETHER]
    jobs = [question(expected.constants, text, parts) for text, parts in asked]
    outputs = set()
    for (text, parts), found in zip(asked, answers(shipped_model(), jobs), strict=True):
        expected.translate(*parts, sentence=text)
        assert expected.message == ""
        sound, other = found
        assert_same(sound, expected.run(sentence=text))
        assert_same(other, expected.run(parts, text))
        outputs.add(other["text"])
    assert len(outputs) > 20  # they are broken indeed


def test_the_page_reads_another_sentence_as_python_does():
    his = "Das ist sein Auto."
    hers, parts = his.replace("sein", "ihr"), ["encoder.1", "decoder.2.cross.0"]
    expected = BrokenTranslator(
        translator(NAME), [hers], variants=[his], parts=parts, attention="encoder"
    )
    asked = [(text, [part]) for text in (hers, his) for part in parts]
    jobs = [question(expected.constants, *each, "encoder") for each in asked]
    for (text, broken_parts), found in zip(asked, answers(shipped_model(), jobs), strict=True):
        assert_same(found[0], expected.run(sentence=text))
        assert_same(found[1], expected.run(broken_parts, text))
    assert expected.text(sentence=his).split()[2] == "his"


@pytest.mark.slow
@pytest.mark.parametrize("simd", [True, False], ids=["SIMD", "plain"])
@pytest.mark.parametrize(("norm", "positions"), [("post", "learned"), ("pre", "sinusoidal")])
def test_any_shape_of_model_breaks_the_same(norm, positions, simd):
    words, text = WordTokenizer([f"w{i}" for i in range(9)]), "w1 w5 w2 w2"
    made = model(norm=norm, positions=positions, tie="decoder", d_k=3, d_v=5, n_layers=2).float()
    one = Translator(made, words)
    expected = BrokenTranslator(rounded_translator(one), [text], silent="encoder.0.self.1")
    parts = [*parts_of(made), "encoder.0.self.1"]
    jobs = [question(expected.constants, text, [part]) for part in parts]
    for part, found in zip(parts, answers(one, jobs, simd=simd), strict=True):
        assert_same(found[-1], expected.run([part]))


def test_what_cannot_be_translated_is_refused_in_pythons_words():
    one = bench([MAN], parts=[], silent="")
    texts = ["", " \n", " ".join(["Hund"] * 41)]
    jobs = [question(one.constants, text, []) for text in texts]
    for text, found in zip(texts, answers(shipped_model("toy_german"), jobs), strict=True):
        one.translate(sentence=text)
        assert found == {"refused": one.message}
    assert one.message == "This is too long: 41 pieces, and 40 can be shown. Shorten it."


@pytest.mark.slow
def test_the_state_has_each_sentence_with_each_single_part_broken():
    one = bench()
    parts = [*parts_of(translator().model), "decoder.1.cross.0"]
    assert len(one.contents["runs"]) == 2 * (1 + len(parts))
    for sentence in (MAN, DOG):
        assert one.text(sentence=sentence) == translator().translate([sentence])[0]
        for part in parts:
            source = [*translator().tokenizer.encode(sentence), EOS_ID]
            found = write(broken(translator().model, [part]), source)
            run = one.run([part], sentence)
            assert run["output"] == translator().tokenizer.pieces(found.tokens)
            assert run["ended"] == (found.tokens[-1] == EOS_ID)
            cross = torch.tensor(run["weights"]).unflatten(1, (len(found.tokens), -1)) / 100
            assert (cross - found.cross).abs().max() < 0.0051
            with one.hold_trait_notifications():
                one.layer, one.head = 1, 3
            shown = torch.tensor(one.weights(part, sentence=sentence))
            assert (shown - found.cross[8 + 3]).abs().max() < 0.0051
    few = bench([MAN], parts=["src_positions"], silent="")
    assert [run["broken"] for run in few.contents["runs"]] == [[], ["src_positions"]]
    assert few.contents["parts"] == [["src_positions", "no source positions"]]


@pytest.mark.slow
def test_a_kernel_answers_a_question_by_runs_or_by_a_sentence():
    one = bench()
    before = one.contents
    with pytest.raises(ValueError, match="is not there; ask for it first"):
        one.text("roles", "scaling")
    one.translate("roles", "scaling", sentence=OWN)
    assert one.message == "" and len(one.contents["runs"]) == len(before["runs"]) + 2
    assert one.text("scaling", "roles", sentence=OWN) == one.run(["roles", "scaling"], OWN)["text"]
    kept = one.contents
    one.translate("hope")
    assert "'hope' is no part to break" in one.message and one.contents == kept
    one.translate("roles")  # that is known
    assert one.message == "" and one.contents == kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"sentences": []}, "must be a list of at least one"),
        ({"sentences": ["  "]}, "the sentence is empty"),
        ({"parts": ["hope"]}, "is no part to break"),
        ({"silent": "decoder.0.cross.9"}, "is no part to break"),
        ({"layer": 2}, r"layer \(2\) must be 0 to 1"),
        ({"head": -1}, r"head \(-1\) must be 0 to 7"),
        ({"sentences": [MAN, DOG], "variants": [OWN]}, "variants are of one sentence, not of 2"),
        ({"attention": "decoder"}, "attention"),
        ({"ask": "What?", "answers": ["This"], "right": "This"}, "needs at least two answers"),
        ({"ask": "What?", "answers": ["This", "That"]}, "`right` must be one of them, not ''"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    sentences = settings.pop("sentences", [MAN])
    with pytest.raises(Exception, match=named) as error:
        bench(sentences, **settings)
    assert type(error.value).__name__ in ("ValueError", "TraitError")
    with pytest.raises(ValueError, match="must be a list"):
        BrokenTranslator(translator(), MAN)


@pytest.mark.slow
def test_the_twin_is_a_table_of_all_parts_for_the_shown_sentence():
    one = bench(sentence=DOG)
    (axes,) = one.twin().axes
    texts = [text.get_text() for text in axes.texts]
    parts = [*parts_of(translator().model), "decoder.1.cross.0"]
    assert texts[0] == DOG and texts[2::2] == ["nothing broken", *map(label_of, parts)]
    for part, written, drawn in zip(parts, texts[5::2], axes.texts[5::2], strict=True):
        run = one.run([part])
        said = written.replace("\n", " ")
        assert said == run["text"] + ("" if run["ended"] else " …")
        assert (drawn.get_weight() == "bold") == (said != one.text())


def test_with_few_parts_the_twin_has_every_sentence_and_with_another_sentence_both_lines():
    (axes,) = bench(parts=["roles"], silent="").twin().axes
    texts = [text.get_text() for text in axes.texts]
    assert texts[::2] == [s for t in (MAN, DOG) for s in (t, "nothing broken", label_of("roles"))]
    one = bench([MAN], variants=[DOG], attention="encoder", layer=1, head=2)
    for axes, sentence in zip(one.twin().axes, (MAN, DOG), strict=True):
        assert axes.get_title() == f"{sentence}\n{one.text(sentence=sentence)}"
        weights = one.weights(sentence=sentence)
        strong = {(r, c) for r, c in zip(*(weights >= 0.05).nonzero(), strict=True)}
        assert {tuple(line.get_ydata()) for line in axes.lines} == strong
        words = [text.get_text() for text in axes.texts]
        assert words == [*sentence.split(), "</s>"] * 2


def test_words_that_differ_are_found_by_the_longest_common_sequence():
    pairs = [("a b c", "a b c"), ("a b c", "a c"), ("a c", "a b c"), ("", "a"), ("a", ""),
             ("a man is a man .", "a man chases a dog ."), ("b a b a", "a b a b")]  # fmt: skip
    script = f"""
      import {{ differing }} from "{(FRONT_ENDS / "broken_translator/data.js").as_uri()}";
      const words = (text) => text.split(" ").filter(Boolean);
      const marks = {json.dumps(pairs)}.map(([a, b]) => differing(words(a), words(b)));
      console.log(JSON.stringify(marks));
    """
    written = in_node(script)

    def longest(a, b):
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i + 1][j + 1] = (
                    table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
                )
        return table[-1][-1]

    for (one, other), marks in zip(pairs, written, strict=True):
        words, others = one.split(), other.split()
        kept = [word for word, mark in zip(words, marks, strict=True) if not mark]
        assert len(kept) == longest(words, others)
        rest = iter(others)
        assert all(word in rest for word in kept)  # in their order


def test_the_parts_are_the_attentions_too():
    """What is exchanged and made alike is all of them."""
    for part in ("roles", "softmax", "scaling"):
        sound, changed = weights_of(model()), weights_of(broken(model(), [part]))
        assert all((sound[name] - changed[name]).abs().max() > 1e-3 for name in sound)
    assert sum(isinstance(part, MultiHeadAttention) for part in model().modules()) == 6


def test_whatever_a_chapter_asks_about_has_a_button():
    chapter = (ROOT / "book/architecture/model.md").read_text(encoding="utf-8")
    asked = json.loads(re.search(r"answers=(\[.+?\])", chapter)[1])
    for part in asked:
        assert any(part in label for label in parts_of(shipped_model().model).values()), part
