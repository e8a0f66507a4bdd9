"""`PAST FAILURES TO AVOID:`: what failed in this run, and what is likeliest to fail again, with what worked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from hardwon.briefing.rank import Request, candidates
from hardwon.briefing.tried import gives_orders, quoted
from hardwon.config import Config
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import attempts, failures, meta, projects
from hardwon.store.attempts import Failed, Mended
from hardwon.store.database import Database
from hardwon.text.normalise import normalised
from hardwon.text.shown import FAILURES, ago, one_line, remedy, render

# What a line about a failure must never tell an agent: who, where, and whose repository.

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s'\"<>`)\]]+")
_ON_A_FORGE = re.compile(
    r"(?i)(?<![\w.-])(?:(?:www\.)?(?:github|gitlab|bitbucket|codeberg|gitee)\.(?:com|org)"
    r"|git(?:lab|ea|hub)?\.[\w-]+(?:\.[\w-]+)+|git\.sr\.ht|dev\.azure\.com)(?:/[\w.~-]+){2,}"
)
_REMOTE = re.compile(r"\b[\w.-]{1,64}@[\w.-]{1,253}:[\w./~-]{1,200}")
_NAMED_REPOSITORY = re.compile(r"((?:^|\s)(?:-R|--repo(?:sitory)?)[ =])[\w.-]+/[\w./-]+")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_COLONS = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]{2,45}(?:\.\d{1,3}){0,3}(?![\w:])")
MAX_FAILURES_OF_RUN = 3
MAX_PRIOR_FAILURES = 3
_MAX_TYPE_CHARACTERS = 80
_MAX_MESSAGE_CHARACTERS = 160
_MIN_MESSAGE_CHARACTERS = 60
_MAX_OWN_WORDS = 60
MAX_LINE_CHARACTERS = 240


def public(line: str, repositories: Iterable[str]) -> str:
    """The line without addresses, e-mail addresses, home folders and the names of `owner/repository`."""
    line = _URL.sub("<url>", line)
    line = _REMOTE.sub("<repository>", line)
    line = _ON_A_FORGE.sub("<repository>", line)
    line = _NAMED_REPOSITORY.sub(r"\1<repository>", line)
    for name in repositories:
        line = re.sub(rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])", "<repository>", line)
    line = _IPV4.sub("<ip>", line)
    line = _COLONS.sub(_address, line)
    return Scrubber().scrub(line)


def repository_names(keys: Iterable[str]) -> list[str]:
    """`host/owner/repository` and `owner/repository` of every project that is known by its remote."""
    found: list[str] = []
    for key in keys:
        parts = key.split("/")
        if len(parts) > 2 and "." in parts[0] and not key.startswith(("~", "/", ".")):
            found += [key, "/".join(parts[1:]), "/".join(parts[-2:])]
    return list(dict.fromkeys(found))


def _address(found: re.Match[str]) -> str:
    """Five numbers with colons are an address of some kind, two are a time of day."""
    text = found[0].rstrip(":")
    told = text.count(":") >= 4 or "::" in text
    return "<ip>" + found[0][len(text) :] if told and any(map(str.isdigit, text)) else found[0]


class PastFailure(Struct, frozen=True, kw_only=True):
    id: str
    """The failure's, or the attempt's where no failure was recognised in it."""
    lane: str
    """`run` or `prior`."""
    text: str


class PastFailures(Struct, frozen=True, kw_only=True):
    text: str
    """What an agent is given, fenced; empty when there is nothing to say."""
    lines: tuple[PastFailure, ...]


NOTHING = PastFailures(text="", lines=())


def block(
    db: Database, config: Config, now: int, *, run: str, project: str | None, task: str, only_here: bool = False
) -> PastFailures:
    """This run's newest failures, each once; then the likeliest of the project and task."""
    names = repository_names(projects.keys(db))
    lines = _of_run(db, run, now, project if only_here else None) if run else []
    of_run = {row.failure for row in attempts.failed_in_run(db, run)} if run else set()
    if project:
        request = Request(project=project, task=task, only_here=only_here, once_is_enough=True)
        likely = candidates(db, request, config, now).failures
        prior = [line for line in likely if line.id not in of_run][:MAX_PRIOR_FAILURES]
        lines += [PastFailure(id=line.id, lane="prior", text=f"(prior) {line.text}") for line in prior]
    shown = tuple(_safe(line, names) for line in lines)
    return PastFailures(text=render({FAILURES: [line.text for line in shown]}, meta.fence_key(db)), lines=shown)


