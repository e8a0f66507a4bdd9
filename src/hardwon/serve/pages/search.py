"""One search over everything: what is known, and where it was said or done in sessions."""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter
from markupsafe import Markup, escape

from hardwon.api import Hardwon
from hardwon.api.failing import EVER, rows_with
from hardwon.model.nouns import Hit, SearchResults
from hardwon.recall.search import line_of_attempt
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.failures import best
from hardwon.serve.pages.frame import page, url
from hardwon.serve.routes import Asked, ProjectName, reading
from hardwon.store import attempts, documents
from hardwon.store.pages import Counted
from hardwon.text.shown import clean
from hardwon.text.words import fitting, terms, unique_terms

_FOUND = 20
_LONGEST = 2_000
"""Characters of a question, as `/api/search` takes them."""
_LINES = 3
"""Of a passage."""
_TYPES = {
    "lesson": "lessons",
    "failure": "failures",
    "attempt": "attempts",
    "chunk": "documents",
    "interaction": "prompts",
    "session": "sessions",
}


class Row(NamedTuple):
    """A result; what has no page of its own leads nowhere and is unfolded instead."""

    hit: Hit
    text: str
    leads_to: str
    note: str = ""
    """What fixed a failure, where an attempt has the words, the file of a document."""
    alike: int = 0
    """Failures that lists show as this one row."""


class Said(NamedTuple):
    """Where a session speaks of it."""

    hit: Hit
    title: str
    lines: list[Markup]


@page("/search")
def search(
    request: Asked,
    q: Annotated[str, Parameter(query="q")] = "",
    project: ProjectName = None,
    type: Annotated[str, Parameter(max_length=40)] = "",
) -> Response[str]:
    """The best of everything, as `hardwon search` finds it; sessions are for who may read them."""
    caller = permissions.of(request)
    asked, wanted = clean(q).strip(), type if type in _TYPES else ""
    words = asked[:_LONGEST]
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        found = SearchResults([])
        if words and memory.exists:
            may = "sessions" in caller.scopes
            found = memory.search(words, type=wanted or None, project=holder, limit=_FOUND, sessions=may)
        nothing = not (found.hits or found.passages)
        return frame.shown(
            "search.html",
            request,
            memory,
            q=words,
            cut=len(asked) > _LONGEST,
            project=holder,
            type=wanted,
            types=_TYPES,
            rows=_rows(memory, found.hits, words, holder, only_here=caller.limited),
            said=_said(memory, found.passages, words),
            far=bool(found.hits) and not found.passages and not any(hit.parts.get("lexical") for hit in found.hits),
            notice=found.notice if nothing or found.notice != memory.embedder.notice else "",
        )


def _rows(memory: Hardwon, hits: list[Hit], words: str, project: str | None, *, only_here: bool) -> list[Row]:
    if not hits:
        return []
    db = memory.reading()
    failing = rows_with(
        db, Counted(project, EVER), [hit.id for hit in hits if hit.type == "failure"], only_here=only_here
    )
    numbers = attempts.numbers(db, [hit.id for hit in hits if hit.type == "attempt"])
    files = documents.chunks(db, [hit.id for hit in hits if hit.type == "chunk"])
    rows = []
    for hit in hits:
        if row := failing.get(hit.id):
            fix = best(row.failure)
            leads_to = url("failures", kind=row.failure.id, period="all") if row.alike else url("failures", hit.id)
            rows.append(Row(hit, row.failure.error, leads_to, fix.text if fix else "", len(row.alike)))
        elif hit.type == "attempt":
            rows.append(Row(hit, hit.text, url("journal", str(numbers[hit.id])), line_of_attempt(db, hit, words)))
        elif hit.type == "chunk":
            rows.append(Row(hit, hit.text, "", files[hit.id][1].path))
        elif hit.type != "failure":
            leads_to = {"lesson": url("lessons", hit.id), "session": url("sessions", hit.id)}.get(hit.type, "")
            rows.append(Row(hit, hit.text, leads_to))
    return rows


def _said(memory: Hardwon, hits: list[Hit], words: str) -> list[Said]:
    wanted = set(unique_terms(words))
    titles = browse.titles(memory, [hit.session for hit in hits])
    lines = [fitting(hit.text.splitlines(), words, _LINES) for hit in hits]
    return [
        Said(hit, titles[hit.session], [_marked(line, wanted) for line in some])
        for hit, some in zip(hits, lines, strict=True)
    ]


def _marked(line: str, wanted: set[str]) -> Markup:
    """A line in which the words that were asked for stand out; everything in it is escaped."""
    mark = Markup("<mark>{}</mark>")
    parts = re.split(r"(\w+)", clean(line))
    return Markup("").join(mark.format(part) if wanted & {*terms(part)} else escape(part) for part in parts)


router = Router("/", route_handlers=[search])
