"""What the workflows may do: only what was tested is published, no stranger comes near a key."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import check
from tools.site.keys import execution_key

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / ".github/workflows").glob("*.y*ml"))
# `on` is a truth value to a reader of YAML 1.1.
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text().replace("\non:", "\n'on':")) for path in FILES
}
JOBS = {
    f"{name} {job}": content
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
}
PUBLISHING = [name for name, job in JOBS.items() if "write" in job["permissions"].values()]


def steps(job: str, action: str = "") -> list[dict[str, Any]]:
    """The steps of a job, or those that use an action."""
    return [step for step in JOBS[job]["steps"] if step.get("uses", "").startswith(action)]


def scripts(job: str) -> str:
    return "\n".join(step.get("run", "") for step in JOBS[job]["steps"])


def linted(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*check.ZIZMOR, "--format=plain", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("sound", "changed", "finding"),
    [
        ("permissions: {}\n", "", "excessive-permissions"),
        ("  pull_request:", "  pull_request_target:", "dangerous-triggers"),
        ("actions/cache@27d5ce7f107fe9357f9df03efb73ab90386fccae", "actions/cache@v5", "unpinned"),
        ("persist-credentials: false", "persist-credentials: true", "artipacked"),
        ("make setup", "make setup ${{ github.head_ref }}", "template-injection"),
    ],
)
def test_the_linter_finds_nothing_here_and_what_would_let_a_stranger_in(
    tmp_path: Path, sound: str, changed: str, finding: str
) -> None:
    workflow = tmp_path / ".github/workflows/test.yml"
    workflow.parent.mkdir(parents=True)
    text = (ROOT / ".github/workflows/test.yml").read_text()
    workflow.write_text(text)
    assert linted(tmp_path).returncode == 0
    workflow.write_text(text.replace(sound, changed, 1))
    said = linted(tmp_path)
    assert said.returncode > 10 and f"[{finding}" in said.stdout, said.stdout + said.stderr


def test_actions_have_their_version_beside_and_checkout_refuses_the_code_of_forks() -> None:
    for action in re.findall(r"uses: *(.*)", "".join(path.read_text() for path in FILES)):
        assert (version := re.search(r" # v(\d+)\.\d+\.\d+$", action)), action
        assert "actions/checkout@" not in action or int(version[1]) >= 7, "v4 to v6 took it"


def test_the_site_is_published_from_a_push_to_main_and_releases_from_a_tag() -> None:
    assert set(PUBLISHING) == {"test.yml publish", "release.yml github", "release.yml pypi"}
    job = JOBS["test.yml publish"]
    assert job["if"] == "github.event_name == 'push' && github.ref == 'refs/heads/main'"
    assert job["permissions"] == {"contents": "write"}
    assert WORKFLOWS["test.yml"]["on"]["push"] == {"branches": ["main"]}


RELEASING = ["release.yml github", "release.yml pypi"]


@pytest.mark.parametrize("name", RELEASING)
def test_a_release_is_what_a_tag_names_and_was_tested_in_the_same_run(name: str) -> None:
    assert WORKFLOWS["release.yml"]["on"] == {"push": {"tags": ["v*"]}}
    job = JOBS[name]
    assert job["if"] == "github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')"
    assert job["needs"] == "build"
    told = JOBS["release.yml build"]["steps"]
    (checked,) = [step for step in told if "-m tools.release" in step.get("run", "")]
    (tested,) = [step for step in told if step.get("run") == ".ci/run"]
    (download,) = steps(name, "actions/download-artifact")
    uploads = steps("release.yml build", "actions/upload-artifact")
    (upload,) = [step for step in uploads if step["with"]["name"] == download["with"]["name"]]
    assert told.index(checked) < told.index(tested) < told.index(upload)


def test_a_job_that_releases_runs_no_code_of_the_repository_and_may_one_thing() -> None:
    github, pypi = (JOBS[name] for name in RELEASING)
    assert (github["permissions"], pypi["permissions"]) == (
        {"contents": "write"},
        {"id-token": "write"},
    )
    assert scripts("release.yml github").strip().startswith('gh release create "$GITHUB_REF_NAME" ')
    assert [step["uses"].split("@")[0] for step in pypi["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]
    assert pypi["environment"]["name"] == "pypi", "whom PyPI trusts, and whom a person has to let"
    assert "with" not in pypi["steps"][1], "no password: PyPI trusts this workflow"


def test_the_files_of_a_release_are_gathered_from_where_they_are_made(tmp_path: Path) -> None:
    """The very script, in a folder in which a wheel and the printed book lie."""
    (gather,) = [
        step["run"]
        for step in JOBS["release.yml build"]["steps"]
        if step.get("name") == "What the release holds"
    ]
    environ = {"PATH": os.environ["PATH"], "GITHUB_REF_NAME": "v1.2.0"}
    wheel = "transformer_book-1.2.0-py3-none-any.whl"
    (tmp_path / "_build/release").mkdir(parents=True)
    for name in ("book.pdf", f"release/{wheel}", "release/notes.md"):
        (tmp_path / "_build" / name).write_text(name)
    subprocess.run(["bash", "-ec", gather], cwd=tmp_path, env=environ, check=True)
    assert {path.name for path in (tmp_path / "_build/release").iterdir()} == {
        *(wheel, "notes.md", "the-transformer-line-by-line-1.2.0.pdf")
    }
    assert [path.name for path in (tmp_path / "_build/wheel").iterdir()] == [wheel]


def test_a_newer_sphinx_that_fails_is_a_warning_with_its_reason(tmp_path: Path) -> None:
    """The nightly script, with a Sphinx that says what it is told to."""
    job = JOBS["nightly.yml newest-sphinx"]
    assert job["continue-on-error"] is True
    (script,) = [s["run"] for s in job["steps"] if s.get("name", "").startswith("Build the pages")]
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    (tmp_path / "_build").mkdir()

    def said(*lines: str, status: int) -> list[str]:
        echoes = "".join(f"echo '{line}'\n" for line in lines)
        python.write_text(f"#!/bin/sh\n{echoes}exit {status}")
        python.chmod(0o755)
        done = subprocess.run(
            ["bash", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == status
        return [line for line in done.stdout.splitlines() if line.startswith("::warning")]

    title = "::warning title=The book does not build with the newest Sphinx::"
    fault = "sphinx.errors.ExtensionError: a style sheet loads a font that is not there"
    assert said("Extension error:", "", fault, status=2) == [f"{title}{fault}"]
    warned = "book/welcome.md:7: WARNING: unknown role"
    assert said("RemovedInSphinx10Warning: paths", warned, status=1) == [f"{title}{warned}"]
    assert said("killed", status=9) == [f"{title}see the log"]
    assert said("RemovedInSphinx10Warning: paths", status=0) == []


def test_what_is_published_is_what_was_tested_in_the_same_run() -> None:
    assert JOBS["test.yml publish"]["needs"] == "test"
    (download,) = steps("test.yml publish", "actions/download-artifact")
    assert download["with"] == {"name": "site", "path": "site"}, "of this run and no other"
    told = JOBS["test.yml test"]["steps"]
    (upload,) = [s for s in steps("test.yml test", "actions/upload") if s["with"]["name"] == "site"]
    assert upload["with"]["path"] == "_build/html"
    (tested,) = [step for step in told if step.get("run") == ".ci/run"]
    assert told.index(tested) < told.index(upload)
    assert "always" not in upload["if"]


def test_the_slides_go_onto_the_site_after_its_tests_and_pass_their_own() -> None:
    told = JOBS["test.yml test"]["steps"]
    (slides,) = [
        step for step in told if "tools.site.formats.slides --publish" in step.get("run", "")
    ]
    (tested,) = [step for step in told if step.get("run") == ".ci/run"]
    (upload,) = [s for s in steps("test.yml test", "actions/upload") if s["with"]["name"] == "site"]
    assert told.index(tested) < told.index(slides) < told.index(upload)
    assert "pytest -m slides" in slides["run"]
    assert slides["if"] == upload["if"], "what is published has them"


def test_the_job_that_may_write_runs_no_code_of_the_repository() -> None:
    used = {step["uses"].split("@")[0] for step in steps("test.yml publish") if "uses" in step}
    assert used == {"actions/download-artifact"}
    commands = {line.split()[0] for line in scripts("test.yml publish").splitlines() if line}
    assert commands <= {"touch", "export", "git", "#"}


@pytest.mark.parametrize("job", [name for name in JOBS if name not in PUBLISHING])
def test_a_job_that_runs_our_code_only_reads(job: str) -> None:
    assert JOBS[job]["permissions"] == {"contents": "read"}
    assert "token" not in str(JOBS[job]).lower()


def test_publishing_makes_the_branch_of_the_site_as_it_is(tmp_path: Path) -> None:
    """The very script, with a bare repository of this disk in the place of GitHub's."""
    remote = tmp_path / "owner/book.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    (tmp_path / "site/notebooks").mkdir(parents=True)
    (tmp_path / "site/index.html").write_text("the book")
    (tmp_path / "site/notebooks/masks.ipynb").write_text("{}")
    (tmp_path / "site/.gitignore").write_text("*.ipynb\n")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TOKEN": "never-shown",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_SERVER_URL": f"file://{tmp_path}",
        "GITHUB_REPOSITORY": "owner/book",
        "GITHUB_SHA": "0123456789",
    }
    script = scripts("test.yml publish")
    for _ in range(2):  # what is published is replaced
        subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=environ, check=True)
        subprocess.run(["rm", "-r", str(tmp_path / "pages")], check=True)
    git = ["git", f"--git-dir={remote}"]
    listed = subprocess.check_output([*git, "ls-tree", "-r", "--name-only", "gh-pages"], text=True)
    files = {".gitignore", ".nojekyll", "index.html", "notebooks/masks.ipynb"}
    assert set(listed.split()) == files
    assert "never-shown" not in subprocess.check_output([*git, "log", "-p", "gh-pages"], text=True)


