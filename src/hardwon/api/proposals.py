"""What agents say of their own accord: `memory.proposals`. It never counts for more than a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.model.lesson import KINDS, Kind
from hardwon.store import events, failures, lessons, lifecycle
from hardwon.store.events import Happened
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.digest import made

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

_CONFIDENCE = 0.5
_LONGEST = 2_000


class Proposals:
    """Candidates for lessons, and word of which lines helped; by `actor`."""

    def __init__(self, memory: Hardwon, actor: str = "agent") -> None:
        self._memory = memory
        self._actor = actor

    def remember(
        self, text: str, *, kind: Kind = "fact", project: str = "", agent: str = "", session: str = "", why: str = ""
    ) -> str:
        """A sentence worth keeping, as a candidate until a person or a second session agrees; returns its id."""
        scrub = self._memory.scrub.scrubber().scrub
        words = scrub(text[:_LONGEST].strip())
        if not words.strip():
            raise NotAllowed("a lesson cannot be empty")
        if kind not in KINDS:
            raise NotAllowed(f"no kind '{kind}'; known: {', '.join(KINDS)}")
        at = now()
        holder = self._memory.project(project) if project else None
        row = LessonRow(
            id=made("L"),
            kind=kind,
            text=words,
            scope="project" if holder else "global",
            project=holder,
            agent="",
            base_confidence=_CONFIDENCE,
            confidence=_CONFIDENCE,
            status="candidate",
            trust="claimed",
            rule="remember",
            failure="",
            first_seen=at,
            last_confirmed=at,
            source_count=1,
            harvester_version=0,
        )
        said_in = scrub(session[:200]) or made("I")
        source = Cited(row.id, said_in, 0, f"{scrub(agent[:200])}:{said_in}", at, words, "agent")
        db = self._memory.writing()
        with db.transaction():
            return lifecycle.create(db, row, [source], actor=self._actor, why=scrub(why))

    def feedback(self, id: str, *, helped: bool, why: str = "") -> int:
        """This line helped, or was wrong. Kept and counted for the review; it changes nothing by itself."""
        db = self._memory.writing()
        words = self._memory.scrub.scrubber().scrub(why[:_LONGEST])
        with db.transaction():
            lesson = lessons.get(db, id)
            if lesson is None and failures.get(db, id) is None:
                raise NotFound(f"no lesson or failure {id}")
            if lesson is not None:
                column = "helpful" if helped else "harmful"
                db.execute(f"UPDATE lesson SET {column} = {column} + 1 WHERE id = ?", (id,))
            told = Happened("helped" if helped else "wrong", id, {}, {}, words)
            return events.record(db, self._actor, now(), [told])[0]
