"""The encoder, the decoder and the whole Transformer (section 3, Figure 1)."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import Mask
from transformer.cache import KeyValueCache
from transformer.config import TransformerConfig
from transformer.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    SourceMask,
    TargetMask,
    Vectors,
)
from transformer.masks import padding_mask, target_mask


def _final_norm(config: TransformerConfig) -> nn.Module:
    # A pre-norm stack ends in a bare sum, which has to be normed once; a post-norm layer ends
    # in its norm already.
    return nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()


class Encoder(nn.Module):
    """A stack of N encoder layers."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(config) for _ in range(config.n_layers)])
        self.norm = _final_norm(config)

    def forward(self, x: Vectors, mask: Mask | None = None) -> Vectors:
        """Pass x through the layers in turn."""
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


class Decoder(nn.Module):
    """A stack of N decoder layers, each of which looks at the encoder's output."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([DecoderLayer(config) for _ in range(config.n_layers)])
        self.norm = _final_norm(config)

    def forward(
        self,
        x: Vectors,
        memory: Float[Tensor, "batch src_len d_model"],
        src_mask: SourceMask | None = None,
        tgt_mask: TargetMask | None = None,
        cache: KeyValueCache | None = None,
    ) -> Vectors:
        """Pass x through the layers in turn, each with its part of the cache."""
        for i, layer in enumerate(self.layers):
            caches = cache.layers[i] if cache is not None else None
            x = layer(x, memory, src_mask, tgt_mask, caches)
        return self.norm(x)


class EncoderDecoder(nn.Module):
    """What is trained and searched: an encoder makes a memory of the source, a decoder reads it."""

    config: Any  # sizes of vocabularies, max_len, pad_id: each kind of model has its own
    encode: Callable[[Tensor], Tensor]  # source tokens to memory
    decode: Callable[[Tensor, Tensor, Tensor], Tensor]  # target tokens, memory, source to vectors
    output: nn.Linear

    def logits(self, hidden: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch tgt_vocab"]:
        """A score for each token of the target vocabulary (section 3.4)."""
        return self.output(hidden)

    def _check_rows(self, src: Tensor, tgt: Tensor, memory: Tensor) -> None:
        """Refuse what would be broadcast without a word."""
        rows = [x.size(0) for x in (src, tgt, memory)]  # len(x) would fix the size in an export
        if not rows[0] == rows[1] == rows[2]:
            sizes = "{}, {} and {} rows".format(*rows)
            raise ValueError(f"source, target and memory have {sizes}; give each target its own")

    def n_parameters(self) -> int:
        """Trainable numbers, each shared matrix counted once."""
        return sum(parameter.numel() for parameter in self.parameters())


class Transformer(EncoderDecoder):
    """Figure 1: source and target tokens in, a score for each possible next token out.

    Token tensors are padded with `config.pad_id`; the masks are made from them, or given.
    The output is logits: the softmax at the top of Figure 1 belongs to the loss and the search.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        c = config
        self.src_embedding = TokenEmbedding(c.src_vocab_size, c.d_model)
        self.tgt_embedding = TokenEmbedding(c.tgt_vocab_size, c.d_model)
        positions = LearnedPositions if c.positions == "learned" else SinusoidalPositions
        self.src_positions = positions(c.max_len, c.d_model)
        self.tgt_positions = positions(c.max_len, c.d_model)
        self.dropout = nn.Dropout(c.dropout)
        self.word_dropout = nn.Dropout1d(c.word_dropout)  # a word's vector stays or goes as a whole
        self.encoder = Encoder(c)
        self.decoder = Decoder(c)
        self.output = nn.Linear(c.d_model, c.tgt_vocab_size, bias=False)
        if c.tie in ("all", "decoder"):
            self.output.weight = self.tgt_embedding.weight
        if c.tie == "all":
            self.src_embedding.weight = self.tgt_embedding.weight
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot for the projections, half of d_model^-0.5 for embeddings and output.

        Times sqrt(d_model), an embedding's entries then have deviation 1/2, near the sinusoids'
        0.7; and the logits, dot products of a normed vector with such rows, have deviation 1/2
        as well. So the first loss lies within about a quarter of a nat of log(vocab), whether or
        not the matrices are shared (more only where the vocabulary is much smaller than d_model
        and a shared matrix makes each token predict itself).
        """
        for stack in (self.encoder, self.decoder):
            for parameter in stack.parameters():
                if parameter.dim() > 1:
                    nn.init.xavier_uniform_(parameter)
        for table in (self.src_embedding, self.tgt_embedding, self.output):
            nn.init.normal_(table.weight, std=0.5 * self.config.d_model**-0.5)

    def forward(
        self,
        src: Int[Tensor, "batch src_len"],
        tgt: Int[Tensor, "batch tgt_len"],
        src_mask: SourceMask | None = None,
        tgt_mask: TargetMask | None = None,
    ) -> Float[Tensor, "batch tgt_len tgt_vocab"]:
        """Logits for the token after each target position (teacher forcing)."""
        memory = self.encode(src, src_mask)  # (batch, src_len, d_model)
        hidden = self.decode(tgt, memory, src, src_mask, tgt_mask)  # (batch, tgt_len, d_model)
        return self.logits(hidden)  # (batch, tgt_len, tgt_vocab)

    def encode(
        self, src: Int[Tensor, "batch src_len"], src_mask: SourceMask | None = None
    ) -> Float[Tensor, "batch src_len d_model"]:
        """The source's vectors after N encoder layers: the memory."""
        self._check("source", src, self.config.src_vocab_size)
        if src_mask is None:
            src_mask = padding_mask(src, self.config.pad_id)  # (batch, 1, 1, src_len)
        x = self.word_dropout(self.src_embedding(src))  # (batch, src_len, d_model)
        x = self.src_positions(x)
        return self.encoder(self.dropout(x), src_mask)

    def decode(
        self,
        tgt: Int[Tensor, "batch tgt_len"],
        memory: Float[Tensor, "batch src_len d_model"],
        src: Int[Tensor, "batch src_len"],
        src_mask: SourceMask | None = None,
        tgt_mask: TargetMask | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch tgt_len d_model"]:
        """The target's vectors after N decoder layers.

        With a `cache`, `tgt` holds the one token that is new since the last call; it may attend
        to all that the cache holds, unless `tgt_mask` says otherwise.
        """
        if cache is not None and tgt.size(1) != 1:
            raise ValueError(f"with a cache, give one new token a sentence, not {tgt.size(1)}")
        start = 0 if cache is None else cache.length
        self._check("target", tgt, self.config.tgt_vocab_size, start)
        self._check_rows(src, tgt, memory)
        if src_mask is None:
            src_mask = padding_mask(src, self.config.pad_id)  # (batch, 1, 1, src_len)
        if tgt_mask is None and cache is None:
            tgt_mask = target_mask(tgt, self.config.pad_id)  # (batch, 1, tgt_len, tgt_len)
        x = self.word_dropout(self.tgt_embedding(tgt))  # (batch, tgt_len, d_model)
        x = self.tgt_positions(x, start)
        return self.decoder(self.dropout(x), memory, src_mask, tgt_mask, cache)

    def _check(self, side: str, tokens: Tensor, vocab_size: int, start: int = 0) -> None:
        """Turn the obscure errors of bad token tensors into sentences."""
        if tokens.dim() != 2:
            raise ValueError(
                f"the {side} has shape {tuple(tokens.shape)}; give (batch, len): tokens[None] "
                "makes a batch of one sentence"
            )
        length = start + tokens.size(1)
        if not tokens.numel():
            raise ValueError(f"the {side} is empty; give at least one token per sentence")
        if length > self.config.max_len:
            raise ValueError(
                f"the {side} has {length} tokens, more than max_len ({self.config.max_len}); "
                "shorten it, or build the model with a larger max_len"
            )
        # Looking at the values would stall a GPU and cannot be compiled or exported.
        if tokens.is_cpu and not torch.compiler.is_compiling():
            low, high = int(tokens.min()), int(tokens.max())
            if low < 0 or high >= vocab_size:
                raise ValueError(
                    f"{side} token id {low if low < 0 else high} is out of range: the "
                    f"{side} vocabulary has {vocab_size} tokens, 0 to {vocab_size - 1}"
                )
