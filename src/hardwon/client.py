"""A store on a service (`hardwon serve`): the methods of `Hardwon` for what the service offers.

>>> with connect("http://127.0.0.1:8765", token) as memory:
...     print(memory.bootstrap("my-project").text)
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from http import HTTPStatus
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from hardwon.api.connection import Paths, each_path
from hardwon.api.forget import Forgot
from hardwon.api.journal import Outcomes, Stats
from hardwon.capture.past_failures import PastFailures
from hardwon.errors import BadConfig, HardwonError, NotAllowed, NotFound, NotOffered, StoreError
from hardwon.exchange.dump import Header
from hardwon.harvest.walk import Progress
from hardwon.measure import report
from hardwon.measure.metrics import Metrics
from hardwon.model.attempt import Attempt, Similar
from hardwon.model.lesson import Kind, Scope
from hardwon.model.nouns import (
    Bootstrap,
    Document,
    DocumentDetails,
    Event,
    Failure,
    FailureCost,
    FailureDetails,
    Habit,
    Interaction,
    InteractionPage,
    InteractionSummary,
    KnownFailure,
    Lesson,
    LessonDetails,
    Map,
    Page,
    Project,
    Reinforced,
    SearchResults,
    SessionDetails,
    SessionRecord,
    Visitor,
)
from hardwon.store.database import Check
from hardwon.store.forget import What

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

NOT_OFFERED = frozenset(
    (
        # what needs the files of this machine
        "discover", "inspect", "harvest", "sample", "resume", "picture", "sessions.harvested", "sessions.retained",
        "sessions.distil",
        "sessions.distil_cost", "documents.ingest", "journal.capture_command", "journal.capture_crash",
        "journal.capture_failure", "store.export", "store.import_tree", "store.import_from", "store.load",
        # what is for who owns the machine of the service
        "experiment", "failures.outdated", "failures.refingerprint", "store.healthy", "store.repair", "store.backup",
        "store.restore", "store.migrate", "store.reindex", "store.embed", "store.audit", "store.last_runs",
        "store.keep_metrics", "store.keep_daily_metrics", "store.write_metrics", "store.tokens", "store.make_token",
        "store.revoke_token", "store.resolve",
        # the review in a terminal
        "review.queue", "review.count", "review.notice", "review.consider", "review.invalidate", "review.merge",
        "review.link", "review.conflicts", "review.open_conflict", "review.settle", "review.keep",
        "review.both_stand", "review.reopen",
    )
)  # fmt: skip
"""The methods of `Hardwon` that a service has not."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TIMEOUT_SECONDS = 60
_TRIES = 3
_LONGEST_PAUSE_SECONDS = 5
_ITEMS_PER_PAGE = 200
_GIVEN_BY_THE_JOURNAL = frozenset(("id", "key", "source", "embedding", "evidence"))


def connect(url: str, token: str) -> Client:
    """A store on a service. Raises `BadConfig` for an address that would send the token unprotected."""
    return Client(url, token)


class Me(Struct, frozen=True):
    """Whose token it is, and what it may do."""

    name: str
    scopes: tuple[str, ...]
    projects: tuple[str, ...]
    """Ids; none means all."""


class _Event(Struct, frozen=True):
    event: int


class _Totals(Struct, frozen=True):
    totals: dict[str, int]


