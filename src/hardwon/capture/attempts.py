"""An attempt on its way into the journal and out of it: scrubbed, bounded, judged by its evidence."""

from __future__ import annotations

import os
import posixpath
import re
from datetime import UTC, datetime, timedelta

import msgspec

from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.model.attempt import Attempt, Outcome, outcome_called, renamed
from hardwon.model.nouns import each_name
from hardwon.scrub.scrubber import Scrubber, ends
from hardwon.sessions import tool_calls
from hardwon.sessions.project import Project, remote_key
from hardwon.store import projects
from hardwon.store.attempts import AttemptRow, FileRow
from hardwon.store.database import Database
from hardwon.text.normalise import made, tilde

# What an attempt's outcome rests on: without evidence it is unknown.

MEASURED = ("exit-code", "test-report", "crash-file")
"""Evidence that is not just somebody's word."""
AGAINST_WORD = ", against a stated success"
"""Behind the evidence of a failure that its writer called a success."""

_TAIL_CHARACTERS_SEARCHED = 6_000
# Each is a runner's own closing line; that nothing failed is checked before.
_PASSED = re.compile(
    r"^=+ .*\b[1-9]\d* passed\b.* in [\d.]+s.* =+$"  # pytest
    r"|^[1-9]\d* passed(?:, \d+ \w+)* in [\d.]+s"  # pytest -q
    r"|^Ran [1-9]\d* tests? in [\d.]+s\s+OK\b"  # unittest
    r"|^test result: ok\. [1-9]"  # cargo test
    r"|^\s*Tests?:? +(?:.*\| )?[1-9]\d* passed\b"  # jest, vitest
    r"|^\s+[1-9]\d* passing\b"  # mocha
    r"|^ok\s+\S+\s+[\d.]+s$"  # go test
    r"|^[1-9]\d* examples?, 0 failures"  # RSpec
    r"|^OK \([1-9]\d* tests?"  # PHPUnit
    r"|^# pass [1-9]",  # node --test
    re.MULTILINE,
)
_WINDOWS_ROOT = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")
MAX_OUTPUT_CHARACTERS = 20_000
_MAX_PROSE_CHARACTERS = 8_000
_MAX_NAME_CHARACTERS = 200
_MAX_PATH_CHARACTERS = 1_000
_MAX_FILES = 1_000
_MAX_CHARACTERS_READ = 1_000_000
"""Of a longer text only the ends are looked at."""
_MAX_NUMBER = 10**12
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_GIVEN_BY_US = ("id", "key", "source", "embedding")


def judged(outcome: Outcome, exit_code: int | None, test_results: str) -> tuple[Outcome, str]:
    """The outcome and its evidence. What the caller says stands, with what speaks against it.

    But a success that the evidence denies is none.
    """
    measured, evidence = _measured(exit_code, test_results)
    if outcome is Outcome.UNKNOWN:
        return measured, evidence
    if measured in (Outcome.UNKNOWN, outcome):
        return outcome, evidence or "stated"
    if outcome is Outcome.SUCCESS:
        return measured, f"{evidence}{AGAINST_WORD}"
    if measured is Outcome.SUCCESS:
        return outcome, f"stated, against the {evidence}"
    return outcome, evidence  # a rollback or a part of the work is how a failure ended


def _measured(exit_code: int | None, test_results: str) -> tuple[Outcome, str]:
    if exit_code is not None:
        return (Outcome.FAILURE if exit_code else Outcome.SUCCESS), "exit-code"
    if tool_calls.failed(test_results):
        return Outcome.FAILURE, "test-report"
    if _PASSED.search(test_results[-_TAIL_CHARACTERS_SEARCHED:]):
        return Outcome.SUCCESS, "test-report"
    return Outcome.UNKNOWN, ""


# Paths of files as the journal keeps them: relative to the root of their repository.


def relative(path: str) -> str:
    """A path relative to the repository it lies in; one that is relative already is only tidied."""
    if os.path.isabs(path):
        root = _repository(os.path.dirname(path))
        return tidied(os.path.relpath(path, root)) if root else path
    return tidied(path)


def from_folder(path: str, folder: str) -> str:
    """The same for a path that a person typed in `folder`."""
    return relative(os.path.join(folder, path) if _repository(folder) else path)


def tidied(path: str) -> str:
    """Without `./`, `//` and `..`, where the path has slashes; the root itself is empty."""
    if _WINDOWS_ROOT.match(path):
        return path
    clean = posixpath.normpath(path) if path else ""
    return "" if clean == "." else clean


def spellings(path: str) -> list[str]:
    """The ways the same path may have been written down: as it is, and with the separators of another system."""
    return list(dict.fromkeys((path, path.replace("\\", "/"), path.replace("/", "\\"))))


def _repository(folder: str) -> str:
    """The nearest folder upwards with a `.git`; empty without one."""
    while folder:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return ""


