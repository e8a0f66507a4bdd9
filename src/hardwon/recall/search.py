"""One search over everything that is known, by words and by meaning; every result says what it is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from hardwon.clock import moment
from hardwon.errors import HardwonError
from hardwon.model.nouns import Hit, SearchResults
from hardwon.recall.fusion import (
    ANOTHER_MONTH,
    ASKS_BACK,
    SOMEBODY_ELSE,
    UNDATED,
    asks,
    asks_back,
    asks_when,
    in_month,
    in_the_past,
    meaning_weight,
    mixed,
    named_month,
    names_in,
    singled_out,
    speaker,
    tells_when,
    without_names,
)
from hardwon.store import attempts
from hardwon.store.database import Database, marks
from hardwon.store.fulltext import TYPES
from hardwon.text.words import as_typed, stem, terms, unique_terms

if TYPE_CHECKING:
    from hardwon.recall.embedder import Embedder

# Everything that can be found, seen alike: lessons, failures, attempts, chunks, interactions and sessions.

_IDS_PER_QUERY = 500
_MAX_ITEMS_NAMING_A_FILE = 500

_ROWS = {
    "lesson": "SELECT id, 'lesson' AS type, kind, text, coalesce(project, '') AS project, agent, status, trust, "
    "last_confirmed AS at, '' AS thread, 0 AS position, anchor_path AS file FROM lesson",
    "failure": "SELECT f.id, 'failure' AS type, f.family AS kind, coalesce(nullif(f.words, ''), f.signature) AS text, "
    "coalesce((SELECT max(o.project) FROM occurrence o WHERE o.failure = f.id HAVING min(o.project) = max(o.project)), "
    "'') AS project, '' AS agent, f.status, "
    "'measured' AS trust, f.last_seen AS at, '' AS thread, 0 AS position, '' AS file FROM failure f",
    "attempt": "SELECT id, 'attempt' AS type, phase AS kind, task || CASE WHEN approach = '' THEN '' ELSE ': ' || "
    "approach END AS text, coalesce(project, '') AS project, agent, outcome AS status, "
    "CASE WHEN source = 'import' THEN 'claimed' ELSE 'measured' END AS trust, started_at AS at, "
    "session AS thread, started_at AS position, '' AS file FROM attempt",
    "chunk": "SELECT c.id, 'chunk' AS type, d.type AS kind, CASE WHEN c.heading_path = '' THEN '' ELSE "
    "c.heading_path || ': ' END || c.content AS text, "
    "coalesce(d.project, '') AS project, '' AS agent, '' AS status, 'claimed' AS trust, "
    "d.updated_at AS at, c.document AS thread, c.position, d.path AS file FROM chunk c "
    "JOIN document d ON d.id = c.document",
    "interaction": "SELECT id, 'interaction' AS type, client AS kind, prompt || CASE WHEN response_summary <> '' "
    "THEN ' → ' || response_summary WHEN response <> '' THEN ' → ' || response ELSE '' END AS text, "
    "coalesce(project, '') AS project, '' AS agent, '' AS status, 'claimed' AS trust, "
    "created_at AS at, session AS thread, created_at AS position, '' AS file FROM interaction",
    "session": "SELECT id, 'session' AS type, agent AS kind, task AS text, coalesce(project, '') AS project, agent, "
    "outcome AS status, 'claimed' AS trust, started_at AS at, '' AS thread, 0 AS position, "
    "'' AS file FROM session",
    "passage": "SELECT p.id, 'passage' AS type, s.agent AS kind, p.text, coalesce(s.project, '') AS project, s.agent, "
    "s.outcome AS status, 'claimed' AS trust, p.at, p.source AS thread, p.nth AS position, '' AS file "
    "FROM passage p JOIN session s ON s.id = p.source",
}
"""Type → its rows in the common shape. A thread is what follows one upon the other: a talk, a document."""
_KNOWN = tuple(type for type in TYPES if type != "passage")
"""What a search looks through: passages have one of their own."""
_ANY: tuple[str, list[object]] = ("1 = 1", [])
_MAX_QUERY_TERMS = 64
_MAX_QUERY_PHRASES = 8
_MAX_QUERY_CHARACTERS = 4_000
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|`([^`]+)`')
_MIN_CANDIDATES = 50
_MAX_ITEMS_ALL_LOOKED_AT = 1_000
"""So many items or fewer that are as wanted are all looked at, whatever words they hold."""
_MAX_ITEMS_OF_A_PROJECT = 5_000
"""The same for one project, which an index leads to: among the best of a thousand projects there may be none of it."""
_CANDIDATES_GROWTH = 8
_MAX_CANDIDATES = 20_000
_MIN_COSINE = 0.2
"""The least cosine at which something is a result by its meaning alone."""
_MIN_COSINE_OF_UNKNOWN_WORDS = 0.4
"""The same where no word of the question stands anywhere: a model finds something near to any letters."""
_MIN_TELLING_BYTES = 8
"""Of a text that is a result by its meaning alone: the vector of a shorter one is near to anything short."""
_CONTEXT_WEIGHT, _TALK_CONTEXT_WEIGHT = 0.3, 0.15
"""How much the better of its two neighbours counts in the relevance of what stands in a thread. The vector of a turn
holds what was said before already."""
_OF_A_TALK = "I"
"""How the ids of interactions begin."""
_MAX_ITEMS_WITH_CONTEXT = 40
_MAX_ITEMS_FITTING_A_TASK = 200
_TRUST_WEIGHT, _RECENCY_WEIGHT = 0.2, 0.05
_TRUST = {"measured": 1.0, "human": 1.0, "corroborated": 0.9, "claimed": 0.7, "untrusted": 0.2}
_DOUBTFUL = {"candidate": 0.6, "muted": 0.4, "archived": 0.3, "superseded": 0.0, "invalid": 0.0}
_GONE = ("archived", "superseded", "invalid")
"""Lessons that hold no more, or that somebody rejected or took back: found only by who asks for them."""
_MICROSECONDS_PER_DAY = 86_400_000_000
_GOOD_SCORE = 0.5
"""A result that most of a question's words stand in."""
_MENDS = frozenset(terms("fix fixes repair failing fails failed failure error errors bug bugs broken issue problem"))
"""Words of a task that say that something is to be mended, and not what: every failure has one of them."""
_TOLD = ("lesson", "failure")
"""What a bootstrap has lines of."""


