"""Records how much the way of counting moves BLEU: one model's translations, several scorers.

Use: python -m tools.scorers FOLDER --data FOLDER --out book/results/NAME.json

The folder is a run, or a model that comes with the book. It translates the split with the paper's
search, which is that of the samples and not chosen by any score.
"""

import sys

from tools.samples import JUDGED, SEARCHES, parser_of, subject
from transformer.data.parallel import DataError
from transformer.evaluation import scored_in_many_ways
from transformer.files import FileError
from transformer.results import write_result
from transformer.runs import RunError


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    given = parser_of("tools.scorers", __doc__).parse_args(arguments)
    try:
        origin, translator, text = subject("tools.scorers", given)
        outputs = translator.translate(text.source, **SEARCHES[JUDGED])
        result = {
            **origin,
            "search": JUDGED,
            "references_with": {
                "a hyphen": sum("-" in line for line in text.target),
                "a quotation mark": sum('"' in line for line in text.target),
            },
            "scores": scored_in_many_ways(outputs, text.target),
        }
        write_result(given.out, result)
    except (ValueError, DataError, RunError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    for way, score in result["scores"].items():
        print(f"{way:22} BLEU {score['bleu']:5.2f}")
    print(f"Recorded in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
