"""A store on a service (`hardwon serve`): the methods of `Hardwon` for what the service offers.

>>> with connect("http://127.0.0.1:8765", token) as memory:
...     print(memory.bootstrap("my-project").text)

Each method has the signature of the facade's own (`_offered`); beside it stands what is asked of the service.
"""

from __future__ import annotations

import inspect
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from hardwon.api.connection import each_path
from hardwon.api.documents import Documents
from hardwon.api.failures import Failures
from hardwon.api.forget import Forgot, need_one
from hardwon.api.hardwon import Hardwon
from hardwon.api.interactions import Interactions
from hardwon.api.journal import Journal, Stats
from hardwon.api.lessons import Lessons
from hardwon.api.review import Review
from hardwon.api.sessions import Sessions
from hardwon.api.store import Store
from hardwon.api.team import Team
from hardwon.capture.past_failures import PastFailures
from hardwon.capture.verify import Verified
from hardwon.errors import BadConfig, HardwonError, NotAllowed, NotFound, NotOffered, StoreError
from hardwon.exchange.dump import Header
from hardwon.exchange.pulled import Knowledge
from hardwon.exchange.team import Taken
from hardwon.measure import report
from hardwon.measure.metrics import Metrics
from hardwon.model.attempt import Attempt, Similar, outcome_called, outcomes_meant
from hardwon.model.lesson import need_fitting_holder
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
    Me,
    Noted,
    Page,
    Project,
    Reinforced,
    SearchResults,
    SessionDetails,
    SessionRecord,
    Visitor,
    each_name,
)
from hardwon.store.database import Check

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
W = TypeVar("W")
P = ParamSpec("P")
Given = dict[str, Any]
"""Arguments by their names."""
Ask = Callable[["_Http", Given], T]
"""How a service is asked to do what a method does."""

NOT_OFFERED = frozenset(
    (
        # what needs the files of this machine
        "discover", "inspect", "harvest", "sample", "resume", "picture", "sessions.harvested", "sessions.retained",
        "sessions.harvest_git", "sessions.kept_in_git", "sessions.repositories", "sessions.distil",
        "sessions.distil_cost", "sessions.distil_if_wanted", "documents.ingest", "journal.capture_command",
        "journal.capture_crash", "journal.capture_failure", "store.export", "store.import_tree",
        "store.import_from", "store.load",
        # what is for who owns the machine of the service
        "experiment", "failures.outdated", "failures.refingerprint", "store.healthy", "store.repair", "store.backup",
        "store.restore", "store.migrate", "store.reindex", "store.embed", "store.audit", "store.last_runs",
        "store.keep_metrics", "store.keep_daily_metrics", "store.write_metrics", "store.tokens", "store.make_token",
        "store.revoke_token", "store.resolve", "store.project_parts", "store.split_project",
        "store.claims", "store.confirm", "lessons.section",
        "journal.files_called", "failures.mute",
        # the review in a terminal
        "review.said", "review.count_said", "review.keep_said", "review.drop_said", "review.skip_said",
        "review.queue", "review.count", "review.counts", "review.notice", "review.consider", "review.invalidate",
        "review.merge", "review.link", "review.conflicts", "review.open_conflict", "review.settle", "review.keep",
        "review.both_stand", "review.reopen",
    )
)  # fmt: skip
"""The methods of `Hardwon` that a service has not."""

_ROOT = "/api/"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_TIMEOUT_SECONDS = 60
PATIENCE_SECONDS = 15.0
"""A service that was there is waited for so long: it may be starting again."""
_PATIENCE_WITH_STRANGERS_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_TRY_LATER = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_ITEMS_PER_PAGE = 200
_PLACE = re.compile(r"\{(\w+)\}")
_GIVEN_BY_THE_JOURNAL = frozenset(("id", "key", "source", "embedding", "evidence"))


