"""When the book is executed again, when it is not, and what a failure says."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from tests.helpers.small_chapters import FRONT
from tools.site import book, keys
from tools.site.chapters import chapters
from tools.site.durations import Durations
from tools.site.execute import MOST_WORKERS

from transformer_book.cores import cores

ROOT = Path(__file__).resolve().parents[3]
CHAPTER = f"""{FRONT}
# A chapter

It says what the module says, and that $\\sqrt{{d_k}}$ is a root.

```{{code-cell}} ipython3
from transformer import WORD
print(WORD)
```
"""


PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "transformer-book"
dynamic = ["version"]
[tool.hatch.version]
source = "code"
path = "transformer/support/version.py"
expression = "version()"
[tool.hatch.build.targets.wheel]
packages = ["transformer", "transformer_book"]
"""
SLEEPS = "```{code-cell} ipython3\nimport time; time.sleep(500)\n```\n"
PRINT_KEY = """\
import runpy, sys
sys.path.append(sys.argv[1])
sys.argv[1:] = ["--root", sys.argv[1], "--print-key"]
runpy.run_module("tools.site.book", run_name="__main__")
"""


def write(root: Path, text: str) -> None:
    (root / "book" / "chapter.md").write_text(text)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A book of one chapter, with the real book's settings and extensions."""
    for name in ("requirements.txt", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    settings = (ROOT / "_config.yml").read_text()  # of the real book's pages it has none
    settings, found = re.subn(r"    moved_(?:pages|anchors):\n(?:      .*\n)+", "", settings)
    assert found == 2
    (tmp_path / "_config.yml").write_text(settings)
    for name in ("tools/site", "book/_static"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "book/references.bib", tmp_path / "book")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/chapter\n")
    # The page's extension takes the widgets' scripts from the package.
    widgets = ROOT / "transformer_book/widgets"
    shutil.copytree(widgets / "front_ends", tmp_path / "transformer_book/widgets/front_ends")
    for name in ("base.py", "bundle.py", "static_page.py"):
        shutil.copy(widgets / name, tmp_path / "transformer_book/widgets")
    (tmp_path / "transformer_book/widgets/__init__.py").touch()
    shutil.copy(ROOT / "transformer_book/lazy.py", tmp_path / "transformer_book")
    (tmp_path / "transformer_book/__init__.py").touch()
    (tmp_path / "transformer/support").mkdir(parents=True)
    (tmp_path / "transformer/__init__.py").write_text('WORD = "first"\n')
    shutil.copy(ROOT / "transformer/support/version.py", tmp_path / "transformer/support")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    write(tmp_path, CHAPTER)
    return tmp_path


def write_more(root: Path, chapters: dict[str, str]) -> None:
    """Chapters beside the first one: the cells of each by its name."""
    toc = "format: jb-book\nroot: book/chapter\nchapters:\n"
    (root / "_toc.yml").write_text(toc + "".join(f"  - file: book/{name}\n" for name in chapters))
    for name, cells in chapters.items():
        (root / "book" / f"{name}.md").write_text(f"{FRONT}\n# {name}\n\nIt runs.\n\n{cells}")


def build(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Builds a book as `make book` does."""
    return subprocess.run(
        [sys.executable, "-m", "tools.site.book", "--root", str(root), *options],
        cwd=ROOT,
        # Its own module, and the tools of this checkout, whichever one is installed.
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )


COMMIT = """
echo /_build/ > .gitignore
git init --quiet
git add --all
git -c user.name=a -c user.email=a@b commit --quiet --message one
"""


def page_path(root: Path) -> Path:
    return root / "_build/html/book/chapter.html"


def page(root: Path) -> str:
    return page_path(root).read_text()


def notebook_version(root: Path) -> list[str]:
    """The versions of the wheels on the site, each of which the notebook names."""
    folder = root / "_build/html/notebooks"
    versions = [path.name.split("-")[1] for path in folder.glob("*.whl")]
    text = (folder / "chapter.ipynb").read_text()
    assert all(f'\\"{version}\\"' in text for version in versions)
    return versions


def test_chapters_are_read_in_the_order_of_the_toc() -> None:
    names = chapters(ROOT)
    assert names[0] == "book/welcome"
    assert names.index("book/references") < names.index("book/licences")
    assert names[-1] == "book/licences"
    assert len(names) == len(set(names))


def test_the_key_of_the_outputs_is_printed_by_a_python_that_has_nothing_installed() -> None:
    """A cache of executed chapters asks for it before anything is installed."""
    command = [sys.executable, "-I", "-S", "-c", PRINT_KEY, str(ROOT)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == f"{keys.execution_key(ROOT)}\n"


def test_a_wrong_folder_or_scale_is_told_before_anything_is_taken_away(
    tiny: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr("sys.argv", ["book", "--root", str(tmp_path / "empty")])
    assert book.main() == 1 and not list((tmp_path / "empty").iterdir())
    assert f"there is no book in {tmp_path / 'empty'} (no _toc.yml)" in capsys.readouterr().err
    page = tiny / "_build/html/index.html"
    page.parent.mkdir(parents=True)
    page.write_text("an earlier book")
    monkeypatch.setenv("TRANSFORMER_SCALE", "smal")
    monkeypatch.setattr("sys.argv", ["book", "--root", str(tiny)])
    assert book.main() == 1 and page.read_text() == "an earlier book"
    assert "smal" in capsys.readouterr().err


def test_chapter_of_the_toc_that_does_not_exist_is_named(tiny: Path) -> None:
    (tiny / "book" / "chapter.md").unlink()
    with pytest.raises(book.NotBuiltError, match="not exist: book/chapter"):
        book.build_book(tiny)


@pytest.mark.slow
def test_nothing_is_executed_twice_until_text_or_module_changes_and_a_warning_fails_again(
    tiny: Path,
) -> None:
    """Sphinx alone would pass the second time: it reads only files that changed."""
    write(tiny, CHAPTER + "\n{ref}`nowhere`, [a page](nowhere.md), $\\nosuchcommand$\n")
    for _ in range(2):
        failed = build(tiny)
        assert failed.returncode == 1
        assert "undefined label: 'nowhere'" in failed.stderr
        assert "cross-reference target not found" in failed.stderr
        assert 'Unknown command "\\nosuchcommand"' in failed.stderr
        assert "book/chapter.md" in failed.stderr
        assert not (tiny / "_build/book.json").exists()

    write(tiny, CHAPTER.replace("It says", "It repeats"))
    (tiny / "_build/durations.json").unlink()  # what it took is known from the cache, too
    mended = build(tiny)
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert "0 executed now, 1 from the cache" in mended.stdout
    assert Durations.read(tiny / "_build/durations.json").chapters["book/chapter"] > 0
    assert "It repeats" in page(tiny)
    assert "first" in page(tiny)
    assert 'alttext="\\sqrt{d_k}"' in page(tiny)

    # Another commit, and nothing else: only what names it is made anew.
    made = page_path(tiny).stat().st_mtime_ns
    assert notebook_version(tiny) == ["0.1.0"]
    subprocess.run(["bash", "-ec", COMMIT], cwd=tiny, check=True)
    assert "0 executed now, 1 from the cache" in build(tiny).stdout
    (found,) = notebook_version(tiny)
    assert re.fullmatch(r"0\.1\.0\+g[0-9a-f]{10}", found)
    assert page_path(tiny).stat().st_mtime_ns == made

    (tiny / "transformer/__init__.py").write_text('WORD = "second"\n')
    changed = build(tiny)
    assert "chapter 1 of 1: book/chapter; about" in changed.stdout
    assert "1 executed now, 0 from the cache" in changed.stdout
    assert "second" in page(tiny)


@pytest.mark.slow
def test_a_figure_has_a_twin_for_dark_pages_also_from_the_cache(tiny: Path) -> None:
    (tiny / "transformer_book/figures").mkdir()
    (tiny / "transformer_book/figures/__init__.py").touch()
    for module in ("night.py", "style.py"):
        shutil.copy(ROOT / "transformer_book/figures" / module, tiny / "transformer_book/figures")
    draws = "---\nmystnb:\n  image:\n    alt: a rising line\n---\n"
    draws += "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    write(tiny, f"{FRONT}\n# A chapter\n\nIt draws.\n\n```{{code-cell}} ipython3\n{draws}\n```\n")
    for executed in (1, 0):
        built = build(tiny)
        assert built.returncode == 0, built.stdout + built.stderr
        assert f"{executed} executed now" in built.stdout
        images = re.findall(r"<img [^>]*_images/[^>]*>", page(tiny))
        assert [re.findall("only-(light|dark)", image) for image in images] == [["light"], ["dark"]]
        for same in (r'alt="a rising line"', r' width="\d+" height="\d+"', r'loading="lazy"'):
            (first, second) = (re.findall(same, image) for image in images)
            assert first == second and len(first) == 1
        for name in re.findall(r'src="([^"]+)"', "".join(images)):
            assert (page_path(tiny).parent / name).stat().st_size > 1000
        notebook = (tiny / "_build/html/notebooks/chapter.ipynb").read_text()
        assert "night" not in notebook and "image/png" not in notebook
        write(tiny, (tiny / "book/chapter.md").read_text().replace("It draws", "It always draws"))
    with (tiny / "transformer_book/figures/night.py").open("a") as file:
        file.write("# other colours\n")
    assert "1 executed now" in build(tiny).stdout


@pytest.mark.slow
def test_every_chapter_that_fails_is_shown_and_no_page_is_built(tiny: Path) -> None:
    divides = "```{code-cell} ipython3\nnumerator = 1\nnumerator / 0\n```\n"
    complains = '```{code-cell} ipython3\nimport sys\nprint("oh", file=sys.stderr)\n```\n'
    write_more(tiny, {"divides": divides, "complains": complains, "sleeps": SLEEPS})
    failed = build(tiny, "--idle", "10")
    assert failed.returncode == 1
    assert "The chapter book/divides failed in this cell" in failed.stderr
    assert "    numerator / 0" in failed.stderr
    assert "ZeroDivisionError: division by zero" in failed.stderr
    assert "The chapter book/complains wrote to stderr:\n    oh" in failed.stderr
    assert "The chapter book/sleeps failed in this cell" in failed.stderr
    assert "sent any output for 10 seconds" in failed.stderr
    last = failed.stderr.splitlines()[-1]
    assert all(name in last for name in ("book/divides", "book/complains", "book/sleeps"))
    assert len(failed.stderr.splitlines()) < 40
    assert not (tiny / "_build/html").exists()


@pytest.mark.slow
def test_chapter_that_jupyter_book_executes_by_itself_fails_the_build(
    tiny: Path, monkeypatch, capsys
) -> None:
    def misses(root: Path, log_path: Path) -> book.Outcome:
        cache = get_cache(str(root / "_build/.jupyter_cache"))
        (held,) = cache.list_cache_records()
        bundle = cache.get_cache_bundle(held.pk)
        bundle.nb.cells[0].source += "  # read in another way"
        cache.cache_notebook_bundle(CacheBundleIn(bundle.nb, held.uri))
        return book.Outcome(code=0)

    monkeypatch.setattr(book, "run_jupyter_book", misses)
    with pytest.raises(book.NotBuiltError):
        book.build_book(tiny)
    assert "book/chapter.md: Jupyter Book missed its outputs" in capsys.readouterr().err


@pytest.mark.slow
def test_interrupted_it_stops_at_once_and_begins_nothing_more(tiny: Path) -> None:
    write_more(tiny, {f"sleeper_{i}": SLEEPS for i in range(6)})
    workers = min(cores(), MOST_WORKERS)
    building = subprocess.Popen(
        [sys.executable, "-m", "tools.site.book", "--root", str(tiny)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tiny)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Tests that run in the background of a shell hand down that the signal is to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with building:
        try:
            assert building.stdout is not None
            while f"chapter {workers + 1} of 7" not in building.stdout.readline():
                assert (
                    building.poll() is None
                )  # until the short chapter has made room for a sleeper
            os.killpg(building.pid, signal.SIGINT)  # as Ctrl-C in a terminal
            out, err = building.communicate(timeout=300)
        except BaseException:
            os.killpg(building.pid, signal.SIGKILL)
            raise
    assert building.returncode == 130
    assert "Interrupted" in err
    assert "sleeper" not in out
    assert "book/chapter" in Durations.read(tiny / "_build/durations.json").chapters