class _Http:
    """Speaks to one service. A change that must be sent again is done once."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadConfig(f"'{url}' is not the address of a service: write it as https://memory.example.org")
        self._local = parts.hostname in _LOOPBACK
        if parts.scheme == "http" and not self._local:
            raise BadConfig(f"'{url}' would send the token unencrypted: use https://")
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self._client: httpx.Client | None = None
        self._opening = threading.Lock()

    def close(self) -> None:
        with self._opening:
            if self._client is not None:
                self._client.close()
            self._client = None

    def get(self, type: type[T], /, *path: object, **query: Any) -> T:
        return self._decoded(type, self._asked("GET", path, query=query))

    def send(self, method: str, type: type[T], body: dict[str, Any], *path: object) -> T:
        return self._decoded(type, self._asked(method, path, body=msgspec.json.encode(body)))

    def delete(self, *path: object) -> None:
        self._asked("DELETE", path)

    def pages(self, page: type[Page[T]], *path: object, **query: Any) -> Iterator[T]:
        """Every item of a list, fetched as it is needed."""
        cursor = ""
        while True:
            found = self.get(page, *path, **{**query, "limit": _ITEMS_PER_PAGE, "cursor": cursor})
            yield from found.items
            cursor = found.next
            if not cursor:
                return

    def copy(self, out: BinaryIO, *path: object) -> bytes:
        """An answer of any size into a file; gives its first line."""
        first, complete = b"", False
        with self._open().stream("GET", _address(path)) as answer:
            if answer.status_code >= HTTPStatus.BAD_REQUEST:
                raise _error(answer.status_code, answer.read())
            for data in answer.iter_bytes():
                out.write(data)
                if not complete:
                    first, newline, _ = (first + data).partition(b"\n")
                    complete = bool(newline)
        return first

    def _asked(
        self, method: str, path: tuple[object, ...], *, query: dict[str, Any] | None = None, body: bytes | None = None
    ) -> bytes:
        import httpx  # noqa: PLC0415 - an extra

        headers = {"Content-Type": "application/json"} if body is not None else {}
        if method != "GET":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        for tries in range(1, _TRIES + 1):
            try:
                answer = self._open().request(
                    method, _address(path), params=_given(query or {}), content=body, headers=headers
                )
            except httpx.TransportError as error:
                if tries == _TRIES:
                    raise HardwonError(f"cannot reach {self._address}: {error}; is `hardwon serve` running?") from error
                continue
            if answer.status_code < HTTPStatus.BAD_REQUEST:
                return answer.content
            if answer.status_code != HTTPStatus.TOO_MANY_REQUESTS or tries == _TRIES:
                raise _error(answer.status_code, answer.content)
            time.sleep(min(_LONGEST_PAUSE_SECONDS, float(answer.headers.get("Retry-After", 1))))
        raise AssertionError("the last try returns or raises")

    def _open(self) -> httpx.Client:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise HardwonError("the client needs httpx: pip install 'hardwon[client]'") from None
        with self._opening:
            if self._client is None:
                self._client = httpx.Client(
                    base_url=self._address,
                    headers={"Authorization": f"Bearer {self._token}"},
                    timeout=_TIMEOUT_SECONDS,
                    trust_env=not self._local,  # a proxy has no business with what stays on this machine
                )
            return self._client

    def _decoded(self, type: type[T], body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=type)
        except msgspec.DecodeError as error:
            raise HardwonError(f"{self._address} sent a response that this version cannot read: {error}") from error


class _ClientPart:
    """A noun of the client."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            _refuse(f"{type(self).__name__.removeprefix('Client').lower()}.{name}", name)


class ClientLessons(_ClientPart):
    """`memory.lessons` of a service."""

    def list(self, *, project: str | None = None, kind: str | None = None, status: str | None = None) -> list[Lesson]:
        query = {"project": project, "kind": kind, "status": status}
        found = self._http.pages(Page[Lesson], "api", "lessons", **query)
        return sorted(found, key=lambda one: (-one.confidence, -one.last_confirmed.timestamp(), one.id))

    def get(self, id: str) -> LessonDetails:
        return self._http.get(LessonDetails, "api", "lessons", id)

    def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        scope: Scope = "project",
        project: str = "",
        agent: str = "",
        confidence: float = 1.0,
        why: str = "",
    ) -> str:
        if (scope == "project") != bool(project):
            raise NotAllowed(
                "a lesson with scope 'project' needs a project, and no other does: name one, or use another scope"
            )
        body = {"text": text, "kind": kind, "scope": scope, "project": project, "agent": agent, "status": "active"}
        more = {"confidence": confidence, "why": why}
        return self._http.send("POST", LessonDetails, {**body, **more}, "api", "lessons").lesson.id

    def propose(
        self, text: str, *, kind: Kind = "fact", project: str = "", agent: str = "", session: str = "", why: str = ""
    ) -> str:
        body = {"text": text, "kind": kind, "project": project, "agent": agent, "session": session, "why": why}
        return self._http.send("POST", LessonDetails, body, "api", "lessons").lesson.id

    def feedback(self, id: str, *, helped: bool, why: str = "") -> None:
        self._http.send("POST", LessonDetails, {"helped": helped, "why": why}, "api", "lessons", id, "feedback")


