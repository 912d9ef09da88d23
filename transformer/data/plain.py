"""Parallel text of one's own: two files line by line, a table with tabs, or a folder of either."""

from pathlib import Path

from transformer.data.limits import Budget, inside
from transformer.data.parallel import DataError, ParallelText, read_lines, read_parallel

# What the parts of a corpus are called in the wild, by the names used here.
NAMES = {"train": "train", "valid": "valid", "val": "valid", "dev": "valid"}


def load_plain(
    data_path: Path | str, *, source: str = "de", target: str = "en"
) -> dict[str, ParallelText]:
    """Read a corpus of plain files, any of them also as .gz.

    Args:
        data_path: one of
            - a folder with `train.de` and `train.en`, or `train.tsv`; beside them files named
              valid, val or dev, and any whose name begins with test;
            - a file of tab-separated pairs, `corpus.tsv`: source, tab, target;
            - what two files share: `corpus` (or one of the two) for `corpus.de` and `corpus.en`.
        source, target: the languages, as the files' names end.

    Returns:
        The parts by name, "train" first where there is one.

    Raises:
        DataError: files are missing, empty, damaged, too large, without tab or of different
            lengths, or links that lead out of the folder.
    """
    data_path = Path(data_path)
    if source == target:
        raise DataError(f"source and target are both {source!r}; name two sides")
    if data_path.is_dir():
        return _folder(data_path, source, target)
    if _bare(data_path).suffix == ".tsv":
        return {"train": read_tsv(data_path)}
    stem = _bare(data_path)
    if stem.suffix in (f".{source}", f".{target}"):
        stem = stem.with_suffix("")
    sides = [_existing(stem.with_name(f"{stem.name}.{language}")) for language in (source, target)]
    if sides[0] is None or sides[1] is None:
        raise DataError(
            f"there is no folder {data_path}, no .tsv file of this name, and not both of "
            f"{stem}.{source} and {stem}.{target}; --data names one of these"
        )
    # The files are found by what their names share, as those of a folder are.
    first, second = (inside(stem.parent, side) for side in sides if side)
    return {"train": _pair(first, second, Budget(f"{stem}.{source} with its other side"))}


def read_tsv(path: Path, budget: Budget | None = None) -> ParallelText:
    """Read a file of source, tab, target; further columns are left out.

    Raises:
        DataError: the file is missing, damaged or empty, or a line holds no tab.
    """
    rows = [line.split("\t", 2) for line in read_lines(path, budget)]
    for number, row in enumerate(rows, 1):
        if len(row) < 2:
            raise DataError(
                f"line {number:,} of {path} holds no tab; each line must be source, tab, target"
            )
    text = ParallelText(
        [row[0].strip() for row in rows],
        [row[1].strip() for row in rows],
        [(path.name, number) for number in range(1, len(rows) + 1)],
    )
    return _filled(text, str(path))


def _folder(folder: Path, source: str, target: str) -> dict[str, ParallelText]:
    texts: dict[str, ParallelText] = {}
    origins: dict[str, str] = {}
    budget = Budget(str(folder))
    for path in sorted(folder.iterdir()):
        bare = _bare(path)
        name = NAMES.get(bare.stem, bare.stem if bare.stem.startswith("test") else "")
        if not name or bare.suffix not in (f".{source}", ".tsv") or not path.is_file():
            continue
        if name in origins:
            raise DataError(f"{folder} holds {origins[name]} and {path.name}; keep one of them")
        origins[name] = path.name
        if bare.suffix == ".tsv":
            texts[name] = read_tsv(inside(folder, path), budget)
        else:
            other = _existing(bare.with_suffix(f".{target}"))
            if other is None:
                raise DataError(f"{folder} holds {path.name}, but no {bare.stem}.{target}")
            texts[name] = _pair(inside(folder, path), inside(folder, other), budget)
    if not texts:
        raise DataError(
            f"{folder} holds neither train.{source} and train.{target} nor train.tsv "
            "(also as .gz; beside them valid and test)"
        )
    order = ["train", "valid"]
    return {name: texts[name] for name in sorted(texts, key=lambda n: (n not in order, n))}


def _pair(source: Path, target: Path, budget: Budget) -> ParallelText:
    return _filled(read_parallel(source, target, budget), f"{source} and {target}")


def _filled(text: ParallelText, where: str) -> ParallelText:
    if not any(map(any, text.normal_pairs())):
        raise DataError(f"{where}: there is no text in it")
    return text


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix == ".gz" else path


def _existing(path: Path) -> Path | None:
    """The file itself, or its .gz."""
    candidates = (path, path.with_name(f"{path.name}.gz"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
