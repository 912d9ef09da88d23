"""What the book's chapters are made with: figures, widgets, exercises, records, a trained model.

`from transformer_book import check, recorded, shipped_model` imports each where it is first asked
for. The Transformer itself is the package `transformer`, which knows nothing of this one.
"""

from transformer_book.lazy import lazily

# What chapters use most, and where it is.
HOMES = {
    name: f"transformer_book.{module}"
    for module, names in {
        "exercises": "check compare compare_function hint judge skeleton solution",
        "figures.style": "use_style",
        "page.model_scripts": "page_model",
        "parameter_count": "tally tally_line",
        "results": "recorded",
        "scales": "scale scaled",
        "shipped": "shipped_model shipped_on_paper",
        "tables": "sample_cards table",
        "widgets.self_check": "self_check",
    }.items()
    for name in names.split()
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
