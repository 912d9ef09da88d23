"""Small releases in the format of the real ones, for tests of what reads them."""

import io
import tarfile
import zipfile
from pathlib import Path

HEADS = "<url>http://www.ted.com/a</url>\n<keywords>talks, b</keywords>\n<speaker>C D</speaker>\n"
TAILS = '<reviewer href="x">E</reviewer>\n<translator href="y">F</translator>\n'


def tagged(sentences: list[str], title: str) -> str:
    """A training file with one talk."""
    lines = "".join(f"{sentence}\n" for sentence in sentences)
    return f"{HEADS}<title>{title}</title>\n<talkid>1</talkid>\n{lines}{TAILS}"


def mteval(sentences: list[str], document: str = "7") -> str:
    """A test set with one talk."""
    lines = (f'<seg id="{i}"> {text} </seg>' for i, text in enumerate(sentences, 1))
    head = f'<?xml version="1.0"?>\n<mteval>\n<doc docid="{document}" genre="lectures">'
    return "\n".join([head, *lines, "</doc>", "</mteval>"])


def release(
    year: str,
    n_train: int | None,
    sets: dict[str, int],
    pair: str = "de-en",
    names: tuple[str, str] = ("Haus", "house"),
) -> dict[str, str]:
    """The files of a campaign: numbered sentences, `n_train` to train (None: no such file)."""
    files = {}
    for language, name in zip(pair.split("-"), names, strict=True):
        if n_train is not None:
            lines = [f"{name} train {i} ." for i in range(n_train)]
            files[f"train.tags.{pair}.{language}"] = tagged(lines, name)
        for key, size in sets.items():
            lines = [f"{name} {key} {i} ." for i in range(size)]
            files[f"IWSLT{year}.{key}.{pair}.{language}.xml"] = mteval(lines)
    return files


def folder_of(place: Path, files: dict[str, str]) -> Path:
    place.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def tar_of(path: Path, files: dict[str, str | bytes], prefix: str = "de-en/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            content = text if isinstance(text, bytes) else text.encode()
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def zip_of(path: Path, files: dict[str, str], prefix: str = "de-en/") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(prefix + name, text)
    return path
