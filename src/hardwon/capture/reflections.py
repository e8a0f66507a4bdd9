"""What was learned from an attempt, as a lesson that waits for a person. Called inside a transaction."""

from __future__ import annotations

import re

from hardwon.briefing.tried import gives_orders
from hardwon.model.attempt import FAILED, Outcome
from hardwon.model.lesson import STATUSES, Kind, Trust
from hardwon.store import lessons, lifecycle
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import derived, normalised
from hardwon.text.shown import one_line
from hardwon.text.words import unique_terms

RULE = "reflection"
_CONFIDENCE = 0.5
_MAX_CHARACTERS = 300
_LEAST_WORDS = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_MARKS = re.compile(r"\*\*|__|^[#>*-]+\s+")
_THE_LESSON = re.compile(
    r"(?im)^\W*(?:general lessons?|lessons?(?: learned)?|next time|takeaways?)\b\W*(?P<said>\S.*)$"
)
"""Where a longer reflection has a section for it."""


def lesson_in(reflection: str) -> str:
    """What of a reflection could be told to another session: all of it, or the part that says what to do."""
    found = _THE_LESSON.findall(reflection) if len(reflection) > _MAX_CHARACTERS else []
    text = one_line(" ".join(_MARKS.sub("", line.strip()) for line in (found[-1:] or reflection.splitlines())))
    if len(text) > _MAX_CHARACTERS:
        ends = [end.start() for end in _SENTENCE_END.finditer(text) if end.start() <= _MAX_CHARACTERS]
        text = text[: ends[-1]] if ends else ""
    return text if len(unique_terms(text)) >= _LEAST_WORDS else ""


def propose(db: Database, row: AttemptRow, *, actor: str, vouched: bool = False) -> str:
    """Make a candidate of what an attempt's writer learned; returns the lesson's id, empty where there is none.

    It is trusted as its writer is: a claim, or `untrusted` where somebody with a token or a file gives orders.
    Somebody who vouches for it (`vouched`) makes it a lesson at once. What was decided on is not proposed again.
    """
    text = lesson_in(row.reflection)
    _withdraw(db, row, text, actor)
    if not text:
        return ""
    failed = row.outcome in (*FAILED, Outcome.PARTIAL)
    kind: Kind = "pitfall" if failed else "pattern"
    local = actor == "journal"
    trust: Trust = "human" if vouched else "claimed" if local or not gives_orders(text) else "untrusted"
    sure = lifecycle.LEAST_CONFIDENCE_PROMOTED if vouched else _CONFIDENCE
    lesson = LessonRow(
        id=derived("L", RULE, row.project or "", normalised(text)),
        kind=kind,
        text=text,
        scope="project" if row.project else "global",
        project=row.project,
        agent="",
        base_confidence=sure,
        confidence=sure,
        status="active" if vouched else "candidate",
        trust=trust,
        rule=RULE,
        failure="",
        first_seen=row.started_at,
        last_confirmed=row.started_at,
        source_count=1,
        harvester_version=0,
    )
    root = row.root or row.session or row.id
    cited = Cited(lesson.id, row.id, 0, root, row.started_at, text, "import" if row.source == "import" else "agent")
    same = (lifecycle.duplicate(db, lesson._replace(status=one)) for one in STATUSES)
    if known := lesson.id if lessons.get(db, lesson.id) else next(filter(None, same), ""):
        lessons.cite(db, [cited._replace(lesson=known)])
        if vouched:
            lifecycle.vouch(db, known, sure, actor=actor, why=f"reflection on attempt {row.number}")
        return known
    return lifecycle.create(db, lesson, [cited], actor=actor, why=f"reflection on attempt {row.number}")


def _withdraw(db: Database, row: AttemptRow, text: str, actor: str) -> None:
    """What an earlier reflection on the same attempt proposed, and nobody has decided on, is not proposed any more."""
    for id in sorted(lessons.of_source(db, row.id)):
        found = lessons.get(db, id)
        if not found or found.rule != RULE or found.status != "candidate":
            continue
        if found.text != text or found.project != (row.project or ""):
            lifecycle.archive(db, id, actor=actor, why="the reflection was written anew")
