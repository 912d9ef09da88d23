"""The model's settings in the paper's notation, its presets, and the rows of its Table 3."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

NormPlacement = Literal["post", "pre"]
Positions = Literal["sinusoidal", "learned"]
Tying = Literal["all", "decoder", "none"]

# Section 5.1: sentences were encoded with a shared vocabulary of about 37,000 tokens.
PAPER_VOCAB_SIZE = 37_000


@dataclass(frozen=True)
class TransformerConfig:
    """Everything that fixes the shape of a Transformer (sections 3 and 6.2 of the paper).

    Args:
        src_vocab_size: number of source tokens.
        tgt_vocab_size: number of target tokens.
        d_model: width of every position's vector (section 3.1).
        d_ff: inner width of the feed-forward network (section 3.3).
        n_heads: h, the number of attention heads (section 3.2.2).
        n_layers: N, the layers in the encoder and again in the decoder (section 3.1).
        d_k: width of a query or key in one head; d_model / n_heads when None.
        d_v: width of a value in one head; d_model / n_heads when None.
        dropout: P_drop of section 5.4.
        attention_dropout: share of the attention weights dropped in training; P_drop when None.
        word_dropout: share of the input tokens, on both sides, whose vectors are dropped whole.
        norm: "post" is the paper's LayerNorm(x + Sublayer(x)); "pre" is x + Sublayer(LayerNorm(x)).
        positions: sinusoids (section 3.5) or a learned table (Table 3, row E).
        tie: which matrices are one and the same. "all": both embeddings and the output
            projection (section 3.4); "decoder": target embedding and output projection;
            "none": three separate matrices.
        max_len: the longest sequence, in tokens, that the model takes.
        pad_id: the token that fills up short sentences; nobody attends to it.

    Raises:
        ValueError: a sentence that names the setting, its value and the remedy.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 512
    d_ff: int = 2048
    n_heads: int = 8
    n_layers: int = 6
    d_k: int | None = None
    d_v: int | None = None
    dropout: float = 0.1
    attention_dropout: float | None = None
    word_dropout: float = 0.0
    norm: NormPlacement = "post"
    positions: Positions = "sinusoidal"
    tie: Tying = "all"
    max_len: int = 1024
    pad_id: int = 0

    def __post_init__(self) -> None:
        sizes = ("src_vocab_size", "tgt_vocab_size", "d_model", "d_ff", "n_heads", "n_layers")
        for name in (*sizes, "max_len"):
            _require_positive(name, getattr(self, name))
        for name in ("d_k", "d_v"):
            if getattr(self, name) is not None:
                _require_positive(name, getattr(self, name))
            elif self.d_model % self.n_heads:
                raise ValueError(
                    f"d_model ({self.d_model}) must be divisible by n_heads ({self.n_heads}), "
                    f"or give {name}"
                )
        for name in ("dropout", "attention_dropout", "word_dropout"):
            share = getattr(self, name)
            if share is not None and not 0 <= share < 1:
                raise ValueError(f"{name} ({share}) must be at least 0 and below 1")
        _require_choice("norm", self.norm, NormPlacement)
        _require_choice("positions", self.positions, Positions)
        _require_choice("tie", self.tie, Tying)
        if self.tie == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ValueError(
                'tie="all" shares one matrix between both languages, so src_vocab_size '
                f"({self.src_vocab_size}) must equal tgt_vocab_size ({self.tgt_vocab_size}); "
                'use a joint vocabulary, or tie="decoder"'
            )
        if type(self.pad_id) is not int:
            raise ValueError(f"pad_id ({self.pad_id!r}) must be a whole number")
        if not 0 <= self.pad_id < min(self.src_vocab_size, self.tgt_vocab_size):
            raise ValueError(f"pad_id ({self.pad_id}) must be a token of both vocabularies")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"d_model ({self.d_model}) must be even for sinusoidal positions, which come in "
                'pairs of a sine and a cosine; use an even width, or positions="learned"'
            )

    @property
    def key_width(self) -> int:
        """d_k: width of one head's queries and keys."""
        return self.d_model // self.n_heads if self.d_k is None else self.d_k

    @property
    def value_width(self) -> int:
        """d_v: width of one head's values."""
        return self.d_model // self.n_heads if self.d_v is None else self.d_v

    @property
    def attention_share(self) -> float:
        """The share of the attention weights that is dropped."""
        return self.dropout if self.attention_dropout is None else self.attention_dropout

    @classmethod
    def preset(cls, name: str, **settings: Any) -> "TransformerConfig":
        """A preset by name ("base", "big", "tiny"), with any field overridden.

        The vocabularies default to the paper's 37,000; a missing target size follows the source's.
        """
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}; choose one of {', '.join(PRESETS)}")
        settings.setdefault("src_vocab_size", PAPER_VOCAB_SIZE)
        if settings.get("tgt_vocab_size") is None:
            settings["tgt_vocab_size"] = settings["src_vocab_size"]
        return cls(**{**PRESETS[name], **settings})

    @classmethod
    def base(cls, **settings: Any) -> "TransformerConfig":
        """The base model (Table 3, first row)."""
        return cls.preset("base", **settings)

    @classmethod
    def big(cls, **settings: Any) -> "TransformerConfig":
        """The big model (Table 3, last row)."""
        return cls.preset("big", **settings)

    @classmethod
    def tiny(cls, **settings: Any) -> "TransformerConfig":
        """A model for one page and two CPU cores: N = 2, d_model = 64, h = 4, pre-norm."""
        return cls.preset("tiny", **settings)

    @classmethod
    def table3(cls, row: str, **settings: Any) -> "TransformerConfig":
        """The model of a row of Table 3: "base", "A1" to "A4", "B1", "B2", "C1" to "C7", ..."""
        if row not in TABLE_3:
            raise ValueError(f"Table 3 has no row {row!r}; choose one of {', '.join(TABLE_3)}")
        return cls.base(**{**TABLE_3[row].settings, **settings})

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values, ready for JSON; `TransformerConfig(**d)` brings it back."""
        return asdict(self)


PRESETS: dict[str, dict[str, Any]] = {
    "base": {},
    "big": {"d_model": 1024, "d_ff": 4096, "n_heads": 16, "dropout": 0.3},
    "tiny": {"d_model": 64, "d_ff": 256, "n_heads": 4, "n_layers": 2, "norm": "pre"},
}


@dataclass(frozen=True)
class Table3Row:
    """A row of Table 3 (section 6.2): what differs from base, and what the paper reports.

    `params` is in millions; perplexity and BLEU are on English-German newstest2013. `params` is
    None where the paper leaves the cell empty.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    label_smoothing: float = 0.1
    steps: int = 100_000
    perplexity: float = 0.0
    bleu: float = 0.0
    params: int | None = None


