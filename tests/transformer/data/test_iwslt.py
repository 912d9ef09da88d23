"""IWSLT's files: the real test sets, training files in their format, and what may be wrong."""

import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from transformer.data import limits
from transformer.data.archives import read_files
from transformer.data.cleaning import clean
from transformer.data.iwslt import load_iwslt
from transformer.data.parallel import DataError, ParallelText

# Pairs of each real file, counted by their <seg> elements.
REAL = {
    "TED.dev2010": 887,
    "TED.tst2010": 1565,
    "TED.tst2011": 1433,
    "TED.tst2012": 1700,
    "TED.tst2013": 993,
    "TED.tst2014": 1305,
    "TEDX.dev2012": 1165,
    "TEDX.tst2013": 1363,
    "TEDX.tst2014": 1414,
}
HEADS = "<url>http://www.ted.com/a</url>\n<keywords>talks, b</keywords>\n<speaker>C D</speaker>\n"
TAILS = '<reviewer href="x">E</reviewer>\n<translator href="y">F</translator>\n'
GERMAN = f"{HEADS}<title>Ein Titel</title>\n Hallo Welt . \nEr sagte , a < b .\n{TAILS}"
ENGLISH = f"{HEADS}<title>A title</title>\n Hello world . \nHe said a < b .\n{TAILS}"


def xml(*segments: str, document: str = "7") -> str:
    lines = (f'<seg id="{i}"> {text} </seg>' for i, text in enumerate(segments, 1))
    head = f'<?xml version="1.0"?>\n<mteval>\n<doc docid="{document}" genre="lectures">'
    return "\n".join([head, *lines, "</doc>"])


@pytest.fixture
def files() -> dict[str, str]:
    """A small release."""
    return {
        "train.tags.de-en.de": GERMAN,
        "train.tags.de-en.en": ENGLISH,
        "IWSLT14.TED.tst2010.de-en.de.xml": xml("Guten Tag &amp; danke .", "Ja ."),
        "IWSLT14.TED.tst2010.de-en.en.xml": xml("Good day &amp; thanks .", "Yes ."),
        "README": "nothing for us",
    }