class ClientFailures(_ClientPart):
    """`memory.failures` of a service."""

    def list(
        self,
        *,
        project: str | None = None,
        since: datetime | None = None,
        only_open: bool = False,
        only_here: bool = False,
    ) -> list[Failure]:
        query = {"project": project, "since": since, "only_open": only_open, "only_here": only_here}
        return [*self._http.pages(Page[Failure], "api", "failures", **query)]

    def get(self, id: str, *, project: str | None = None) -> FailureDetails:
        return self._http.get(FailureDetails, "api", "failures", id, project=project)

    def recall(
        self, text: str, *, command: str = "", project: str | None = None, only_here: bool = False
    ) -> KnownFailure:
        body = {"text": text, "command": command, "project": project or "", "only_here": only_here}
        return self._http.send("POST", KnownFailure, body, "api", "failures", "match")

    def costs(self, ids: Sequence[str], *, since: datetime | None = None) -> dict[str, FailureCost]:
        body = {"ids": [*ids], "since": since}
        return self._http.send("POST", dict[str, FailureCost], body, "api", "failures", "costs")


class ClientSessions(_ClientPart):
    """`memory.sessions` of a service."""

    def get(self, id: str) -> SessionDetails:
        return self._http.get(SessionDetails, "api", "sessions", id)

    def list(self, *, project: str | None = None, agent: str | None = None) -> list[SessionRecord]:
        return [*self._http.pages(Page[SessionRecord], "api", "sessions", project=project, agent=agent)]


class ClientJournal(_ClientPart):
    """`memory.journal` of a service."""

    def log(self, attempt: Attempt) -> int:
        found = self._http.send("POST", Attempt, _new(attempt), "api", "attempts")
        assert found.id is not None
        return found.id

    def log_all(self, attempts: Iterable[Attempt]) -> list[int]:
        return self._http.send("POST", list[int], {"attempts": [*map(_new, attempts)]}, "api", "attempts", "batch")

    def get(self, number: int) -> Attempt:
        return self._http.get(Attempt, "api", "attempts", number)

    def reflect(self, number: int, reflection: str) -> None:
        self._http.send("PUT", Attempt, {"reflection": reflection}, "api", "attempts", number, "reflection")

    def similar(
        self,
        task: str,
        *,
        files: Sequence[str] = (),
        outcomes: Outcomes = None,
        project: str | None = None,
        limit: int = 5,
    ) -> list[Similar]:
        if outcomes is not None and not outcomes:
            return []
        query = {"task": task, "file": [*files], "outcome": _names(outcomes), "project": project, "limit": limit}
        return self._http.get(list[Similar], "api", "attempts", "similar", **query)

    def for_file(self, path: str, *, project: str | None = None, limit: int = 10) -> list[Attempt]:
        query = {"path": path, "limit": limit, "project": project}
        return self._http.get(list[Attempt], "api", "attempts", "of-file", **query)

    def stats(self, *, project: str | None = None, since: datetime | None = None) -> Stats:
        return self._http.get(Stats, "api", "attempts", "stats", project=project, since=since)

    def past_failures(
        self, *, run: str = "", project: str | None = None, task: str = "", only_here: bool = False
    ) -> PastFailures:
        query = {"run": run, "project": project, "task": task, "only_here": only_here}
        return self._http.get(PastFailures, "api", "attempts", "past-failures", **query)

    def list(
        self, *, outcomes: Outcomes = None, project: str | None = None, run: str | None = None, limit: int = 10
    ) -> list[Attempt]:
        if outcomes is not None and not outcomes:
            return []
        query = {"outcome": _names(outcomes), "project": project, "run": run}
        return [*islice(self._http.pages(Page[Attempt], "api", "attempts", **query), limit)]


