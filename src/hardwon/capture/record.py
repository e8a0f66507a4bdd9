"""Failures written down as they happen: of commands, of a runner's iterations. Called inside a transaction."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence

from hardwon.capture import attempts as intake
from hardwon.capture.attempts import kept
from hardwon.capture.crash import NO_STORY, Crash
from hardwon.capture.run import Ran
from hardwon.clock import now
from hardwon.failures import tools
from hardwon.failures.error_line import error_line
from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.ledger import Findings
from hardwon.failures.signature import signature
from hardwon.model.attempt import Attempt, Outcome
from hardwon.model.failure import Occurrence
from hardwon.store import attempts, failures, stale
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.store.failures import Place
from hardwon.store.meta import scrubber
from hardwon.text.digest import derived

_STOPPED = frozenset(128 + number for number in (1, 2, 3, 13, 15))
"""Hangup, Ctrl-C, Ctrl-\\, a closed pipe, a request to end: somebody stopped it, it did not fail."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))

# The error in an attempt's output, as an occurrence of a failure.


def recognised(outputs: Iterable[str]) -> Fingerprint | None:
    """The first output in which a tool's own kind of error is found; else any that says something."""
    found = [print_ for output in outputs if (print_ := fingerprint(output)) is not None]
    return next((print_ for print_ in found if print_.family != "generic"), found[0] if found else None)


def occurrence(row: AttemptRow, found: Fingerprint, *, shown: str = "", command: str = "") -> Occurrence:
    """`shown` is what is told of it, where that is not drawn from the output."""
    return Occurrence(
        message_index=0,
        call_index=0,
        at=row.started_at,
        tool=row.source,
        command=command,
        exit_code=row.exit_code,
        fingerprint=found.id,
        family=found.family,
        error_type=found.error_type,
        signature=shown or signature(found),
        words="" if shown else error_line(found, row.source, command),
        excerpt=found.excerpt,
        beginning=found.beginning,
    )


def save(db: Database, row: AttemptRow, error: Occurrence | None, friction: str = "") -> int:
    """Keep an attempt and its error; called inside a transaction. Returns the attempt's number."""
    known = attempts.numbers(db, [row.id])
    if row.id in known:
        return known[row.id]
    number = attempts.save(db, row)
    if error is not None:
        root = row.root or row.session or row.id
        place = Place(row.id, root, row.project, row.agent, row.started_at, row.phase, friction)
        failures.refresh(db, failures.save(db, place, Findings([error], [], []), {}))
        if row.project:
            stale.mark(db, [row.project])
    return number


def noteworthy(line: Sequence[str], exit_code: int, task: str) -> bool:
    """A failure is; a success, or what somebody stopped, only when it was for a task."""
    return bool(task.strip()) or _failed(_typed(line), exit_code)


def command(
    db: Database, line: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
) -> int | None:
    """A command and what came of it; returns the attempt's number, if it was noteworthy."""
    if not noteworthy(line, ran.exit_code, task):
        return None
    typed = _typed(line)
    stopped, failed = ran.exit_code in _STOPPED, _failed(typed, ran.exit_code)
    store = scrubber(db)
    output, errors = store.scrub(ran.output), store.scrub(ran.errors)
    row = intake.stored(
        Attempt(
            task.strip() or tools.brief(typed),
            approach=typed,
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
        kept(db, project),
        store,
    )
    found = recognised([errors, output]) if failed else None
    return save(db, row, occurrence(row, found, command=row.approach) if found else None)


def crash(
    db: Database, found: Crash, *, at: int | None, evidence: str, task: str = "", run: str = "", project: str = "."
) -> int:
    """A failed iteration. With a time of its own it is known again, and recorded once."""
    row = intake.stored(
        Attempt(
            task.strip() or NO_STORY,
            outcome=Outcome.FAILURE,
            exit_code=found.exit_code,
            evidence=evidence,
            failure_analysis=f"{found.kind}: {found.story}",
            phase=found.rarv_phase,
            run=run,
            timestamp=intake.moment(now() if at is None else at),
            source="crash",
        ),
        kept(db, project),
        scrubber(db),
    )
    if at is not None:
        row = row._replace(id=derived("A", "crash", found.identity.id, found.fingerprint, str(at), row.root))
    return save(db, row, occurrence(row, found.identity, shown=found.shown), found.friction_kind)


def _failed(typed: str, exit_code: int) -> bool:
    """Not when somebody stopped it, and not when exit code 1 is an answer, as of `grep`."""
    if exit_code == 0 or exit_code in _STOPPED:
        return False
    return not (exit_code == 1 and tools.exit_one_is_an_answer(typed))


def _typed(line: Sequence[str]) -> str:
    """The command as one would type it; of `sh -c '…'` what the shell is given."""
    if len(line) == 3 and os.path.basename(line[0]) in _SHELLS and line[1] in ("-c", "-lc", "-ec"):
        return line[2]
    return shlex.join(line)
