"""Sessions before they are harvested: `sample` ranks them, `inspect` tells what was read from one."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import ENDED, Json, count, iso, print_json, progress_bar, say, shown
from hardwon.errors import HardwonError, NotFound

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.hardwon import Sample
    from hardwon.model.session import Session, Transcript


_ID = re.compile(r"S[0-9a-f]{3,}")
_UUID = re.compile(r"\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_SHOWN, _LISTED = 15, 100
_NARROW = 100
"""A screen on which the name of a file that is called by such a number would take two lines."""


class Profile(StrEnum):
    standard = "standard"
    value = "value"


class Layout(StrEnum):
    json = "json"
    paths = "paths"
    table = "table"


def sample(
    sessions_dir: Annotated[
        list[Path] | None, typer.Option(help="A folder of sessions; may be given again. Default: all agents'.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(help=f"Most rows. Default: {_SHOWN} in a terminal, else {_LISTED}.", min=1)
    ] = None,
    repo: Annotated[str, typer.Option(help="Only sessions of this project, or whose file is named after it.")] = "",
    since: Annotated[str | None, typer.Option(help="Only sessions that ended since this day, YYYY-MM-DD.")] = None,
    min_score: Annotated[int, typer.Option(help="Only sessions worth at least this.")] = 0,
    top_percent: Annotated[float, typer.Option(help="This share of all instead of --count.", min=0, max=100)] = 0,
    profile: Annotated[
        Profile, typer.Option(help="standard: age, length, outcome. value: what each adds to what is known.")
    ] = Profile.standard,
    new: Annotated[bool, typer.Option("--new", help="Leave out what is harvested already.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    layout: Annotated[
        Layout | None, typer.Option("--format", help="How to write the rows; table, and json into a file.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead.")] = None,
    json: Json = False,
) -> None:
    """Rank sessions by how much there is to learn from them.

    Newer, longer, failed sessions with many tool calls come first, and the best of each project before the rest.

    Example: hardwon sample --count 20 --explain
    """
    from hardwon.api import Hardwon
    from hardwon.cli.app import moment

    with Hardwon() as memory:
        paths: Sequence[Path | str] = _below(sessions_dir) if sessions_dir else memory.discover()
        with progress_bar() as progress:
            found = memory.sample(
                paths,
                project=repo,
                since=moment(since),
                by_value=profile is Profile.value,
                progress=progress,
            )
        found = [entry for entry in found if entry.score.total >= min_score]
        if new:
            done = _harvested(memory, found)
            found = [entry for entry in found if entry.path not in done]
        most = count or (_SHOWN if sys.stdout.isatty() else _LISTED)
        found = found[: max(1, ceil(len(found) * top_percent / 100)) if top_percent else most]
        done = _harvested(memory, found)
        ids = _ids(memory, done)
    usual = Layout.json if json or output is not None else Layout.table
    chosen = Layout.json if json else layout or usual
    text = _printed(found, done, ids, chosen, explain=explain)
    if repo and not found:
        say(f"No session of {shown(repo)} was found.", err=True)
    if output is None:
        typer.echo(text)
        if found and chosen is Layout.table:
            say("Read one: `hardwon inspect ID`, or a file of `--format paths`.")
            say("Let a model read the best: `hardwon distil`")
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise HardwonError(f"cannot write {output}: {error.strerror}") from error


def _harvested(memory: Hardwon, found: list[Sample]) -> set[str]:
    return set(map(str, memory.sessions.harvested(entry.path for entry in found)))


def _ids(memory: Hardwon, paths: set[str]) -> dict[str, str]:
    """File → the session that it is, where it is one alone."""
    from hardwon.store.database import marks
    from hardwon.store.meta import short_id

    if not paths:
        return {}
    db, of_path = memory.reading(), sorted(paths)
    rows = db.query(f"SELECT path, id FROM session WHERE subagent = '' AND path IN ({marks(of_path)})", of_path)
    return {str(path): short_id(db, str(id)) for path, id in rows}


def _below(folders: list[Path]) -> list[str]:
    from hardwon.sessions.discover import names_below

    found = list(dict.fromkeys(name for folder in folders for name in names_below(folder)))
    if not found:
        raise NotFound(f"no session files below {', '.join(map(str, folders))}")
    return found


def _printed(found: list[Sample], done: set[str], ids: dict[str, str], layout: Layout, *, explain: bool) -> str:
    from hardwon.cli.app import as_json, room_of_tables
    from hardwon.cli.table import as_table
    from hardwon.text.normalise import base_name

    if layout is Layout.json:
        return as_json([_row(entry, harvested=entry.path in done) for entry in found])
    if layout is Layout.paths:
        return "\n".join(entry.path for entry in found)
    room = room_of_tables()
    is_narrow = room < _NARROW and sys.stdout.isatty()
    headings = ["SCORE", "MESSAGES", "CALLS", "ERRORS", "RESULT", "ID", "PROJECT", "FILE"]
    parts = [name.upper() for name in found[0].score._fields] if explain and found else []
    rows = [
        [
            entry.score.total,
            *(entry.score if explain else ()),
            entry.messages,
            entry.tool_calls,
            entry.errors,
            "failed" if entry.failed else "",
            ids.get(entry.path, "" if entry.path in done else "not read yet"),
            ", ".join(base_name(key) for key in entry.projects[:2]),
            _UUID.sub(r"\1…", Path(entry.path).name) if is_narrow else Path(entry.path).name,
        ]
        for entry in found
    ]
    return as_table(
        [headings[0], *parts, *headings[1:]],
        rows,
        room=room,
        right=range(4 + len(parts)),
        spare=range(1, 4 + len(parts)),
    )


def _row(entry: Sample, *, harvested: bool) -> dict[str, Any]:
    from hardwon.text.normalise import base_name

    return {
        "path": entry.path,
        "filename": Path(entry.path).name,
        "score": entry.score.total,
        "breakdown": entry.score._asdict(),
        "message_count": entry.messages,
        "tool_call_count": entry.tool_calls,
        "error_count": entry.errors,
        "repos": [base_name(key) for key in entry.projects],
        "is_failure": entry.failed,
        "started_at": iso(entry.started_at),
        "format": entry.format,
        "harvested": harvested,
    }


# Looking at a file without storing anything: `inspect`.


def inspect(
    file: Annotated[
        str,
        typer.Argument(help="A session: a file of any agent, or the id that other commands print.", show_default=False),
    ],
    message: Annotated[
        int | None, typer.Option(help="Show this message, by the number that `why` tells.", min=0)
    ] = None,
    json: Json = False,
) -> None:
    """Show what a session file is and what was read from it, or one of its messages.

    Example: hardwon inspect ~/.codex/sessions/2026/11/02/rollout-….jsonl --message 5
    """
    from hardwon.sessions.origin import outcome, stopped

    transcript = _inspected(file)
    if message is not None:
        _show_message(transcript, message, json=json)
        return
    described: list[dict[str, Any]] = [_described(session) for session in transcript.sessions]
    if json:
        print_json(
            {
                "format": transcript.format,
                "version": _version(transcript),
                "sessions": described,
                "damaged": transcript.damaged,
                "suspected_loss": transcript.suspected_loss,
            }
        )
        return
    say(f"{transcript.format} {shown(_version(transcript))}".rstrip())
    for session, entry in zip(transcript.sessions, described, strict=True):
        say(f"\nsession {shown(str(entry['id']))}")
        for what, told in _in_words(session, entry, ENDED["interrupted" if stopped(session) else outcome(session)]):
            say(f"  {what:<12}{shown(told)}")
    if described:
        say(f"\nA message of it: `hardwon inspect {shown(file)} --message NUMBER`")
    for damage in transcript.damaged:
        say(f"\ndamaged at byte {damage.offset:,}: {damage.reason}")
    for loss in transcript.suspected_loss:
        say(f"\nwarning: the file seems to hold {loss.seen:,} {loss.what}, {loss.read:,} were read")


def _in_words(session: Session, entry: dict[str, Any], ended: str) -> Iterator[tuple[str, str]]:
    """What a session is, line by line: (about what, in words)."""
    from hardwon.clock import iso

    begin, end = iso(session.started_at), iso(session.ended_at)
    yield "project", entry["project"] or "none"
    yield "folder", entry["cwd"] or "not known"
    yield "time", f"{begin or 'not known'}{f' to {end}' if end and end != begin else ''}; {ended}"
    unsure = f", {entry['unsure']:,} perhaps not typed by the user" if entry["unsure"] else ""
    yield "messages", f"{entry['messages']:,}, {entry['user_messages']:,} of the user{unsure}"
    results = (
        ("results_ok", "worked"),
        ("results_error", "failed"),
        ("results_unknown", "of unknown result"),
        ("unpaired_calls", "without an answer in the file"),
    )
    parts = ", ".join(f"{entry[name]:,} {what}" for name, what in results if entry[name])
    yield "tool calls", f"{entry['tool_calls']:,}{f': {parts}' if parts else ''}"
    if entry["unknown_records"]:
        yield "not read", f"{entry['unknown_records']:,} records of unknown kinds"


def _inspected(named: str) -> Transcript:
    """What a file holds; named by an id, that session of it alone."""
    from msgspec.structs import replace

    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id
    from hardwon.api.from_git import session_file
    from hardwon.failures.ledger import inspected
    from hardwon.store.meta import sessions_of_agents

    path = Path(named)
    if path.exists():
        return inspected(path)
    with Hardwon() as memory:
        if not _ID.fullmatch(named) and not (memory.exists and sessions_of_agents(memory.reading(), named)):
            raise NotFound(f"no such file or session: {shown(named)}")
        known = memory.sessions.get(full_id(memory, named, sessions=True)).session
    with session_file(known.path) as file:
        found = inspected(file)
    own = tuple(one for one in found.sessions if (one.external_id, one.subagent) == (known.external_id, known.subagent))
    if own and (copied := len(own[0].messages) - known.messages) > 0:
        say(f"Copied from another session, where they count: {count(copied, 'message')}.", err=True)
    return replace(found, sessions=own or found.sessions)


def _show_message(transcript: Transcript, number: int, *, json: bool) -> None:
    """Redacted as the store keeps it, with what its calls answered, which agents keep in the message after."""
    from hardwon.clock import iso
    from hardwon.scrub.scrubber import Scrubber
    from hardwon.text.shown import UNSURE

    session = next((one for one in transcript.sessions if number < len(one.messages)), None)
    if session is None:
        raise NotFound(f"{transcript.path} has no message {number}")
    said, scrub = session.messages[number], Scrubber().scrub
    answers = {result.call_id: result for result in session.results()}
    parts: list[tuple[str, str]] = [(said.origin, said.text)] if said.text else []
    for call in said.calls:
        parts.append((call.name, call.command or call.target or call.detail))
        if answer := answers.get(call.id):
            parts.append((f"{call.name} answered {answer.outcome}", answer.text))
    own = {call.id for call in said.calls}
    parts += [(f"answer {one.outcome}", one.text) for one in said.results if one.call_id not in own]
    clean = [(who, scrub(text)) for who, text in parts]
    if json:
        print_json({"message": number, "role": said.role, "at": iso(said.at), "parts": clean})
        return
    place = f"{len(session.messages)} in {shown(session.external_id)}"
    say(f"message {number} of {place}, {said.role}, {iso(said.at) or 'no time'}")
    for who, text in clean:
        say(f"\n  {shown(who)}:" if not said.unsure or who != said.origin else f"\n  perhaps the user ({UNSURE}):")
        for line in text.strip().split("\n"):
            say(f"    {shown(line)}")


def _version(transcript: Transcript) -> str:
    return next((session.version for session in transcript.sessions if session.version), "")


def _described(session: Session) -> dict[str, Any]:
    from hardwon.clock import iso
    from hardwon.sessions.project import identify

    project = identify(session.cwd, session.remote)
    outcomes = Counter(result.outcome for result in session.results())
    return {
        "id": session.external_id + (f"/{session.subagent}" if session.subagent else ""),
        "agent": session.agent,
        "project": project.name if project else None,
        "cwd": session.cwd or None,
        "started_at": iso(session.started_at),
        "ended_at": iso(session.ended_at),
        "messages": len(session.messages),
        "user_messages": session.user_messages,
        "unsure": session.unsure_messages,
        "tool_calls": session.tool_calls,
        "results_ok": outcomes["ok"],
        "results_error": outcomes["error"],
        "results_unknown": outcomes["unknown"],
        "unpaired_calls": session.unpaired_calls,
        "unknown_records": session.unknown_records,
    }
