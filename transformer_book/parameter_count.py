"""How many of a model's parameters the chapters have built so far, box by box."""

from torch import nn

from transformer_book.shipped import shipped_on_paper

# What each chapter of "The architecture" adds, in their order.
NEW = {
    "multi_head_attention": "self-attention in the encoder",
    "embedding": "embeddings and output",
    "positions": "the table of sinusoids",
    "layers": "feed-forward networks and norms in the encoder's layers",
    "post_or_pre": "the norm at the end of the encoder",
    "encoder_decoder": "the decoder",
    "masks": "a mask",
    "model": "putting it together",
}


def tally(model: nn.Module) -> dict[str, int]:
    """The parameters that each chapter adds; together they are all of the model's.

    Raises:
        ValueError: a parameter of the model belongs to no chapter.
    """
    counts = dict.fromkeys(NEW, 0)
    for name, parameter in model.named_parameters():
        counts[_chapter_of(name)] += parameter.numel()
    return counts


def _chapter_of(name: str) -> str:
    """The chapter that builds a parameter; one that several parts share has its first name."""
    if name.startswith(("src_positions.", "tgt_positions.")):
        return "positions"
    if name.startswith(("src_embedding.", "tgt_embedding.", "output.")):
        return "embedding"
    if name.startswith("decoder."):
        return "encoder_decoder"
    if name.startswith("encoder.layers."):
        return "multi_head_attention" if ".self_attention." in name else "layers"
    if name.startswith("encoder.norm."):
        return "post_or_pre"
    raise ValueError(f"the parameter {name} belongs to no chapter")


def tally_line(chapter: str) -> str:
    """How far the count of the everyday model, which comes with the book, is after a chapter.

    Args:
        chapter: the chapter's file, without folder and suffix.

    Raises:
        ValueError: the chapter builds no part of the model.
    """
    if chapter not in NEW:
        raise ValueError(f"no tally for {chapter!r}; choose one of {', '.join(NEW)}")
    counts = tally(shipped_on_paper())
    known = list(NEW)[: list(NEW).index(chapter) + 1]
    so_far, total = sum(counts[name] for name in known), sum(counts.values())
    new = counts[chapter]
    here = f"new here: {new:,} ({NEW[chapter]})" if new else f"{NEW[chapter]} adds none"
    return (
        f"Of the {total:,} parameters of the model that comes with this book {so_far:,} are built "
        f"so far; {here}."
    )
