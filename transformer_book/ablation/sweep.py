"""All runs of a table: one after another or in several processes, killed and taken up again."""

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from transformer.command_line.running import go_on_unread, open_streams
from transformer.runs import RunError
from transformer.support.devices import NotEnoughMemoryError, pick_device
from transformer.support.files import FileError, not_written, read_json, write_atomically

from transformer_book.ablation.rows import ROWS, Row
from transformer_book.ablation.trial import TESTS, Sizes, run_row, settings_of_run
from transformer_book.results import write_result

# What can go wrong in a process for which its parent has no traceback to show.
SENTENCES = (FileError, NotEnoughMemoryError, ValueError)
RESULTS = "ablations.json"
LOCK, GATHERING = ".lock", ".gathering"
LARGEST = 2**23  # bytes; the results of a thousand runs have half a million


@dataclass(frozen=True)
class Run:
    """A row of the table with one seed."""

    name: str
    seed: int

    @property
    def title(self) -> str:
        """What its file and the folder of its training are called: "A1-3"."""
        return f"{self.name}-{self.seed}"

    def settings(self, sizes: Sizes) -> dict[str, Any]:
        """What decides its outcome, as JSON gives it back."""
        settings: dict[str, Any] = json.loads(json.dumps(settings_of_run(ROWS[self.name], sizes)))
        return settings


