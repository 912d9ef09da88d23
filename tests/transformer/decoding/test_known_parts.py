"""A model whose parts were replaced, removed or hooked: all searches find what the model says."""

import copy
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.helpers import BOS, EOS, MARKS, VOCAB, lively_model, same, seeds, sentences, small_model
from transformer.attention import MultiHeadAttention
from transformer.compared.seq2seq import Seq2Seq, Seq2SeqConfig
from transformer.decoding import beam, beam_search, greedy_search, sample, sampling
from transformer.decoding.beam import penalty
from transformer.decoding.ensemble import Ensemble
from transformer.decoding.fused import FusedSteps
from transformer.decoding.known_parts import is_known
from transformer.decoding.steps import (
    CachedSteps,
    EnsembleSteps,
    RecomputedSteps,
    RecurrentSteps,
    start_decoding,
)
from transformer.embedding import SinusoidalPositions
from transformer.layers import EncoderLayer, FeedForward, Residual
from transformer.model import EncoderDecoder, Transformer
from transformer.variants.gated import GatedFeedForward
from transformer.variants.variant import become


class Summed(FeedForward):
    def forward(self, x):
        return super().forward(x).cumsum(dim=1)


class NoSublayer(Residual):
    def forward(self, x, sublayer):
        return x


class OwnAttention(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, query, key, value, mask, cache=None):
        return self.inner(query, key, value, mask).flip(-1)


def biased(linear, bias):
    made = nn.Linear(linear.in_features, linear.out_features, bias)
    made.weight = linear.weight
    return made


def centred(_, __, output):
    return output - 0.5 * output.mean(dim=1, keepdim=True)


def last(model):
    return model.decoder.layers[-1]


def put(path, make):
    """Replaces the part at a path by what is made of it."""

    def alter(model):
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, make(model.get_submodule(path)))

    return alter


def change(path, **attributes):
    return lambda model: vars(model.get_submodule(path)).update(attributes)


def hook(path, function, kind="forward_hook"):
    return lambda model: getattr(model.get_submodule(path), f"register_{kind}")(function)


def method(path, name, wrapped):
    """Puts a method into one part, which gets the one that was there."""

    def alter(model):
        part = model.get_submodule(path)
        setattr(part, name, wrapped(getattr(part, name)))

    return alter


def shortened(model):
    del model.decoder.layers[-1]


def emptied(model):
    del model.decoder.layers[:]


def reversed_layers(model):
    model.decoder.layers = nn.ModuleList(list(model.decoder.layers)[::-1])


def lengthened(model):
    model.decoder.layers.append(copy.deepcopy(last(model)))


def shared(model):
    model.decoder.layers[0] = last(model)


def one_attention(model):
    last(model).cross_attention = last(model).self_attention


def gate_of_sums(model):
    last(model).feed_forward = GatedFeedForward(16, 24)
    last(model).feed_forward.gate = lambda x: x.cumsum(dim=1)