def test_the_cache_of_chapters_is_named_by_what_their_outputs_depend_on(tmp_path: Path) -> None:
    (step,) = [step for step in JOBS["test.yml test"]["steps"] if step.get("id") == "chapters"]
    environ = {**os.environ, "GITHUB_OUTPUT": str(tmp_path / "output")}
    subprocess.run(["bash", "-ec", step["run"]], cwd=ROOT, env=environ, check=True)
    assert (tmp_path / "output").read_text() == f"key={execution_key(ROOT)}\n"
    (cache,) = steps("test.yml test", "actions/cache")
    assert cache["with"]["key"].startswith("chapters-${{ steps.chapters.outputs.key }}-")
    assert "hashFiles('book/**/*.md')" in cache["with"]["key"]
    nearest = cache["with"]["restore-keys"].splitlines()
    assert nearest == ["chapters-${{ steps.chapters.outputs.key }}-", "chapters-"]


def test_dead_links_are_named_and_turn_nothing_down(tmp_path: Path) -> None:
    """Sphinx's report as it writes it, through the workflow's script."""
    report = tmp_path / "_build/links"
    report.mkdir(parents=True)
    (report / "output.json").write_text("{}\n")
    (report / "output.txt").write_text(
        "book/welcome.md:7: [broken] https://gone.example/: 404 Client Error\n"
        "book/welcome.md:9: [redirected permanently] https://old.example/ to https://new.example/\n"
    )
    script = JOBS["links.yml links"]["steps"][-1]["run"]
    said = subprocess.check_output(["bash", "-ec", script], cwd=tmp_path, text=True)
    expected = "::warning file=book/welcome.md,line=7::https://gone.example/: 404 Client Error\n"
    assert said == expected
    (report / "output.json").write_text("")
    assert subprocess.run(["bash", "-ec", script], cwd=tmp_path, check=False).returncode != 0


