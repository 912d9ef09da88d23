"""A finished run of training, recorded for the book: settings, provenance, curve and scores."""

from pathlib import Path

from transformer.support.provenance import require_commit

from transformer_book.results import result_of_run, write_result


def make(run: Path, out: Path) -> int:
    """Record the run; returns the exit status.

    Raises:
        ValueError: it has not ended, or was made by files that no commit holds.
        FileError: a file of it is too large, or the record could not be written.
    """
    result = result_of_run(run)
    require_commit(result["commit"], str(run), "train again")
    write_result(out, result)
    print(f"Recorded {run} in {out}")
    return 0
