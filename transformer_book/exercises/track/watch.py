"""Checks the files of a track as they are saved, and opens the next when one passes."""

import select
import sys
import time
from collections.abc import Callable
from typing import Any

from transformer.support.terminal import command_line

from transformer_book.exercises.catalogue import EXERCISES
from transformer_book.exercises.exercise import Exercise
from transformer_book.exercises.help import effort, solution, stars
from transformer_book.exercises.track.examiner import EXAMINER
from transformer_book.exercises.track.files import address, files_in, number_of, wrapped
from transformer_book.exercises.track.folder import COMMAND, Track
from transformer_book.exercises.verdict import Result

Say = Callable[[str], Any]

INTERVAL = 0.5  # seconds between two looks at the files
WIDTH_OF_BAR = 30
KEYS = (
    "Save the file and it is checked. Type h (hint), s (solution), l (list) or q (quit), and Enter."
)
SURE = "This shows our solution. There are {} hints (h); if you want to see it, type s once more."


def bar(track: Track) -> str:
    """How far the reader is: a bar, and the numbers."""
    done = track.done
    filled = WIDTH_OF_BAR * done // len(EXERCISES)
    return f"[{'#' * filled}{'-' * (WIDTH_OF_BAR - filled)}] {done} of {len(EXERCISES)} pass"


def opened(track: Track, exercise: Exercise) -> str:
    """What is to be done next."""
    return "\n".join(
        [
            "",
            bar(track),
            f"Next: {track.path(exercise.name)}",
            wrapped(f"{exercise.title} ({effort(exercise)})", "  "),
            wrapped(address(exercise), "  "),
        ]
    )


def finished(track: Track) -> str:
    """What to do at the end."""
    command = f"{COMMAND} {command_line(track.folder)} --train"
    return "\n".join(
        [
            "",
            bar(track),
            "All of it is yours. Put your parts into a Transformer, and train it:",
            f"  {command} copy",
            f"  {command} toy",
        ]
    )


def listing(track: Track) -> list[str]:
    """All exercises, what of them is reached, and the minutes that are left."""
    current = track.current
    width = max(map(len, EXERCISES))
    lines, left = [], 0
    for name, exercise in EXERCISES.items():
        passed = track.passed(name)
        sign = "✓" if passed else "▸" if exercise is current else " "
        left += 0 if passed else exercise.minutes
        numbers = f"{number_of(name):2}  {name:<{width}}  {stars(exercise.difficulty)}"
        lines.append(f"{sign} {numbers}  {exercise.minutes:2} min  {exercise.title}")
    open_ones = [n for n in EXERCISES if track.written(n) and not track.passed(n)]
    remark = f"Written, and not passed as it is now: {', '.join(open_ones)}. --once checks."
    return [
        *lines, *([wrapped(remark)] if open_ones else []), bar(track),
        *([f"About {left} minutes are left."] if left else []),
    ]  # fmt: skip


def shown(result: Result) -> str:
    """What a check has found: the numbers, and below them, where a terminal ends, the sentences."""
    details = [result.details] if result.details else []
    return "\n".join([*details, *map(wrapped, result.lines)])


def go_on(track: Track, say: Say) -> Result | None:
    """Open the next one, and check it; while it passes, the next. None at the end."""
    while (exercise := track.current) is not None:
        say(opened(track, exercise))
        result = track.check(exercise.name)
        say(shown(result))
        if not result.passed:
            return result
    say(finished(track))
    return None


def once(track: Track, say: Say) -> bool:
    """Check what has been written and has not passed yet; whether nothing of it is wrong."""
    result = go_on(track, say)
    fine = result is None or not result.written
    for name in EXERCISES:
        checked = result is not None and result.exercise == name
        if track.passed(name) or checked or not track.written(name):
            continue
        further = track.check(name)
        if further.written:
            say(f"\n{track.path(name)}\n{shown(further)}")
            fine = fine and further.passed
    return fine


def typed(seconds: float) -> str:
    """What the reader types within so many seconds; "" if nothing."""
    try:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
    except (OSError, ValueError):  # Windows knows no select on a terminal; tests have no stdin
        time.sleep(seconds)
        return ""
    return sys.stdin.readline().strip().lower() if ready else ""


def watch(track: Track, say: Say, ask: Callable[[float], str] = typed) -> None:
    """Check every file that is saved, until all exercises pass or the reader ends it.

    Args:
        track: the folder.
        say: takes what there is to say.
        ask: waits for so many seconds, and returns what the reader types meanwhile.

    Raises:
        TrackError: the folder was moved, or taken away.
    """
    EXAMINER.start()  # it is ready by the time that something is saved
    seen, asked_for = _times(track), ""
    once(track, say)
    say(f"\n{wrapped(KEYS)}")
    while (exercise := track.current) is not None:
        if key := ask(INTERVAL):
            if key[0] == "q":
                return
            sure = asked_for == exercise.name
            asked_for = exercise.name if key[0] == "s" and not sure else ""
            say(
                wrapped(SURE.format(len(exercise.hints)))
                if asked_for
                else answer(track, exercise, key[0])
            )
        if not files_in(track.folder):
            raise track.gone()
        now = _times(track)
        changed = [name for name, state in now.items() if state != seen.get(name)]
        seen = now
        for name in changed:
            was_current = exercise.name == name
            result = track.check(name)
            say(f"\n{track.path(name).name}\n{shown(result)}")
            if result.passed and was_current:
                go_on(track, say)


def answer(track: Track, exercise: Exercise, key: str) -> str:
    """What a key asks for."""
    if key == "h":
        return wrapped(track.hint(exercise.name))
    if key == "s":
        return str(solution(exercise.name))
    return "\n".join(listing(track)) if key == "l" else wrapped(KEYS)


def _times(track: Track) -> dict[str, tuple[int, int]]:
    """When each file was written last, and its size: a save within one tick of the clock counts."""
    times = {}
    for name in EXERCISES:
        try:
            state = track.path(name).stat()
        except OSError:  # some editors take a file away for a moment when they save it
            continue
        times[name] = (state.st_mtime_ns, state.st_size)
    return times
