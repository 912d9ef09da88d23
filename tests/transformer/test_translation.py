"""Text in, text out, and its scores."""

from functools import partial
from io import StringIO
from unittest.mock import patch

import pytest
import torch
from hypothesis import HealthCheck, example, given
from hypothesis import settings as tried
from hypothesis import strategies as st

from transformer import Transformer, TransformerConfig
from transformer.command_line.running import say_exactly
from transformer.data.parallel import lines_of
from transformer.decoding import beam_search, greedy_search
from transformer.evaluation import score
from transformer.support.devices import NotEnoughMemoryError
from transformer.text import EOS_ID, WordTokenizer, save_tokenizer
from transformer.translation import Translator
from transformer.weights import CheckpointError, save_model

WORDS = ["ein", "Hund", "läuft", "schläft", "."]


@pytest.fixture
def translator() -> Translator:
    torch.manual_seed(0)
    tokenizer = WordTokenizer(WORDS)
    config = TransformerConfig.tiny(src_vocab_size=tokenizer.vocab_size, max_len=12)
    model = Transformer(config)
    # With large weights an untrained model says different things about different sentences.
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.mul_(4)
    return Translator(model, tokenizer)


def test_translations_come_back_in_the_order_of_the_sentences(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "Hund", "ein Hund", "ein Hund schläft ."]
    together = translator.translate(texts, max_tokens=12)
    assert together == [translator.translate([text])[0] for text in texts]
    assert len(set(together)) > 1, "the test needs sentences that differ"


def test_a_beam_changes_the_search_and_not_the_order(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "Hund", "ein Hund", "ein Hund schläft ."]
    wide = translator.translate(texts, beam_size=4, length_penalty=0.0)
    assert wide == [translator.translate([t], beam_size=4, length_penalty=0.0)[0] for t in texts]
    assert wide != translator.translate(texts)
    assert translator.translate(texts, beam_size=1) == translator.translate(texts)
    with pytest.raises(ValueError, match=r"beam_size \(0\) must be at least 1"):
        translator.translate(texts, beam_size=0)


@pytest.mark.slow
@tried(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
@example("שלום\u200f")
@example("a\nb\r\nc\x85d\u2028e\x1b[2J\x00\x07\ufefff")
def test_what_is_written_into_a_pipe_is_what_is_scored(translator: Translator, text: str) -> None:
    with patch.object(translator.tokenizer, "decode", lambda _: text):
        scored = translator.translate(["ein Hund", "Hund"])
    with patch("sys.stdout", StringIO()) as pipe:
        for line in scored:
            say_exactly(line)
    assert lines_of(pipe.getvalue().encode(), "the pipe") == scored
    assert pipe.getvalue().splitlines() == scored
    if text.endswith("\u200f"):
        assert scored[0] == text


@pytest.mark.parametrize("text", ["", "  ", "\t"])
def test_an_empty_sentence_keeps_its_place(translator: Translator, text: str) -> None:
    for search in ({}, {"beam_size": 2}):
        both = translator.translate(["ein Hund", "Hund läuft"], **search)
        found = translator.translate(["ein Hund", text, "Hund läuft"], **search)
        assert found == [both[0], "", both[1]]
    assert translator.translate([text]) == [""]
    with pytest.raises(ValueError, match="the source is empty"):
        translator.attention(text)


def test_a_sentence_that_is_too_long_is_named_by_its_number(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"sentence 2 has 12 tokens, more than .* \(11\)"):
        translator.translate(["", "Hund " * 12])
    with pytest.raises(ValueError, match=r"line 1 has 12 tokens"):
        translator.translate(["Hund " * 12], unit="line")


def test_the_n_best_begin_with_the_translation(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "", "Hund"]
    found = translator.n_best(texts, 3, beam_size=4, length_penalty=0.6)
    assert [best[0][0] if best else "" for best in found] == translator.translate(
        texts, beam_size=4, length_penalty=0.6
    )
    assert [len(best) for best in found] == [3, 0, 3]
    for best in found:
        scores = [value for _, value in best]
        assert scores == sorted(scores, reverse=True)
    for n in (0, 5):
        with pytest.raises(ValueError, match=rf"n_best \({n}\) must be between 1 and"):
            translator.n_best(texts, n, beam_size=4)


def test_samples_with_one_token_to_draw_from_are_the_translation(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "", "Hund", "ein Hund schläft ."]
    for settings in ({"top_k": 1}, {"temperature": 1e-6}, {"top_p": 1e-6}):
        drawn = translator.sample(texts, n_samples=2, **settings)
        assert [len(some) for some in drawn] == [2, 0, 2, 2]
        firsts = [some[0][0] if some else "" for some in drawn]
        assert firsts == translator.translate(texts)
        for (text, number), (again, other) in (some for some in drawn if some):
            assert again == text
            assert other == pytest.approx(number, abs=1e-4)  # rows of a batch are rounded apart


def test_a_seed_draws_the_same_samples_again(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "Hund"]
    drawn = translator.sample(texts, n_samples=4, seed=7)
    torch.manual_seed(1)  # the samples have a generator of their own
    assert translator.sample(texts, n_samples=4, seed=7) == drawn
    assert translator.sample(texts, n_samples=4, seed=8) != drawn
    assert translator.sample(texts, n_samples=4, seed=7, temperature=3.0) != drawn
    torch.manual_seed(1)
    free = translator.sample(texts, n_samples=4)
    assert translator.sample(texts, n_samples=4) != free
    torch.manual_seed(1)
    assert translator.sample(texts, n_samples=4) == free


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_samples": 0}, r"n_samples \(0\) must be at least 1"),
        ({"temperature": 0.0}, r"temperature \(0.0\) must be a number above 0"),
        ({"top_k": 0}, r"top_k \(0\) must be at least 1"),
        ({"top_p": 1.5}, r"top_p \(1.5\) must be above 0 and at most 1"),
        ({"seed": 2**70}, r"seed \(1180591620717411303424\) must be a whole number from 0 to"),
        ({"seed": -1}, r"seed \(-1\) must be a whole number from 0"),
    ],
)
def test_bad_settings_of_samples_are_named(translator: Translator, settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        translator.sample(["ein Hund"], **settings)
    with pytest.raises(ValueError, match=r"line 2 has 12 tokens, more than the model takes"):
        translator.sample(["Hund", "Hund " * 12], unit="line")


def test_any_search_can_be_made_with_texts(translator: Translator) -> None:
    texts = ["ein Hund läuft .", "", "Hund"]
    beam = partial(beam_search, beam_size=3, length_penalty=0.6, n_best=2)
    assert translator.search(texts, beam, rows=3) == translator.n_best(texts, 2, beam_size=3)
    greedy = translator.search(texts, greedy_search)
    assert [len(found) for found in greedy] == [1, 0, 1]
    assert [found[0][0] if found else "" for found in greedy] == translator.translate(texts)


def test_the_longest_allowed_sentence_is_translated(translator: Translator) -> None:
    assert len(translator.translate(["Hund " * 11])) == 1


def test_no_sentences_give_no_translations(translator: Translator) -> None:
    assert translator.translate([]) == []


def test_a_tokenizer_of_another_size_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match="do not belong together"):
        Translator(translator.model, WordTokenizer([*WORDS, "mehr"]))


