"""Records a finished run for the book.

Use: python -m tools.record RUN_FOLDER book/results/NAME.json
"""

import sys
from pathlib import Path

from transformer.files import FileError
from transformer.results import result_of_run, write_result
from transformer.runtime import require_commit


def main(arguments: list[str]) -> int:
    """The command line; returns the exit status."""
    if len(arguments) != 2:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    run, out = map(Path, arguments)
    try:
        result = result_of_run(run)
        require_commit(result["commit"], str(run), "train again")
        write_result(out, result)
    except (ValueError, FileError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Recorded {run} in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
