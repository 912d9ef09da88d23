"""How much the way of counting moves BLEU: one model's translations, several scorers.

The model translates the split with the paper's search, which is that of the samples and not chosen
by any score.
"""

from pathlib import Path
from typing import Any

from measurements.samples import JUDGED, N_JUDGED, SEARCHES, subject
from transformer.evaluation import scored_in_many_ways


def run(
    model: Path,
    *,
    data: Path | None = None,
    split: str = "test.de-en",
    sentences: int = N_JUDGED,
    device: str | None = None,
) -> dict[str, Any]:
    """The data, the model, and the scores."""
    about, translator, text = subject(model, data, split, sentences, device)
    outputs = translator.translate(text.source, **SEARCHES[JUDGED])
    return {
        **about,
        "search": JUDGED,
        "references_with": {
            "a hyphen": sum("-" in line for line in text.target),
            "a quotation mark": sum('"' in line for line in text.target),
        },
        "scores": scored_in_many_ways(outputs, text.target),
    }


def table(result: dict[str, Any]) -> str:
    """BLEU in each way."""
    return "\n".join(
        f"{way:22} BLEU {score['bleu']:5.2f}" for way, score in result["scores"].items()
    )