def connect(url: str, token: str) -> Client:
    """A store on a service. Raises `BadConfig` for an address that would send the token unprotected, or no token."""
    return Client(url, token)


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
        if not token.strip() or not token.isprintable():
            raise BadConfig("the token is empty or damaged: `hardwon token make NAME` makes one where the service runs")
        self._local = parts.hostname in _LOOPBACK
        if parts.scheme == "http" and not self._local:
            raise BadConfig(f"'{url}' would send the token unencrypted: use https://")
        self._address = f"{parts.scheme}://{parts.netloc}"
        self._token = token
        self._client: httpx.Client | None = None
        self._opening = threading.Lock()
        self._was_there = False

    def close(self) -> None:
        with self._opening:
            if self._client is not None:
                self._client.close()
            self._client = None

    def get(self, type: type[T], path: str, query: Given) -> T:
        return self._decoded(type, self._asked("GET", path, query=query))

    def send(self, method: str, type: type[T], path: str, body: Given) -> T:
        given = {name: value for name, value in body.items() if value is not None}
        return self._decoded(type, self._asked(method, path, body=msgspec.json.encode(given)))

    def delete(self, path: str) -> None:
        self._asked("DELETE", path)

    def pages(self, page: type[Page[T]], path: str, query: Given) -> Iterator[T]:
        """Every item of a list, fetched as it is needed."""
        cursor = ""
        while True:
            found = self.get(page, path, {**query, "limit": _ITEMS_PER_PAGE, "cursor": cursor})
            yield from found.items
            cursor = found.next
            if not cursor:
                return

    def copy(self, out: BinaryIO, path: str) -> bytes:
        """An answer of any size into a file; gives its first line."""
        first, complete = b"", False
        with self._open().stream("GET", _ROOT + path) as answer:
            if answer.status_code >= HTTPStatus.BAD_REQUEST:
                raise _error(answer.status_code, answer.read())
            for data in answer.iter_bytes():
                out.write(data)
                if not complete:
                    first, newline, _ = (first + data).partition(b"\n")
                    complete = bool(newline)
        return first

    def _asked(self, method: str, path: str, *, query: Given | None = None, body: bytes | None = None) -> bytes:
        self._open()  # which says what to do where it is not installed
        import httpx  # noqa: PLC0415 - an extra

        headers = {"Content-Type": "application/json"} if body is not None else {}
        if method != "GET":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        patience = PATIENCE_SECONDS if self._was_there else _PATIENCE_WITH_STRANGERS_SECONDS
        pause = _FIRST_PAUSE_SECONDS
        while True:
            wait = pause
            try:
                answer = self._open().request(
                    method, _ROOT + path, params=_query(query or {}), content=body, headers=headers
                )
            except httpx.TransportError as error:
                if patience <= 0:
                    raise HardwonError(f"cannot reach {self._address}: {error}; is `hardwon serve` running?") from error
            else:
                self._was_there = True
                if answer.status_code < HTTPStatus.BAD_REQUEST:
                    return answer.content
                if answer.status_code not in _TRY_LATER or patience <= 0:
                    raise _error(answer.status_code, answer.content)
                wait = max(pause, float(answer.headers.get("Retry-After", 0)))
            wait = min(wait, _LONGEST_PAUSE_SECONDS, patience)
            time.sleep(wait)
            patience -= wait
            pause *= 2

    def _open(self) -> httpx.Client:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise HardwonError("the client needs httpx: `hardwon extras add client`") from None
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


def _offered(method: Callable[Concatenate[Any, P], T], ask: Ask[T]) -> Callable[Concatenate[Any, P], T]:
    """A method of the facade, with its signature, that a service does."""
    signature = inspect.signature(method)

    @wraps(method)
    def asked(self: Any, /, *values: P.args, **named: P.kwargs) -> T:
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        return ask(self._http, {name: value for name, value in bound.arguments.items() if name != "self"})

    return asked


def _get(type: type[T], path: str) -> Ask[T]:
    """What `{name}` stands for in the path is taken from the arguments; the others are the query."""
    return lambda http, given: http.get(type, *_filled(path, given))


def _send(method: str, type: type[T], path: str) -> Ask[T]:
    """The arguments that the path does not name are the body."""
    return lambda http, given: http.send(method, type, *_filled(path, given))


