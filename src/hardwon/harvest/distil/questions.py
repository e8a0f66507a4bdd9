"""The questions that a model is asked of a project: many short passages of its sessions in one, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from hardwon.harvest.distil.claims import Entry
from hardwon.harvest.distil.extract import FOUND, Shown, Unread
from hardwon.harvest.rules.said import BY_FORM
from hardwon.model.lesson import DISTILLED, StoredLesson
from hardwon.store import lessons
from hardwon.store.database import Database, marks
from hardwon.text.normalise import digest
from hardwon.text.shown import QUESTION, TAG, day, one_line
from hardwon.text.words import terms

_KNOWN_LINES = 30
_CHARACTERS_PER_KNOWN_LINE = 140
_DIGITS_OF_A_NUMBER = 6
_CLOSING = f"</{TAG}>"
_WORDS_OF_A_PERSON = ("user", "answered", "refused")
"""That they are said again in another session is worth telling; what else is the same there is shown once."""


@cache
def prompt() -> str:
    """What every question begins with."""
    return files("hardwon.harvest.distil").joinpath("prompt.md").read_text(encoding="utf-8")


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
    met: set[tuple[str, str]] = set()
    for number, (one, part) in enumerate(waits, 1):
        if part:
            lines.append(f"\n## S{number}, {day(one.at)}, {one.agent}")
        met = {(how, text) for how, text in met if how not in _WORDS_OF_A_PERSON}
        for shown in part:
            label = f"S{number}:{shown.message}"
            entries.append(_entry(label, one, shown))
            if (shown.how, shown.text) not in met:
                often = f" {shown.times} times" if shown.times > 1 else ""
                head, text = f"[{label}] {shown.how}{often}:", _harmless(shown.text)
                if shown.how == FOUND and lines and lines[-1].startswith(head):
                    lines[-1] += f" | {text}"
                else:
                    lines.append(f"{head} {text}")
            met.add((shown.how, shown.text))
    text = "\n".join(lines)
    return Question(digest(prompt(), text, size=8), text, entries, [one for one, _ in waits], is_last)


def _harmless(text: str) -> str:
    """Nothing in it can be taken for our own marks."""
    return text.replace(f"<{TAG}", "<…").replace(f"</{TAG}", "</…")


def asked(question: Question, known: dict[str, StoredLesson]) -> str:
    """A question as it is sent."""
    lines = [f"[{number}] {one_line(one.text)[:_CHARACTERS_PER_KNOWN_LINE]}" for number, one in known.items()]
    told = "\n".join(["Known:", *lines]) if lines else "Known: nothing yet."
    return f"{QUESTION}\n---\n{told}\n{question.text}\n{_CLOSING}"


def _entry(label: str, one: Unread, shown: Shown) -> Entry:
    return Entry(
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


def known_lessons(db: Database, project: str, question: Question) -> dict[str, StoredLesson]:
    """Number → what is believed, asked, or was said by models before, that has most to do with the question."""
    words = set(terms(question.text))
    guessed = guesses(db, project, question)
    believed = [
        one
        for one in lessons.listed(db, project=project, status="active")
        if one.project == project and one.id not in guessed
    ]
    waits = [
        one
        for one in lessons.listed(db, project=project, status="candidate")
        if one.rule == DISTILLED or one.kind == "question"
    ]
    nearest = sorted([*believed, *waits], key=lambda one: (-len(words & set(terms(one.text))), one.id))[:_KNOWN_LINES]
    return {number_of(one.id): one for one in sorted(nearest, key=lambda one: one.id)}


def guesses(db: Database, project: str, question: Question) -> dict[str, set[tuple[str, int]]]:
    """Lesson → the messages it rests on, of those that a rule took from the form of words that are asked about here.

    Who reads these words sees more than their form: such a lesson is not shown as known, and does not outlive the
    reading unless something comes of its words.
    """
    shown = {(entry.session, entry.message) for entry in question.entries if entry.how == "user"}
    found: dict[str, set[tuple[str, int]]] = {}
    for id, session, message in db.query(
        "SELECT l.id, s.source, s.message_index FROM lesson l JOIN lesson_source s ON s.lesson = l.id "
        f"WHERE l.project = ? AND l.status = 'active' AND l.kept = 0 AND l.rule IN ({marks(BY_FORM)})",
        (project, *BY_FORM),
    ):
        found.setdefault(id, set()).add((session, message))
    return {id: messages for id, messages in found.items() if messages <= shown}


def number_of(lesson: str) -> str:
    return lesson[1 : 1 + _DIGITS_OF_A_NUMBER]
