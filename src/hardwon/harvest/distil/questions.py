"""The questions that a model is asked of a project: many short passages of its sessions in one, the oldest first."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import NotASession, NotFound
from hardwon.failures.phrase import day
from hardwon.failures.verdicts import read
from hardwon.harvest.clean import scrubbed
from hardwon.harvest.distil.claims import RULE, Claim, Entry, lacking
from hardwon.harvest.distil.extract import Shown, characters, extract
from hardwon.model.lesson import StoredLesson
from hardwon.model.session import Session
from hardwon.scrub.scrubber import Scrubbing
from hardwon.store import lessons, sessions
from hardwon.store.database import Database
from hardwon.text.digest import digest
from hardwon.text.fence import QUESTION, TAG, one_line
from hardwon.text.words import terms

_READING = 2
"""Rises when what is shown of a session changes so much that all must be read again."""
_KNOWN_LINES = 30
_CHARACTERS_PER_KNOWN_LINE = 140
_DIGITS_OF_A_NUMBER = 6
_CLOSING = f"</{TAG}>"


@cache
def prompt(name: str) -> str:
    """`prompt`, the question about sessions, or `check`, the one about claims."""
    return files("hardwon.harvest.distil").joinpath(f"{name}.md").read_text(encoding="utf-8")


class Unread(NamedTuple):
    """A session of which a model has not seen all."""

    id: str
    root: str
    at: int
    agent: str
    state: str
    """What is noted when it is done: another content, and what is new in it is read."""
    session: Session
    shown: list[Shown]
    characters: int
    """Of the part of the transcript that the extract stands for."""


class Question(NamedTuple):
    key: str
    """Of what is shown in it: what was asked once is not asked again."""
    text: str
    entries: list[Entry]
    sessions: list[Unread]
    is_last: bool
    """Whether it has the end of its last session; those before it are in it to their end."""

    @property
    def done(self) -> list[Unread]:
        return self.sessions if self.is_last else self.sessions[:-1]


class Waiting(NamedTuple):
    """A session that must be read, by its row."""

    id: str
    path: str
    root: str
    agent: str
    at: int
    content: str
    state: str
    copied: int


def waiting(db: Database, project: str | None = None, paths: Sequence[str] | None = None) -> dict[str, list[Waiting]]:
    """Project → its own sessions of which a model has not read all, the oldest first; the liveliest project first."""
    where, given = (" AND s.project = ?", (project,)) if project else ("", ())
    rows = db.query(
        "SELECT s.project, s.id, s.path, s.root, s.agent, s.started_at, s.content_hash, coalesce(d.state, ''), "
        "coalesce(t.copied, 0) FROM session s LEFT JOIN distilled d ON d.session = s.id "
        "LEFT JOIN trail t ON t.session = s.id "
        f"WHERE s.owner = 'own' AND s.project IS NOT NULL{where} ORDER BY s.started_at, s.id",
        given,
    )
    named = set(paths) if paths is not None else None
    found: dict[str, list[Waiting]] = {}
    for project_id, *rest in rows:
        one = Waiting(*rest)
        if not one.state.startswith(f"{_READING} {one.content} ") and (named is None or one.path in named):
            found.setdefault(project_id, []).append(one)
    return dict(sorted(found.items(), key=lambda entry: -entry[1][-1].at))


def unread(rows: Sequence[Waiting], scrubbing: Scrubbing) -> Iterator[Unread]:
    """The sessions with what is to be shown of them; those whose log is gone are left."""
    path, held = "", dict[str, Session]()
    for row in rows:
        if row.path != path:
            path, held = row.path, _sessions(row.path)
        raw = held.get(row.id)
        if raw is None:
            continue
        scrubber = scrubbing.scrubber()
        session = scrubbed(raw, scrubber)
        since = max(row.copied, _read_before(row.state, session))
        state = f"{_READING} {row.content} {len(session.messages)} {_said(session, len(session.messages))}"
        shown = extract(session, scrubber, since)
        yield Unread(row.id, row.root, row.at, row.agent, state, session, shown, characters(session, since))


def _sessions(path: str) -> dict[str, Session]:
    try:
        return {sessions.session_id(one): one for one in read(Path(os.path.expanduser(path))).sessions}
    except (NotASession, NotFound):
        return {}


def _read_before(state: str, session: Session) -> int:
    """How many of its messages a model has seen; none if they are not the same any more."""
    reading, _, rest = state.partition(" ")
    _, messages, said = (*rest.split(), "", "", "")[:3]
    if reading != str(_READING) or not messages.isdigit() or _said(session, int(messages)) != said:
        return 0
    return int(messages)


def _said(session: Session, messages: int) -> str:
    return digest(*(message.text for message in session.messages[:messages] if message.origin == "user"))


def questions(found: Iterator[Unread], room: int) -> Iterator[Question]:
    """Sessions put together while they fit; one that is too long for a question alone is read in parts."""
    waits: list[tuple[Unread, list[Shown]]] = []
    size = 0
    for one in found:
        parts = _parts(one.shown, room)
        if len(parts) > 1 and waits:  # its parts are the same, whatever was read before it
            yield _question(waits, is_last=True)
            waits, size = [], 0
        for at, part in enumerate(parts):
            cost = sum(_cost(shown) for shown in part)
            if waits and size + cost > room:
                yield _question(waits, is_last=True)
                waits, size = [], 0
            waits.append((one, part))
            size += cost
            if at < len(parts) - 1:
                yield _question(waits, is_last=False)
                waits, size = [], 0
    if waits:
        yield _question(waits, is_last=True)


def _parts(shown: list[Shown], room: int) -> list[list[Shown]]:
    parts: list[list[Shown]] = [[]]
    size = 0
    for one in shown:
        if parts[-1] and size + _cost(one) > room:
            parts.append([])
            size = 0
        parts[-1].append(one)
        size += _cost(one)
    return parts


def _cost(shown: Shown) -> int:
    return len(shown.text) + len(shown.how) + 12


def _question(waits: list[tuple[Unread, list[Shown]]], *, is_last: bool) -> Question:
    lines: list[str] = []
    entries: list[Entry] = []
    for number, (one, part) in enumerate(waits, 1):
        if part:
            lines.append(f"\n## S{number}, {day(one.at)}, {one.agent}")
        met: set[tuple[str, str]] = set()
        for shown in part:
            label = f"S{number}:{shown.message}"
            entries.append(
                Entry(
                    label,
                    one.id,
                    one.root,
                    one.at,
                    shown.message,
                    shown.origin,
                    " ".join(shown.text.split()),
                    shown.before,
                    shown.typed,
                    shown.ran,
                    shown.how,
                    shown.quotable,
                    shown.piece,
                )
            )
            if (shown.how, shown.text) not in met:
                lines.append(f"[{label}] {shown.how}: {_harmless(shown.text)}")
            met.add((shown.how, shown.text))
    text = "\n".join(lines)
    return Question(digest(prompt("prompt"), text, size=8), text, entries, [one for one, _ in waits], is_last)


def _harmless(text: str) -> str:
    """Nothing in it can be taken for our own marks."""
    return text.replace(f"<{TAG}", "<…").replace(f"</{TAG}", "</…")


def asked(question: Question, known: dict[str, StoredLesson]) -> str:
    """A question as it is sent."""
    lines = [f"[{number}] {one_line(one.text)[:_CHARACTERS_PER_KNOWN_LINE]}" for number, one in known.items()]
    told = "\n".join(["Known:", *lines]) if lines else "Known: nothing yet."
    return f"{QUESTION}\n---\n{told}\n{question.text}\n{_CLOSING}"


def known_lessons(db: Database, project: str, question: Question) -> dict[str, StoredLesson]:
    """Number → what is believed in the project, and what models said before, that has most to do with the question."""
    words = set(terms(question.text))
    believed = [one for one in lessons.listed(db, project=project, status="active") if one.project == project]
    waits = [one for one in lessons.listed(db, project=project, status="candidate") if one.rule == RULE]
    nearest = sorted([*believed, *waits], key=lambda one: (-len(words & set(terms(one.text))), one.id))[:_KNOWN_LINES]
    return {number_of(one.id): one for one in sorted(nearest, key=lambda one: one.id)}


def number_of(lesson: str) -> str:
    return lesson[1 : 1 + _DIGITS_OF_A_NUMBER]


def checked(claims: Sequence[Claim]) -> str:
    """The second question as it is sent: claims and quotes, and nothing else."""
    pairs = [
        {
            "number": number,
            "claim": one.text,
            "not in the quotes": lacking(one),
            "quotes": [
                {"said by": quote.origin, "as": quote.how, "text": quote.text}
                | ({"before": quote.before} if quote.before else {})
                for quote in one.quotes
            ],
        }
        for number, one in enumerate(claims, 1)
    ]
    lines = "\n".join(_harmless(json.dumps(pair, ensure_ascii=False)) for pair in pairs)
    return f"{QUESTION}\n---\n{lines}\n{_CLOSING}"