def test_attention_belongs_to_the_tokens_that_it_names(translator: Translator) -> None:
    attention = translator.attention("ein Hund läuft", "ein Hund")
    assert attention.source == ["ein", "Hund", "läuft", "</s>"]
    assert attention.target == ["<s>", "ein", "Hund"]
    assert attention.weights["encoder.0.self"].shape == (4, 4, 4)
    assert attention.weights["decoder.1.cross"].shape == (4, 3, 4)
    for weights in attention.weights.values():
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_attention_without_a_target_is_that_of_the_models_own(translator: Translator) -> None:
    own = translator.translate(["ein Hund"])[0]
    expected = translator.attention("ein Hund", own)
    found = translator.attention("ein Hund")
    assert found.target == expected.target
    for name, weights in found.weights.items():
        torch.testing.assert_close(weights, expected.weights[name])


def test_a_saved_translator_translates_the_same(translator: Translator, tmp_path) -> None:
    translator.save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.safetensors", "tokenizer.json"]
    again = Translator.load(tmp_path)
    texts = ["ein Hund läuft .", "Hund schläft"]
    assert again.translate(texts) == translator.translate(texts)


def test_the_tokenizer_of_another_run_is_refused(translator: Translator, tmp_path) -> None:
    translator.save(tmp_path)
    save_tokenizer(tmp_path / "tokenizer.json", WordTokenizer(WORDS[::-1]))  # of the same size
    with pytest.raises(CheckpointError, match="beside another tokenizer.*take both from a copy"):
        Translator.load(tmp_path)
    save_model(tmp_path / "other" / "model.safetensors", translator.model)  # as older files are
    save_tokenizer(tmp_path / "other" / "tokenizer.json", WordTokenizer(WORDS[::-1]))
    Translator.load(tmp_path / "other")


def test_the_source_ends_in_the_end_mark(translator: Translator, monkeypatch) -> None:
    seen = []
    encode = Transformer.encode
    monkeypatch.setattr(
        Transformer,
        "encode",
        lambda self, src, *a: seen.append(src.tolist()) or encode(self, src, *a),
    )
    translator.translate(["Hund"])
    assert seen == [[[5, EOS_ID]]]


def test_evaluation_scores_the_translations_of_the_same_search(translator: Translator) -> None:
    sources = ["ein Hund läuft .", "Hund", "ein Hund schläft ."]
    references = ["Hund läuft ein .", "Hund", "schläft ein Hund ."]
    for search in ({}, {"beam_size": 3}, {"beam_size": 3, "length_penalty": 0.0}):
        found = translator.evaluate(sources, references, **search)
        assert found == score(translator.translate(sources, **search), references)


def test_evaluation_needs_as_many_references_as_sentences(translator: Translator) -> None:
    with pytest.raises(ValueError, match="2 sentences and 1 references"):
        translator.evaluate(["Hund", "ein Hund"], ["dog"])


def test_a_search_that_the_memory_does_not_hold_says_what_to_make_smaller(
    translator: Translator,
) -> None:
    def full(model: Transformer, src: torch.Tensor, **limits: int) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    # Three words and the end mark, four prefixes of each.
    message = r"a search over 16 tokens at once; set max_tokens below that \(--max-tokens 8\)"
    with pytest.raises(NotEnoughMemoryError, match=message):
        translator.search(["ein Hund läuft"], full, rows=4)


def test_a_tokenizers_mistake_is_found_before_it_reaches_the_device(translator: Translator) -> None:
    asked = []

    class Mistaken(WordTokenizer):
        def encode(self, text: str) -> list[int]:
            return [999]

    translator.tokenizer = Mistaken(WORDS)
    with pytest.raises(ValueError, match="the tokenizer gave token ids that the model has not"):
        translator.search(["Hund"], lambda *a, **b: asked.append(a))
    assert asked == []