class FoundItem(NamedTuple):
    id: str
    type: str
    kind: str
    text: str
    project: str
    agent: str
    status: str
    trust: str
    at: int
    thread: str
    position: int
    file: str

    @property
    def in_talk(self) -> bool:
        return self.type == "interaction" and bool(self.thread)


class SearchFilter(NamedTuple):
    """What results must be; an empty field asks for nothing."""

    types: tuple[str, ...] = ()
    kind: str = ""
    project: str = ""
    agent: str = ""
    status: str = ""
    since: int = 0
    until: int = 0
    file: str = ""
    naming: tuple[str, ...] = ()
    """Items whose words name the file."""

    @property
    def everything(self) -> bool:
        return self == SearchFilter(types=self.types)


def naming(db: Database, file: str) -> tuple[str, ...]:
    """Items in whose words the file stands."""
    return tuple(item for item, _, _ in db.matches(terms(file)[:1], _MAX_ITEMS_NAMING_A_FILE))


def load(db: Database, ids: Sequence[str], wanted: SearchFilter) -> dict[str, FoundItem]:
    """Those of the items that are as wanted."""
    found: dict[str, FoundItem] = {}
    for type in wanted.types or _KNOWN:
        for start in range(0, len(ids), _IDS_PER_QUERY):
            part = list(ids[start : start + _IDS_PER_QUERY])
            sql, values = _select(type, wanted, named=True)
            rows = db.query(f"{sql} AND i.id IN ({marks(part)})", [*values, *part])
            found |= {row[0]: _item(row, wanted) for row in rows}
    return found


