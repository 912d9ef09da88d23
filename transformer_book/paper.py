"""What the paper reports in its Tables 2 (section 6.1) and 4 (6.3). Table 3 stands in `config`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Pair = Literal["en-de", "en-fr"]
PAIRS: tuple[Pair, Pair] = ("en-de", "en-fr")


@dataclass(frozen=True)
class Table2Row:
    """A row of Table 2. A language pair for which the paper's cell is empty is left out.

    Args:
        bleu: on newstest2014, as printed.
        flops: the training cost, as printed. For the Transformer one number stands in the middle of
            both columns, so it is given for both pairs.
        single: of an ensemble, the row of its single model.
        cite: the work that the paper cites, as in the book's bibliography.
        last_zero: the pairs whose score is printed with a 0 at its end, which no number keeps.
    """

    bleu: Mapping[Pair, float]
    flops: Mapping[Pair, float] = field(default_factory=dict)
    single: str | None = None
    cite: str = "vaswani2017attention"
    last_zero: tuple[Pair, ...] = ()

    def printed(self, pair: Pair) -> str:
        """The score in the paper's own digits, "" where its cell is empty."""
        if pair not in self.bleu:
            return ""
        return f"{self.bleu[pair]:g}" + "0" * (pair in self.last_zero)


TABLE_2: dict[str, Table2Row] = {
    "ByteNet": Table2Row({"en-de": 23.75}, cite="kalchbrenner2016neural"),
    "Deep-Att + PosUnk": Table2Row({"en-fr": 39.2}, {"en-fr": 1.0e20}, cite="zhou2016deep"),
    "GNMT + RL": Table2Row(
        {"en-de": 24.6, "en-fr": 39.92}, {"en-de": 2.3e19, "en-fr": 1.4e20}, cite="wu2016google"
    ),
    "ConvS2S": Table2Row(
        {"en-de": 25.16, "en-fr": 40.46},
        {"en-de": 9.6e18, "en-fr": 1.5e20},
        cite="gehring2017convolutional",
    ),
    "MoE": Table2Row(
        {"en-de": 26.03, "en-fr": 40.56},
        {"en-de": 2.0e19, "en-fr": 1.2e20},
        cite="shazeer2017outrageously",
    ),
    "Deep-Att + PosUnk Ensemble": Table2Row(
        {"en-fr": 40.4}, {"en-fr": 8.0e20}, "Deep-Att + PosUnk", "zhou2016deep"
    ),
    "GNMT + RL Ensemble": Table2Row(
        {"en-de": 26.30, "en-fr": 41.16},
        {"en-de": 1.8e20, "en-fr": 1.1e21},
        "GNMT + RL",
        "wu2016google",
        last_zero=("en-de",),
    ),
    "ConvS2S Ensemble": Table2Row(
        {"en-de": 26.36, "en-fr": 41.29},
        {"en-de": 7.7e19, "en-fr": 1.2e21},
        "ConvS2S",
        "gehring2017convolutional",
    ),
    "Transformer (base)": Table2Row(
        {"en-de": 27.3, "en-fr": 38.1}, {"en-de": 3.3e18, "en-fr": 3.3e18}
    ),
    "Transformer (big)": Table2Row(
        {"en-de": 28.4, "en-fr": 41.8}, {"en-de": 2.3e19, "en-fr": 2.3e19}
    ),
}

# The footnote of section 6.1: "sustained single-precision", in FLOP/s.
SUSTAINED = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}


@dataclass(frozen=True)
class MachineTime:
    """On how many GPUs of which kind a model was trained, and for how many days."""

    gpu: str
    n_gpus: int
    days: float


# The Transformer's: section 5.2. The others': tables 2 and 3 of Shazeer et al. 2017, which give
# GNMT's too. Where no source at hand has the time, there is no entry.
MACHINE_TIMES: dict[tuple[str, Pair], MachineTime] = {
    ("GNMT + RL", "en-de"): MachineTime("K80", 96, 1.0),
    ("GNMT + RL", "en-fr"): MachineTime("K80", 96, 6.0),
    ("MoE", "en-de"): MachineTime("K40", 64, 1.0),
    ("MoE", "en-fr"): MachineTime("K40", 64, 6.0),
    ("Transformer (base)", "en-de"): MachineTime("P100", 8, 0.5),
    ("Transformer (big)", "en-de"): MachineTime("P100", 8, 3.5),
}

# The output of one published base model on English-German newstest2014, scored in four ways by
# Martin Popel (github.com/tensorflow/tensor2tensor, issue 317, comment of 12 April 2018).
ONE_OUTPUT = {
    "sacreBLEU": 27.52,
    "sacreBLEU, tokenisation intl": 28.33,
    "sacreBLEU, tokenisation intl, lower case": 28.85,
    "the authors' script, with a changed reference": 29.02,
}


@dataclass(frozen=True)
class Table4Row:
    """A row of Table 4: a parser of English, judged on section 23 of the Wall Street Journal.

    Args:
        name: the parser, as printed.
        training: on what, as printed; "WSJ only" is about 40,000 sentences.
        f1: of labelled bracketing.
        cite: the work that the paper cites, as in the book's bibliography.
    """

    name: str
    training: str
    f1: float
    cite: str = "vaswani2017attention"


_ONLY, _MORE = "WSJ only, discriminative", "semi-supervised"
TABLE_4 = (
    Table4Row("Vinyals & Kaiser et al. (2014)", _ONLY, 88.3, "vinyals2015grammar"),
    Table4Row("Petrov et al. (2006)", _ONLY, 90.4, "petrov2006learning"),
    Table4Row("Zhu et al. (2013)", _ONLY, 90.4, "zhu2013fast"),
    Table4Row("Dyer et al. (2016)", _ONLY, 91.7, "dyer2016recurrent"),
    Table4Row("Transformer (4 layers)", _ONLY, 91.3),
    Table4Row("Zhu et al. (2013)", _MORE, 91.3, "zhu2013fast"),
    Table4Row("Huang & Harper (2009)", _MORE, 91.3, "huang2009self"),
    Table4Row("McClosky et al. (2006)", _MORE, 92.1, "mcclosky2006effective"),
    Table4Row("Vinyals & Kaiser et al. (2014)", _MORE, 92.1, "vinyals2015grammar"),
    Table4Row("Transformer (4 layers)", _MORE, 92.7),
    Table4Row("Luong et al. (2015)", "multi-task", 93.0, "luong2016multi"),
    Table4Row("Dyer et al. (2016)", "generative", 93.3, "dyer2016recurrent"),
)
