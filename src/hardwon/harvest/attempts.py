"""A session's attempts: one for each task that the user set, judged by what was measured, not by what was claimed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hardwon.failures import tools
from hardwon.failures.ended import Colour
from hardwon.failures.fixes import done
from hardwon.failures.shell import Command
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.turns import Turn, ended
from hardwon.model.attempt import AttemptOutcome, FileRole, HarvestedAttempt, TouchedFile
from hardwon.model.failure import Occurrence
from hardwon.model.session import Message, Session
from hardwon.sessions.origin import INTERRUPTED
from hardwon.store.attempts import AttemptRow, FileRow, id_in_session
from hardwon.store.sessions import SessionRow
from hardwon.text.normalise import base_name, lazy_pattern

MAX_TASK_CHARACTERS = 300
CORRECTED = "the user corrected it right after"
MAX_HUNKS = 20
_CHARACTERS_PER_HUNK = 160
_FOLLOW_UP = lazy_pattern(
    r"^(?:y|yes|yep|ok(?:ay)?|sure|continue|go on|go ahead|proceed|do it|please do|thanks?(?: you)?|great|good|perfect"
    r"|nice|lgtm|next|cool|retry|try again)\b[\s\w,]{0,20}[.!]*$",
    re.IGNORECASE,
)
_CORRECTION = lazy_pattern(
    r"^(?:no\b(?! (?:problem|worries|need|rush))|nope|wrong|stop\b|undo|revert|roll ?back|you broke"
    r"|this is wrong|that(?:'s| is) (?:not|wrong)|this (?:isn't|is not|doesn't|does not|didn't)"
    r"|that (?:doesn't|does not|didn't)"
    r"|it (?:doesn't|does not|didn't|still|broke)|(?:it's |it is )?still (?:not|fail|broken|the same|gett?ing|see)"
    r"|(?:doesn't|does not|didn't|not) work)",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"^\[\S+(?: \([^)]*\))? ([0-9a-f]{7,40})\]", re.MULTILINE)
_WHOLE_FILE = frozenset("write write_file create create_file write_to_file".split())
_WRITES = ("<<", "sed", "perl", "patch")
_NOT_STARTED = lazy_pattern(
    r"command not found|No module named pytest|[Mm]issing script|unrecognized subcommand|: not found$", re.MULTILINE
)
_HEAD = 600
_CREATED = re.compile(r"created|new file", re.IGNORECASE)


class _Prompt(NamedTuple):
    message_index: int
    message: Message


class _TestRun(NamedTuple):
    position: int
    colour: Colour
    command: str


def attempts(session: Session, calls: list[Turn], failures: Sequence[Occurrence]) -> list[HarvestedAttempt]:
    """What the user asked for in a session, and what is known to have come of it."""
    if session.subagent:
        return []
    failed = {failure.call_index: failure.fingerprint for failure in failures}
    prompts = list(_prompts(session))
    indices = [turn.message_index for turn in calls]
    found = []
    for prompt, following in pairwise([*prompts, None]):
        if prompt is None:
            continue
        until = following.message_index if following else len(session.messages)
        span = calls[bisect_left(indices, prompt.message_index) : bisect_left(indices, until)]
        if span:
            found.append(_attempt(session, prompt, following, span, failed))
    return found


def _prompts(session: Session) -> Iterator[_Prompt]:
    """Messages that set a task; `yes` and `go on` belong to the task before."""
    first = True
    for index, message in enumerate(session.messages):
        text = message.text.strip()
        if not message.is_sent or not text or text == INTERRUPTED:
            continue
        if first or not _FOLLOW_UP.match(text):
            yield _Prompt(index, message)
        first = False


def _attempt(
    session: Session, prompt: _Prompt, following: _Prompt | None, span: list[Turn], failed: dict[int, str]
) -> HarvestedAttempt:
    changed = [turn for turn in span if _changes_files(turn)]
    ran = _test_runs(span)
    files = _files(changed, session)
    commits = _commits(span)
    corrected = following is not None and _CORRECTION.match(following.message.text.strip()) is not None
    outcome, evidence = _judged(span, changed, files, ran, corrected=corrected, committed=bool(commits))
    return HarvestedAttempt(
        message_index=prompt.message_index,
        started_at=prompt.message.at,
        ended_at=max((turn.at for turn in span if turn.at is not None), default=prompt.message.at),
        task=_one_line(prompt.message.text),
        files=files,
        diff=_hunks(changed),
        tests=ran[-1].colour or "none" if ran else "none",
        test_command=tools.brief(ran[-1].command) if ran else "",
        commits=commits,
        errors=tuple(dict.fromkeys(failed[turn.position] for turn in span if turn.position in failed)),
        tool_calls=len(span),
        outcome=outcome,
        evidence=evidence,
    )


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_TASK_CHARACTERS else flat[: MAX_TASK_CHARACTERS - 1].rstrip() + "…"


def _changes_files(turn: Turn) -> bool:
    if turn.call.action == "edit":  # an edit that is not said to have failed was made
        return bool(turn.call.target) and not turn.failed
    if not any(sign in turn.call.command for sign in _WRITES):
        return False
    return any(step.action == "edit" or _edits_in_place(step.command) for step in done(turn))


def _edits_in_place(command: Command | None) -> bool:
    return command is not None and command.program in ("sed", "perl", "patch") and not tools.looks(command)


def _test_runs(span: list[Turn]) -> list[_TestRun]:
    """Every test run whose end is known."""
    return [
        _TestRun(turn.position, colour, command.text)
        for turn in span
        if turn.call.action == "run"
        for command, colour in ended(turn)
        if colour and tools.tests(command) and (colour == "green" or not _NOT_STARTED.search(turn.output[:_HEAD]))
    ]


def _files(changed: list[Turn], session: Session) -> tuple[TouchedFile, ...]:
    roles: dict[str, FileRole] = {}
    for turn in changed:
        for path in _paths(turn):
            name = path.removeprefix(session.cwd.rstrip("/") + "/") if session.cwd else path
            roles[name] = "deleted" if path in turn.call.gone else _role(turn, roles.get(name))
    return tuple(TouchedFile(path, role) for path, role in roles.items())


def _paths(turn: Turn) -> list[str]:
    if turn.call.action == "edit":
        return list(turn.call.files)
    return [command.writes for command in taken_apart(turn.call.command) if command.writes and command.head]


def _role(turn: Turn, before: FileRole | None) -> FileRole:
    if before == "created" or (turn.call.name.lower() in _WHOLE_FILE and _CREATED.search(turn.output)):
        return "created"
    return "edited"


def _hunks(changed: list[Turn]) -> tuple[str, ...]:
    told = (f"{file}: {head}" if head else file for turn in changed for file, head in _heads(turn))
    return tuple(dict.fromkeys(tools.brief(hunk, _CHARACTERS_PER_HUNK) for hunk in told))[:MAX_HUNKS]


def _heads(turn: Turn) -> list[tuple[str, str]]:
    if turn.call.action == "edit":
        return [(base_name(turn.call.target), turn.call.detail)]
    return [(step.subject, step.text if step.action == "edit" else "") for step in done(turn)]


def _commits(span: list[Turn]) -> tuple[str, ...]:
    found: list[str] = []
    for turn in span:
        ran = ((command.program, command.subcommand) for command in taken_apart(turn.call.command))
        if turn.succeeded and ("git", "commit") in ran:
            found += _COMMIT.findall(turn.output)
    return tuple(dict.fromkeys(found))


def _judged(
    span: list[Turn],
    changed: list[Turn],
    files: tuple[TouchedFile, ...],
    ran: list[_TestRun],
    *,
    corrected: bool,
    committed: bool,
) -> tuple[AttemptOutcome, str]:
    """The outcome and what proves it; an agent's word proves nothing."""
    last_change = changed[-1].position if changed else -1
    last = ran[-1] if ran else None
    if changed and (undone := _undone(span, last_change, files)):
        return "rollback", f"the changes were undone: {tools.brief(undone)}"
    if corrected and changed:
        return "failure", CORRECTED
    if last is not None and last.colour == "red" and changed:
        if last.position < last_change:
            return "unknown", "tests failed before the last change, and were not run again"
        return "failure", f"the last test run failed: {tools.brief(last.command)}"
    if changed and span[-1].stopped:
        green = any(run.colour == "green" for run in ran)
        return ("partial", "stopped by the user after green tests") if green else ("unknown", "stopped by the user")
    if not changed:
        return "unknown", "nothing was changed"
    if last is not None and last.position > last_change:
        return "success", f"tests passed after the last change: {tools.brief(last.command)}"
    after = "tests passed before the last change only" if last is not None else "no test run"
    return "unknown", f"{after}; committed" if committed else after