def few(db: Database, wanted: SearchFilter, most: int) -> list[str] | None:
    """The ids of all items that are as wanted, if they are at most so many."""
    ids: list[str] = []
    enough = most + 1 if wanted == SearchFilter(types=wanted.types, project=wanted.project) else 0
    for type in wanted.types or _KNOWN:
        sql, values = _select(type, wanted, enough=enough)
        rows = db.query(f"SELECT f.id FROM ({sql}) f LIMIT ?", [*values, most + 1 - len(ids)])
        ids += [row[0] for row in rows]
        if len(ids) > most:
            return None
    return ids


def beside(db: Database, items: Sequence[FoundItem]) -> dict[str, list[str]]:
    """Id → what stands right before and after it in its thread."""
    found: dict[str, list[str]] = {}
    for item in items:
        if item.thread:
            found[item.id] = list(_beside(db, item))
    return found


def _beside(db: Database, item: FoundItem) -> Iterator[str]:
    table, thread, position = {
        "chunk": ("chunk", "document", "position"),
        "attempt": ("attempt", "session", "started_at"),
        "interaction": ("interaction", "session", "created_at"),
    }[item.type]
    for before, order in (("<", "DESC"), (">", "ASC")):
        farther = f"{position} {before} ? OR ({position} = ? AND id {before} ?)"
        rows = db.query(
            f"SELECT id FROM {table} WHERE {thread} = ? AND ({farther}) "
            f"ORDER BY {position} {order}, id {order} LIMIT 1",
            (item.thread, item.position, item.position, item.id),
        )
        yield from (row[0] for row in rows)


def _select(type: str, wanted: SearchFilter, *, named: bool = False, enough: int = 0) -> tuple[str, list[object]]:
    """`named`: a few rows by their ids, each of which is looked at; else all of a project are, or so many at most."""
    conditions, values = ["1 = 1"], list[object]()
    for column, value in (("kind", wanted.kind), ("status", wanted.status)):
        if value:
            conditions.append(f"i.{column} = ?")
            values.append(value)
    if type == "lesson" and not wanted.status:
        conditions.append(f"i.status NOT IN ({marks(_GONE)})")
        values += _GONE
    for condition, bound in (("i.at >= ?", wanted.since), ("i.at < ?", wanted.until)):
        if bound:
            conditions.append(condition)
            values.append(bound)
    for condition, some in (
        _of_project(type, wanted.project, named, enough),
        _of_agent(type, wanted.agent),
        _of_file(type, wanted),
    ):
        conditions.append(condition)
        values += some
    return f"SELECT i.* FROM ({_ROWS[type]}) i WHERE {' AND '.join(conditions)}", values


def _of_project(type: str, project: str, named: bool, enough: int) -> tuple[str, list[object]]:
    """Of the project; of lessons and documents also what holds everywhere."""
    if not project:
        return _ANY
    # By the column itself, which has an index: in the common shape it is an expression, and every row would be read.
    table = {"chunk": "document", "passage": "session", "failure": "occurrence"}.get(type, type)
    id = "h.failure" if type == "failure" else "h.id"
    either = " OR h.project IS NULL OR h.project = ''" if type in ("lesson", "chunk") else ""
    of_table = "i.thread" if type in ("chunk", "passage") else "i.id"
    rows, here = f"FROM {table} h WHERE", f"(h.project = ?{either})"
    if named:
        return f"EXISTS (SELECT 1 {rows} {id} = {of_table} AND {here})", [project]
    most = f" LIMIT {enough}" if enough and of_table == "i.id" else ""  # a document may have no chunks
    return f"{of_table} IN (SELECT DISTINCT {id} {rows} {here}{most})", [project]


def _of_agent(type: str, agent: str) -> tuple[str, list[object]]:
    """Of the agent: met by it, made by it, or learned in a session of it."""
    if not agent:
        return _ANY
    if type == "failure":
        return "EXISTS (SELECT 1 FROM occurrence o WHERE o.failure = i.id AND o.agent = ?)", [agent]
    if type == "lesson":
        learned = (
            "EXISTS (SELECT 1 FROM lesson_source o JOIN session s ON s.id = o.source "
            "WHERE o.lesson = i.id AND s.agent = ?)"
        )
        return f"(i.agent = ? OR {learned})", [agent, agent]
    if type == "interaction":
        return "(i.kind = ? OR EXISTS (SELECT 1 FROM session s WHERE s.id = i.thread AND s.agent = ?))", [agent, agent]
    return "i.agent = ?", [agent]


