"""What large language models say of translations of the book's own two hundred sentences.

Each German sentence is translated with a beam of four. `verdicts.tsv` beside this file holds what a
large language model, in the place of a bilingual reader, said of each translation so far; no person
has judged them. A verdict stays true whatever model wrote the translation, so that after more
training only what is new has to be read.

Where a beam of twelve with a bonus for each token, or with reading back, ends with another
translation (`reading_back.py`), a second one has judged all three, in random order and without
being told which was which: `verdicts_blind.tsv` holds the German, and of the beam, the bonus and
reading back the translation and its fault.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from measurements.everyday_model import BEAM
from measurements.reading_back import BONUS, READ, chosen
from transformer.data.everyday import asking_for
from transformer.data.own_sentences import own_sentences
from transformer.data.parallel import read_lines
from transformer.evaluation import sentence_chrf

from transformer_book.both_ways import TwoWayTranslator
from transformer_book.results import recorded

VERDICTS = Path(__file__).with_name("verdicts.tsv")
BLIND = Path(__file__).with_name("verdicts_blind.tsv")
# The first that holds, in this order.
FAULTS = {
    "word": "a word means something else, or is none",
    "missing": "what stands in the German is left out, or something is added",
    "sense": "the words are right, and the sentence means something else or nothing",
    "English": "it says what is meant, in words that nobody would choose",
    "none": "right",
}


def run(model: Path, *, verdicts: Path = VERDICTS, blind: Path = BLIND) -> dict[str, Any]:
    """Every sentence with its translation and its fault, and how many have which.

    Beside them stands what programs say of it: chrF by the nearer of two references, and the
    model's own confidence, the mean log-probability of a token of the greedy translation.

    Raises:
        ValueError: a translation has no verdict yet, or one that is no fault of these.
    """
    known = read_verdicts(verdicts)
    rows = own_sentences()
    two = TwoWayTranslator.load(model)
    outputs = two.translate(asking_for("en", [row.german for row in rows]), beam_size=BEAM)
    pairs = [(row.german, output) for row, output in zip(rows, outputs, strict=True)]
    likeness = [
        sentence_chrf(outputs, references)
        for references in ([row.english for row in rows], [row.english_2 for row in rows])
    ]
    logs = two.confidence(asking_for("en", [row.german for row in rows]))
    if new := [pair for pair in pairs if pair not in known]:
        lines = "\n".join("\t".join(pair) for pair in new)
        raise ValueError(
            f"{len(new)} translations have not been judged; add each to {verdicts}, with one of "
            f"{', '.join(FAULTS)} as its third column:\n{lines}"
        )
    return {
        "blind": judged_blind(two, pairs, blind),
        "faults": FAULTS,
        "counts": dict(Counter(known[pair] for pair in pairs)),
        "judged": [
            {
                "phenomenon": row.phenomenon,
                "german": pair[0],
                "translation": pair[1],
                "fault": known[pair],
                "chrf": round(max(near), 1),
                "confidence": round(log, 3),
            }
            for row, pair, near, log in zip(
                rows, pairs, zip(*likeness, strict=True), logs, strict=True
            )
        ],
    }


def judged_blind(
    two: TwoWayTranslator, pairs: list[tuple[str, str]], path: Path
) -> list[dict[str, Any]]:
    """What is translated in more than one way, with the second judge's verdicts of each.

    Raises:
        ValueError: the file is about other translations.
    """
    found = two.candidates(asking_for("en", [german for german, _ in pairs]))
    outputs = {"beam": [beam for _, beam in pairs]}
    weights = recorded("reading_back")["chosen"]
    for name, way in (("bonus", BONUS), ("read back", READ)):
        outputs[name] = chosen(found, weights[way])
    judged = []
    for number, line in enumerate(read_lines(path), 1):
        german, *rest = line.split("\t")
        if len(rest) != 2 * len(outputs) or not set(rest[1::2]) <= FAULTS.keys():
            raise ValueError(
                f"line {number} of {path}: write the German and, for each of {', '.join(outputs)}, "
                f"the translation and one of {', '.join(FAULTS)}, with tabs between them"
            )
        ways = dict(zip(outputs, zip(rest[::2], rest[1::2], strict=True), strict=True))
        judged.append({"german": german, **ways})
    rows = zip(pairs, *outputs.values(), strict=True)
    asked = [(german, *each) for (german, _), *each in rows if len(set(each)) > 1]
    if asked != [(one["german"], *(one[name][0] for name in outputs)) for one in judged]:
        raise ValueError(f"{path} is about other translations; have all of these judged anew")
    return judged


def read_verdicts(path: Path = VERDICTS) -> dict[tuple[str, str], str]:
    """The fault of each translation of a German sentence.

    Raises:
        ValueError: a line has not three columns, or its last one is no fault.
    """
    known: dict[tuple[str, str], str] = {}
    for number, line in enumerate(read_lines(path), 1):
        german, translation, fault = [*line.split("\t"), "", ""][:3]
        if fault not in FAULTS:
            raise ValueError(
                f"line {number} of {path} ends with {fault!r}; write the German sentence, the "
                f"translation and one of {', '.join(FAULTS)}, with tabs between them"
            )
        known[german, translation] = fault
    return known


def table(result: dict[str, Any]) -> str:
    """How many have which fault."""
    return "\n".join(
        f"{result['counts'].get(fault, 0):3}  {said}" for fault, said in FAULTS.items()
    )