def _heads(n_heads: int, width: int) -> dict[str, Any]:
    return {"n_heads": n_heads, "d_k": width, "d_v": width}


TABLE_3: dict[str, Table3Row] = {
    "base": Table3Row(perplexity=4.92, bleu=25.8, params=65),
    "A1": Table3Row(_heads(1, 512), perplexity=5.29, bleu=24.9),
    "A2": Table3Row(_heads(4, 128), perplexity=5.00, bleu=25.5),
    "A3": Table3Row(_heads(16, 32), perplexity=4.91, bleu=25.8),
    "A4": Table3Row(_heads(32, 16), perplexity=5.01, bleu=25.4),
    "B1": Table3Row({"d_k": 16}, perplexity=5.16, bleu=25.1, params=58),
    "B2": Table3Row({"d_k": 32}, perplexity=5.01, bleu=25.4, params=60),
    "C1": Table3Row({"n_layers": 2}, perplexity=6.11, bleu=23.7, params=36),
    "C2": Table3Row({"n_layers": 4}, perplexity=5.19, bleu=25.3, params=50),
    "C3": Table3Row({"n_layers": 8}, perplexity=4.88, bleu=25.5, params=80),
    "C4": Table3Row({"d_model": 256, **_heads(8, 32)}, perplexity=5.75, bleu=24.5, params=28),
    "C5": Table3Row({"d_model": 1024, **_heads(8, 128)}, perplexity=4.66, bleu=26.0, params=168),
    "C6": Table3Row({"d_ff": 1024}, perplexity=5.12, bleu=25.4, params=53),
    "C7": Table3Row({"d_ff": 4096}, perplexity=4.75, bleu=26.2, params=90),
    "D1": Table3Row({"dropout": 0.0}, perplexity=5.77, bleu=24.6),
    "D2": Table3Row({"dropout": 0.2}, perplexity=4.95, bleu=25.5),
    "D3": Table3Row(label_smoothing=0.0, perplexity=4.67, bleu=25.3),
    "D4": Table3Row(label_smoothing=0.2, perplexity=5.47, bleu=25.7),
    "E": Table3Row({"positions": "learned"}, perplexity=4.92, bleu=25.7),
    "big": Table3Row(PRESETS["big"], steps=300_000, perplexity=4.33, bleu=26.4, params=213),
}


def _require_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} ({value!r}) must be a whole number of at least 1")


def _require_choice(name: str, value: Any, choices: Any) -> None:
    allowed = choices.__args__
    if value not in allowed:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(map(repr, allowed))}")
