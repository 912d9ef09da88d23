"""Several models that translate together: the mean of their probabilities, in every search."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.helpers import (
    BOS,
    EOS,
    PAD,
    VOCAB,
    assert_same_steps,
    lively_model,
    same,
    seeds,
    sentence_lengths,
    sentences,
    shapes,
    small_model,
)
from transformer.compared.seq2seq import Seq2Seq, Seq2SeqConfig
from transformer.decoding import beam_search, greedy_search, sample
from transformer.decoding.ensemble import Ensemble, mean_of
from transformer.decoding.steps import EnsembleSteps, start_decoding
from transformer.text import WordTokenizer
from transformer.training.loss import validation_loss
from transformer.translation import Translator

LIMITS = {"bos_id": BOS, "eos_id": EOS, "max_len": 12}


def test_the_mean_is_of_probabilities_and_not_of_logits() -> None:
    """Two models that are certain of different words leave both at one half."""
    certain = torch.tensor([[100.0, 0.0, 0.0], [0.0, 100.0, 0.0]])
    probabilities = mean_of([*certain]).exp()
    assert torch.allclose(probabilities, torch.tensor([0.5, 0.5, 0.0]))
    # 0.9 and 0.2 make 0.55, whatever is added to one model's logits.
    first, second = (torch.tensor([p, 1 - p]).log() for p in (0.9, 0.2))
    assert torch.allclose(mean_of([first + 7, second - 3]).exp(), torch.tensor([0.55, 0.45]))


@torch.no_grad()
def test_a_forward_pass_is_the_mean_of_its_models() -> None:
    models = [small_model(seed) for seed in range(3)]
    src, tgt = sentences([5, 3]), sentences([4, 4], seed=1)
    probabilities = sum(model(src, tgt).softmax(-1) for model in models) / 3
    same(Ensemble(models)(src, tgt).exp(), probabilities)


@pytest.mark.slow
@given(seeds, shapes, shapes, sentence_lengths, st.integers(1, 3), st.data())
@settings(max_examples=20)
@torch.no_grad()
def test_with_and_without_a_cache_the_same_whatever_the_models(seed, one, two, lengths, rows, data):
    models = [small_model(seed, **one), small_model(seed + 1, **two)]
    models[1].eval().decoder.layers[0].register_forward_hook(lambda *_: None)  # no plain decoder
    src = sentences(lengths, seed)
    ways = [start_decoding(Ensemble(models), src, rows, use_cache=c) for c in (False, True)]
    assert all(isinstance(way, EnsembleSteps) for way in ways)
    assert_same_steps(ways, len(lengths), rows, seed, data, most_steps=10)


def test_copies_of_a_model_find_what_it_finds_by_every_search() -> None:
    model, src = lively_model(0), sentences([6, 3, 4])
    twice = Ensemble([model, model])
    drawn = [
        sample(one, src, generator=torch.Generator().manual_seed(3), **LIMITS)
        for one in (model, twice)
    ]
    searched = [
        [greedy_search(one, src, **LIMITS), beam_search(one, src, beam_size=3, **LIMITS)]
        for one in (model, twice)
    ]
    alone, together = (
        [found for hypotheses in [*one, *two, *three] for found in hypotheses]
        for one, (two, three) in zip(drawn, searched, strict=True)
    )
    for mine, yours in zip(alone, together, strict=True):
        assert mine.tokens == yours.tokens and mine.score == pytest.approx(yours.score)
    assert len({str(found.tokens) for found in alone}) > 4


def test_a_search_scores_by_the_mean() -> None:
    """A hypothesis' score is the ensemble's own log-probability of its tokens, teacher-forced."""
    models = [lively_model(seed) for seed in (0, 1, 2)]
    together, src = Ensemble(models), sentences([6])
    ((found,),) = greedy_search(together, src, **LIMITS)
    read = torch.tensor([[BOS, *found.tokens]])
    with torch.no_grad():
        log_probs = together.eval()(src, read)[0].log_softmax(-1)
    written = [*found.tokens, EOS][: LIMITS["max_len"]]
    total = sum(float(log_probs[i, token]) for i, token in enumerate(written))
    assert found.score == pytest.approx(total, rel=1e-4)
    alone = [greedy_search(model, src, **LIMITS)[0][0].tokens for model in models]
    assert found.tokens != alone[0], "the test needs models that disagree"


def test_each_model_comes_back_from_a_search_in_the_mode_that_it_had() -> None:
    models = [small_model(seed, dropout=0.5) for seed in range(3)]
    models[1].train()
    together, src = Ensemble(models), sentences([4])
    found = [greedy_search(together, src, **LIMITS) for _ in range(2)]
    assert found[0] == found[1]
    assert [model.training for model in models] == [False, True, False]
    assert models[1].decoder.layers[0].training and not models[2].decoder.layers[0].training


def test_a_recurrent_model_joins_in() -> None:
    transformer = small_model(dtype=torch.float32)
    torch.manual_seed(1)
    recurrent = Seq2Seq(Seq2SeqConfig(VOCAB, VOCAB, d_model=16, max_len=10, pad_id=PAD))
    together, src = Ensemble([transformer, recurrent]), sentences([4, 2])
    assert together.config is min(transformer.config, recurrent.config, key=lambda c: c.max_len)
    cached, anew = (start_decoding(together.eval(), src, use_cache=c) for c in (True, False))
    output = torch.tensor([[BOS, 5, 6], [BOS, 7, 4]])
    with torch.no_grad():
        for length in (1, 2, 3):
            same(cached(output[:, :length]), anew(output[:, :length]), 1e-5)


def test_the_loss_of_an_ensemble_is_at_most_the_mean_of_its_models() -> None:
    """The logarithm is concave (Jensen): the mean of probabilities loses nothing on average."""
    models = [small_model(seed).eval() for seed in range(3)]
    pairs = [([5, 6, 7], [6, 7]), ([8], [9, 4, 5])]
    alone = [validation_loss(model, pairs, smoothing=0.0)["valid_nll"] for model in models]
    together = validation_loss(Ensemble(models), pairs, smoothing=0.0)["valid_nll"]
    assert min(alone) - 0.5 < together < sum(alone) / 3


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "an ensemble needs models"),
        (
            [small_model(), small_model(src_vocab_size=VOCAB + 1, tgt_vocab_size=VOCAB + 1)],
            rf"their src_vocab_size are {VOCAB}, {VOCAB + 1}; train them with one tokenizer",
        ),
        ([small_model(), small_model(pad_id=1)], "their pad_id are 0, 1"),
        ([small_model(), small_model().to("meta")], "one device, but they are on cpu, meta; move"),
    ],
)
def test_strangers_are_refused(models: list[nn.Module], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ensemble(models)


class TestTranslator:
    """Text in, text out, with several models."""

    words = ("ein", "Hund", "läuft", "schläft", ".", "der", "eine", "Frau", "lacht")
    texts = ("ein Hund läuft .", "", "Hund", "ein Hund schläft .")

    def models(self, **settings: int) -> list:
        assert WordTokenizer(self.words).vocab_size == VOCAB
        return [lively_model(seed, **settings) for seed in range(3)]

    def test_a_translator_may_have_several_models(self) -> None:
        tokenizer, (first, *others) = WordTokenizer(self.words), self.models()
        together = Translator(first, tokenizer, others)
        found = together.translate(self.texts, beam_size=2)
        assert found != Translator(first, tokenizer).translate(self.texts, beam_size=2)
        assert found[1] == "" and len(found) == 4
        same_three = Translator(others[1], tokenizer, [first, others[0]])
        assert same_three.translate(self.texts, beam_size=2) == found
        scores = together.evaluate(["Hund"], ["Hund"], beam_size=2)
        assert scores.n_sentences == 1

    def test_the_shortest_model_sets_the_limit(self) -> None:
        tokenizer = WordTokenizer(self.words)
        models = [small_model(max_len=n) for n in (30, 5)]
        together = Translator(models[0], tokenizer, models[1:])
        with pytest.raises(ValueError, match=r"sentence 1 has 5 tokens, more than .* \(4\)"):
            together.translate(["ein Hund läuft schläft ."])
        assert len(together.translate(["ein Hund läuft ."])) == 1

    def test_what_only_one_model_has_is_refused(self, tmp_path) -> None:
        first, *others = self.models()
        together = Translator(first, WordTokenizer(self.words), others)
        with pytest.raises(ValueError, match="ensemble has no heads of its own; ask one of its"):
            together.attention("ein Hund")
        with pytest.raises(ValueError, match="ensemble has no file of its own; save each"):
            together.save(tmp_path)
        assert not list(tmp_path.iterdir())

    def test_other_vocabularies_are_refused(self) -> None:
        stranger = small_model(src_vocab_size=9, tgt_vocab_size=9)
        with pytest.raises(ValueError, match="need the same tokens"):
            Translator(self.models()[0], WordTokenizer(self.words), [stranger])