@pytest.mark.parametrize("job", [name for name in JOBS if name not in PUBLISHING])
def test_pytorchs_index_gives_a_job_torch_and_nothing_else(job: str) -> None:
    """A second index for all names could put its own file under any of them."""
    assert "EXTRA_INDEX" not in str(JOBS[job])
    pips = [line for line in scripts(job).splitlines() if line.startswith("pip install")]
    for line in pips:
        assert "index" not in line or re.fullmatch(
            r"pip install --no-deps --index-url https://download\.pytorch\.org/whl/cpu torch", line
        )
    named = JOBS[job].get("env", {}).get("TORCH_INDEX_URL")
    assert named == ("https://download.pytorch.org/whl/cpu" if not pips else None)
    assert pips or "make setup" in scripts(job)


def test_new_releases_of_actions_and_packages_are_proposed() -> None:
    settings = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())
    assert settings["version"] == 2
    kinds = {update["package-ecosystem"]: update for update in settings["updates"]}
    assert set(kinds) >= {"github-actions", "pip"}
    assert all(update["schedule"]["interval"] for update in kinds.values())
    # Whose hashes come from two indexes, or whose version another package says.
    ignored = {entry["dependency-name"] for entry in kinds["pip"]["ignore"]}
    assert ignored == {"torch", "triton", "cuda-*", "nvidia-*"}


def test_ci_uses_the_real_corpora_that_lie_beside_the_clone(tmp_path: Path) -> None:
    (tmp_path / "clone/.ci").mkdir(parents=True)
    (tmp_path / "clone/.ci/run").write_text((ROOT / ".ci/run").read_text())
    make = tmp_path / "bin/make"
    make.parent.mkdir()
    make.write_text('#!/bin/sh\necho "$1 on ${TRANSFORMER_TEST_DATA:-our own sentences}"\n')
    make.chmod(0o755)
    environ = {"PATH": f"{make.parent}:{os.environ['PATH']}"}

    def said(**more: str) -> str:
        run = ["bash", str(tmp_path / "clone/.ci/run")]
        return subprocess.check_output(run, env=environ | more, text=True).strip()

    assert said() == "test on our own sentences"
    (tmp_path / "shared/data").mkdir(parents=True)
    assert said() == f"test on {tmp_path / 'shared/data'}"
    assert said(TRANSFORMER_TEST_DATA="/elsewhere") == "test on /elsewhere"


def test_every_night_the_notebooks_run_with_what_colab_has_that_day() -> None:
    job = JOBS["nightly.yml colab"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    commands = scripts("nightly.yml colab").splitlines()
    renews, runs = (
        next(i for i, line in enumerate(commands) if line.startswith(f".venv/bin/python -m {part}"))
        for part in ("tools.colab --renew", "tools.colab --python")
    )
    assert renews < runs
    assert job["env"]["COLAB_PYTHON"] == "python${{ matrix.python }}"
