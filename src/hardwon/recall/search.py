"""One search over everything that is known, by words and by meaning; every result says what it is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from hardwon.errors import HardwonError
from hardwon.recall.embedder import Embedder
from hardwon.recall.items import Item, Wanted, beside, few, load, naming
from hardwon.store.database import Database
from hardwon.text.words import terms, unique_terms

# What a person asked, as terms and phrases. Query text is never query syntax: any string is a question.

_MAX_QUERY_TERMS = 64
_MAX_QUERY_PHRASES = 8
_MAX_QUERY_CHARACTERS = 4_000
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|`([^`]+)`')


class Query(NamedTuple):
    """A question, taken apart."""

    text: str
    terms: list[str]
    phrases: list[list[str]]
    """What stood in quotation marks: found word for word, it counts more."""


def asked(text: str) -> Query:
    """The terms and phrases of a question, of which a long one has only the first."""
    text = text[:_MAX_QUERY_CHARACTERS]
    quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(text))
    phrases = [words for phrase in quoted if len(words := terms(phrase)) > 1]
    return Query(text.strip(), unique_terms(text)[:_MAX_QUERY_TERMS], phrases[:_MAX_QUERY_PHRASES])


_MIN_CANDIDATES = 50
_MAX_ITEMS_ALL_LOOKED_AT = 1_000
"""So many items or fewer that are as wanted are all looked at, whatever words they hold."""
_CANDIDATES_GROWTH = 8
_MAX_CANDIDATES = 20_000
_MIN_COSINE = 0.2
"""The least cosine at which something is a result by its meaning alone."""
_MIN_TELLING_BYTES = 8
"""Of a text that is a result by its meaning alone: the vector of a shorter one is near to anything short."""
_SURE_COSINE, _MAX_SURENESS = 0.4, 0.3
"""From what cosine on a question is surer to be understood, and by how much at the most."""
_CONTEXT_WEIGHT = 0.2
"""How much the better of its two neighbours counts in the relevance of what stands in a thread."""
_MAX_ITEMS_WITH_CONTEXT = 40
_TRUST_WEIGHT, _RECENCY_WEIGHT = 0.2, 0.05
_TRUST = {"measured": 1.0, "human": 1.0, "corroborated": 0.9, "claimed": 0.7, "untrusted": 0.2}
_DOUBTFUL = {"candidate": 0.6, "muted": 0.4, "archived": 0.3, "superseded": 0.0, "invalid": 0.0}
_MICROSECONDS_PER_DAY = 86_400_000_000
_TOLD = ("lesson", "failure")
"""What a bootstrap has lines of."""


class Hit(Struct, frozen=True, kw_only=True):
    """One result."""

    id: str
    type: str
    kind: str
    text: str
    score: float
    parts: dict[str, float]
    """What the score is made of: `lexical`, `vector`, `context`, `trust`, `recency`, each 0 to 1; `weight` is how
    much `vector` counts against `lexical`."""
    project: str
    status: str
    at: int


class Results(Struct, frozen=True):
    hits: list[Hit]
    notice: str = ""
    """Why it was a search by words alone, if it was."""


class Settings(NamedTuple):
    """How to search: with what model, how much meaning counts against words, how fast things grow old."""

    embedder: Embedder | None = None
    weight: float = 0.5
    half_life_days: float = 90.0
    now: int = 0
    notice: str = ""


class _Relevance(NamedTuple):
    lexical: float
    vector: float | None

    @property
    def enough(self) -> bool:
        return self.lexical > 0 or (self.vector or 0.0) >= _MIN_COSINE

    def fused(self, weight: float) -> float:
        """Linear: both go from 0 to the most that is possible. What has no vector is known by its words alone."""
        return self.lexical if self.vector is None else (1 - weight) * self.lexical + weight * self.vector


def search(db: Database, text: str, wanted: Wanted, settings: Settings, limit: int = 10) -> Results:
    """The best matches, a higher score better."""
    query = asked(text)
    if wanted.file:
        wanted = wanted._replace(naming=naming(db, wanted.file))
    finder = _Finder(db, query, settings)
    relevant, items = _candidates(db, finder, wanted, limit)
    items = {
        id: item for id, item in items.items() if relevant[id].lexical or len(item.text.encode()) >= _MIN_TELLING_BYTES
    }
    contexts = _add_neighbours(db, finder, wanted, relevant, items)
    weight = finder.weight
    found = [_Found(item, relevant[id], contexts.get(id), settings, weight) for id, item in items.items()]
    found.sort(key=lambda each: (each.score, each.item.at, each.item.id), reverse=True)
    return Results([each.hit() for each in found[:limit]], finder.notice)


def relevance(db: Database, task: str, limit: int = 200) -> dict[str, float]:
    """How well each item fits a task, the best 1.0."""
    found = db.matches(unique_terms(task), limit, types=_TOLD)
    best = max((score for _, _, score in found), default=0.0)
    return {item: max(0.0, score / best) for item, _, score in found} if best > 0 else {}


class _Finder:
    """Scores items by words and, where there is a model, by meaning."""

    def __init__(self, db: Database, query: Query, settings: Settings) -> None:
        self._db = db
        self._query = query
        self._settings = settings
        self.notice = settings.notice
        self._closest = 0.0
        self._vector = self._embedded()

    def _embedded(self) -> Sequence[float] | None:
        embedder = self._settings.embedder
        if embedder is None or not self._query.text or self._settings.weight == 0:
            return None
        if not self._db.query("SELECT 1 FROM embedding LIMIT 1"):
            self.notice = "nothing has a vector yet, so this is a search by words alone: run `hardwon reindex`"
            return None
        try:
            vector = embedder.embed([self._query.text])[0]
            self._db.nearest(embedder.name, vector, 0)
        except HardwonError as error:
            self.notice = f"searched by words alone: {error}"
            return None
        return vector

    def best(self, limit: int, types: Sequence[str]) -> dict[str, _Relevance]:
        """The best by each of the two, all of them scored by both."""
        near = self._near(limit, ())
        lexical = {item: score for item, _, score in self._matches(limit, types, list(near))}
        missing = [item for item in lexical if item not in near]
        near |= self._near(0, missing)
        found = {item: _Relevance(lexical.get(item, 0.0), near.get(item)) for item in (lexical | near)}
        return {id: relevance for id, relevance in found.items() if relevance.enough}

    def given(self, items: Sequence[str]) -> dict[str, _Relevance]:
        """Those of the items that are results, each scored by both."""
        return {id: relevance for id, relevance in self.scored(items).items() if relevance.enough}

    def scored(self, items: Sequence[str]) -> dict[str, _Relevance]:
        """All of the items, each scored by both."""
        if not items:
            return {}
        lexical = {item: score for item, _, score in self._matches(0, (), items)}
        near = self._near(0, items)
        return {item: _Relevance(lexical.get(item, 0.0), near.get(item)) for item in items}

    @property
    def weight(self) -> float:
        """How much meaning counts: more when something is very near, for then the model knows what is spoken of."""
        surer = min(_MAX_SURENESS, max(0.0, self._closest - _SURE_COSINE))
        return self._settings.weight + surer * (1 - self._settings.weight)

    def fused(self, relevance: _Relevance) -> float:
        return relevance.fused(self.weight)

    def _matches(self, limit: int, types: Sequence[str], also: Sequence[str]) -> list[tuple[str, str, float]]:
        return self._db.matches(self._query.terms, limit, types, phrases=self._query.phrases, also=also)

    def _near(self, limit: int, also: Sequence[str]) -> dict[str, float]:
        if self._vector is None or self._settings.embedder is None or not (limit or also):
            return {}
        found = self._db.nearest(self._settings.embedder.name, self._vector, limit, also=also, least=_MIN_COSINE)
        self._closest = max([self._closest, *(near.similarity for near in found)])
        return {near.item: max(0.0, near.similarity) for near in found}


def _candidates(
    db: Database, finder: _Finder, wanted: Wanted, limit: int
) -> tuple[dict[str, _Relevance], dict[str, Item]]:
    """Enough of what is as wanted; a narrow filter is asked first, a wide one afterwards."""
    if not wanted.everything and (ids := few(db, wanted, _MAX_ITEMS_ALL_LOOKED_AT)) is not None:
        relevant = finder.given(ids)
        best = sorted(relevant, key=lambda id: -finder.fused(relevant[id]))[: max(_MIN_CANDIDATES, 2 * limit)]
        return relevant, load(db, best, wanted)
    pool = max(_MIN_CANDIDATES, 3 * limit)
    while True:
        relevant = finder.best(pool, wanted.types)
        items = load(db, list(relevant), wanted)
        if len(items) >= 2 * limit or len(relevant) < pool or pool >= _MAX_CANDIDATES:
            return relevant, items
        pool *= _CANDIDATES_GROWTH


def _add_neighbours(
    db: Database, finder: _Finder, wanted: Wanted, relevant: dict[str, _Relevance], items: dict[str, Item]
) -> dict[str, float]:
    """Add what stands beside the best, for an answer is known by its question; returns how relevant the
    better neighbour of each is."""
    best = sorted(items.values(), key=lambda item: -finder.fused(relevant[item.id]))[:_MAX_ITEMS_WITH_CONTEXT]
    neighbours = beside(db, best)
    unknown = sorted({id for some in neighbours.values() for id in some if id not in items})
    relevant |= finder.scored([id for id in unknown if id not in relevant])
    items |= load(db, unknown, wanted)
    contexts: dict[str, float] = {}
    for id, some in neighbours.items():
        for one, other in [(id, other) for other in some] + [(other, id) for other in some]:
            contexts[one] = max(contexts.get(one, 0.0), finder.fused(relevant[other]))
    return contexts


class _Found:
    """An item, and what it is worth to the question."""

    def __init__(
        self, item: Item, relevance: _Relevance, context: float | None, settings: Settings, weight: float
    ) -> None:
        self.item = item
        self._weight = weight
        self._relevance = relevance
        self._context = context
        days = max(0.0, (settings.now - item.at) / _MICROSECONDS_PER_DAY)
        self._recency = math.exp2(-days / settings.half_life_days)
        self._trust = _TRUST[item.trust] * _DOUBTFUL.get(item.status, 1.0)
        fits = relevance.fused(weight)
        if context is not None:
            fits = (1 - _CONTEXT_WEIGHT) * fits + _CONTEXT_WEIGHT * context
        standing = 1 - _TRUST_WEIGHT * (1 - self._trust) - _RECENCY_WEIGHT * (1 - self._recency)
        self.score = round(fits * standing, 4)

    def hit(self) -> Hit:
        parts = {
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
            at=item.at,
        )