def folder_of(place: Path, files: dict[str, str]) -> Path:
    place.mkdir(exist_ok=True)
    for name, text in files.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def tar_of(path: Path, files: dict[str, str], prefix: str = "de-en/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_the_real_sets_parse_whole(real_data):
    found = load_iwslt(real_data / "iwslt16")
    assert {name: len(text) for name, text in found.sets.items()} == REAL
    assert sum(REAL.values()) == 11_825
    tst2014 = found.sets["TED.tst2014"]
    assert tst2014.source[2] == "Sie war eine 26-jährige Frau namens Alex."
    assert tst2014.target[2] == "She was a 26-year-old woman named Alex."


def test_every_segment_of_the_campaigns_files_is_a_line(corpora):
    found = load_iwslt(corpora / "iwslt16")
    assert found.train is None
    assert list(found.sets) == list(REAL)
    for name, text in found.sets.items():
        path = corpora / f"iwslt16/IWSLT16.{name}.de-en.de.xml"
        assert len(text) == path.read_text(encoding="utf-8").count("<seg ")
        for side in (text.source, text.target):
            assert all(line and line == line.strip() for line in side)
            assert not any("<seg" in line or "&amp;" in line for line in side)
    assert any("&" in line for text in found.sets.values() for line in text.source)


def test_the_other_direction_is_the_same_text_turned(corpora):
    there = load_iwslt(corpora / "iwslt16").sets["TEDX.dev2012"]
    back = load_iwslt(corpora / "iwslt16", source="en", target="de").sets["TEDX.dev2012"]
    assert (back.source, back.target) == (there.target, there.source)


def check_release(found):
    assert found.train == ParallelText(
        ["Hallo Welt .", "Er sagte , a < b ."], ["Hello world .", "He said a < b ."]
    )
    assert found.sets == {
        "TED.tst2010": ParallelText(
            ["Guten Tag & danke .", "Ja ."], ["Good day & thanks .", "Yes ."]
        )
    }
    assert found.metadata_lines == 12


def test_a_release_is_read_from_a_folder_and_from_archives(files, tmp_path):
    check_release(load_iwslt(folder_of(tmp_path / "release", files)))
    check_release(load_iwslt(tar_of(tmp_path / "de-en.tgz", files, "2014-01/texts/de/en/de-en/")))
    with zipfile.ZipFile(tmp_path / "de-en.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"de-en/{name}", text)
    check_release(load_iwslt(tmp_path / "de-en.zip"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["de-en.tgz", "de-en.zip", "release"]


def test_segments_are_read_whatever_their_tags_look_like(files, tmp_path):
    """Old files write tags in capitals, break lines, and have things between the segments."""
    for side, word in (("de", "Haus"), ("en", "house")):
        files[f"IWSLT14.TED.tst2010.de-en.{side}.xml"] = f"""
            <DOC genre="x" docid="a" sysid="b"><hl><seg id="1">{word}
            <b>1</b></seg></hl>
            <p>in between</p><SEG sysid="no" ID="2"> {word} 2 </SEG></DOC>
            <seg id="3">in no document</seg>
            <doc docid="b"><seg>without a number</seg><seg id="1">&lt;{word}&gt;</seg></doc>
            <doc docid="c"><seg id="1">in a document that does not end</seg>"""
    found = load_iwslt(folder_of(tmp_path / "release", files)).sets["TED.tst2010"]
    assert list(found.source) == ["Haus <b>1</b>", "Haus 2", "<Haus>"]
    assert list(found.target) == ["house <b>1</b>", "house 2", "<house>"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train.tags.de-en.en": ENGLISH + "One more .\n"}, r"has 2 lines of text and .* 3"),
        ({"train.tags.de-en.en": None}, "but not its other side in 'en'"),
        (
            {"IWSLT14.TED.tst2010.de-en.en.xml": xml("Good day .")},
            "segment 2 of document 7 stands in only one of",
        ),
        (
            {"IWSLT14.TED.tst2010.de-en.en.xml": xml("a", "b", document="8")},
            "segment 1 of document 7 stands in only one",
        ),
        (
            {"IWSLT14.TED.tst2010.de-en.de.xml": "<html>moved</html>"},
            "holds no <seg> within a <doc>",
        ),
        (
            {"IWSLT16.TED.tst2010.de-en.en.xml": xml("Good day .", "Yes .")},
            "the same text in two releases; keep one",
        ),
    ],
)
def test_what_does_not_fit_is_named(files, tmp_path, change, message):
    files = {name: text for name, text in {**files, **change}.items() if text is not None}
    with pytest.raises(DataError, match=message):
        load_iwslt(folder_of(tmp_path / "release", files))


def test_bytes_that_are_no_text_are_named(files, tmp_path):
    folder = folder_of(tmp_path / "release", files)
    (folder / "train.tags.de-en.de").write_bytes(b"abc\xff")
    with pytest.raises(
        DataError, match=r"line 1 of train.tags.de-en.de is not UTF-8 text \(byte 3"
    ):
        load_iwslt(folder)


def test_a_place_without_the_files_says_what_is_looked_for(tmp_path):
    with pytest.raises(DataError, match="no folder or archive"):
        load_iwslt(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"none is named train.tags.de-en.de or IWSLT16"):
        load_iwslt(folder_of(tmp_path / "empty", {"a.txt": "b"}))


def test_a_page_or_half_an_archive_in_its_place_is_named(files, tmp_path):
    page = tmp_path / "de-en.tgz"
    page.write_text("<html>not found</html>")
    with pytest.raises(DataError, match="no whole .tar, .tgz or .zip archive"):
        load_iwslt(page)
    whole = tar_of(tmp_path / "whole.tgz", {name: 500 * text for name, text in files.items()})
    content = whole.read_bytes()
    for share in (0.3, 0.6, 0.9):
        (tmp_path / "half.tgz").write_bytes(content[: int(share * len(content))])
        with pytest.raises(DataError, match="etch it again"):
            load_iwslt(tmp_path / "half.tgz")


@pytest.mark.parametrize("name", ["../train.tags.de-en.de", "/train.tags.de-en.de", "a/../../b"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_names_that_lead_out_of_an_archive_are_refused(tmp_path, name, kind):
    path = tmp_path / f"poison.{kind}"
    if kind == "tar":
        tar_of(path, {name: GERMAN}, prefix="")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo(name), GERMAN)
    with pytest.raises(DataError, match="refused: its file .* leads out of the archive"):
        load_iwslt(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_bombs_are_refused_before_they_go_off(tmp_path, monkeypatch, kind):
    path = tmp_path / f"bomb.{kind}"
    files = {"a": "0" * 900, "b": "0" * 900, "train.tags.de-en.de": "0" * 900}
    if kind == "tar":
        tar_of(path, files)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
    for limit, value, message in (
        ("LARGEST_FILE", 800, "would take more than 0 MB, which no text takes"),
        ("LARGEST_ARCHIVE", 2000, "would unpack to more than any corpus holds"),
        ("MOST_FILES", 2, "more files than any corpus holds"),
        ("UNPACKED_FREELY", -(10**6), "unpacks to more than 20 times its size"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(limits, limit, value)
            with pytest.raises(DataError, match=message):
                load_iwslt(path)


def test_links_in_an_archive_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        member = tarfile.TarInfo("train.tags.de-en.de")
        member.type, member.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(member)
    with pytest.raises(DataError, match="holds no IWSLT files"):
        load_iwslt(tmp_path / "links.tar")


def test_a_name_with_two_contents_is_named(tmp_path, files):
    folder = folder_of(tmp_path / "release", files)
    (folder / "sub").mkdir()
    (folder / "sub" / "README").write_text("nothing for us")
    assert read_files(folder, re.compile("README")) == {"README": b"nothing for us"}
    (folder / "sub" / "README").write_text("something else")
    with pytest.raises(DataError, match="two different files README"):
        read_files(folder, re.compile("README"))


def test_cleaning_says_what_it_dropped_and_why():
    text = ParallelText(
        ["a b c", "", "a " * 9, "a", "a " * 8, "Ja ."],
        ["x y z", "x", "x " * 11, "x " * 9, "x " * 2, "Yes , I think so ."],
    )
    kept, dropped = clean(text, max_words=10, max_ratio=3.0, slack=5)
    assert list(kept.source) == ["a b c", "Ja ."]
    assert list(kept.target) == ["x y z", "Yes , I think so ."]
    assert dropped == {
        "a side is empty": 1,
        "more than 10 words": 1,
        "one side more than 3 times as long": 2,
    }
    for wrong in ({"max_words": 0}, {"max_ratio": 0.5}, {"slack": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            clean(text, **wrong)


def test_cleaning_drops_words_without_end_at_any_setting():
    long = 1001 * "a"
    text = ParallelText(["a b", long, "c", 1000 * "d"], ["x y", "x", f"y {long}", "z"])
    for settings in ({}, {"max_words": 175, "max_ratio": 1.5}):
        kept, dropped = clean(text, **settings)
        assert list(kept.source) == ["a b", 1000 * "d"]
        assert dropped == {"a word has more than 1,000 letters": 2}


def test_cleaning_keeps_nearly_all_of_the_talks(corpora):
    for text in load_iwslt(corpora / "iwslt16").sets.values():
        kept, dropped = clean(text)
        assert len(kept) + sum(dropped.values()) == len(text)
        assert len(kept) > 0.98 * len(text)
