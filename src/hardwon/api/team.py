"""`memory.team`: what the machines of a team push to this store, and what they pull from it."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.api.connection import Part
from hardwon.errors import NotAllowed
from hardwon.exchange import team
from hardwon.exchange.pulled import Knowledge, knowledge
from hardwon.exchange.team import SessionRows, Taken
from hardwon.store import meta
from hardwon.store.database import Database
from hardwon.text.normalise import digest

_CHARACTERS_OF_A_PSEUDONYM = 10


class Team(Part):
    """What the machines of a team push to this store, and what they pull from it."""

    def take(self, sent: Sequence[SessionRows]) -> list[Taken]:
        """Put in what sessions taught elsewhere, as a harvest of them would have; a second time changes nothing.

        Whoever is named as the actor is their author. `settle` brings up to date what follows from them.
        """
        db = self._memory.writing()
        author = self._author(db)
        return [self._taken(db, one, author) for one in sent]

    def _taken(self, db: Database, sent: SessionRows, author: str) -> Taken:
        try:
            return team.take(db, sent, author=author, called=self._called(author))
        except NotAllowed as error:
            return Taken(sent.session, "refused", str(error))

    def withdraw(self, sessions: Sequence[str]) -> list[str]:
        """Forget sessions that this author pushed, with what only they taught; returns those that were there."""
        db = self._memory.writing()
        author = self._author(db)
        gone = [id for id in sessions if team.withdraw(db, id, author)]
        if gone:
            self._memory.refresh_standing()
        return gone

    def settle(self) -> None:
        """Count what was pushed, and apply the rules over whole projects."""
        self._memory.settle()

    def known(self, project: str) -> Knowledge:
        """What hooks tell in a project. Raises `NotFound`."""
        found = self._memory.project(project) or ""
        return knowledge(self._memory.reading(), found)

    def _author(self, db: Database) -> str:
        """The same for all tokens of one name; without the key of the store nobody can tell whose it is."""
        return digest("author", self._actor("owner"), size=16, key=meta.forget_key(db))

    def _called(self, author: str) -> str:
        if self._memory.config.team_authors == "name":
            return f"by {self._actor('owner')}"
        return f"by person-{author[:_CHARACTERS_OF_A_PSEUDONYM]}"
