"""How good translations are: BLEU and chrF by sacreBLEU, and what chance alone could change.

BLEU is Papineni et al.'s (2002), chrF Popović's (2015). All counting is sacreBLEU's, so that
figures compare with those of others; the book counts by hand once and holds the two equal.

BLEU's words are those of sacreBLEU's tokenizer for the script of the references, which the
signature names: "13a" where spaces cut words; "zh" for Chinese; "ja-mecab" for Japanese where
MeCab is installed. Else, and for Thai, Lao, Tibetan, Burmese and Khmer, nothing knows the words:
"char" counts characters, and chrF is the better judge.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from transformer.text.normalization import DIRECTIONS, normalize
from transformer.text.scripts import without_spaces
from transformer.text.sentences import texts_of


@dataclass(frozen=True)
class Scores:
    """How well a set of translations agrees with its references.

    Attributes:
        bleu: sacreBLEU's corpus BLEU, 0 to 100.
        signature: how it was counted; figures with different signatures do not compare.
        chrf: sacreBLEU's corpus chrF, 0 to 100.
        chrf_signature: how that was counted.
        exact: the share of translations that equal one of their references, 0 to 1.
        n_sentences: how many there were.
    """

    bleu: float
    signature: str
    chrf: float
    chrf_signature: str
    exact: float
    n_sentences: int

    def to_dict(self) -> dict[str, Any]:
        """Rounded, ready for JSON."""
        return {
            "bleu": round(self.bleu, 2),
            "signature": self.signature,
            "chrf": round(self.chrf, 2),
            "chrf_signature": self.chrf_signature,
            "exact": round(self.exact, 4),
            "n_sentences": self.n_sentences,
        }

    def __str__(self) -> str:
        """One line for a terminal."""
        return (
            f"BLEU {self.bleu:.1f}, chrF {self.chrf:.1f}, {self.exact:.1%} of {self.n_sentences} "
            f"exact (BLEU {self.signature}; chrF {self.chrf_signature})"
        )


@dataclass(frozen=True)
class Interval:
    """What a corpus score is over resampled test sets.

    Attributes:
        mean: over the resamples.
        half_width: the middle 95 % of the resamples span twice this.
        p_value: how probable a difference to the first system as large as this one would be by
            chance alone; None for the first system.
        signature: how it was counted, the number of resamples and their seed included.
    """

    mean: float
    half_width: float
    p_value: float | None
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Rounded, ready for JSON."""
        return {
            "mean": round(self.mean, 2),
            "half_width": round(self.half_width, 2),
            "p_value": None if self.p_value is None else round(self.p_value, 4),
            "signature": self.signature,
        }


def score(translations: Iterable[str], references: Iterable[str], *others: Iterable[str]) -> Scores:
    """Corpus BLEU and chrF with their signatures, and the share of exact matches.

    Args:
        translations: what is to be scored.
        references: one for each translation.
        others: as many second references, third ones, ...; the signature says `nrefs`. BLEU counts
            what stands in any of them, chrF takes the one that is nearest.

    Raises:
        ValueError: there is nothing to score, not one reference for each translation, or one
            string in place of a list.
    """
    outputs, *every = _lists(translations, references, *others)
    bleu, chrf = _metrics(*every)
    bleu_score, chrf_score = (metric.corpus_score(outputs, every).score for metric in (bleu, chrf))
    right = sum(text in wanted for text, *wanted in zip(outputs, *every, strict=True))
    return Scores(
        bleu=bleu_score,
        signature=str(bleu.get_signature()),
        chrf=chrf_score,
        chrf_signature=str(chrf.get_signature()),
        exact=right / len(outputs),
        n_sentences=len(outputs),
    )


def sentence_chrf(translations: Iterable[str], references: Iterable[str]) -> list[float]:
    """The chrF of each sentence alone, 0 to 100.

    For single sentences chrF is the better judge: most have no four words in a row in common with
    their reference, and then BLEU is a matter of smoothing.
    """
    outputs, wanted = _lists(translations, references)
    chrf = _metrics()[1]
    pairs = zip(outputs, wanted, strict=True)
    return [chrf.sentence_score(translation, [reference]).score for translation, reference in pairs]


def bleu_counts(translations: Iterable[str], references: Iterable[str]) -> list[list[int]]:
    """All that corpus BLEU needs of each sentence; the sums over a test set give its score.

    Returns:
        For each sentence ten counts: tokens of the translation, tokens of the reference, n-grams in
        common for n = 1 to 4 (clipped), n-grams of the translation for n = 1 to 4.
    """
    return [
        [s.sys_len, s.ref_len, *map(int, s.counts), *map(int, s.totals)]
        for s in _each(translations, references)
    ]


