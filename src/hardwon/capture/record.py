"""Failures written down as they happen: of commands, of a runner's iterations. Called inside a transaction."""

from __future__ import annotations

import os
import re
import shlex
import signal
from collections.abc import Iterable, Sequence

from hardwon.capture import attempts as intake
from hardwon.capture import reflections
from hardwon.capture.attempts import kept
from hardwon.capture.crash import NO_STORY, Crash
from hardwon.capture.run import Ran
from hardwon.clock import now
from hardwon.failures import provenance, tools
from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.fixes import MAX_STEP_CHARACTERS, shared_name
from hardwon.failures.ledger import Findings
from hardwon.failures.signature import reads_like_an_order, signature
from hardwon.failures.told import error_line
from hardwon.model.attempt import FAILED, Attempt, Outcome
from hardwon.model.failure import PROPOSED, Fix, Occurrence, Step
from hardwon.store import attempts, failures, meta
from hardwon.store.attempts import AttemptRow, FailedTry
from hardwon.store.database import Database
from hardwon.store.failures import Place
from hardwon.store.meta import scrubber
from hardwon.text.normalise import derived
from hardwon.text.shown import one_line

_STOPPED = frozenset(128 + number for number in (1, 2, 3, 13, 15))
"""Hangup, Ctrl-C, Ctrl-\\, a closed pipe, a request to end: somebody stopped it."""
_SIGNALS = range(129, 128 + 65)
"""Exit codes of what a signal ended: that is no failure of its own making."""
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))

_BRINGS_IN = re.compile(
    r"(?i)\b(?:install|download|fetch|add|clone|pull|get)(?:s|ed|ing|led|ling)?\b|\b(?:curl|wget|npx|uvx|bunx|dlx|tap|pip)\b"
    r"|\b(?:registry|mirror|package|extension|plugin|image|server|url)s?\b"
)

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
    mended = repeated(db, row) if row.outcome == Outcome.SUCCESS.value else None
    number = attempts.save(db, row._replace(retry_of=mended.id) if mended else row)
    if mended:
        _learn_what_worked(db, mended, row)
    if error is not None:
        run = row.root if row.source != "import" else ""  # whatever came in one file is no one run
        root = run or row.session or row.id
        place = Place(row.id, root, row.project, row.agent, row.started_at, row.phase, friction)
        failures.refresh(db, failures.save(db, place, Findings([error], [], []), {}))
        if row.project:
            meta.mark_stale(db, [row.project])
    return number


def logged(db: Database, row: AttemptRow, *, actor: str, vouched: bool = False) -> int:
    """Keep an attempt that somebody wrote down, the error in its test output, and what was learned from it."""
    failed = row.outcome in (*FAILED, Outcome.PARTIAL)
    found = recognised([row.test_results]) if failed and row.test_results else None
    number = save(db, row, occurrence(row, found) if found else None)
    reflections.propose(db, row._replace(number=number), actor=actor, vouched=vouched)
    return number


# A failed try and a later one that worked: what the second did otherwise is a fix, in the ledger of all others.


def repeated(db: Database, row: AttemptRow) -> FailedTry | None:
    """The failed try that a later one repeats: the one it names, else the newest that ran the same command."""
    found = attempts.failed_before(db, row)
    if row.retry_of:
        return found[0] if found else None
    here = (one for one in found if one.source == "run" and one.project == row.project)
    return next((one for one in here if tools.alike(one.approach, row.approach)), None) if row.source == "run" else None


def _learn_what_worked(db: Database, failed: FailedTry, row: AttemptRow) -> None:
    """What a journal says was done, another way to call a command, or what was run before the same call worked."""
    said = one_line(row.approach)[:MAX_STEP_CHARACTERS]
    ran = row.source == "run"
    is_same_call = said == one_line(failed.approach)[:MAX_STEP_CHARACTERS]
    between = _ran_between(db, failed, row) if ran and is_same_call else ()
    if not said or (is_same_call and not between):
        return
    error = Occurrence(
        message_index=0,
        call_index=0,
        at=failed.started_at,
        tool=failed.source,
        command=failed.approach,
        exit_code=None,
        fingerprint=failed.failure,
        family=failed.family,
        error_type="",
        signature="",
        excerpt=failed.excerpt,
    )
    fix = Fix(
        occurrence=error,
        steps=between if ran else (Step("did", said),),
        succeeded_as=said if ran and not between else "",
        succeeded_at=1,
        passing=said,
        cause=shared_name(between[-1].what if between else said, failed.excerpt) if ran else "",
        untrusted=provenance.doubt([step.what for step in between] or [said], (), (), None)
        or ("" if ran else _order_in(said)),
    )
    root = failed.root or failed.id
    place = Place(failed.id, root, failed.project, failed.agent, failed.started_at)
    failures.refresh(db, failures.save(db, place, Findings([], [fix], []), {}))
    if failed.project:
        meta.mark_stale(db, [failed.project])