def _of_run(db: Database, run: str, now: int, only: str | None) -> list[PastFailure]:
    """All are considered; the newest distinct ones are told, with how often each came and what fixed it in `only`.

    What a later try of the run mended is no warning any more; it comes last, where somebody wrote down how.
    """
    mended = attempts.mended_in_run(db, run)
    groups: dict[str, list[Failed]] = {}
    for row in attempts.failed_in_run(db, run):
        groups.setdefault(row.failure or normalised(_message(row)), []).append(row)
    open_ = [rows for rows in groups.values() if rows[0].id not in mended]
    known = failures.fixes(db, [rows[0].failure for rows in open_ if rows[0].failure], only, only_here=only is not None)
    told = []
    for rows in sorted(groups.values(), key=lambda rows: rows[0].id in mended):
        newest = rows[0]
        if newest.id in mended:
            worked = _what_worked(mended[newest.id])
        else:
            fix = next((fix for fix in known.get(newest.failure or "", []) if fix.status == "active"), None)
            worked = f" Worked: {remedy(fix.steps, fix.succeeded_as)}." if fix else ""
        if newest.id in mended and not worked:
            continue
        seen = f" ({len(rows)}x in this run, last {ago(newest.started_at, now)})."
        text = _fitted(_message(newest), seen + worked + _own_words(rows))
        told.append(PastFailure(id=newest.failure or newest.id, lane="run", text=text))
    return told[:MAX_FAILURES_OF_RUN]


def _what_worked(found: Mended) -> str:
    """How a later try of the run got over it, in the words of whoever logged that."""
    how, learned = (
        quoted(text, of_stranger=found.of_stranger, longest=_MAX_OWN_WORDS)
        for text in (found.approach, found.reflection)
    )
    return (f" Worked: {how}." if how else "") + (f" Learned: {learned}." if learned else "")


def _own_words(rows: Sequence[Failed]) -> str:
    """What was tried and learned, as it was logged; of a command that ran, or crashed, its error says enough."""
    logged = [row for row in rows if row.source in ("log", "import")]

    def said(text: str, row: Failed) -> str:
        return quoted(text, of_stranger=row.of_stranger, longest=_MAX_OWN_WORDS)

    tried = [words for words in dict.fromkeys(said(row.approach, row) for row in logged) if words]
    learned = next((words for row in logged if (words := said(row.reflection, row))), "")
    if not learned:  # without a signature, the analysis is the message
        learned = next((words for row in logged if row.signature and (words := said(row.failure_analysis, row))), "")
    return (f" Tried: {', '.join(tried[:2])}." if tried else "") + (f" Learned: {learned}." if learned else "")


def _message(row: Failed) -> str:
    """The error's own signature; without one, what the run itself wrote about the attempt."""
    if row.signature:
        kind, _, rest = row.signature.partition(": ")
        return (
            f"{kind[:_MAX_TYPE_CHARACTERS]}: {rest[:_MAX_MESSAGE_CHARACTERS]}"
            if rest
            else kind[:_MAX_MESSAGE_CHARACTERS]
        )
    ran = row.approach if row.source == "run" else ""  # elsewhere it is told as what was tried
    words = (text for text in (row.failure_analysis, ran) if not (row.of_stranger and gives_orders(text)))
    said = one_line(next(filter(None, words), "") or row.task)
    if row.of_stranger and gives_orders(f"to {said}"):
        said = "somebody with a token logged it; its words wait for a person"
    return f"{row.outcome}: {said[:_MAX_MESSAGE_CHARACTERS]}"


def _fitted(message: str, rest: str) -> str:
    room = max(_MIN_MESSAGE_CHARACTERS, MAX_LINE_CHARACTERS - len(rest))
    return message[: room - 1].rstrip() + "…" + rest if len(message) > room else message + rest


def _safe(line: PastFailure, repositories: list[str]) -> PastFailure:
    text = one_line(public(line.text, repositories))
    text = text if len(text) <= MAX_LINE_CHARACTERS else text[: MAX_LINE_CHARACTERS - 1].rstrip() + "…"
    return PastFailure(id=line.id, lane=line.lane, text=text)
