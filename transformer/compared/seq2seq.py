"""Translation before the Transformer: one recurrent network reads, another writes.

Sutskever et al. and Cho et al. (2014) handed one vector of fixed width from the first to the
second. Bahdanau et al. (2015) let the second look back at every word, by additive attention.
The recurrent unit is Cho's GRU in both.
"""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer.embedding import TokenEmbedding
from transformer.model import EncoderDecoder

Memory = Float[Tensor, "batch src_len d_model"]
State = Float[Tensor, "batch d_model"]


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Everything that fixes the shape of a recurrent encoder and decoder.

    Args:
        src_vocab_size: number of source tokens.
        tgt_vocab_size: number of target tokens; the same, since they share their embedding.
        d_model: width of the embeddings, of the decoder's state, and of the encoder's two
            directions together.
        attention: whether the decoder looks at all of the encoder's states, or at the last alone.
        dropout: share of the embeddings' and of the hidden vectors' entries dropped in training.
        max_len: the longest sequence, in tokens, that the model takes.
        pad_id: the token that fills up short sentences; nobody reads it.

    Raises:
        ValueError: a sentence that names the setting, its value and the remedy.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 256
    attention: bool = True
    dropout: float = 0.1
    max_len: int = 1024
    pad_id: int = 0

    def __post_init__(self) -> None:
        for name in ("src_vocab_size", "tgt_vocab_size", "d_model", "max_len"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        if self.src_vocab_size != self.tgt_vocab_size:
            raise ValueError(
                f"both sides share one embedding, so src_vocab_size ({self.src_vocab_size}) must "
                f"equal tgt_vocab_size ({self.tgt_vocab_size}); use a joint vocabulary"
            )
        if self.d_model % 2:
            raise ValueError(f"d_model ({self.d_model}) must be even: a half for each direction")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout ({self.dropout}) must be at least 0 and below 1")
        if not 0 <= self.pad_id < self.src_vocab_size:
            raise ValueError(f"pad_id ({self.pad_id}) must be a token of the vocabulary")

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values; `Seq2SeqConfig(**d)` brings them back."""
        return asdict(self)


class AdditiveAttention(nn.Module):
    """Bahdanau et al. (2015), section 3.1: score(s, h) = v^T tanh(W s + U h).

    The decoder's state s is the query; the encoder's states h are keys and values in one.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w_query = nn.Linear(d_model, d_model, bias=False)  # W
        self.w_key = nn.Linear(d_model, d_model, bias=False)  # U
        self.v = nn.Linear(d_model, 1, bias=False)

    def forward(
        self, state: State, keys: Memory, memory: Memory, mask: Bool[Tensor, "batch src_len"]
    ) -> tuple[Float[Tensor, "batch d_model"], Float[Tensor, "batch src_len"]]:
        """The context vector and the weights. `keys` is U h, the same at every step."""
        hidden = torch.tanh(self.w_query(state)[:, None] + keys)  # (batch, src_len, d_model)
        scores = self.v(hidden).squeeze(-1)  # (batch, src_len)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        context = (weights[:, :, None] * memory).sum(dim=1)  # (batch, d_model)
        return context, weights


class Seq2Seq(EncoderDecoder):
    """A bidirectional GRU reads the source, another GRU writes the target, word by word.

    Without attention, all that the decoder knows of the source is one vector: the last state of
    either direction. With attention each step makes its own mixture of all the states.

    The same calls as `Transformer`: `forward`, `encode`, `decode`, `logits`.
    """

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        d = config.d_model
        self.embedding = TokenEmbedding(config.src_vocab_size, d)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.GRU(d, d // 2, batch_first=True, bidirectional=True)
        self.attention = AdditiveAttention(d) if config.attention else None
        self.first_state = nn.Linear(d, d)
        self.decoder = nn.GRU(2 * d, d, batch_first=True)  # reads a word and a context
        self.combine = nn.Linear(3 * d, d)
        self.output = nn.Linear(d, config.tgt_vocab_size, bias=False)
        self.output.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.5 * d**-0.5)

    def forward(
        self, src: Int[Tensor, "batch src_len"], tgt: Int[Tensor, "batch tgt_len"]
    ) -> Float[Tensor, "batch tgt_len tgt_vocab"]:
        """Logits for the token after each target position (teacher forcing)."""
        return self.logits(self.decode(tgt, self.encode(src), src))

    def encode(self, src: Int[Tensor, "batch src_len"]) -> Memory:
        """The encoder's state at each word: half from the left, half from the right."""
        x = self.dropout(self.embedding(src))  # (batch, src_len, d_model)
        # Packed, so that the direction from the right begins at the last word, not in the padding.
        lengths = (src != self.config.pad_id).sum(dim=1)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=src.size(1))
        return memory

    def decode(
        self,
        tgt: Int[Tensor, "batch tgt_len"],
        memory: Memory,
        src: Int[Tensor, "batch src_len"],
        state: State | None = None,
    ) -> Float[Tensor, "batch tgt_len d_model"]:
        """The vectors that become logits; from `state` on, or from the beginning if None."""
        return self.run(tgt, memory, src, state)[0]

    def run(
        self,
        tgt: Int[Tensor, "batch tgt_len"],
        memory: Memory,
        src: Int[Tensor, "batch src_len"],
        state: State | None = None,
    ) -> tuple[
        Float[Tensor, "batch tgt_len d_model"], State, Float[Tensor, "batch tgt_len src_len"] | None
    ]:
        """Run the decoder: vectors, the last state, and with attention the weights of each step."""
        self._check_rows(src, tgt, memory)
        x = self.dropout(self.embedding(tgt))  # (batch, tgt_len, d_model)
        summary = self.summary(memory, src)  # (batch, d_model)
        state = torch.tanh(self.first_state(summary)) if state is None else state
        if self.attention is None:
            contexts = summary[:, None].expand_as(x)
            states, last = self.decoder(torch.cat([x, contexts], dim=-1), state[None])
            state, weights = last[0], None
        else:
            states, contexts, weights = self._attend(x, memory, src, state)
            state = states[:, -1]
        hidden = torch.tanh(self.combine(torch.cat([states, contexts, x], dim=-1)))
        return self.dropout(hidden), state, weights

    def _attend(
        self, x: Tensor, memory: Memory, src: Tensor, state: State
    ) -> tuple[Tensor, Tensor, Tensor]:
        # No step can begin before the one before it has ended: its query is that one's state.
        assert self.attention is not None
        mask, keys = src != self.config.pad_id, self.attention.w_key(memory)
        steps = []
        for word in x.unbind(dim=1):
            context, weights = self.attention(state, keys, memory, mask)
            read = torch.cat([word, context], dim=-1)[:, None]  # (batch, 1, 2 * d_model)
            states, _ = self.decoder(read, state[None])
            state = states[:, 0]
            steps.append((state, context, weights))
        states, contexts, weights = (torch.stack(each, dim=1) for each in zip(*steps, strict=True))
        return states, contexts, weights

    def summary(self, memory: Memory, src: Int[Tensor, "batch src_len"]) -> State:
        """The fixed vector: each direction's state after it has read the whole source."""
        half, last = self.config.d_model // 2, (src != self.config.pad_id).sum(dim=1) - 1
        rows = torch.arange(len(src), device=src.device)
        return torch.cat([memory[rows, last, :half], memory[:, 0, half:]], dim=-1)

    @torch.no_grad()
    def alignment(
        self, src: Int[Tensor, "batch src_len"], tgt: Int[Tensor, "batch tgt_len"]
    ) -> Float[Tensor, "batch tgt_len src_len"]:
        """The weights with which each target position looked at the source.

        Raises:
            ValueError: the model has no attention.
        """
        _, _, weights = self.run(tgt, self.encode(src), src)
        if weights is None:
            raise ValueError("this model has no attention; build it with attention=True")
        return weights