def _all(page: type[Page[T]], path: str) -> Ask[list[T]]:
    return lambda http, given: [*http.pages(page, path, given)]


def _then(ask: Ask[W], take: Callable[[W], T]) -> Ask[T]:
    return lambda http, given: take(ask(http, given))


def _first(prepare: Callable[[Given], Given], ask: Ask[T]) -> Ask[T]:
    return lambda http, given: ask(http, prepare(given))


def _filled(path: str, given: Given) -> tuple[str, Given]:
    named = set(_PLACE.findall(path))
    rest = {name: value for name, value in given.items() if name not in named}
    return _PLACE.sub(lambda place: quote(str(given[place[1]]), safe=""), path), rest


class _ClientPart:
    """A noun of the client."""

    def __init__(self, http: _Http) -> None:
        self._http = http

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            _refuse(f"{type(self).__name__.removeprefix('Client').lower()}.{name}", name)


def _active(given: Given) -> Given:
    need_fitting_holder(given["scope"], given["project"], given["agent"])
    return {**given, "status": "active"}


class ClientLessons(_ClientPart):
    """`memory.lessons` of a service."""

    get = _offered(Lessons.get, _get(LessonDetails, "lessons/{id}"))
    add = _offered(
        Lessons.add, _first(_active, _then(_send("POST", LessonDetails, "lessons"), lambda made: made.lesson.id))
    )
    propose = _offered(Lessons.propose, _then(_send("POST", LessonDetails, "lessons"), lambda made: made.lesson.id))
    reinforce = _offered(Lessons.reinforce, _send("POST", Reinforced, "lessons/{id}/reinforce"))
    feedback = _offered(
        Lessons.feedback,
        _first(
            lambda given: {**given, "id": str(given["id"])}, _then(_send("POST", Noted, "feedback"), lambda _: None)
        ),
    )
    list = _offered(
        Lessons.list,
        _then(
            _all(Page[Lesson], "lessons"),
            lambda found: sorted(found, key=lambda one: (-one.confidence, -one.last_confirmed.timestamp(), one.id)),
        ),
    )


class ClientFailures(_ClientPart):
    """`memory.failures` of a service."""

    get = _offered(Failures.get, _get(FailureDetails, "failures/{id}"))
    recall = _offered(Failures.recall, _send("POST", KnownFailure, "failures/match"))
    costs = _offered(
        Failures.costs,
        _first(
            lambda given: {**given, "ids": each_name(given["ids"])},
            _send("POST", dict[str, FailureCost], "failures/costs"),
        ),
    )
    list = _offered(Failures.list, _all(Page[Failure], "failures"))


class ClientSessions(_ClientPart):
    """`memory.sessions` of a service."""

    get = _offered(Sessions.get, _get(SessionDetails, "sessions/{id}"))
    list = _offered(Sessions.list, _all(Page[SessionRecord], "sessions"))


def _new(attempt: Attempt) -> Given:
    fields = msgspec.structs.asdict(attempt)
    fields |= {name: each_name(fields[name]) for name in ("files", "files_read")}
    fields["outcome"] = outcome_called(attempt.outcome)
    return {name: value for name, value in fields.items() if name not in _GIVEN_BY_THE_JOURNAL}


def _number(attempt: Attempt) -> int:
    assert attempt.id is not None
    return attempt.id


def _with_outcomes(ask: Ask[list[T]]) -> Ask[list[T]]:
    """None of them stands for all; without any, nothing fits."""

    def asked(http: _Http, given: Given) -> list[T]:
        outcomes = outcomes_meant(given.pop("outcomes"))
        if outcomes is not None and not outcomes:
            return []
        return ask(http, {**given, "outcome": [str(outcome) for outcome in outcomes or ()]})

    return asked


def _newest_attempts(http: _Http, given: Given) -> list[Attempt]:
    limit = given.pop("limit")
    return [*islice(http.pages(Page[Attempt], "attempts", given), limit)]


