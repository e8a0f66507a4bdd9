"""An interaction on its way into the store and out of it, and the lessons that its answer made use of."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from hardwon.capture.attempts import moment, stamp
from hardwon.clock import now
from hardwon.errors import NotAllowed
from hardwon.harvest.clean import ends
from hardwon.model.interaction import Interaction, InteractionSummary
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import interactions
from hardwon.store.database import Database, Row
from hardwon.store.ids import made
from hardwon.store.interactions import InteractionRow, Match
from hardwon.text.fence import one_line
from hardwon.text.usage import Answer
from hardwon.text.words import unique_terms

T = TypeVar("T")

LONGEST_TEXT = 1_000_000
_LONGEST_NAME = 200
_LONGEST_CONTEXT = 100_000
_MOST_USED = 1_000
_LONGEST_LINE = 120
_POOL = 1_000
_MOST_TERMS = 400
"""An answer may be a book; its first words tell which lessons are worth a look."""


def stored(given: Interaction, project: str | None, scrubber: Scrubber) -> InteractionRow:
    """The row of an interaction; `project` is an id."""
    prompt = scrubber.scrub(ends(given.prompt, LONGEST_TEXT))
    if not prompt.strip():
        raise NotAllowed("an interaction needs a prompt: say what was asked")
    context = scrubber.scrub(msgspec.json.encode(given.context).decode())
    if len(context) > _LONGEST_CONTEXT:
        raise NotAllowed(f"the context is {len(context):,} characters long; at most {_LONGEST_CONTEXT:,} are kept")
    return InteractionRow(
        id=made("I"),
        session=scrubber.scrub(given.session[:_LONGEST_NAME]),
        project=project,
        client=scrubber.scrub(given.client[:_LONGEST_NAME]),
        prompt=prompt,
        response=scrubber.scrub(ends(given.response, LONGEST_TEXT)),
        response_summary=scrubber.scrub(ends(given.response_summary, LONGEST_TEXT)),
        context=context,
        lessons_used=_names(given.lessons_used, scrubber),
        chunks_used=_names(given.chunks_used, scrubber),
        created_at=now() if given.created_at is None else stamp(given.created_at),
    )


def interaction(row: InteractionRow) -> Interaction:
    """What is given out of a row."""
    return Interaction(
        prompt=row.prompt,
        response=row.response,
        response_summary=row.response_summary,
        project=row.project or "",
        session=row.session,
        client=row.client,
        context=_read(row.context, {}),
        lessons_used=_read(row.lessons_used, []),
        chunks_used=_read(row.chunks_used, []),
        created_at=moment(row.created_at),
        id=row.id,
    )


def summary(row: Row) -> InteractionSummary:
    id, prompt, said, project, session, client, length, at = row
    return InteractionSummary(
        id=id,
        prompt=one_line(prompt)[:_LONGEST_LINE],
        response_summary=one_line(said)[:_LONGEST_LINE],
        project=project,
        session=session,
        client=client,
        response_chars=length,
        created_at=moment(at),
    )


def used(db: Database, row: InteractionRow) -> list[Match]:
    """The active lessons, of its project or of none, that an answer makes use of."""
    text = f"{row.response}\n{row.response_summary}".strip()
    if not text:
        return []
    found = db.matches(unique_terms(text)[:_MOST_TERMS], _POOL, types=("lesson",))
    answer = Answer(text)
    pool = interactions.applicable(db, [item for item, _, _ in found], row.project)
    judged = [Match(id, "stems", answer.uses(lesson)) for id, lesson in pool]
    return [match for match in judged if match.overlap > 0]


def _names(names: list[str], scrubber: Scrubber) -> str:
    return msgspec.json.encode([scrubber.scrub(name[:_LONGEST_NAME]) for name in names[:_MOST_USED]]).decode()


def _read(text: str, empty: T) -> T:
    try:
        return msgspec.json.decode(text, type=type(empty))
    except msgspec.DecodeError:
        return empty  # of an import, whatever it was