class ClientInteractions(_ClientPart):
    """`memory.interactions` of a service."""

    def record(self, interaction: Interaction, *, reinforce: bool = True) -> str:
        fields = msgspec.structs.asdict(interaction)
        del fields["id"]
        return self._http.send("POST", Interaction, {**fields, "reinforce": reinforce}, "api", "interactions").id

    def get(self, id: str) -> Interaction:
        return self._http.get(Interaction, "api", "interactions", id)

    def reinforce(self, id: str) -> list[Reinforced]:
        return self._http.send("POST", list[Reinforced], {}, "api", "interactions", id, "reinforce")

    def extract(self, id: str) -> list[Lesson]:
        return self._http.send("POST", list[Lesson], {}, "api", "interactions", id, "extract")

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
        query = {"project": project, "session": session, "client": client, "since": since}
        found = self._http.get(Page[InteractionSummary], "api", "interactions", **query, limit=limit, cursor=cursor)
        return InteractionPage(found.items, found.next)


class ClientDocuments(_ClientPart):
    """`memory.documents` of a service."""

    def add(self, name: str, text: str, *, project: str = "") -> str:
        body = {"name": name, "text": text, "project": project}
        return self._http.send("POST", DocumentDetails, body, "api", "documents").document.id

    def get(self, id: str) -> DocumentDetails:
        return self._http.get(DocumentDetails, "api", "documents", id)

    def remove(self, path: str) -> None:
        known = [one.id for one in self.list() if path in (one.id, one.path)]
        if not known:
            raise NotFound(f"there is no document '{path}'")
        for id in known:
            self._http.delete("api", "documents", id)

    def list(self, *, project: str | None = None) -> list[Document]:
        return sorted(self._http.pages(Page[Document], "api", "documents", project=project), key=lambda one: one.path)


class ClientReview(_ClientPart):
    """`memory.review` of a service."""

    def promote(self, id: str, *, why: str = "") -> int:
        return self._decided(id, "promote", why=why)

    def reject(self, id: str, *, why: str = "") -> int:
        return self._decided(id, "reject", why=why)

    def archive(self, id: str, *, why: str = "") -> int:
        return self._decided(id, "archive", why=why)

    def restore(self, id: str, *, why: str = "") -> int:
        return self._decided(id, "restore", why=why)

    def supersede(self, id: str, by: str, *, why: str = "") -> int:
        return self._decided(id, "supersede", by=by, why=why)

    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        kind: Kind | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        pinned: bool | None = None,
        scope: Scope | None = None,
        agent: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        why: str = "",
    ) -> int:
        changes = {
            "text": text,
            "kind": kind,
            "tags": None if tags is None else [*tags],
            "confidence": confidence,
            "pinned": pinned,
            "scope": scope,
            "agent": agent,
            "valid_from": valid_from,
            "valid_until": valid_until,
        }
        given = {name: value for name, value in changes.items() if value is not None}
        return self._http.send("PATCH", _Event, {**given, "why": why}, "api", "lessons", id).event

    def undo(self, event: int, *, why: str = "") -> int:
        return self._http.send("POST", _Event, {"why": why}, "api", "events", event, "undo").event

    def history(self, id: str = "", *, limit: int = 50) -> list[Event]:
        if id:
            return self._http.get(list[Event], "api", "lessons", id, "history")
        return [*islice(self._http.pages(Page[Event], "api", "events"), limit)]

    def _decided(self, id: str, verb: str, **body: str) -> int:
        return self._http.send("POST", _Event, body, "api", "lessons", id, verb).event


class ClientStore(_ClientPart):
    """`memory.store` of a service."""

    def check(self) -> list[Check]:
        return self._http.get(list[Check], "api", "doctor")

    def totals(self) -> dict[str, int]:
        return self._http.get(_Totals, "api", "metrics").totals

    def projects(self) -> list[Project]:
        return [*self._http.pages(Page[Project], "api", "projects")]

    def dump(self, out: BinaryIO) -> Header:
        return msgspec.json.decode(self._http.copy(out, "api", "export"), type=Header)

    def forget(
        self, id: str = "", *, session: str = "", project: str = "", text: str = "", dry_run: bool = False
    ) -> Forgot:
        if sum(map(bool, (id, session, project, text))) != 1:
            raise NotAllowed("name exactly one thing to forget: an id, a session, a project or a text")
        body = {"id": id, "session": session, "project": project, "text": text, "dry_run": dry_run}
        return self._http.send("POST", Forgot, body, "api", "forget")

    def purge(self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False) -> Forgot:
        body = {"days": days, "what": what, "project": project or "", "dry_run": dry_run}
        return self._http.send("POST", Forgot, body, "api", "purge")