class ClientJournal(_ClientPart):
    """`memory.journal` of a service."""

    log = _offered(
        Journal.log, _first(lambda given: _new(given["attempt"]), _then(_send("POST", Attempt, "attempts"), _number))
    )
    log_all = _offered(
        Journal.log_all,
        _first(lambda given: {"attempts": [*map(_new, given["attempts"])]}, _send("POST", list[int], "attempts/batch")),
    )
    get = _offered(Journal.get, _get(Attempt, "attempts/{number}"))
    reflect = _offered(Journal.reflect, _then(_send("PUT", Attempt, "attempts/{number}/reflection"), lambda _: None))
    similar = _offered(
        Journal.similar,
        _first(
            lambda given: {**given, "file": each_name(given.pop("files"))},
            _with_outcomes(_get(list[Similar], "attempts/similar")),
        ),
    )
    for_file = _offered(Journal.for_file, _get(list[Attempt], "attempts/of-file"))
    stats = _offered(Journal.stats, _get(Stats, "attempts/stats"))
    verify = _offered(Journal.verify, _get(Verified, "attempts/verify"))
    past_failures = _offered(Journal.past_failures, _get(PastFailures, "attempts/past-failures"))
    list = _offered(Journal.list, _with_outcomes(_newest_attempts))


def _spoken(given: Given) -> Given:
    fields = msgspec.structs.asdict(given["interaction"])
    del fields["id"]
    return {**fields, "reinforce": given["reinforce"]}


class ClientInteractions(_ClientPart):
    """`memory.interactions` of a service."""

    record = _offered(
        Interactions.record,
        _first(_spoken, _then(_send("POST", Interaction, "interactions"), lambda made: made.id)),
    )
    get = _offered(Interactions.get, _get(Interaction, "interactions/{id}"))
    reinforce = _offered(Interactions.reinforce, _send("POST", list[Reinforced], "interactions/{id}/reinforce"))
    reinforced = _offered(Interactions.reinforced, _get(list[Reinforced], "interactions/{id}/reinforced"))
    extract = _offered(Interactions.extract, _send("POST", list[Lesson], "interactions/{id}/extract"))
    list = _offered(
        Interactions.list,
        _then(_get(Page[InteractionSummary], "interactions"), lambda found: InteractionPage(found.items, found.next)),
    )


_documents = _all(Page[Document], "documents")


def _remove_document(http: _Http, given: Given) -> None:
    path = given["path"]
    known = [one.id for one in _documents(http, {}) if path in (one.id, one.path)]
    http.delete(f"documents/{known[0] if known else quote(path, safe='')}")


class ClientDocuments(_ClientPart):
    """`memory.documents` of a service."""

    add = _offered(Documents.add, _then(_send("POST", DocumentDetails, "documents"), lambda made: made.document.id))
    get = _offered(Documents.get, _get(DocumentDetails, "documents/{id}"))
    remove = _offered(Documents.remove, _remove_document)
    list = _offered(Documents.list, _then(_documents, lambda found: sorted(found, key=lambda one: one.path)))


def _decided(method: str, path: str) -> Ask[int]:
    return _then(_send(method, _Event, path), lambda done: done.event)


def _history(http: _Http, given: Given) -> list[Event]:
    if id := str(given["id"]):
        noun = "attempts" if id.isdecimal() or id.startswith("A") else "lessons"
        return _get(list[Event], f"{noun}/{{id}}/history")(http, {"id": id})
    return [*islice(http.pages(Page[Event], "events", {}), given["limit"])]


class ClientReview(_ClientPart):
    """`memory.review` of a service."""

    promote = _offered(Review.promote, _decided("POST", "lessons/{id}/promote"))
    reject = _offered(Review.reject, _decided("POST", "lessons/{id}/reject"))
    archive = _offered(Review.archive, _decided("POST", "lessons/{id}/archive"))
    restore = _offered(Review.restore, _decided("POST", "lessons/{id}/restore"))
    supersede = _offered(Review.supersede, _decided("POST", "lessons/{id}/supersede"))
    edit = _offered(
        Review.edit,
        _first(
            lambda given: {**given, "tags": None if given["tags"] is None else each_name(given["tags"])},
            _decided("PATCH", "lessons/{id}"),
        ),
    )
    undo = _offered(Review.undo, _decided("POST", "events/{event}/undo"))
    history = _offered(Review.history, _history)


