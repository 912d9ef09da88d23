"""The model's three attentions, as the widgets name them."""

# Whose tokens ask, and whose tokens are asked.
KINDS = {
    "encoder self": ("source", "source"),
    "decoder self": ("target", "target"),
    "cross": ("target", "source"),
}