LAYER = "decoder.layers.0"
ATTENTIONS = [f"{LAYER}.{kind}_attention" for kind in ("self", "cross")]
RESIDUALS = [f"{LAYER}.{kind}_residual" for kind in ("self_attention", "feed_forward")]
RESIDUALS += [f"{LAYER}.cross_attention_residual"]
KNOWN = {
    **{f"a bias in {part}": put(part, partial(biased, bias=True))
       for part in ["output", *(f"{path}.w_{x}" for path in ATTENTIONS
                                for x in ("query", "key", "value", "output"))]},
    **{f"no bias in {x}": put(f"{LAYER}.feed_forward.{x}", partial(biased, bias=False))
       for x in ("inner", "outer")},
    **{f"{part} before": change(part, pre_norm=True) for part in RESIDUALS},
    **{f"{part} after": change(part, pre_norm=False) for part in RESIDUALS},
    **{f"{part} without a norm": put(f"{part}.norm", lambda _: nn.Identity())
       for part in RESIDUALS},
    "no feed-forward": put(f"{LAYER}.feed_forward", lambda _: nn.Identity()),
    "another scale": change("tgt_embedding", scale=1.5),
    "more heads": change(ATTENTIONS[0], n_heads=4),
    "more heads in cross-attention": change(ATTENTIONS[1], n_heads=4),
    "another eps": change(f"{RESIDUALS[0]}.norm", eps=0.5),
    "a plain norm": put(f"{RESIDUALS[0]}.norm",
                        lambda _: nn.LayerNorm(16, elementwise_affine=False)),
    "a norm without bias": put(f"{RESIDUALS[1]}.norm", lambda _: nn.LayerNorm(16, bias=False)),
    "another size": put(f"{LAYER}.feed_forward", lambda _: FeedForward(16, 7)),
    "one layer less": shortened,
    "one layer more": lengthened,
    "layers the other way round": reversed_layers,
    "one layer twice": shared,
    "one attention twice": one_attention,
    "no encoder layers": put("encoder.layers", lambda _: nn.ModuleList()),
    "a hook in the encoder": hook("encoder.layers.0", centred),
    "encode": method("", "encode", lambda old: lambda *xs: old(*xs).flip(1)),
}  # fmt: skip
RECOMPUTED = {
    "no layers": emptied,
    "a layer of the encoder inside": put(
        f"{LAYER}.feed_forward", lambda _: EncoderLayer(small_model().config)),
    "positions inside": put(f"{LAYER}.feed_forward", lambda _: SinusoidalPositions(32, 16)),
    "a table of one row": put("tgt_positions", lambda _: SinusoidalPositions(1, 16)),
    "sums over positions": lambda model: become(last(model).feed_forward, Summed),
    "no cross-attention": lambda model: become(last(model).cross_attention_residual, NoSublayer),
    "a module without a cache": put(ATTENTIONS[0], OwnAttention),
    "a gate over positions": gate_of_sums,
    "attention's method": method(
        ATTENTIONS[0], "forward", lambda old: lambda q, k, v, m, c: old(q, k, v, m).flip(-1)),
    "attention's inner method": method(
        ATTENTIONS[1], "_attend", lambda old: lambda q, *others: old(3 * q, *others)),
    "embedding's method": method(
        "tgt_embedding", "forward", lambda old: lambda tokens: old(tokens).cumsum(dim=1)),
    "another activation": method(
        f"{LAYER}.feed_forward", "forward", lambda old: lambda x: old(x).tanh()),
    "positions' method": change("tgt_positions", forward=nn.functional.relu),
    "a compiled part": put("output", partial(torch.compile, backend="eager")),
    "decode": method("", "decode", lambda old: lambda *xs: old(*xs).cumsum(dim=1)),
    "the whole": method("", "forward", lambda old: lambda src, tgt: 2 * old(src, tgt)),
    "weight norm": lambda model: nn.utils.parametrizations.weight_norm(
        getattr(model.output, "_orig_mod", model.output), dim=None),
    "dropout's hook": hook("dropout", lambda _, __, x: 2 * x),
    **{f"a hook on {path or 'all'}": hook(path, centred)
       for path in ("", "output", "decoder", LAYER, ATTENTIONS[1], f"{ATTENTIONS[0]}.w_key")},
    "a hook before": hook(
        f"{LAYER}.feed_forward", lambda _, xs: (xs[0].cumsum(dim=1),), "forward_pre_hook"),
}  # fmt: skip
ALTERATIONS = KNOWN | RECOMPUTED


def altered(names, seed=0, make=small_model, **shape):
    torch.manual_seed(seed)
    model = make(seed, **shape)
    for name in names:
        ALTERATIONS[name](model)
    return model.double().eval()