def _copied(http: _Http, given: Given) -> Header:
    return msgspec.json.decode(http.copy(given["out"], "export"), type=Header)


def _one(given: Given) -> Given:
    id = str(given["id"])
    need_one(id, given["session"], given["project"], given["text"])
    return {**given, "id": id}


def _description(given: Given) -> Given:
    return {"project": given["project"], "description": given["text"]}


def _done(_: object) -> None:
    return None


class ClientStore(_ClientPart):
    """`memory.store` of a service."""

    check = _offered(Store.check, _get(list[Check], "doctor"))
    totals = _offered(Store.totals, _then(_get(_Totals, "metrics"), lambda found: found.totals))
    projects = _offered(Store.projects, _all(Page[Project], "projects"))
    add_project = _offered(Store.add_project, _then(_send("POST", Project, "projects"), lambda made: made.id))
    rename_project = _offered(Store.rename_project, _then(_send("PATCH", Project, "projects/{project}"), _done))
    describe_project = _offered(
        Store.describe_project,
        _first(_description, _then(_send("PATCH", Project, "projects/{project}"), _done)),
    )
    archive_project = _offered(Store.archive_project, _then(_send("PATCH", Project, "projects/{project}"), _done))
    alias_project = _offered(Store.alias_project, _then(_send("POST", Project, "projects/{project}/aliases"), _done))
    merge_projects = _offered(Store.merge_projects, _then(_send("POST", Project, "projects/{project}/merge"), _done))
    dump = _offered(Store.dump, _copied)
    forget = _offered(Store.forget, _first(_one, _send("POST", Forgot, "forget")))
    purge = _offered(Store.purge, _send("POST", Forgot, "purge"))


class _Withdrawn(Struct, frozen=True):
    sessions: list[str]


class ClientTeam(_ClientPart):
    """`memory.team` of a service."""

    take = _offered(Team.take, _send("POST", list[Taken], "team/sessions"))
    withdraw = _offered(Team.withdraw, _then(_send("POST", _Withdrawn, "team/withdraw"), lambda gone: gone.sessions))
    settle = _offered(Team.settle, _then(_send("POST", _Withdrawn, "team/settle"), _done))
    known = _offered(Team.known, _get(Knowledge, "team/known"))


def _bootstrap(http: _Http, given: Given) -> Bootstrap:
    """A session that is named is on record with what it was told."""
    if given["session"]:
        return http.send("POST", Bootstrap, "bootstrap", given)
    return http.get(Bootstrap, "bootstrap", {**given, "experiment": None})


def _replayed(http: _Http, given: Given) -> report.Report:
    if each_path(given.pop("paths")):
        raise NotOffered("a service replays the sessions it has: leave `paths` out, or use Hardwon on this machine")
    return http.get(report.Report, "replay", {**given, "progress": None})  # it tells of none


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
        self.team = ClientTeam(self._http)

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
        return self._http.get(Me, "me", {})

    search = _offered(
        Hardwon.search, _first(lambda given: {**given, "q": given.pop("query")}, _get(SearchResults, "search"))
    )
    bootstrap = _offered(Hardwon.bootstrap, _bootstrap)
    map = _offered(Hardwon.map, _get(Map, "map"))
    blame = _offered(Hardwon.blame, _get(list[Visitor], "blame"))
    how = _offered(Hardwon.how, _get(list[Habit], "how"))
    replay = _offered(Hardwon.replay, _replayed)
    measure = _offered(
        Hardwon.measure, _first(lambda given: {**given, "days": given["days"] or None}, _get(Metrics, "measure"))
    )


def _refuse(method: str, name: str) -> None:
    if method in NOT_OFFERED:
        raise NotOffered(f"a service does not offer `{method}`: use Hardwon on the machine of the store")
    raise AttributeError(f"no such method: {name}")


def _query(query: Given) -> Given:
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
