"""What was asked and answered: recorded, listed, and what it says about the lessons."""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Iterable
from datetime import datetime

from hardwon.api import convert
from hardwon.api.connection import Part, need_switched_on
from hardwon.capture import interactions as intake
from hardwon.capture.attempts import kept
from hardwon.clock import now, to_microseconds
from hardwon.errors import NotAllowed, NotFound
from hardwon.harvest.learn import candidates
from hardwon.model.nouns import Interaction, InteractionPage, Lesson, Reinforced
from hardwon.store import interactions, lessons, spool, stale
from hardwon.store.database import Database
from hardwon.store.interactions import InteractionRow, ReinforcementRow
from hardwon.store.meta import scrubber

_CURSOR = re.compile(r"(\d{1,18})-(I[0-9a-z]{1,40})")


class Interactions(Part):
    """What was asked and answered, and which lessons the answers made use of."""

    def record(self, interaction: Interaction, *, reinforce: bool = True) -> str:
        """Keep an interaction; returns its id. Lessons that its answer makes use of gain confidence.

        What goes wrong with the lessons is left for `hardwon doctor`, and never in the way of recording. Raises
        `NotAllowed` without a prompt, or for a context that is too long.
        """
        need_switched_on()
        db = self._memory.writing()
        with db.transaction():
            row = intake.stored(interaction, kept(db, interaction.project), scrubber(db))
            interactions.save(db, row)
        if reinforce:
            began = time.perf_counter()
            try:
                self._reinforce(db, row)
            except Exception as error:  # the interaction is kept whatever happens here
                taken = round((time.perf_counter() - began) * 1_000_000)
                spool.leave(str(self._memory.home), "reinforce", "", taken, f"{type(error).__name__}: {error}")
        return row.id

    def get(self, id: str) -> Interaction:
        """An interaction in full. Raises `NotFound`."""
        return intake.interaction(_known(self._memory.reading() if self._memory.exists else None, id))

    def reinforce(self, id: str) -> builtins.list[Reinforced]:
        """Do it for one that was recorded without, or again: what was done already is told and not done twice.

        Raises `NotFound`.
        """
        db = self._memory.writing()
        return self._reinforce(db, _known(db, id))

    def reinforced(self, id: str) -> builtins.list[Reinforced]:
        """The lessons that an answer was found to make use of, with what that did to them. Raises `NotFound`."""
        db = self._memory.reading()
        return _told(interactions.steps_of(db, _known(db, id).id))

    def extract(self, id: str) -> builtins.list[Lesson]:
        """Make candidates of the rules and decisions in the prompt, in the answer and under headings such as Decision.

        Returns them. Raises `NotFound`.
        """
        db = self._memory.writing()
        row = _known(db, id)
        with db.transaction():
            made = candidates(db, row) | intake.said_in_answer(db, row) | intake.headed(db, row)
            stale.mark(db, made)
        stale.recount(db)
        return [*map(convert.lesson, lessons.named(db, sorted(made)))]

    def _reinforce(self, db: Database, row: InteractionRow) -> builtins.list[Reinforced]:
        matches = intake.used(db, row)
        with db.transaction():
            done = interactions.reinforce(db, row.id, matches, now())
            interactions.mark_used(db, row.session, [match.lesson for match in matches])
            steps = interactions.steps_of(db, row.id)
        if done:
            self._memory.refresh_standing()
        return _told(steps)

    def list(
        self,
        *,
        project: str | None = None,
        session: str = "",
        client: str = "",
        since: datetime | None = None,
        limit: int = 50,
        cursor: str = "",
    ) -> InteractionPage:
        """Summaries without bodies, the newest first; `cursor` is that of the page before.

        Raises `NotFound` for an unknown project, `NotAllowed` for a cursor that no page gave.
        """
        if limit <= 0 or not self._memory.exists:
            return InteractionPage([])
        rows = interactions.summaries(
            self._memory.reading(),
            project=self._memory.project(project) if project else None,
            session=session,
            client=client,
            since=to_microseconds(since),
            before=_before(cursor),
            limit=limit + 1,
        )
        more = f"{rows[limit - 1][-1]}-{rows[limit - 1][0]}" if len(rows) > limit else ""
        return InteractionPage([intake.summary(row) for row in rows[:limit]], more)


def _told(steps: Iterable[ReinforcementRow]) -> list[Reinforced]:
    return [Reinforced(**step._asdict()) for step in steps]


def _known(db: Database | None, id: str) -> InteractionRow:
    row = interactions.get(db, id) if db else None
    if row is None:
        raise NotFound(f"there is no interaction '{id}': `hardwon interactions list` shows those there are")
    return row


def _before(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise NotAllowed(f"'{cursor[:40]}' is not a cursor: use the one that the page before gave")
    return int(found[1]), found[2]
