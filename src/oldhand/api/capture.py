"""Failures as they happen: of commands, of a runner's iterations."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from oldhand.api import project as naming
from oldhand.capture import attempts as intake
from oldhand.capture import crash as crash_file
from oldhand.capture import error
from oldhand.capture.crash import NO_STORY, Crash
from oldhand.capture.run import Ran
from oldhand.failures import commands
from oldhand.home import failure_memory_off
from oldhand.model.attempt import Attempt
from oldhand.model.failure import Occurrence
from oldhand.model.outcome import Outcome
from oldhand.scrub.scrubber import Scrubber
from oldhand.sessions.clock import now
from oldhand.store.attempts import AttemptRow
from oldhand.store.ids import derived

if TYPE_CHECKING:
    from oldhand.api.oldhand import Oldhand

_STOPPED = frozenset(128 + number for number in (1, 2, 3, 13, 15))
"""Hangup, Ctrl-C, Ctrl-\\, a closed pipe, a request to end: somebody stopped it, it did not fail."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))


class Capture:
    """`memory.capture`: records what failed. All of it does nothing with `OLDHAND_FAILURE_MEMORY=0`."""

    def __init__(self, memory: Oldhand) -> None:
        self._memory = memory

    def command(
        self, command: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """Record a command that failed, or that was somebody's task; returns the attempt's number, if it is one."""
        line = _line(command)
        stopped = ran.exit_code in _STOPPED
        failed = ran.exit_code != 0 and not stopped and not _is_answer(line, ran.exit_code)
        if failure_memory_off() or not (failed or task.strip()):
            return None
        scrub = Scrubber().scrub
        output, errors = scrub(ran.output), scrub(ran.errors)
        row = intake.stored(
            Attempt(
                task.strip() or commands.brief(line),
                approach=line,
                test_results="\n".join(text for text in (output, errors) if text),
                outcome=Outcome.FAILURE if failed else Outcome.UNKNOWN if stopped else Outcome.SUCCESS,
                exit_code=ran.exit_code,
                evidence="interrupted" if stopped else "exit-code",
                phase=phase,
                run=run,
                timestamp=intake.moment(round(ran.began * 1_000_000)),
                duration=ran.seconds,
                source="run",
            ),
            None,
        )
        found = error.recognised([errors, output]) if failed else None
        return self._save(row, project, error.occurrence(row, found, command=row.approach) if found else None)

    def crash(
        self, content: bytes, *, at: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> tuple[int | None, Crash]:
        """Record a crash file; the same file again is the same attempt. `at` is for one that does not tell its time."""
        found = crash_file.read(content)
        number = self._crashed(found, found.captured_at or at, task, run, project, "crash-file")
        return number, found

    def failure(
        self, *, phase: str = "", exit_code: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """Record that something failed of which no more is known."""
        found = crash_file.plain(phase, exit_code)
        return self._crashed(found, None, task, run, project, "exit-code" if exit_code else "stated")

    def _crashed(self, crash: Crash, at: int | None, task: str, run: str, project: str, evidence: str) -> int | None:
        if failure_memory_off():
            return None
        row = intake.stored(
            Attempt(
                task.strip() or NO_STORY,
                outcome=Outcome.FAILURE,
                exit_code=crash.exit_code,
                evidence=evidence,
                failure_analysis=f"{crash.kind}: {crash.story}",
                phase=crash.rarv_phase,
                run=run,
                timestamp=intake.moment(at if at is not None else now()),
                source="crash",
            ),
            None,
        )
        if at is not None:
            row = row._replace(id=derived("A", "crash", crash.identity.id, crash.fingerprint, str(at), row.root))
        seen = error.occurrence(row, crash.identity, shown=crash.shown)
        return self._save(row, project, seen, crash.friction_kind)

    def _save(self, row: AttemptRow, project: str, seen: Occurrence | None, friction: str = "") -> int:
        db = self._memory.writing()
        with db.transaction():
            return error.save(db, row._replace(project=naming.kept(self._memory, project)), seen, friction)


def _line(command: Sequence[str]) -> str:
    """The command as one would type it; of `sh -c '…'` what the shell is given."""
    if len(command) == 3 and os.path.basename(command[0]) in _SHELLS and command[1] in ("-c", "-lc", "-ec"):
        return command[2]
    return shlex.join(command)


def _is_answer(line: str, exit_code: int) -> bool:
    return exit_code == 1 and commands.exit_one_is_an_answer(line)