def _of_file(type: str, wanted: SearchFilter) -> tuple[str, list[object]]:
    """Of the file, or about it: an attempt that touched it, a document or lesson of it, words that name it."""
    if not wanted.file:
        return _ANY
    ending = "/" + wanted.file.removeprefix("./").lstrip("/")
    path = [wanted.file, ending, ending]
    conditions, values = [_ends("i.file")], list[object](path)
    if type == "attempt":
        touched = f"SELECT 1 FROM attempt_file t WHERE t.attempt = i.id AND {_ends('t.path')}"
        conditions.append(f"EXISTS ({touched})")
        values += path
    if type == "passage":
        conditions.append(f"EXISTS (SELECT 1 FROM touched t WHERE t.source = i.thread AND {_ends('t.path')})")
        values += path
    if wanted.naming:
        conditions.append(f"i.id IN ({marks(wanted.naming)})")
        values += wanted.naming
    return f"({' OR '.join(conditions)})", values


def _ends(column: str) -> str:
    return f"({column} = ? OR substr({column}, length({column}) - length(?) + 1) = ?)"


def _item(row: Sequence[object], wanted: SearchFilter) -> FoundItem:
    item = FoundItem._make(row)
    return item._replace(project=wanted.project) if item.type == "failure" and wanted.project else item


# What a person asked, as terms and phrases. Query text is never query syntax: any string is a question.


class Query(NamedTuple):
    """A question, taken apart."""

    text: str
    terms: list[str]
    phrases: list[list[str]]
    """What stood in quotation marks: found word for word, it counts more."""


def parsed_query(text: str) -> Query:
    """The terms and phrases of a question, of which a long one has only the first."""
    text = text[:_MAX_QUERY_CHARACTERS]
    quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    phrases = [words for phrase in quoted if len(words := terms(phrase)) > 1]
    words = unique_terms(" ".join((text, *in_the_past(text))))
    return Query(text.strip(), words[:_MAX_QUERY_TERMS], phrases[:_MAX_QUERY_PHRASES])


class SearchSettings(NamedTuple):
    """How to search: with what model, how much meaning counts against words, how fast things grow old."""

    embedder: Embedder | None = None
    weight: float = 0.5
    half_life_days: float = 90.0
    now: int = 0
    notice: str = ""


class _Relevance(NamedTuple):
    lexical: float
    vector: float | None

    def is_enough(self, least: float) -> bool:
        return self.lexical > 0 or (self.vector or 0.0) >= least

    def fused(self, weight: float) -> float:
        """Linear: both go from 0 to the most that is possible. What has no vector is known by its words alone."""
        return self.lexical if self.vector is None else (1 - weight) * self.lexical + weight * self.vector


def search(db: Database, text: str, wanted: SearchFilter, settings: SearchSettings, limit: int = 10) -> SearchResults:
    """The best matches, a higher score better."""
    query = parsed_query(text)
    if wanted.file:
        wanted = wanted._replace(naming=naming(db, wanted.file))
    finder = _Finder(db, query, settings)
    relevant, items = _candidates(db, finder, wanted, limit)
    items = {
        id: item for id, item in items.items() if relevant[id].lexical or len(item.text.encode()) >= _MIN_TELLING_BYTES
    }
    contexts = _add_neighbours(db, finder, wanted, relevant, items)
    asked = _asked_for(query.text, items.values())
    found = [
        _Found(item, relevant[id], contexts.get(id), settings, finder.weight(item.in_talk), asked[id])
        for id, item in items.items()
    ]
    found.sort(key=lambda each: (each.score, each.item.at, each.item.id), reverse=True)
    found = _having_the_word(query, found)
    return SearchResults([each.hit() for each in found[:limit]], finder.notice)