def _undone(span: list[Turn], last_change: int, files: tuple[TouchedFile, ...]) -> str:
    """The command after the last change that put all of its files back, unless a commit that is kept has them."""
    undone = ""
    committed = named = False
    for turn in span:
        if turn.position < last_change or not turn.succeeded or turn.call.action != "run":
            continue
        for command in taken_apart(turn.call.command):
            if command.program != "git":
                continue
            if command.subcommand == "commit":
                committed, named = True, False
            elif _names_the_commit(command):
                named = True
            elif command.subcommand in ("stash pop", "stash apply", "cherry-pick"):
                undone = ""
            elif turn.position > last_change and _puts_back(command, files):
                moves = command.subcommand == "reset" and bool(command.targets - {"HEAD"})
                if not (named if moves else committed):
                    undone = command.text
    return undone


def _names_the_commit(command: Command) -> bool:
    """Whether it makes a branch or a tag, by which a commit is found again."""
    made = {"checkout": ("-b", "-B"), "switch": ("-c", "-C", "--create")}.get(command.subcommand, ())
    return not command.options.isdisjoint(made) or (
        command.subcommand in ("branch", "tag") and bool(command.targets) and not command.options & _DELETES
    )


_DELETES = frozenset(("-d", "-D", "--delete"))


def _puts_back(command: Command, files: tuple[TouchedFile, ...]) -> bool:
    if command.subcommand == "reset":
        return "--hard" in command.options
    if command.subcommand == "restore" and "--staged" in command.options:
        return False
    if command.subcommand not in ("restore", "checkout") or (
        command.subcommand == "checkout" and not ("--" in command.options or " . " in f"{command.text} ")
    ):
        return False
    if " . " in f"{command.text} ":
        return True
    return all(any(file.path.endswith(target) for target in command.targets) for file in files)


