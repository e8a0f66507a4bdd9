"""A store on a service, with the verbs of `Hardwon`: what `Hardwon.connect` gives."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType
from typing import Any, BinaryIO, TypeVar

from msgspec import Struct

from hardwon.api.remote_interactions import RemoteInteractions
from hardwon.api.remote_journal import RemoteJournal
from hardwon.api.remote_store import RemoteDocuments, RemoteForgetting
from hardwon.api.wire_client import Client
from hardwon.measure.report import Report
from hardwon.model import wire
from hardwon.model.bootstrap import Bootstrap
from hardwon.model.lesson import Kind, Lesson, Scope
from hardwon.recall.known_failure import KnownFix, Recalled
from hardwon.recall.search import Hit
from hardwon.store.database import Check
from hardwon.store.lessons import SourceRow

Noun = TypeVar("Noun", bound=Struct)


class Me(Struct, frozen=True):
    """Whose token it is, and what it may do."""

    name: str
    scopes: tuple[str, ...]
    projects: tuple[str, ...]


class _Match(Struct, frozen=True, kw_only=True):
    known: bool
    fingerprint: str
    family: str
    text: str
    occurrences: int
    sessions: int
    last_seen: datetime | None
    fixes: list[KnownFix]
    avoid: list[str]


class Remote:
    """What a service offers of `Hardwon`; each method has the facade's name, arguments and result.

    >>> with Hardwon.connect("http://127.0.0.1:8765", token) as memory:
    ...     print(memory.bootstrap("my-project").text)
    """

    def __init__(self, url: str, token: str) -> None:
        self._client = Client(url, token)
        self.journal = RemoteJournal(self._client)
        self.interactions = RemoteInteractions(self._client)
        self.review = RemoteReview(self._client)
        self.proposals = RemoteProposals(self._client)
        self.proof = RemoteProof(self._client)
        self.exchange = RemoteExchange(self._client)
        self.documents = RemoteDocuments(self._client)
        self.forget = RemoteForgetting(self._client)

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def me(self) -> Me:
        return self._client.get(Me, "api", "me")

    def search(self, query: str, *, project: str | None = None, limit: int = 10) -> list[Hit]:
        found = self._client.get(wire.Results, "api", "search", q=query, project=project, limit=limit)
        return [_plain(Hit, hit) for hit in found.hits]

    def bootstrap(
        self,
        project: str,
        *,
        agent: str = "",
        task: str = "",
        budget: int | None = None,
        session: str = "",
        experiment: bool = True,
    ) -> Bootstrap:
        query = {"project": project, "agent": agent, "task": task, "budget": budget}
        if not session:
            return self._client.get(Bootstrap, "api", "bootstrap", **query)
        body = {**query, "session": session, "experiment": experiment}
        return self._client.send("POST", Bootstrap, body, "api", "bootstrap")

    def failures(self, *, project: str | None = None) -> list[wire.Failure]:
        return list(self._client.pages(wire.Page[wire.Failure], "api", "failures", project=project))

    def failure(self, id: str) -> wire.FailurePage:
        return self._client.get(wire.FailurePage, "api", "failures", id)

    def recall_failure(self, text: str, *, command: str = "", project: str | None = None) -> Recalled:
        body = {"text": text, "command": command, "project": project or ""}
        found = self._client.send("POST", _Match, body, "api", "failures", "match")
        return _plain(Recalled, found)

    def lessons(
        self, *, project: str | None = None, kind: str | None = None, status: str | None = None
    ) -> list[Lesson]:
        query = {"project": project, "kind": kind, "status": status}
        found = self._client.pages(wire.Page[wire.LessonLine], "api", "lessons", **query)
        return [_plain(Lesson, line) for line in found]

    def lesson(self, id: str) -> tuple[Lesson, list[SourceRow]]:
        page = self._client.get(wire.LessonPage, "api", "lessons", id)
        return _plain(Lesson, page.lesson), [_source(source) for source in page.sources]

    def sessions(self, *, project: str | None = None, agent: str | None = None) -> list[wire.Session]:
        query = {"project": project, "agent": agent}
        return list(self._client.pages(wire.Page[wire.Session], "api", "sessions", **query))

    def projects(self) -> list[tuple[str, str, int]]:
        """(id, name, sessions), the busiest first."""
        found = self._client.pages(wire.Page[wire.Project], "api", "projects")
        return sorted(((one.id, one.name, one.sessions) for one in found), key=lambda row: (-row[2], row[0]))

    def check(self) -> list[Check]:
        """What `hardwon doctor` shows on the machine of the service."""
        return self._client.get(list[Check], "api", "doctor")

    def totals(self) -> dict[str, int]:
        return self._client.get(_Metrics, "api", "metrics").totals


class _Undone(Struct, frozen=True):
    event: int


class _Metrics(Struct, frozen=True):
    totals: dict[str, int]


class RemoteReview:
    """`memory.review` of a service; every decision returns the lesson as it then is."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        scope: Scope = "project",
        project: str = "",
        confidence: float = 1.0,
        why: str = "",
    ) -> str:
        body = {"text": text, "kind": kind, "project": project if scope == "project" else "", "status": "active"}
        more = {"confidence": confidence, "why": why}
        return self._client.send("POST", wire.LessonPage, {**body, **more}, "api", "lessons").lesson.id

    def promote(self, id: str, *, why: str = "") -> Lesson:
        return self._decide(id, "promote", why=why)

    def reject(self, id: str, *, why: str = "") -> Lesson:
        return self._decide(id, "reject", why=why)

    def archive(self, id: str, *, why: str = "") -> Lesson:
        return self._decide(id, "archive", why=why)

    def restore(self, id: str, *, why: str = "") -> Lesson:
        return self._decide(id, "restore", why=why)

    def supersede(self, id: str, by: str, *, why: str = "") -> Lesson:
        return self._decide(id, "supersede", by=by, why=why)

    def edit(self, id: str, *, why: str = "", **changes: Any) -> Lesson:
        if "base_confidence" in changes:
            changes["confidence"] = changes.pop("base_confidence")
        page = self._client.send("PATCH", wire.LessonPage, {**changes, "why": why}, "api", "lessons", id)
        return _plain(Lesson, page.lesson)

    def undo(self, number: int, *, why: str = "") -> int:
        return self._client.send("POST", _Undone, {"why": why}, "api", "events", number, "undo").event

    def history(self, id: str) -> list[wire.Event]:
        return self._client.get(list[wire.Event], "api", "lessons", id, "history")

    def _decide(self, id: str, verb: str, **body: str) -> Lesson:
        return _plain(Lesson, self._client.send("POST", wire.LessonPage, body, "api", "lessons", id, verb).lesson)


