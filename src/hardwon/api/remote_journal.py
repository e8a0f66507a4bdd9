"""The journal of a service, with the verbs of `memory.journal`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from hardwon.api.attempt_stats import Stats
from hardwon.api.wire_client import Client
from hardwon.capture.past_failures import PastFailures
from hardwon.errors import NotFound
from hardwon.model import wire
from hardwon.model.attempt import Attempt, Similar
from hardwon.model.outcome import FAILED, Outcome

Outcomes = Sequence[Outcome | str] | None
_GIVEN_BY_THE_JOURNAL = frozenset(("id", "key", "source", "embedding", "evidence"))


class RemoteJournal:
    """Attempts logged, found again, counted."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def log_attempt(self, attempt: Attempt) -> int:
        names = [name for name in Attempt.__struct_fields__ if name not in _GIVEN_BY_THE_JOURNAL]
        body: dict[str, Any] = {name: getattr(attempt, name) for name in names}
        return self._client.send("POST", wire.Tried, body, "api", "attempts").id

    def log_attempts(self, entries: Iterable[Attempt]) -> list[int]:
        """One after the other; what was logged stays if a later one is refused."""
        return [self.log_attempt(entry) for entry in entries]

    def find_similar(self, task_description: str, limit: int = 5, include_outcomes: Outcomes = None) -> list[Attempt]:
        return [one.attempt for one in self.similar(task_description, limit=limit, outcomes=include_outcomes)]

    def similar(
        self,
        task: str,
        *,
        files: Sequence[str] = (),
        outcomes: Outcomes = None,
        project: str | None = None,
        limit: int = 5,
    ) -> list[Similar]:
        query = {"task": task, "file": list(files), "outcome": _names(outcomes), "project": project, "limit": limit}
        found = self._client.get(list[wire.Alike], "api", "attempts", "similar", **query)
        return [Similar(attempt=_attempt(one.attempt), score=one.score, matched=one.matched) for one in found]

    def get_success_rate(self) -> dict[str, float]:
        group = self.stats().overall
        return {"overall": group.success_rate.value or 0.0, **group.outcomes, "total": group.attempts}

    def get_recent_failures(self, limit: int = 10) -> list[Attempt]:
        return self.recent(outcomes=FAILED, limit=limit)

    def recent(
        self, *, outcomes: Outcomes = None, project: str | None = None, run: str | None = None, limit: int = 10
    ) -> list[Attempt]:
        query = {"outcome": _names(outcomes), "project": project, "run": run}
        found = self._client.pages(wire.Page[wire.Tried], "api", "attempts", **query)
        return [_attempt(one) for one in islice(found, limit)]

    def get_by_id(self, id: int) -> Attempt | None:
        try:
            return _attempt(self._client.get(wire.Tried, "api", "attempts", id))
        except NotFound:
            return None

    def update_reflection(self, id: int, reflection: str) -> bool:
        try:
            self._client.send("PUT", wire.Tried, {"reflection": reflection}, "api", "attempts", id, "reflection")
        except NotFound:
            return False
        return True

    def get_attempts_for_file(self, file_path: str, limit: int = 10, project: str | None = None) -> list[Attempt]:
        query = {"path": file_path, "limit": limit, "project": project}
        found = self._client.get(list[wire.Tried], "api", "attempts", "of-file", **query)
        return [_attempt(one) for one in found]

    def stats(self, *, project: str | None = None) -> Stats:
        return self._client.get(Stats, "api", "attempts", "stats", project=project)

    def past_failures(self, *, run: str = "", project: str | None = None, task: str = "") -> PastFailures:
        query = {"run": run, "project": project, "task": task}
        return self._client.get(PastFailures, "api", "attempts", "past-failures", **query)


def _names(outcomes: Outcomes) -> list[str]:
    return [str(outcome) for outcome in outcomes or ()]


def _attempt(tried: wire.Tried) -> Attempt:
    return Attempt(**{name: getattr(tried, name) for name in wire.Tried.__struct_fields__})