# A session's attempts as the journal keeps them.

_ROLES = {"created": "created", "edited": "modified", "deleted": "deleted"}


def attempt_rows(session: SessionRow, attempts: Iterable[HarvestedAttempt]) -> list[AttemptRow]:
    """Of those at which something was done; a question and its answer is no attempt."""
    return [_row(session, attempt) for attempt in attempts if _did_something(attempt)]


def _did_something(attempt: HarvestedAttempt) -> bool:
    return bool(attempt.files or attempt.diff or attempt.commits or attempt.errors) or attempt.tests != "none"


def _row(session: SessionRow, attempt: HarvestedAttempt) -> AttemptRow:
    started = attempt.started_at or session.started_at
    tested = f"{attempt.tests}: {attempt.test_command}" if attempt.tests != "none" else ""
    return AttemptRow(
        id=id_in_session(session.id, attempt.message_index),
        source="session",
        session=session.id,
        root=session.root,
        project=session.project,
        agent=session.agent,
        task=attempt.task,
        approach=attempt.approach,
        phase="",
        outcome=attempt.outcome,
        evidence=attempt.evidence,
        exit_code=None,
        diff="\n".join(attempt.diff),
        test_results=tested,
        failure_analysis="",
        reflection="",
        retry_count=0,
        retry_of="",
        git_commit=attempt.commits[-1] if attempt.commits else "",
        tokens=None,
        started_at=started,
        duration=attempt.ended_at - started if attempt.ended_at and attempt.ended_at >= started else None,
        files=tuple(FileRow(file.path, _ROLES[file.role]) for file in attempt.files),
    )