class RemoteProposals:
    """`memory.proposals` of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def remember(
        self, text: str, *, kind: Kind = "fact", project: str = "", agent: str = "", session: str = "", why: str = ""
    ) -> str:
        body = {"text": text, "kind": kind, "project": project, "agent": agent, "session": session, "why": why}
        return self._client.send("POST", wire.LessonPage, body, "api", "lessons").lesson.id

    def feedback(self, id: str, *, helped: bool, why: str = "") -> None:
        body = {"helped": helped, "why": why}
        self._client.send("POST", wire.LessonPage, body, "api", "lessons", id, "feedback")


class RemoteProof:
    """`memory.proof` of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def replay(self, *, project: str | None = None, budget: int | None = None) -> Report:
        return self._client.get(Report, "api", "replay", project=project, budget=budget)


class RemoteExchange:
    """`memory.exchange` of a service."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def dump(self, out: BinaryIO) -> None:
        self._client.copy(out, "api", "export")


def _plain(shape: type[Noun], given: Struct) -> Noun:
    """A noun of the store from its shape on the wire: times as microseconds again."""
    fields = {name: getattr(given, name) for name in given.__struct_fields__ if name in shape.__struct_fields__}
    return shape(**{name: _stamp(value) for name, value in fields.items()})


def _source(source: wire.Source) -> SourceRow:
    return SourceRow(*(_stamp(getattr(source, name)) for name in SourceRow._fields))


def _stamp(value: Any) -> Any:
    return wire.microseconds(value) if isinstance(value, datetime) else value
