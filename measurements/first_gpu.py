"""What is run first on a GPU: tests, benchmark and two trainings, in half an hour of an H200.

The folder of the data holds `multi30k/` and `iwslt16/`, as TRANSFORMER_TEST_DATA does for the
tests. The folder to make gets `progress.json`, a log of each part, the benchmark and the runs, and
after each part `record.tar.gz`, all that is small, so that one file brings the records home. The
same command goes on where the last one stopped: what is done stays done as long as the code is the
same, a run is resumed from its checkpoint. A copy of the tree without its
repository is told its commit.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from transformer.support.devices import pick_device
from transformer.support.files import write_atomically
from transformer.support.provenance import provenance
from transformer.support.version import COMMIT

ROOT = Path(__file__).resolve().parents[1]
TRAIN = ("-m", "transformer", "train")
# A few steps of a tiny model: that everything runs, also where there is no GPU.
TINY = "--steps 4 --vocab-size 400 --d-model 16 --d-ff 16 --n-heads 2 --n-layers 1"
TINY += " --max-tokens 256 --checkpoint-every 2 --evaluate-sentences 2 --log-every 1 --no-score"
# With these the book's model reached BLEU 38 on a processor; the talks have their recipe as it is.
CAPTIONS = "--epochs 20 --dropout 0.25 --keep 5"
TALKS = "--keep 5"
SMALL = 2**20  # bytes: records and logs, no weights


@dataclass(frozen=True)
class Part:
    """A command that leaves a record.

    Attributes:
        name: of the part and of its log.
        command: what Python is given.
        run: the run folder that a training fills; it is resumed if there is one.
        makes: the folder that is made at once, and made anew if an earlier try has left it.
        minutes: it is stopped after so many, so that what hangs leaves time for the others.
    """

    name: str
    command: tuple[str, ...]
    run: Path | None = None
    makes: Path | None = None
    minutes: float = 5.0

    def arguments(self) -> list[str]:
        """The whole command."""
        begun = self.run is not None and (self.run / "config.json").exists()
        return [sys.executable, *self.command, *(["--resume"] if begun else [])]


def parts(out: Path, data: Path, tiny: bool) -> list[Part]:
    """All of them, the most telling first: what is wrong shows before time is spent."""
    found = [
        Part("tests", ("-m", "pytest", "-q", "-rs", "tests/transformer/test_cuda.py"), minutes=10),
        Part("benchmark", ("-m", "measurements", "gpu", "--out", str(out / "gpu.json")), minutes=8),
    ]
    if tiny:  # the whole test file takes minutes on a processor, the benchmark needs a GPU
        found = [Part("tests", (*found[0].command, "-k", "learns and float32"))]
    for name, recipe in (("multi30k", CAPTIONS), ("iwslt16", TALKS)):
        run = out / name
        last = 2 if tiny else 5
        options = f"{TINY} --keep 2" if tiny else recipe
        folders = ("--out", str(run), "--data", str(data / name))
        averaged = ("-m", "transformer", "average", str(run), "--last", str(last))
        scored = ("-m", "transformer", "evaluate", str(run / f"average-{last}"), "--beam", "4")
        found += [
            Part(f"{name}-train", (*TRAIN, name, *options.split(), *folders), run, minutes=15),
            Part(f"{name}-average", averaged, makes=run / f"average-{last}"),
            Part(f"{name}-evaluate", (*scored, "--data", str(data / name))),
        ]
    return found


def work(part: Part, log: Path, seconds: float, data: Path) -> int:
    """Run a part for at most so long; its exit status, 124 where the time was over.

    A training that is stopped goes on from its last checkpoint the next time. What a part has
    started ends with it: nothing would else give the GPU's memory back.
    """
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}
    environment["TRANSFORMER_TEST_DATA"] = str(data)
    if part.makes is not None:
        shutil.rmtree(part.makes, ignore_errors=True)
    with (
        log.open("ab") as file,
        subprocess.Popen(
            part.arguments(),
            cwd=ROOT,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, which is killed as a whole
        ) as process,
    ):
        try:
            return process.wait(seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return 124
            raise


def bring_home(out: Path) -> None:
    """Packs what is small into `record.tar.gz`, whole or not at all."""
    packed, content = out / "record.tar.gz", io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for path in sorted(out.rglob("*")):
            if path.is_file() and path != packed and path.stat().st_size <= SMALL:
                archive.add(path, path.relative_to(out).as_posix())
    write_atomically(packed, content.getvalue())


def make(
    out: Path,
    data: Path,
    *,
    minutes: float = 30.0,
    tiny: bool = False,
    only: list[str] | None = None,
    commit: str | None = None,
) -> int:
    """Run the parts; returns 0 when all is done, 1 when a part failed, 2 when time is over.

    Raises:
        ValueError: there is no GPU, or no such part.
    """
    if not tiny and not torch.cuda.is_available():
        raise ValueError("There is no CUDA GPU here; --tiny shows that the parts run.")
    out, data = out.resolve(), data.resolve()
    chosen = parts(out, data, tiny)
    names = [part.name for part in chosen]
    if unknown := set(only or ()) - set(names):
        raise ValueError(
            f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(names)}"
        )
    if commit:
        os.environ[COMMIT] = commit
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * minutes
    kept = out / "progress.json"
    progress: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    record = progress["record"] = provenance(pick_device())
    status = 0
    for part in chosen:
        if only and part.name not in only:
            continue
        before = progress.get(part.name, {})
        if (before.get("status"), before.get("commit")) == (0, record["commit"]):
            print(f"{part.name}: done before")
            continue
        left = end - time.monotonic()
        if left <= 0:
            print(f"{part.name}: no time left; the same command goes on from here")
            return 2
        began = time.monotonic()
        code = work(part, out / f"{part.name}.log", min(left, 60 * part.minutes), data)
        seconds = round(time.monotonic() - began, 1)
        progress[part.name] = {
            "status": code,
            "seconds": seconds,
            "commit": record["commit"],
            "command": " ".join(part.command),
        }
        write_atomically(kept, (json.dumps(progress, indent=2) + "\n").encode())
        bring_home(out)
        print(f"{part.name}: status {code} after {seconds} s; {part.name}.log", flush=True)
        status = status or (2 if code == 124 else int(code != 0))
    return status
