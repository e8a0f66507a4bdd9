"""A process that writes, each write under a key, and acknowledges what is done; and what is there afterwards."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from hardwon import Attempt, Hardwon, HardwonError, StoreError
from hardwon.serve.pool import once
from hardwon.store import check

REPOSITORY = Path(__file__).parent.parent.parent
WRITES = 12
"""That a process makes, unless it is stopped before."""
STATEMENTS = 560
"""About as many as these take."""


class Outcome(NamedTuple):
    trials: int = 0
    acknowledged: int = 0
    lost: int = 0
    """Acknowledged, and not there."""
    twice: int = 0
    """There more than once."""
    alarms: int = 0
    """A sound store that is called damaged, or an error that is not one line of ours."""
    said: int = 0
    """Repairs that said what is missing, and whose words are true."""

    def __add__(self, other: tuple[int, ...]) -> Outcome:  # type: ignore[override]
        return Outcome(*map(sum, zip(self, other, strict=True)))


def each(trials: int, seed: int, run: Callable[[int], Outcome]) -> Outcome:
    """All trials; one that does not end as it should is told with the seed that brings it back."""
    total = Outcome()
    for trial in range(trials):
        try:
            found = run(trial)
        except Exception:
            traceback.print_exc()
            found = Outcome(1, alarms=1)
        if found.lost or found.twice or found.alarms:
            print(f"seed {seed}, trial {trial}: {found}", flush=True)
        total += found
    return total


def text_of(number: int) -> str:
    return f"Use tool number {number} for this."


def write(memory: Hardwon, number: int) -> str:
    """One request, as the service does it: a lesson, and an attempt, which two requests would make two of."""
    text = text_of(number)

    def act() -> str:
        memory.lessons.add(text, scope="global")
        return str(memory.journal.log(Attempt(text)))

    return once(memory, "campaign", f"key {number}", text, act)


def attempts(memory: Hardwon) -> Counter[str]:
    """How often each text is in the journal."""
    return Counter(attempt.task_description for attempt in memory.journal.list(limit=1_000_000))


def in_child(
    home: Path | str, prepare: Callable[[Hardwon], None], env: dict[str, str] | None = None
) -> tuple[list[int], str]:
    """(what a forked process acknowledged, what it ended with): nothing, `killed`, a line of ours, or a traceback."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _be_child(writer, home, prepare, env or {})
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    acknowledged = [int(line) for line in lines if line.isdigit()]
    said = next((line for line in lines if not line.isdigit()), "")
    return acknowledged, said or ("killed" if os.WIFSIGNALED(status) else "")


def _be_child(writer: int, home: Path | str, prepare: Callable[[Hardwon], None], env: dict[str, str]) -> NoReturn:
    os.environ.update(env)
    try:
        with Hardwon(home) as memory:
            prepare(memory)
            for number in range(WRITES):
                write(memory, number)
                os.write(writer, b"%d\n" % number)
    except HardwonError as error:
        os.write(writer, f"said: {error}\n".encode())
    except BaseException:
        os.write(writer, ("raw: " + " | ".join(traceback.format_exc().splitlines()[-3:]) + "\n").encode())
    os._exit(0)


def judged(home: Path, acknowledged: Iterable[int], said: str = "") -> Outcome:
    """What is there afterwards, before and after everything is sent again as a client does."""
    known = list(acknowledged)
    with Hardwon(home) as memory:
        before: set[str] = set()
        with suppress(StoreError):  # before the first commit there is less than a store
            before = {lesson.text for lesson in memory.lessons.list()} & attempts(memory).keys()
        lost = sum(text_of(number) not in before for number in known)
        for number in range(WRITES):
            write(memory, number)
        times = attempts(memory)
        twice = sum(times[text_of(number)] != 1 for number in range(WRITES))
        alarms = sum(not one.ok for one in check.store(memory.reading())) + said.startswith("raw")
    return Outcome(1, len(known), lost, twice, alarms)


@contextmanager
def new_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hardwon-faults-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "hardwon"