def sentence_bleu(translations: Iterable[str], references: Iterable[str]) -> list[float]:
    """The BLEU of each sentence alone, 0 to 100, as sacreBLEU smooths it.

    The first precision of zero counts as half a match, the next as a quarter, and so on; lengths of
    n-grams that the translation is too short for are left out. `sentence_chrf` needs no such rule.
    """
    return [float(s.score) for s in _each(translations, references)]


def bleu_tokens(text: str, *, references: Iterable[str] | None = None) -> list[str]:
    """The words and marks that BLEU counts in a text that is scored against these references.

    Without references, the text's own script says what its words are.
    """
    known = [text] if references is None else _normal(references, "references")
    tokens: str = _metrics(known)[0].tokenizer(_normal([text], "text")[0])
    return tokens.split()


def paired_bootstrap(
    systems: Mapping[str, Iterable[str]],
    references: Iterable[str],
    *others: Iterable[str],
    n_resamples: int = 1000,
) -> dict[str, dict[str, Interval]]:
    """Paired bootstrap resampling (Koehn 2004), by sacreBLEU's own test.

    Test sets of the same size are drawn from the sentences, with replacement, the same ones for all
    systems. The seed is sacreBLEU's (SACREBLEU_SEED, or its default).

    Args:
        systems: name -> its translations; all others are compared with the first.
        references, others: as `score` takes them.
        n_resamples: how many test sets to draw.

    Returns:
        For each system "bleu" and "chrf".

    Raises:
        ValueError: there is no system, or one without a translation for each reference.
    """
    from sacrebleu.significance import PairedTest

    if not systems:
        raise ValueError("there is no system to score; give at least one")
    every = [_normal(each, "references") for each in (references, *others)]
    named: list[tuple[str, Sequence[str]]] = [
        (name, _lists(outputs, *every)[0]) for name, outputs in systems.items()
    ]
    metrics = dict(zip(("bleu", "chrf"), _metrics(*every), strict=True))
    test = PairedTest(named, metrics, every, test_type="bs", n_samples=n_resamples)
    outcome: Any = test()
    signatures, results = outcome
    # sacreBLEU calls the metrics by names of its own, in the order in which it was given them.
    columns = dict(zip(metrics, signatures, strict=True))
    return {
        name: {
            metric: Interval(
                float(results[column][i].mean),
                float(results[column][i].ci),
                None if i == 0 else _p_value(results[column][i], results[column][0]),
                str(signatures[column]),
            )
            for metric, column in columns.items()
        }
        for i, name in enumerate(systems)
    }


def _p_value(result: Any, first: Any) -> float:
    """SacreBLEU's, in effect one-sided, but 1 for a system that scores the same on every test set.

    The library counts resamples in which chance makes *more* than the observed difference. Where
    there is never any difference it finds none, and reports the smallest p-value possible.
    """
    same = (result.score, result.mean, result.ci) == (first.score, first.mean, first.ci)
    return 1.0 if same else float(result.p_value)


def _each(translations: Iterable[str], references: Iterable[str]) -> list[Any]:
    """What sacreBLEU finds in each sentence alone."""
    from sacrebleu.metrics import BLEU

    outputs, wanted = _lists(translations, references)
    metric = BLEU(force=True, effective_order=True, tokenize=_tokenizer(wanted))
    pairs = zip(outputs, wanted, strict=True)
    return [metric.sentence_score(translation, [reference]) for translation, reference in pairs]


def _metrics(*references: list[str]) -> tuple[Any, Any]:
    """BLEU with the tokenizer that fits the references, and chrF; all else is by default."""
    from sacrebleu.metrics import BLEU, CHRF

    # force: the toy tasks' texts are tokenised by nature, and a warning about it would mislead.
    return BLEU(force=True, tokenize=_tokenizer(*references)), CHRF()


def _tokenizer(*references: list[str]) -> str:
    """What sacreBLEU calls its tokenizer for the script of the references as a whole."""
    script = without_spaces(text for each in references for text in each)
    if script == "Japanese" and find_spec("MeCab") and find_spec("ipadic"):
        return "ja-mecab"
    return {"": "13a", "Chinese": "zh"}.get(script, "char")


def _normal(texts: Iterable[str], name: str) -> list[str]:
    """What looks the same counts the same, however it is written; marks of direction count not."""
    return [DIRECTIONS.sub("", normalize(text)) for text in texts_of(texts, name)]


def _lists(translations: Iterable[str], *references: Iterable[str]) -> list[list[str]]:
    """The lists as sacreBLEU takes them, as many references in each as there are translations."""
    outputs = _normal(translations, "translations")
    every = [_normal(each, "references") for each in references]
    for each in every:
        if not each or len(outputs) != len(each):
            raise ValueError(
                f"{len(outputs)} translations and {len(each)} references; "
                "give as many of both, and at least one"
            )
    return [outputs, *every]