def _ran_between(db: Database, failed: FailedTry, row: AttemptRow) -> tuple[Step, ...]:
    """The commands of the run that worked since it failed and have to do with the error, the last few of them."""
    since = [
        one_line(one.approach)[:MAX_STEP_CHARACTERS]
        for one in reversed(attempts.listed(db, root=row.root, project=row.project))
        if one.source == "run" and one.outcome == Outcome.SUCCESS and one.id != row.id
        if failed.started_at <= one.started_at <= row.started_at
    ]
    helped = (done for done in since if done and shared_name(done, failed.excerpt))
    return tuple(Step("run", done) for done in dict.fromkeys(helped) if not tools.alike(done, row.approach))[-3:]


def _order_in(prose: str) -> str:
    """Why words about what was done are not told: they ask for something, or speak of bringing something in."""
    return PROPOSED if _BRINGS_IN.search(prose) or reads_like_an_order(prose) else ""


def noteworthy(line: Sequence[str], exit_code: int, task: str, run: str = "") -> bool:
    """A failure is, and what was killed; a success when it was for a task, or in a run, whose evidence it is."""
    killed = exit_code in _SIGNALS and exit_code not in _STOPPED
    proves = bool(run.strip()) and exit_code == 0
    return bool(task.strip()) or killed or proves or _failed(_typed(line), exit_code)


def command(
    db: Database, line: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
) -> int | None:
    """A command and what came of it; returns the attempt's number, if it was noteworthy."""
    typed = _typed(line)
    signalled, failed = ran.exit_code in _SIGNALS, _failed(typed, ran.exit_code)
    store = scrubber(db)
    output, errors = store.scrub(ran.output), store.scrub(ran.errors)
    row = intake.stored(
        Attempt(
            task.strip() or tools.brief(typed),
            approach=typed,
            test_results="\n".join(text for text in (output, errors) if text),
            outcome=Outcome.FAILURE if failed else Outcome.UNKNOWN if signalled else Outcome.SUCCESS,
            exit_code=ran.exit_code,
            evidence=_ended_by(ran.exit_code) if signalled else "exit-code",
            phase=phase,
            run=run,
            at=intake.moment(round(ran.began * 1_000_000)),
            duration=ran.seconds,
            source="run",
        ),
        kept(db, project),
        store,
    )
    if not noteworthy(line, ran.exit_code, task, run):
        return None
    found = recognised([errors, output]) if failed else None
    return save(db, row, occurrence(row, found, command=row.approach) if found else None)


def crash(
    db: Database, found: Crash, *, at: int | None, evidence: str, task: str = "", run: str = "", project: str = "."
) -> int:
    """A failed iteration. With a time of its own it is known again, and recorded once, whatever run finds it later."""
    row = intake.stored(
        Attempt(
            task.strip() or NO_STORY,
            outcome=Outcome.FAILURE,
            exit_code=found.exit_code,
            evidence=evidence,
            analysis=f"{found.kind}: {found.story}",
            phase=found.rarv_phase,
            run=run,
            at=intake.moment(now() if at is None else at),
            source="crash",
        ),
        kept(db, project),
        scrubber(db),
    )
    if at is not None:
        if number := attempts.crashed_at(db, at, row.failure_analysis):
            return number
        row = row._replace(id=derived("A", "crash", found.identity.id, found.fingerprint, str(at), row.root))
    return save(db, row, occurrence(row, found.identity, shown=found.shown), found.friction_kind)


def _failed(typed: str, exit_code: int) -> bool:
    """Not when a signal ended it, and not when exit code 1 is an answer, as of `grep`."""
    if exit_code == 0 or exit_code in _SIGNALS:
        return False
    return not (exit_code == 1 and tools.exit_one_is_an_answer(typed))


def _ended_by(exit_code: int) -> str:
    """`interrupted`, or `signal SIGKILL`."""
    if exit_code in _STOPPED:
        return "interrupted"
    try:
        return f"signal {signal.Signals(exit_code - 128).name}"
    except ValueError:
        return f"signal {exit_code - 128}"


def _typed(line: Sequence[str]) -> str:
    """The command as one would type it; of `sh -c '…'` what the shell is given."""
    if len(line) == 3 and os.path.basename(line[0]) in _SHELLS and line[1] in ("-c", "-lc", "-ec"):
        return line[2]
    return shlex.join(line)
