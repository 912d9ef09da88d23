"""Begin with what another model has learned: its sizes, its weights, and what its tokens mean."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.text import BPETokenizer, Tokenizer, load_tokenizer
from transformer.weights import load_model, load_model_tensors, model_tensors

# What fixes the shapes of the weights, and what they mean; the dropouts may differ.
SIZES = ("d_model", "d_ff", "n_heads", "n_layers", "d_k", "d_v", "norm", "positions", "tie")
# The matrices with a row for each token.
BY_TOKEN = ("src_embedding.weight", "tgt_embedding.weight", "output.weight")


@dataclass(frozen=True)
class Start:
    """A trained model from which another one sets out.

    Attributes:
        name: of its folder.
        model: on the CPU.
        tokenizer: what its rows stand for.
    """

    name: str
    model: Transformer
    tokenizer: Tokenizer

    @classmethod
    def load(cls, folder: Path | str) -> "Start":
        """From a run's folder, or that of a model that comes with the book.

        Raises:
            ValueError: there is no tokenizer.
            CheckpointError: there are no weights, or they are damaged.
        """
        folder = Path(folder)
        tokenizer = load_tokenizer(folder / "tokenizer.json")
        return cls(folder.resolve().name, load_model(folder / "model.safetensors"), tokenizer)

    @property
    def sizes(self) -> dict[str, Any]:
        """The settings that a model must share with this one."""
        config = self.model.config
        learned = ("max_len",) if config.positions == "learned" else ()
        return {name: getattr(config, name) for name in (*SIZES, *learned)}

    def require_fitting(self, config: TransformerConfig, tokenizer: Tokenizer) -> None:
        """Refuse a model that cannot take these weights over.

        Raises:
            ValueError: it has another size, or tokens that this one's cannot spell.
        """
        for name, size in self.sizes.items():
            if getattr(config, name) != size:
                raise ValueError(
                    f"{name} ({getattr(config, name)}) differs from that of the model to start "
                    f"from, {self.name} ({size}); leave {name} out, or start from another model"
                )
        subwords = isinstance(self.tokenizer, BPETokenizer) and isinstance(tokenizer, BPETokenizer)
        if not subwords and tokenizer.to_json() != self.tokenizer.to_json():
            raise ValueError(
                f"the tokens of {self.name} are not those of this task, and only subwords can "
                "spell each other; start from a model of subwords, or of the same words"
            )

    def hand_over(self, model: Transformer, tokenizer: Tokenizer) -> None:
        """Copy the weights into a model of the same sizes.

        A token that both vocabularies have keeps its vector. One that is new begins with the mean
        of the vectors of the tokens that spelled it so far.

        Raises:
            ValueError: the model does not fit (see `require_fitting`).
        """
        self.require_fitting(model.config, tokenizer)
        spelling = self._spelling(tokenizer)
        tensors = {
            name: rows_of(tensor, spelling) if name in BY_TOKEN else tensor
            for name, tensor in model_tensors(self.model).items()
        }
        load_model_tensors(model, tensors)

    def _spelling(self, tokenizer: Tokenizer) -> list[list[int]]:
        """For each of its tokens, the ids with which this model's tokenizer spells it."""
        if not isinstance(self.tokenizer, BPETokenizer):
            return [[i] for i in range(tokenizer.vocab_size)]
        pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        return [self.tokenizer.spell(piece) for piece in pieces]


def rows_of(table: Tensor, spelling: list[list[int]]) -> Tensor:
    """For each new token the mean of the rows that spell it: (tokens, d_model) of each."""
    return torch.stack([table[ids].mean(dim=0) for ids in spelling])