class Client:
    """What a service offers of `Hardwon`: each method has the same name, arguments and result.

    What it does not offer (`NOT_OFFERED`) raises `NotOffered`. Raises `NotAllowed` where the token does not suffice,
    `HardwonError` where the service cannot be reached.
    """

    def __init__(self, url: str, token: str) -> None:
        self._http = _Http(url, token)
        self.lessons = ClientLessons(self._http)
        self.failures = ClientFailures(self._http)
        self.sessions = ClientSessions(self._http)
        self.journal = ClientJournal(self._http)
        self.interactions = ClientInteractions(self._http)
        self.documents = ClientDocuments(self._http)
        self.review = ClientReview(self._http)
        self.store = ClientStore(self._http)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            _refuse(name, name)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._http.close()

    def me(self) -> Me:
        """Whose token this is, and what it may do."""
        return self._http.get(Me, "api", "me")

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        file: str | None = None,
        limit: int = 10,
    ) -> SearchResults:
        wanted = {"type": type, "kind": kind, "project": project, "agent": agent, "status": status, "file": file}
        return self._http.get(SearchResults, "api", "search", q=query, **wanted, since=since, until=until, limit=limit)

    def bootstrap(
        self,
        project: str,
        *,
        agent: str = "",
        task: str = "",
        budget: int | None = None,
        session: str = "",
        experiment: bool = True,
        only_here: bool = False,
    ) -> Bootstrap:
        query = {"project": project, "agent": agent, "task": task, "budget": budget, "only_here": only_here}
        if not session:
            return self._http.get(Bootstrap, "api", "bootstrap", **query)
        body = {**query, "session": session, "experiment": experiment}
        return self._http.send("POST", Bootstrap, body, "api", "bootstrap")

    def map(self, project: str, *, task: str = "", limit: int = 10) -> Map:
        return self._http.get(Map, "api", "map", project=project, task=task, limit=limit)

    def blame(self, path: str, *, project: str, limit: int = 20) -> list[Visitor]:
        return self._http.get(list[Visitor], "api", "blame", path=path, project=project, limit=limit)

    def how(self, words: str, *, project: str, limit: int = 10) -> list[Habit]:
        return self._http.get(list[Habit], "api", "how", words=words, project=project, limit=limit)

    def replay(
        self,
        paths: Paths = (),
        *,
        project: str | None = None,
        budget: int | None = None,
        failure_budget: int | None = None,
        progress: Progress | None = None,  # noqa: ARG002 - the service tells none
    ) -> report.Report:
        if each_path(paths):
            raise NotOffered("a service replays the sessions it has: leave `paths` out, or use Hardwon on this machine")
        query = {"project": project, "budget": budget, "failure_budget": failure_budget}
        return self._http.get(report.Report, "api", "replay", **query)

    def measure(self, *, project: str | None = None, since: datetime | None = None, days: int = 0) -> Metrics:
        return self._http.get(Metrics, "api", "measure", project=project, since=since, days=days or None)


def _refuse(method: str, name: str) -> None:
    if method in NOT_OFFERED:
        raise NotOffered(f"a service does not offer `{method}`: use Hardwon on the machine of the store")
    raise AttributeError(f"no such method: {name}")


def _new(attempt: Attempt) -> dict[str, Any]:
    fields = msgspec.structs.asdict(attempt)
    return {name: value for name, value in fields.items() if name not in _GIVEN_BY_THE_JOURNAL}


def _names(outcomes: Outcomes) -> list[str]:
    return [str(outcome) for outcome in outcomes or ()]


def _address(path: tuple[object, ...]) -> str:
    return "/" + "/".join(quote(str(part), safe="") for part in path)


def _given(query: dict[str, Any]) -> dict[str, Any]:
    """Without what is left open; times as the service reads them."""
    given = {name: value for name, value in query.items() if value is not None and value is not False and value != ""}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in given.items()}


def _error(status: int, body: bytes) -> HardwonError:
    try:
        detail = str(msgspec.json.decode(body, type=dict[str, Any]).get("detail", ""))
    except msgspec.DecodeError:
        detail = HTTPStatus(status).phrase
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(detail)
    return StoreError(detail) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else NotAllowed(detail)
