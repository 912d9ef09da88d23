"""What is said of the shipped model: each translation has its verdict."""

import json
from pathlib import Path

import pytest

from measurements import verdicts
from measurements.verdicts import FAULTS, read_verdicts, table
from tests.helpers.both_ways import two_ways
from transformer.data.everyday import asking_for
from transformer.data.own_sentences import OwnSentence, own_sentences

from transformer_book.both_ways import Candidate
from transformer_book.results import recorded
from transformer_book.shipped import shipped_folder

ROW = OwnSentence("questions", "Ist das gut?", "Ist es gut?", "Is that good?", "Is it good?")


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One sentence, and the file of its verdicts, which has none."""
    monkeypatch.setattr(verdicts, "own_sentences", lambda: [ROW])
    monkeypatch.setattr(verdicts.TwoWayTranslator, "load", lambda model: two_ways())
    path = tmp_path / "verdicts.tsv"
    path.write_text("Ist das gut?\tQuite another.\tsense\n", "utf-8")
    return path


@pytest.mark.slow
def test_what_is_new_is_asked_for_and_what_was_judged_is_kept(
    one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="1 translations have not been judged") as error:
        verdicts.run(Path("model"), verdicts=one)
    line = str(error.value).splitlines()[-1]
    (translation,) = two_ways().translate(asking_for("en", [ROW.german]), beam_size=4)
    assert line == f"{ROW.german}\t{translation}"
    one.write_text(f"{one.read_text('utf-8')}{line}\tword\n", "utf-8")
    read = [[Candidate("Wrong.", -1.0, -9.0, 2), Candidate("Another.", -1.1, -1.0, 2)]]
    monkeypatch.setattr(verdicts.TwoWayTranslator, "candidates", lambda two, texts: read)
    blind = one.with_name("blind.tsv")
    line = f"{ROW.german}\t{{}}\tword\tWrong.\tsense\tAnother.\tnone\n"
    blind.write_text(line.format("Old."), "utf-8")
    with pytest.raises(ValueError, match="is about other translations; have all of these judged"):
        verdicts.run(Path("model"), verdicts=one, blind=blind)
    blind.write_text(line.format(translation), "utf-8")
    (row,) = verdicts.run(Path("model"), verdicts=one, blind=blind)["blind"]
    assert row["beam"] == (translation, "word") and row["read back"] == ("Another.", "none")
    found = verdicts.run(Path("model"), verdicts=one, blind=blind)
    assert found["counts"] == {"word": 1}
    assert found["judged"][0]["fault"] == "word"
    assert table(found).splitlines()[0] == f"  1  {FAULTS['word']}"


def test_a_verdict_that_is_none_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.tsv"
    path.write_text("Ja.\tYes.\tnone\nNein.\tNo.\tfine\n", "utf-8")
    with pytest.raises(ValueError, match="line 2 of .* ends with 'fine'; write the German"):
        read_verdicts(path)


@pytest.mark.slow
def test_the_record_is_of_the_weights_that_are_shipped() -> None:
    found, record = verdicts.run(shipped_folder()), recorded("own_verdicts")
    assert json.loads(json.dumps(found)) == {name: record[name] for name in found}
    assert len(found["judged"]) == len(own_sentences()) == 200