def stored(attempt: Attempt, project: str | None, scrubber: Scrubber, retry_of: str = "") -> AttemptRow:
    """The row of an attempt. `project` and `retry_of` are ids; `scrubber` is the store's."""

    def bounded(text: str, longest: int) -> str:
        return _shortened(scrubber.scrub(ends(text, _MAX_CHARACTERS_READ)), longest)

    task = bounded(attempt.task, _MAX_PROSE_CHARACTERS).strip()
    if not task:
        raise NotAllowed("an attempt needs a task: say in a few words what was tried")
    _check_numbers(attempt)
    outcome, evidence = outcome_called(attempt.outcome), bounded(attempt.evidence, _MAX_NAME_CHARACTERS)
    if not evidence:
        outcome, evidence = judged(outcome, attempt.exit_code, attempt.test_results)
    paths = [(path, "modified") for path in each_name(attempt.files)]
    paths += [(path, "read") for path in each_name(attempt.files_read)]
    return AttemptRow(
        id=made("A"),
        source=attempt.source,
        session=bounded(attempt.session, _MAX_NAME_CHARACTERS),
        root=run_name(attempt.run),
        project=project,
        agent=bounded(attempt.agent, _MAX_NAME_CHARACTERS),
        task=task,
        approach=bounded(attempt.approach, _MAX_PROSE_CHARACTERS),
        phase=bounded(attempt.phase, _MAX_NAME_CHARACTERS),
        outcome=outcome.value,
        evidence=evidence,
        exit_code=attempt.exit_code,
        diff=bounded(attempt.diff, MAX_OUTPUT_CHARACTERS),
        test_results=bounded(attempt.test_results, MAX_OUTPUT_CHARACTERS),
        failure_analysis=bounded(attempt.analysis, _MAX_PROSE_CHARACTERS),
        reflection=bounded(attempt.reflection, _MAX_PROSE_CHARACTERS),
        retry_count=attempt.retry_count,
        retry_of=retry_of,
        git_commit=bounded(attempt.git_commit, _MAX_NAME_CHARACTERS),
        tokens=attempt.tokens,
        started_at=now() if attempt.at is None else stamp(attempt.at),
        duration=None if attempt.duration is None else round(attempt.duration * 1_000_000),
        files=tuple(FileRow(file_path(path), role) for path, role in paths[:_MAX_FILES] if path.strip()),
    )


def attempt(row: AttemptRow, retry_of: int | None = None) -> Attempt:
    """What is given out of a row."""
    return Attempt(
        task=row.task,
        approach=row.approach,
        files=[file.path for file in row.files if file.role != "read"],
        diff=row.diff,
        test_results=row.test_results,
        outcome=Outcome(row.outcome),
        analysis=row.failure_analysis,
        reflection=row.reflection,
        retry_count=row.retry_count,
        at=moment(row.started_at),
        id=row.number,
        project=row.project or "",
        agent=row.agent,
        session=row.session,
        run=row.root,
        phase=row.phase,
        evidence=row.evidence,
        exit_code=row.exit_code,
        files_read=[file.path for file in row.files if file.role == "read"],
        retry_of=retry_of,
        git_commit=row.git_commit,
        tokens=row.tokens,
        duration=None if row.duration is None else row.duration / 1_000_000,
        source=row.source,
        key=row.id,
    )


def reflection_text(text: str, scrubber: Scrubber) -> str:
    """A reflection as it is kept: scrubbed, and its middle left out if it is long."""
    return _shortened(scrubber.scrub(ends(text, _MAX_CHARACTERS_READ)), _MAX_PROSE_CHARACTERS)


def file_path(path: str) -> str:
    """A path as it is kept, and as it must be looked up."""
    return Scrubber().scrub(relative(path))[:_MAX_PATH_CHARACTERS]


def run_name(run: str) -> str:
    """What a run is called, as it is kept and as it must be looked up."""
    return _shortened(Scrubber().scrub(run.strip()), _MAX_NAME_CHARACTERS)


def moment(at: int) -> datetime:
    """A time of the store, in microseconds, as a time in UTC."""
    return _EPOCH + at * _MICROSECOND


def _check_numbers(attempt: Attempt) -> None:
    for name in ("exit_code", "retry_count", "tokens", "duration"):
        value = getattr(attempt, name)
        if value is not None and not abs(value) < _MAX_NUMBER:
            raise NotAllowed(f"{name} = {value} is out of range: it must be below {_MAX_NUMBER:,}")


def _shortened(text: str, longest: int) -> str:
    """Head and tail; it is scrubbed already, so that a cut can lay no secret bare."""
    if len(text) <= longest:
        return text
    half = longest // 2 - 30
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def stamp(moment: datetime) -> int:
    """A time as the store keeps it, in microseconds; a naive one is UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


# The project that something is kept under.


def kept(db: Database, name: str, *, folders: bool = True) -> str | None:
    """The id of the project with this name, remote or folder, made known if it is new. Inside a transaction.

    Without `folders` nothing on the disk is looked at.
    """
    if not name.strip():
        return None
    found = projects.find(db, name) or projects.find(db, tilde(name))
    if len(found) > 1:
        raise NotFound(f"several projects are named '{name}': choose one of {projects.told(found)}")
    if found:
        return found[0][0]
    if name == "." and not os.path.isdir(name):
        return None  # the current folder was deleted
    if folders and os.path.isdir(name):
        new = projects.of_folder(db, os.path.abspath(name))
    else:
        new = Project(remote_key(name) or Scrubber().scrub(name.strip()), "")
    if new is None:
        return None
    clean = new.scrubbed(Scrubber().scrub)
    projects.save(db, clean)
    return clean.id


# Attempts from JSON lines, with the field names of an Attempt.


def read(text: str) -> list[Attempt]:
    """Every line an attempt; one that is none is an error, so that a file is taken whole or not at all."""
    return [_attempt(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _attempt(line: str, number: int) -> Attempt:
    try:
        fields = renamed(msgspec.json.decode(line, type=dict[str, object]))
        unknown = sorted(set(fields) - set(Attempt.__struct_fields__))
        if unknown:
            raise NotAllowed(f"line {number}: unknown field {', '.join(unknown)}")
        wanted = {name: value for name, value in fields.items() if name not in _GIVEN_BY_US and value is not None}
        return msgspec.convert(wanted, Attempt, strict=False)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NotAllowed(f"line {number} is not an attempt: {error}") from error
