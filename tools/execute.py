"""Executes the chapters side by side, before Jupyter Book does it one after another.

The outputs go into the cache in which Jupyter Book looks. A chapter that fails here is not in it,
so Jupyter Book meets the failure itself and reports it.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

MOST_WORKERS = 4  # each takes up to 2 GB of memory
READER = {"name": "myst_nb_md", "type": "plugin"}


def execute_ahead(
    cache_path: Path,
    chapters: Iterable[Path],
    timeout: int,
    environ: Mapping[str, str],
    log_path: Path,
) -> int:
    """Executes those chapters that are not in the cache; returns how many ended well.

    Args:
        cache_path: Jupyter Book's cache.
        chapters: the notebooks, as MyST Markdown.
        timeout: the most seconds that a cell may take.
        environ: variables for the kernels.
        log_path: where the kernels' own messages go.
    """
    from jupyter_cache import get_cache

    cache = get_cache(str(cache_path))
    uris = [cache.add_nb_to_project(str(path), read_data=READER).uri for path in chapters]
    missing = {record.uri for record in cache.list_unexecuted(filter_uris=uris)}
    due = [uri for uri in uris if uri in missing]
    cores = os.cpu_count() or 1
    workers = min(cores, MOST_WORKERS, len(due))
    if workers < 2:
        return 0
    # Each kernel has its share of the cores; with more threads they would wait for each other.
    threads = os.environ.get("OMP_NUM_THREADS", str(cores // workers))
    settings = {**environ, "OMP_NUM_THREADS": threads}, log_path
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=settings) as pool:
        # The last chapters train models and take longest; begun last, they would run alone.
        runs = [pool.submit(_execute, cache_path, uri, timeout) for uri in reversed(due)]
        succeeded = 0
        try:
            for run in runs:
                succeeded += run.result()
        except BrokenProcessPool:
            # One was killed, for want of memory perhaps; Jupyter Book needs less, one at a time.
            print("  a chapter's process was killed; the rest one after another", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.kill()  # its kernel sees that and ends, too
            raise
        return succeeded


def _begin(environ: Mapping[str, str], log_path: Path) -> None:
    os.environ.update(environ)
    with log_path.open("a") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())


def _execute(cache_path: Path, uri: str, timeout: int) -> int:
    from jupyter_cache import get_cache
    from jupyter_cache.executors import load_executor

    sys.stdout.write(f"  executing {Path(uri).stem}\n")  # in one piece, between the others' lines
    sys.stdout.flush()
    executor = load_executor("local-serial", get_cache(str(cache_path)))
    result = executor.run_and_cache(filter_uris=[uri], timeout=timeout)
    return len(result.succeeded)
