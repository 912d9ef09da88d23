"""What a variant is: a name, where it comes from, and what it replaces in a Transformer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from torch import nn

from transformer.layers import Vectors
from transformer.model import Transformer

Part = TypeVar("Part", bound=nn.Module)


@dataclass(frozen=True)
class Variant:
    """One change to the paper's model.

    Attributes:
        name: as it is given to `build`.
        description: one sentence.
        cites: the key of its source in the book's references.
        apply: replaces parts in a freshly built model, whose `config` stays true of all others.
    """

    name: str
    description: str
    cites: str
    apply: Callable[[Transformer], None]


def replace_each(model: nn.Module, kind: type[Part], make: Callable[[Part], nn.Module]) -> None:
    """Put `make(part)` in the place of each part of exactly this kind.

    Raises:
        ValueError: there is none, because another variant has replaced them.
    """
    found = [
        (parent, name, part)
        for parent in model.modules()
        for name, part in parent.named_children()
        if type(part) is kind
    ]
    if not found:
        raise ValueError(
            f"the model has no {kind.__name__} to replace; another variant has done so already"
        )
    for parent, name, part in found:
        parent.register_module(name, make(part))


def become(part: nn.Module, kind: type[nn.Module]) -> None:
    """Let a part, with the weights that it has, answer to the methods of `kind` before its own.

    So the changes of two variants add up in one part: heads that share their keys, and rotate them.
    """
    own = type(part)
    part.__class__ = type(f"{kind.__name__}Of{own.__name__}", (kind, own), {})


def glorot(part: Part) -> Part:
    """Draw the matrices of a new part as `Transformer.reset_parameters` draws all others."""
    for parameter in part.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    return part


class NoPositions(nn.Module):
    """In the place of positions that are added: nothing is added."""

    def forward(self, x: Vectors, start: int = 0) -> Vectors:
        """The vectors as they are."""
        return x