def sweep(
    rows: Mapping[str, Row],
    n_seeds: int,
    sizes: Sizes,
    folder: Path,
    *,
    first_seed: int = 1,
    processes: int = 1,
    device: str | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Do those of the runs that the folder does not hold yet; return all that it holds then.

    Every row has its first seed before any has its second, so that a table which is stopped
    compares like with like. A run that was killed goes on from its last checkpoint; on a CPU it
    ends as if it had never stopped, and each computes in one thread, so that its outcome does not
    depend on the number of processes.

    Args:
        folder: gets one file a run, and `RESULTS` with all of them.
        first_seed: the seeds count from here; a pilot takes one that the table does not.
        processes: so many runs at once; on a machine with several GPUs they are dealt out.
        device: for all runs; None takes the GPUs in turn, or the CPU.
        say: told of each run that ends; a function of a module, since other processes call it.

    Raises:
        RunError: the folder holds something else, another command is at work in it, or a process
            has ended before its work.
        FileError: the folder cannot be written to.
        ValueError: there is no such device.
    """
    pick_device(device)  # this and the next refuse what cannot be done before anything is written
    done_runs(folder, sizes)
    with _alone_in(folder):
        seeds = range(first_seed, first_seed + n_seeds)
        return _sweep(rows, seeds, sizes, folder, processes, device, say)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Refuse a second command in the folder: it would repeat the runs that the first has begun.

    The system gives the lock back when its process ends, however it ends; the file stays.
    """
    folder_lock = FileLock(folder / LOCK)
    try:
        _take(folder_lock, timeout=0.0)
    except Timeout as error:
        raise RunError(
            f"another command is at work in {folder}; wait for its end, or name another folder "
            "with --out (more runs at once: --processes)"
        ) from error
    try:
        yield
    finally:
        folder_lock.release()


def _take(lock: FileLock, timeout: float = -1.0) -> None:
    """Take a lock, whose folder need not be there yet; -1 waits for it as long as it takes."""
    path = Path(lock.lock_file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout)
    except Timeout:  # which is an OSError
        raise
    except OSError as error:
        raise not_written(path, error) from error


def _sweep(
    rows: Mapping[str, Row],
    seeds: Sequence[int],
    sizes: Sizes,
    folder: Path,
    processes: int,
    device: str | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Do the runs, in a folder where nobody else is at work."""
    finished = done_runs(folder, sizes)
    write_results(folder, finished, sizes)  # before anything is computed that could not be kept
    runs = [Run(name, seed) for seed in seeds for name in rows]
    waiting = [run for run in runs if run not in finished]
    say(f"{len(waiting)} of {len(runs)} runs are to be done, in {folder}")
    processes = max(1, min(processes, len(waiting)))
    devices = devices_for(processes, device)
    if processes == 1:
        work(waiting, sizes, folder, devices[0], say=say)
    else:
        _in_processes(waiting, sizes, folder, devices, say)
    return write_results(folder, done_runs(folder, sizes), sizes)


def devices_for(processes: int, device: str | None = None) -> list[torch.device]:
    """A device for each process: the GPUs in turn, or what there is."""
    chosen = pick_device(device)
    if device is None and chosen.type == "cuda":
        count = torch.cuda.device_count()
        return [torch.device("cuda", i % count) for i in range(processes)]
    return [chosen] * processes


def work(
    runs: Sequence[Run],
    sizes: Sizes,
    folder: Path,
    device: torch.device,
    take: Callable[[], int] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Do runs: all of them in turn, or those whose numbers `take` gives."""
    numbers = iter(range(len(runs))) if take is None else iter(take, len(runs))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for number in numbers:
            run, began = runs[number], folder / runs[number].title
            result = run_row(ROWS[run.name], run.seed, sizes, device=device, folder=began)
            entry = {"row": run.name, "seed": run.seed, "settings": run.settings(sizes), **result}
            write_atomically(path_of(folder, run), (json.dumps(entry) + "\n").encode())
            shutil.rmtree(began, ignore_errors=True)  # one that failed at once has left none
            _gather(folder, sizes)
            say(f"{run.title}: {in_words(entry)}")
    finally:
        torch.set_num_threads(threads)


def _gather(folder: Path, sizes: Sizes) -> None:
    """Write the file of all runs; of several processes, each does so in its turn."""
    lock = FileLock(folder / GATHERING)
    _take(lock)
    try:
        write_results(folder, done_runs(folder, sizes), sizes)
    finally:
        lock.release()


def in_words(entry: Mapping[str, Any]) -> str:
    """The outcome of a run in a line."""
    if "failed" in entry:
        return str(entry["failed"])
    scores = entry["test_combinations"]
    return f"loss {scores['loss']:.3f}, BLEU {scores['bleu']:.1f}, {entry['seconds']:.0f} s"


def path_of(folder: Path, run: Run) -> Path:
    """The file of a run that has ended."""
    return folder / f"{run.title}.json"


def done_runs(folder: Path, sizes: Sizes) -> dict[Run, dict[str, Any]]:
    """The runs that a folder holds, by row and seed.

    Raises:
        RunError: one of them is damaged, or was made with other settings.
    """
    runs = {}
    results = folder / RESULTS
    table = _read(results) if results.exists() else {"runs": []}
    if table["runs"]:  # without a run its sizes bind nobody
        _require_same(f"{folder}", table["sizes"], sizes.counts())
    for path in sorted(folder.glob("*-*.json")):
        entry = _read(path)
        run = Run(entry["row"], entry["seed"])
        if run.name not in ROWS:
            raise RunError(f"{path} is of a row that there is not ({run.name}); move it away")
        _require_same(f"{path}", entry["settings"], run.settings(sizes))
        runs[run] = entry
    order = list(ROWS)
    return dict(sorted(runs.items(), key=lambda item: (order.index(item[0].name), item[0].seed)))


def _read(path: Path) -> dict[str, Any]:
    """What a file of the folder holds, which is what one of these functions has written."""
    try:
        record = read_json(path, LARGEST)
    except (OSError, ValueError) as error:
        raise RunError(f"{path} is not what a table's runs write: move it away") from error
    if not (_is_table(record) if path.name == RESULTS else _is_run(record)):
        raise RunError(f"{path} is not what a table's runs write: move it away")
    return dict(record)


def _is_table(found: Any) -> bool:
    """Whether it has the parts that `write_results` gives the file of all runs."""
    return isinstance(found, dict) and isinstance(found.get("runs"), list) and "sizes" in found


def _is_run(found: Any) -> bool:
    """Whether it says what was run, and what came out: scores in all tests, or why none."""
    parts = {"row": str, "seed": int, "settings": dict, "record": dict}
    if not isinstance(found, dict):
        return False
    if not all(isinstance(found.get(name), kind) for name, kind in parts.items()):
        return False
    scores = [found.get(test) for test in TESTS]
    scored = "seconds" in found and all(
        isinstance(score, dict) and {"loss", "bleu"} <= score.keys() for score in scores
    )
    return "failed" in found or scored


def _require_same(where: str, before: Any, now: Mapping[str, Any]) -> None:
    if (wrong := first_difference(before, now)) is not None:
        raise RunError(
            f"{where} holds other settings: {wrong}; give the same ones, or name another folder "
            "with --out"
        )


def first_difference(before: Any, now: Mapping[str, Any]) -> str | None:
    """Where two runs' settings part, in words; None where they are the same."""
    if not isinstance(before, dict):
        return "no settings"
    for name in {**now, **before}:
        if (old := before.get(name)) != (new := now.get(name)):
            inner = first_difference(old, new) if isinstance(new, dict) else None
            return inner or f"{name} = {old}, not {new}"
    return None


def write_results(folder: Path, runs: Mapping[Run, dict[str, Any]], sizes: Sizes) -> dict[str, Any]:
    """Gather the runs in one file; where they come from stands in it once for all alike."""
    records: list[Any] = []
    entries = []
    for entry in runs.values():
        if entry["record"] not in records:
            records.append(entry["record"])
        entry = {key: value for key, value in entry.items() if key != "settings"}
        entries.append({**entry, "record": records.index(entry["record"])})
    result = {
        "sizes": sizes.counts(),
        "base": settings_of_run(ROWS["base"], sizes),
        "rows": {run.name: asdict(ROWS[run.name]) for run in runs},
        "records": records,
        "runs": entries,
    }
    write_result(folder / RESULTS, result)
    return result


def _in_processes(
    runs: Sequence[Run],
    sizes: Sizes,
    folder: Path,
    devices: Sequence[torch.device],
    say: Callable[[str], None],
) -> None:
    """Start a process for each device; each takes the next run as soon as it has ended one."""
    context = get_context("spawn")  # a forked process could not use a GPU
    next_run = context.Value("i", 0)
    workers = [
        context.Process(target=_worker, args=(runs, sizes, folder, device, next_run, say))
        for device in devices
    ]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    finally:
        for worker in workers:
            worker.terminate()
    if any(worker.exitcode for worker in workers):
        raise RunError("a process has ended before its work was done; the same command goes on")


def _worker(
    runs: Sequence[Run],
    sizes: Sizes,
    folder: Path,
    device: torch.device,
    next_run: Any,
    say: Callable[[str], None],
) -> None:
    """What one of several processes does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    open_streams()
    go_on_unread()

    def take() -> int:
        with next_run.get_lock():
            number: int = min(next_run.value, len(runs))
            next_run.value += 1
        return number

    try:
        work(runs, sizes, folder, device, take, say)
    except SENTENCES as error:
        say(f"Error: {error}")
        sys.exit(1)


def _end_with_parent() -> None:
    """A process whose parent is killed would go on, and meet the next command in the folder."""
    if (parent := parent_process()) is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