def assert_steps_say_what_the_model_says(model, *kinds, rows=2):
    src = sentences([4, 2])
    steps, output = start_decoding(model, src, rows), torch.full((2 * rows, 1), BOS)
    assert type(steps) in kinds
    with torch.no_grad():
        for step in range(4):
            same(steps(output), model(src.repeat_interleave(rows, dim=0), output)[:, -1])
            token = (5 * torch.arange(2 * rows)[:, None] + step) % (VOCAB - 1) + 1
            output = torch.cat([output, token], dim=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_altered_model_is_searched_as_it_is(name):
    model = altered([name], norm="pre" if name.endswith("after") else "post")
    kinds = {RecomputedSteps} if name in RECOMPUTED else {CachedSteps, FusedSteps}
    assert_steps_say_what_the_model_says(model, *kinds)


@torch.no_grad()
def score_by_the_model(model, src, tokens, max_len):
    """The sum of log-probabilities, each from a pass of the whole model over its prefix."""
    wanted = [*tokens, EOS] if len(tokens) < max_len else tokens
    read = [BOS, *wanted]
    logits = [model(src, torch.tensor([read[:n]]))[0, -1] for n in range(1, len(read))]
    return sum(float(x.log_softmax(-1)[t]) for x, t in zip(logits, wanted, strict=True)), wanted


@pytest.mark.slow
@given(
    seeds,
    st.lists(st.sampled_from(sorted(ALTERATIONS)), min_size=1, max_size=3, unique=True),
    st.sampled_from(["post", "pre"]),
    st.integers(1, 3),
)
@settings(max_examples=10)
def test_all_searches_find_the_same_with_a_cache_and_without(seed, names, norm, beam_size):
    try:
        model, src = altered(names, seed, lively_model, norm=norm), sentences([4, 2], seed)
        with torch.no_grad():
            model(src, src)
    except (AttributeError, IndexError, TypeError, RuntimeError):
        return  # not all go together: a model that cannot run cannot be searched
    limits = {**MARKS, "max_len": 4}
    searches = {
        greedy_search: {},
        beam_search: {"beam_size": beam_size, "n_best": beam_size},
        sample: {"n_samples": 2},
    }
    for search, options in searches.items():
        found = []
        for use_cache in (True, False):
            own = {"generator": torch.Generator().manual_seed(seed)} if search is sample else {}
            with pytest.MonkeyPatch.context() as patch:
                for module in (beam, sampling):
                    patch.setattr(module, "start_decoding",
                                  partial(start_decoding, use_cache=use_cache))  # fmt: skip
                if search is greedy_search:
                    own["use_cache"] = use_cache
                found.append(
                    [h for hs in search(model, src, **options, **own, **limits) for h in hs]
                )
        assert [h.tokens for h in found[0]] == [h.tokens for h in found[1]]
        assert [h.score for h in found[0]] == pytest.approx([h.score for h in found[1]], abs=1e-4)
        best = found[0][0]
        total, wanted = score_by_the_model(model, src[:1], best.tokens, limits["max_len"])
        divisor = penalty(len(wanted), 0.6) if search is beam_search else 1.0
        assert best.score == pytest.approx(total / divisor, abs=1e-4)


def test_a_method_put_into_a_class_is_used(monkeypatch):
    assert_steps_say_what_the_model_says(small_model(), FusedSteps)
    attend = MultiHeadAttention._attend
    monkeypatch.setattr(
        MultiHeadAttention, "_attend", lambda self, q, *others: attend(self, 3 * q, *others)
    )
    assert_steps_say_what_the_model_says(small_model(), RecomputedSteps)


def test_logits_and_encode_put_into_a_class_are_used(monkeypatch):
    logits, encode = EncoderDecoder.logits, Transformer.encode
    monkeypatch.setattr(Transformer, "encode", lambda self, *xs: encode(self, *xs).flip(1))
    assert_steps_say_what_the_model_says(small_model(), FusedSteps)
    monkeypatch.setattr(EncoderDecoder, "logits", lambda self, x: 2 * logits(self, x))
    assert_steps_say_what_the_model_says(small_model(), RecomputedSteps)


def test_a_hook_on_all_modules_may_look_at_the_whole_sequence():
    def on_layers(module, inputs, output):
        return centred(module, inputs, output) if isinstance(module, nn.LayerNorm) else None

    handle = nn.modules.module.register_module_forward_hook(on_layers)
    try:
        assert_steps_say_what_the_model_says(small_model(), RecomputedSteps)
    finally:
        handle.remove()


def test_a_hook_that_says_so_treats_each_position_by_itself():
    def double(_, __, output):
        return 2 * output

    model = small_model()
    model.output.register_forward_hook(double)
    assert_steps_say_what_the_model_says(model, RecomputedSteps)
    double.pointwise = True
    assert_steps_say_what_the_model_says(model, CachedSteps)
    model = small_model()
    model.tgt_positions.register_forward_hook(double)
    assert_steps_say_what_the_model_says(model, CachedSteps)


def test_notes_on_a_model_change_nothing():
    model = small_model()
    for part in model.modules():
        part.note, part.history = "of the reader", []
    assert_steps_say_what_the_model_says(model, FusedSteps)


def test_an_ensemble_that_was_changed_is_asked_as_a_whole():
    class Louder(Ensemble):
        def forward(self, src, tgt):
            return 2 * super().forward(src, tgt)

    def fresh(kind=Ensemble):
        return kind([small_model(seed) for seed in (0, 1)])

    assert_steps_say_what_the_model_says(fresh(), EnsembleSteps)
    hooked = fresh()
    hooked.register_forward_hook(centred)
    for model in (hooked, fresh(Louder)):
        assert_steps_say_what_the_model_says(model, RecomputedSteps)


def test_a_class_that_adds_nothing_is_what_it_is_made_of():
    class Named(nn.Linear):
        pass

    model = small_model()
    become(model.output, Named)
    assert_steps_say_what_the_model_says(model, CachedSteps)


def test_a_compiled_model_is_judged_by_what_was_compiled():
    model = small_model()
    assert is_known(torch.compile(model, backend="eager"))
    model.compile(backend="eager")
    assert type(start_decoding(model, sentences([3]))) is FusedSteps
    model.decoder.register_forward_hook(centred)
    assert not is_known(torch.compile(model, backend="eager"))


@pytest.mark.parametrize("hooked", [False, True])
def test_a_recurrent_model_with_a_hook_is_recomputed(hooked):
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(VOCAB, VOCAB, d_model=8)).double().eval()
    if hooked:
        model.combine.register_forward_hook(centred)
    assert_steps_say_what_the_model_says(model, RecomputedSteps if hooked else RecurrentSteps)


def test_recording_goes_on_where_an_attention_is_inside_another_part():
    model = altered(["a module without a cache"])
    (found,) = greedy_search(model, sentences([3]), max_len=4, **MARKS)
    assert len(found) == 1