def without_weak(found: SearchResults) -> SearchResults:
    """Without what merely shares a word with a question that something else answers; passages are not compared."""
    best = max((hit.score for hit in found.hits), default=0.0)
    if best < _GOOD_SCORE:
        return found
    return replace(found, hits=[hit for hit in found.hits if hit.score >= best / 2])


_ONE_NAME = re.compile(r"-{0,2}[A-Za-z][A-Za-z0-9]*(?:[_-]?[A-Za-z0-9]+)*")


def _having_the_word(query: Query, found: list[_Found]) -> list[_Found]:
    """Of a question of one word or one command: where some have it as it was typed, what has only its stem (`command`
    for `commander`), a part of it (`use` for `useEffectOnce`) or another pair (`git -C` for `od -c`) goes. Of a name
    that none has, what has not all its parts goes, too."""
    typed = as_typed(query.text)
    if same := [each for each in found if typed and typed.search(each.item.text)]:
        return same
    if not _ONE_NAME.fullmatch(query.text):
        return found
    whole = query.text.casefold()
    parts = {*query.terms} - {whole, stem(whole)}
    return [each for each in found if parts <= set(terms(each.item.text))]


def _asked_for(text: str, items: Iterable[FoundItem]) -> dict[str, float]:
    """How far each is of whom and of when the question names, and an answer; 1 if nothing tells."""
    listed = list(items)
    named, month, question, when = names_in(text), named_month(text), asks(text), asks_when(text)
    spoken = {item.id: speaker(item.text) for item in listed if item.in_talk}
    takes_part = not named.isdisjoint(spoken.values())
    has_month = month is not None and any(in_month(item.at, month) for item in listed)
    return {
        item.id: (SOMEBODY_ELSE if takes_part and spoken.get(item.id, "") not in named else 1.0)
        * (ANOTHER_MONTH if month and has_month and not in_month(item.at, month) else 1.0)
        * (ASKS_BACK if question and item.in_talk and asks_back(item.text) else 1.0)
        * (UNDATED if when and item.in_talk and not tells_when(item.text) else 1.0)
        for item in listed
    }


def passages(db: Database, text: str, wanted: SearchFilter, settings: SearchSettings, limit: int = 10) -> list[Hit]:
    """The best passage of each session that a question's words are found in, the best first."""
    query = parsed_query(text)
    wanted = wanted._replace(types=("passage",))
    typed = as_typed(query.text)
    pool = max(_MIN_CANDIDATES, 5 * limit)
    while True:
        scores = {item: score for item, _, score in db.matches(query.terms, pool, wanted.types, phrases=query.phrases)}
        items = load(db, list(scores), wanted)
        sessions = {item.thread for item in items.values() if typed is None or typed.search(item.text)}
        if len(sessions) >= limit or len(scores) < pool or pool >= _MAX_CANDIDATES:
            break
        pool *= _CANDIDATES_GROWTH
    found = [_Found(item, _Relevance(scores[id], None), None, settings, 0.0) for id, item in items.items()]
    found.sort(key=lambda each: (each.score, each.item.at, each.item.id), reverse=True)
    found = _having_the_word(query, found)
    best: dict[str, _Found] = {}
    for each in found:
        best.setdefault(each.item.thread, each)
    return [replace(each.hit(), session=session) for session, each in list(best.items())[:limit]]


def line_of_attempt(db: Database, hit: Hit, query: str) -> str:
    """Where an attempt has a word of the question; empty if its task has one, which then says enough."""
    wanted = set(unique_terms(query))
    if wanted & set(terms(hit.text)):
        return ""
    tried = attempts.by_id(db, [hit.id])[hit.id]
    said = (tried.approach, tried.failure_analysis, tried.reflection, tried.test_results)
    lines = [line for text in said for line in text.splitlines()]
    files = [file.path for file in sorted(tried.files, key=lambda file: file.role == "read")]
    return next((line for line in (*files, *lines) if wanted & set(terms(line))), "")


