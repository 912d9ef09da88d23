"""How much the way of counting moves BLEU: one model's translations, several scorers.

The model translates the split with the paper's search, which is that of the samples and not chosen
by any score.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from measurements.samples import JUDGED, N_JUDGED, SEARCHES, subject
from transformer.text.sentences import texts_of

# The Transformer's authors published a script that does this to tokenised text, on both sides
# (tensor2tensor, get_ende_bleu.sh): a hyphenated word becomes three.
HYPHEN = re.compile(r"(?<=\S)-(?=\S)")


def split_compounds(text: str) -> str:
    """Each hyphen between two letters as a word of its own: "a well - known man"."""
    return HYPHEN.sub(" - ", text)


def scored_in_many_ways(
    translations: Iterable[str], references: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """BLEU of the same translations, counted in several ways.

    Returns:
        For each way its BLEU and the signature that sacreBLEU prints, which knows of
        tokenisation and case, and of nothing that was done to the text beforehand.

    Raises:
        ValueError: there is nothing to score, or not one reference for each translation.
    """
    from sacrebleu.metrics import BLEU

    plain = texts_of(translations, "translations"), texts_of(references, "references")
    if not plain[0] or len(plain[0]) != len(plain[1]):
        raise ValueError(f"{len(plain[0])} translations for {len(plain[1])} references")
    words = BLEU().tokenizer  # 13a, as the WMT campaigns count

    def bleu(*texts: list[str], **settings: Any) -> dict[str, Any]:
        metric = BLEU(force=True, **settings)
        score = metric.corpus_score(texts[0], [texts[1]]).score
        return {"bleu": round(score, 2), "signature": str(metric.get_signature())}

    split = [[split_compounds(words(text)) for text in side] for side in plain]
    return {
        "13a": bleu(*plain),
        "13a, lower case": bleu(*plain, lowercase=True),
        "intl": bleu(*plain, tokenize="intl"),
        "intl, lower case": bleu(*plain, tokenize="intl", lowercase=True),
        "13a, compounds apart": bleu(*split, tokenize="none"),
        "blanks only": bleu(*plain, tokenize="none"),
    }


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
