"""What has changed in Transformers since the paper: each change by itself, beside the core.

The model of `transformer.model` stays the paper's. A variant replaces parts of a model that has
just been built; training and searching do not notice. Pre-norm is a setting of the core. Those in
`without` take an idea of the paper out, to see what it was good for.
"""

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.variants import decoder_only, gated, grouped, rms_norm, rotary, without
from transformer.variants.variant import Variant

# In the order in which they are applied: a stack is put together from parts that are replaced
# already, and what rotates takes its parts as they are.
VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        rms_norm.VARIANT,
        gated.VARIANT,
        grouped.MULTI_QUERY,
        grouped.TWO_GROUPS,
        rotary.VARIANT,
        *without.VARIANTS,
        decoder_only.VARIANT,
    )
}
# What most large language models of today have, besides norm="pre".
MODERN = ("rms_norm", "swiglu", "grouped", "rotary", "decoder_only")


def build(config: TransformerConfig, *names: str) -> Transformer:
    """The paper's model with these variants, in the order of `VARIANTS`.

    `load_model` builds the paper's model only, and refuses a file of another: build that one here,
    and give it the file's tensors (`load_model_tensors`).

    Raises:
        ValueError: a name is unknown, or stands twice, or a variant does not fit the model.
    """
    for name in names:
        if name not in VARIANTS:
            raise ValueError(f"unknown variant {name!r}; choose from {', '.join(VARIANTS)}")
        if names.count(name) > 1:
            raise ValueError(f"the variant {name!r} stands twice; give each once")
    model = Transformer(config)
    for name, variant in VARIANTS.items():
        if name in names:
            variant.apply(model)
    return model


__all__ = ["MODERN", "VARIANTS", "Variant", "build"]