def relevance(db: Database, task: str) -> dict[str, float]:
    """How well each item fits a task, the best 1.0."""
    words = unique_terms(task)
    found = db.matches([word for word in words if word not in _MENDS] or words, _MAX_ITEMS_FITTING_A_TASK, types=_TOLD)
    best = max((score for _, _, score in found), default=0.0)
    return {item: max(0.0, score / best) for item, _, score in found} if best > 0 else {}


class _Finder:
    """Scores items by words and, where there is a model, by meaning."""

    def __init__(self, db: Database, query: Query, settings: SearchSettings) -> None:
        self._db = db
        self._query = query
        self._settings = settings
        self.notice = settings.notice
        self._known: dict[str, _Relevance] = {}
        self._weights = self._weighed(())
        self._vector = self._embedded()

    def _embedded(self) -> Sequence[float] | None:
        embedder = self._settings.embedder
        if embedder is None or not self._query.text or self._settings.weight == 0:
            return None
        if not self._db.query("SELECT 1 FROM embedding LIMIT 1"):
            self.notice = "nothing has a vector yet, so this is a search by words alone: run `hardwon reindex`"
            return None
        try:
            vector = self._vector_of_question(embedder)
            self._db.nearest(embedder.name, vector, 0)
        except HardwonError as error:
            self.notice = f"searched by words alone: {error}"
            return None
        return vector

    def _vector_of_question(self, embedder: Embedder) -> Sequence[float]:
        texts = list(dict.fromkeys((self._query.text, without_names(self._query.text))))
        vectors = embedder.embed(texts)
        return mixed(*vectors) if len(vectors) == 2 else vectors[0]

    def best(self, limit: int, types: Sequence[str]) -> dict[str, _Relevance]:
        """The best by each of the two, all of them scored by both."""
        near = self._near(limit, ())
        lexical = {item: score for item, _, score in self._matches(limit, types, list(near))}
        missing = [item for item in lexical if item not in near]
        near |= self._near(0, missing)
        self._weights = self._weighed(lexical.values())
        return _results({item: _Relevance(lexical.get(item, 0.0), near.get(item)) for item in (lexical | near)})

    def given(self, items: Sequence[str]) -> dict[str, _Relevance]:
        """Those of the items that are results, each scored by both."""
        scored = self._known = self.scored(items)
        self._weights = self._weighed(relevance.lexical for relevance in scored.values())
        return _results(scored)

    def scored(self, items: Sequence[str]) -> dict[str, _Relevance]:
        """All of the items, each scored by both."""
        new = [item for item in items if item not in self._known]
        lexical = {item: score for item, _, score in self._matches(0, (), new)} if new else {}
        near = self._near(0, new)
        found = {item: _Relevance(lexical.get(item, 0.0), near.get(item)) for item in new}
        return found | {item: self._known[item] for item in items if item in self._known}

    def weight(self, in_talk: bool) -> float:
        """How much meaning counts."""
        return self._weights[in_talk]

    def _weighed(self, lexical: Iterable[float]) -> tuple[float, float]:
        """The weight of meaning outside of talks, and in them."""
        text, ahead, setting = self._query.text, singled_out(lexical), self._settings.weight
        outside, inside = (meaning_weight(text, ahead, in_talk=in_talk, setting=setting) for in_talk in (False, True))
        return outside, inside

    def fused(self, relevance: _Relevance, in_talk: bool) -> float:
        return relevance.fused(self.weight(in_talk))

    def _matches(self, limit: int, types: Sequence[str], also: Sequence[str]) -> list[tuple[str, str, float]]:
        return self._db.matches(self._query.terms, limit, types, phrases=self._query.phrases, also=also)

    def _near(self, limit: int, also: Sequence[str]) -> dict[str, float]:
        if self._vector is None or self._settings.embedder is None or not (limit or also):
            return {}
        found = self._db.nearest(self._settings.embedder.name, self._vector, limit, also=also, least=_MIN_COSINE)
        return {near.item: max(0.0, near.similarity) for near in found}


