"""Small things that many tests need: models of a few thousand weights, and random sentences."""

import json
import weakref
from collections.abc import Sequence
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from transformer import Transformer, TransformerConfig
from transformer.text import BPETokenizer
from transformer.translation import Translator

VOCAB = 13
PAD, BOS, EOS = 0, 1, 2
MARKS = {"bos_id": BOS, "eos_id": EOS}

seeds = st.integers(0, 2**31 - 1)
norms = st.sampled_from(["post", "pre"])
shapes = st.fixed_dictionaries(
    {
        "norm": norms,
        "positions": st.sampled_from(["sinusoidal", "learned"]),
        "tie": st.sampled_from(["all", "decoder", "none"]),
        "d_k": st.none() | st.integers(1, 9),
        "d_v": st.none() | st.integers(1, 9),
        "n_layers": st.integers(1, 3),
    }
)
sentence_lengths = st.lists(st.integers(1, 6), min_size=1, max_size=3)


def small_config(**settings: Any) -> TransformerConfig:
    """Two layers, two heads, no dropout, vocabulary 13: enough for everything that can go wrong."""
    sizes = {"d_model": 16, "d_ff": 24, "n_heads": 2, "n_layers": 2, "max_len": 32}
    vocabularies = {"src_vocab_size": VOCAB, "tgt_vocab_size": VOCAB}
    return TransformerConfig(**{**vocabularies, **sizes, "dropout": 0.0, **settings})


def small_model(seed: int = 0, dtype: torch.dtype = torch.float64, **settings: Any) -> Transformer:
    """A model in evaluation mode; float64, so that equal can mean equal to 1e-10."""
    torch.manual_seed(seed)
    return Transformer(small_config(**settings)).to(dtype).eval()


def bpe_twice() -> tuple[BPETokenizer, BPETokenizer]:
    """A small vocabulary with emoji, and the same with a merge more, which makes an older token."""
    face = "\N{GRINNING FACE}"
    one = BPETokenizer.train([f"ab ab abc {face}b {face}bc"] * 3, 272)
    found = json.loads(one.to_json())
    found["model"]["merges"].append(found["model"]["merges"][0])
    return one, BPETokenizer(json.dumps(found))


def bpe_translator(tokenizer: BPETokenizer) -> Translator:
    """A small model with just as many tokens."""
    size = tokenizer.vocab_size
    model = small_model(dtype=torch.float32, src_vocab_size=size, tgt_vocab_size=size)
    return Translator(model, tokenizer)


def sentences(lengths: list[int], seed: int = 0, extra: int = 0, vocab: int = VOCAB) -> Tensor:
    """Random words, a row for each length, filled up with padding and `extra` columns of it."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, vocab, (len(lengths), max(lengths) + extra), generator=generator)
    for row, length in zip(tokens, lengths, strict=True):
        row[length:] = PAD
    return tokens


def same(actual: Tensor, expected: Tensor, tolerance: float = 1e-10) -> None:
    """Equal to an absolute and a relative tolerance; NaN equals nothing."""
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def decided_model(vocab_size: int, seed: int = 0) -> Transformer:
    """Weights large enough for decided distributions."""
    model = small_model(seed, src_vocab_size=vocab_size, tgt_vocab_size=vocab_size)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(3)
    return model


@torch.no_grad()
def log_probabilities(
    model: Transformer, src: Tensor, outputs: Sequence[Sequence[int]], ended: bool
) -> list[float]:
    """The sum for each whole hypothesis of one length, by one pass without a cache."""
    read = torch.tensor([[BOS, *tokens] for tokens in outputs])
    steps = model(src.expand(len(read), -1), read).float().log_softmax(-1)
    wanted = torch.tensor([[*tokens, EOS] if ended else tokens for tokens in outputs])
    return steps.gather(2, wanted[:, :, None]).sum((1, 2)).tolist()


@torch.no_grad()
def lively_model(seed: int, **shape: Any) -> Transformer:
    """A random model that says something: what it has read decides what comes next.

    Fresh weights say the same token for ever. Here the feed-forward networks stir more, and what
    all hidden vectors have in common gives no token an advantage.
    """
    model = small_model(seed, **shape)
    for name, weight in model.named_parameters():
        if "feed_forward" in name and weight.dim() > 1:
            weight.mul_(4)
    src, tgt = sentences([6] * 8, seed), sentences([6] * 8, seed + 1)
    common = model.decode(tgt, model.encode(src), src).mean(dim=(0, 1))
    rows = model.output.weight
    rows -= torch.outer(rows @ common, common) / (common @ common)
    return model


def padded_sources(n: int, vocab_size: int) -> Tensor:
    """Padded sentences of different lengths."""
    src = torch.randint(3, vocab_size, (n, 9), generator=torch.Generator().manual_seed(n))
    for i in range(n):
        src[i, 9 - i % 4 :] = PAD
    return src


class LiveBytes(TorchDispatchMode):
    """Counts, while it is entered, the bytes of the tensors that operations have made.

    On the device "meta" nothing is computed, so that sizes can be those of a GPU.

    Attributes:
        peak: the most bytes that were alive at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = 0
        self._seen: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                self._count(tensor.untyped_storage())
        self.peak = max(self.peak, self.live)
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata  # one storage has several Python objects
        if key in self._seen:
            return
        self._seen.add(key)
        self.live += storage.nbytes()
        weakref.finalize(storage, self._forget, key, storage.nbytes())

    def _forget(self, key: int, n_bytes: int) -> None:
        self._seen.discard(key)
        self.live -= n_bytes


def assert_same_steps(
    ways: Sequence[Any], n_sentences: int, rows: int, seed: int, data: Any, *, most_steps: int
) -> None:
    """The ways to take a step give the same logits; sentences leave, prefixes change places."""
    generator = torch.Generator().manual_seed(seed)
    output = torch.full((n_sentences * rows, 1), BOS)
    for _ in range(data.draw(st.integers(1, most_steps), label="steps")):
        expected, *others = (way(output) for way in ways)
        for logits in others:
            same(logits, expected)
        if n_sentences > 1 and data.draw(st.booleans(), label="a sentence leaves"):
            n_sentences -= 1
            going = torch.randperm(n_sentences + 1, generator=generator)[:-1].sort().values
            output = output.unflatten(0, (-1, rows))[going].flatten(0, 1)
            for way in ways:
                way.select(going)
        places = torch.randint(rows, (n_sentences, rows), generator=generator)
        order = (rows * torch.arange(n_sentences)[:, None] + places).flatten()
        for way in ways:
            way.reorder(order)
        token = torch.randint(VOCAB, (len(order), 1), generator=generator)
        output = torch.cat([output[order], token], dim=1)
