"""Which images get a second one for dark pages, and what the two have in common."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from docutils import nodes
from nbformat import from_dict

from tools.site.extensions.night import add_night, night_pictures

DAY, NIGHT = b"by day", b"by night"
HASHES = [sha256(content).hexdigest() for content in (DAY, NIGHT)]
NAME, DARK = f"{HASHES[0]}.png", f"{HASHES[0]}-{HASHES[1][:8]}.png"


@pytest.fixture
def document() -> nodes.document:
    """A page with a figure and with another picture."""
    document = nodes.document(None, None)
    bundle = nodes.container(mime_type="image/png")
    bundle += nodes.image(uri=f"/_build/jupyter_execute/{NAME}", alt="a line", width="60%")
    document += [bundle, nodes.image(uri="/book/_static/readme.png", alt="a page")]
    return document


def test_the_pictures_of_a_notebook_are_known_by_the_days_file() -> None:
    png = {"image/png": b64encode(DAY).decode()}
    night = {"image/png": {"night": b64encode(NIGHT).decode(), "letters": 9.5}}
    outputs = [
        {"output_type": "stream", "text": "a word"},
        {"output_type": "display_data", "data": png, "metadata": {}},
        {"output_type": "display_data", "data": png, "metadata": night},
    ]
    cells = [{"cell_type": "markdown"}, {"cell_type": "code", "outputs": outputs}]
    assert list(night_pictures(from_dict({"cells": cells}))) == [(NAME, (NIGHT, ["letters-9.5"]))]


def test_both_stand_side_by_side_with_the_same_words_and_size(
    document: nodes.document, tmp_path: Path
) -> None:
    for _ in range(2):  # whoever asks twice gets no third
        add_night(document, {NAME: (NIGHT, ["letters-9.5"])}, tmp_path)
    day, night, other = document.findall(nodes.image)
    assert (day["classes"], night["classes"], other["classes"]) == (
        ["letters-9.5", "only-light"], ["letters-9.5", "only-dark"], []
    )  # fmt: skip
    assert [day.parent.index(image) for image in (day, night)] == [0, 1]
    assert day["uri"].endswith(f"/{NAME}") and night["uri"] == f"/_build/jupyter_execute/{DARK}"
    assert (tmp_path / DARK).read_bytes() == NIGHT
    same = ("alt", "width")
    assert [day[name] for name in same] == [night[name] for name in same] == ["a line", "60%"]