def _results(scored: dict[str, _Relevance]) -> dict[str, _Relevance]:
    known = any(one.lexical > 0 for one in scored.values())
    least = _MIN_COSINE if known else _MIN_COSINE_OF_UNKNOWN_WORDS
    return {item: one for item, one in scored.items() if one.is_enough(least)}


def _candidates(
    db: Database, finder: _Finder, wanted: SearchFilter, limit: int
) -> tuple[dict[str, _Relevance], dict[str, FoundItem]]:
    """Enough of what is as wanted; a narrow filter is asked first, a wide one afterwards."""
    most = _MAX_ITEMS_OF_A_PROJECT if wanted.project else _MAX_ITEMS_ALL_LOOKED_AT
    if not wanted.everything and (ids := few(db, wanted, most)) is not None:
        relevant = finder.given(ids)
        worth = {id: finder.fused(each, id.startswith(_OF_A_TALK)) for id, each in relevant.items()}
        best = sorted(worth, key=lambda id: (-worth[id], id))[: max(_MIN_CANDIDATES, 2 * limit)]
        return relevant, load(db, best, wanted)
    pool = max(_MIN_CANDIDATES, 3 * limit)
    while True:
        relevant = finder.best(pool, wanted.types)
        items = load(db, list(relevant), wanted)
        if len(items) >= 2 * limit or len(relevant) < pool or pool >= _MAX_CANDIDATES:
            return relevant, items
        pool *= _CANDIDATES_GROWTH


def _add_neighbours(
    db: Database, finder: _Finder, wanted: SearchFilter, relevant: dict[str, _Relevance], items: dict[str, FoundItem]
) -> dict[str, float]:
    """Add what stands beside the best, for an answer is known by its question; returns how relevant the
    better neighbour of each is."""
    worth = {id: finder.fused(relevant[id], item.in_talk) for id, item in items.items()}
    by_worth = sorted(items.values(), key=lambda item: (-worth[item.id], item.id))
    best = by_worth[:_MAX_ITEMS_WITH_CONTEXT]
    neighbours = beside(db, best)
    unknown = sorted({id for some in neighbours.values() for id in some if id not in items})
    relevant |= finder.scored([id for id in unknown if id not in relevant])
    items |= load(db, unknown, wanted)
    contexts: dict[str, float] = {}
    for id, some in neighbours.items():
        for one, other in [(id, other) for other in some] + [(other, id) for other in some]:
            contexts[one] = max(contexts.get(one, 0.0), finder.fused(relevant[other], other.startswith(_OF_A_TALK)))
    return contexts


class _Found:
    """An item, and what it is worth to the question."""

    def __init__(
        self,
        item: FoundItem,
        relevance: _Relevance,
        context: float | None,
        settings: SearchSettings,
        weight: float,
        asked: float = 1.0,
    ) -> None:
        self.item = item
        self._weight = weight
        self._relevance = relevance
        self._context = context
        self._asked = asked
        days = max(0.0, (settings.now - item.at) / _MICROSECONDS_PER_DAY)
        self._recency = math.exp2(-days / settings.half_life_days)
        self._trust = _TRUST[item.trust] * _DOUBTFUL.get(item.status, 1.0)
        fits = relevance.fused(weight)
        if context is not None:
            share = _TALK_CONTEXT_WEIGHT if item.in_talk else _CONTEXT_WEIGHT
            fits = (1 - share) * fits + share * context
        standing = 1 - _TRUST_WEIGHT * (1 - self._trust) - _RECENCY_WEIGHT * (1 - self._recency)
        self.score = round(fits * asked * standing, 4)

    def hit(self) -> Hit:
        parts = {
            "asked": self._asked if self._asked < 1 else None,
            "context": self._context,
            "lexical": self._relevance.lexical,
            "recency": self._recency,
            "trust": self._trust,
            "vector": self._relevance.vector,
            "weight": None if self._relevance.vector is None else self._weight,
        }
        item = self.item
        return Hit(
            id=item.id,
            type=item.type,
            kind=item.kind,
            text=item.text,
            score=self.score,
            parts={name: round(value, 4) for name, value in parts.items() if value is not None},
            project=item.project,
            status=item.status,
            at=moment(item.at),
        )
