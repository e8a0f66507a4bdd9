"""What was asked and answered: recorded, listed, and what it says about the lessons."""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from hardwon.api import convert
from hardwon.api.connection import Part, need_switched_on
from hardwon.briefing.tried import gives_orders
from hardwon.capture.attempts import moment, stamp
from hardwon.clock import now, to_microseconds
from hardwon.errors import NotAllowed, NotFound
from hardwon.harvest.learn import VERSION, candidates
from hardwon.harvest.rules import catalogue
from hardwon.harvest.rules.sentences import statements
from hardwon.model.lesson import Draft, Kind, Source, Status, Trust
from hardwon.model.nouns import Interaction, InteractionPage, InteractionSummary, Lesson, Reinforced
from hardwon.model.session import Message, Session
from hardwon.scrub.scrubber import Scrubber, ends
from hardwon.store import interactions, lessons, lifecycle, meta, spool
from hardwon.store.database import Database, Row
from hardwon.store.interactions import InteractionRow, ReinforcementRow, UsedLesson
from hardwon.store.lessons import Cited
from hardwon.store.meta import scrubber
from hardwon.text.normalise import made
from hardwon.text.shown import one_line
from hardwon.text.words import terms, unique_terms

# An interaction on its way into the store and out of it, and the lessons that its answer made use of.

# Does a text make use of a rule? Told by shared stems in one place, and by whether one of the two denies it.

_MIN_RULE_CHARACTERS = 12
"""Characters; a shorter rule is met by accident."""
_MIN_SHARE_OF_STEMS = 0.7
_MAX_SHORT_RULE_STEMS, _MIN_STEMS_OF_LONG_RULE, _MIN_SHARE_OF_LONG_RULE = 15, 12, 0.35
"""Of a rule with more stems than `_MAX_SHORT_RULE_STEMS`, so many must be there, and this share."""
_SENTENCES_PER_WINDOW = 3
_MAX_CHARACTERS_READ = 200_000
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
# Stems that turn a sentence round.
_DENIALS = frozenset(
    "not never no nor neither cannot without ignor disregard overrul contradict wrong incorrect outdat obsolet untru "
    "fals unnecessari skip broke broken violat".split()
)
_DENIALS_IN_EFFECT = _DENIALS | {"instead", "rather", "avoid", "refus", "refrain"}
T = TypeVar("T")
MAX_TEXT_CHARACTERS = 1_000_000
_MAX_NAME_CHARACTERS = 200
_MAX_CONTEXT_CHARACTERS = 100_000
_MAX_NAMES_KEPT = 1_000
_MAX_LISTED_CHARACTERS = 120
_MAX_LESSONS_COMPARED = 1_000
_MAX_QUERY_TERMS = 400
"""An answer may be a book; its first words tell which lessons are worth a look."""


class AnswerStretches:
    """A text that rules are looked for in, cut into stretches of some sentences."""

    def __init__(self, text: str) -> None:
        self._sentences = [
            frozenset(terms(part)) for part in _SENTENCE.split(text[:_MAX_CHARACTERS_READ]) if part.strip()
        ]
        self._windows = list(_windows(self._sentences))

    def uses(self, rule: str) -> float:
        """The share of the rule's stems that stand together here; 0 if that is too little, or it is denied."""
        wanted = frozenset(terms(rule))
        if len(rule.strip()) < _MIN_RULE_CHARACTERS or not wanted:
            return 0.0
        best, where = 0, -1
        for at, window in enumerate(self._windows):
            shared = len(wanted & window)
            if shared > best:
                best, where = shared, at
        share = best / len(wanted)
        enough = share >= _MIN_SHARE_OF_STEMS or (
            len(wanted) > _MAX_SHORT_RULE_STEMS and best >= _MIN_STEMS_OF_LONG_RULE and share >= _MIN_SHARE_OF_LONG_RULE
        )
        return share if enough and not self._denied(wanted, where) else 0.0

    def _denied(self, wanted: frozenset[str], where: int) -> bool:
        """Whether the sentence that says the most of it turns it round, or fails to where the rule does."""
        near = self._sentences[where : where + _SENTENCES_PER_WINDOW]
        said = max(near, key=lambda sentence: len(wanted & sentence))
        return bool(said & _DENIALS - wanted) or bool(wanted & _DENIALS and not said & _DENIALS_IN_EFFECT)


def _windows(sentences: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    for at in range(len(sentences)):
        yield frozenset().union(*sentences[at : at + _SENTENCES_PER_WINDOW])


def stored(given: Interaction, project: str | None, scrubber: Scrubber) -> InteractionRow:
    """The row of an interaction; `project` is an id."""
    prompt = scrubber.scrub(ends(given.prompt, MAX_TEXT_CHARACTERS))
    if not prompt.strip():
        raise NotAllowed("an interaction needs a prompt: say what was asked")
    context = scrubber.scrub(msgspec.json.encode(given.context).decode())
    if len(context) > _MAX_CONTEXT_CHARACTERS:
        raise NotAllowed(
            f"the context is {len(context):,} characters long; at most {_MAX_CONTEXT_CHARACTERS:,} are kept"
        )
    return InteractionRow(
        id=made("I"),
        session=scrubber.scrub(given.session[:_MAX_NAME_CHARACTERS]),
        project=project,
        client=scrubber.scrub(given.client[:_MAX_NAME_CHARACTERS]),
        prompt=prompt,
        response=scrubber.scrub(ends(given.response, MAX_TEXT_CHARACTERS)),
        response_summary=scrubber.scrub(ends(given.response_summary, MAX_TEXT_CHARACTERS)),
        context=context,
        lessons_used=_names(given.lessons_used, scrubber),
        chunks_used=_names(given.chunks_used, scrubber),
        created_at=now() if given.at is None else stamp(given.at),
    )


def interaction(row: InteractionRow) -> Interaction:
    """What is given out of a row."""
    return Interaction(
        prompt=row.prompt,
        response=row.response,
        response_summary=row.response_summary,
        project=row.project or "",
        session=row.session,
        client=row.client,
        context=_read(row.context, {}),
        lessons_used=_read(row.lessons_used, []),
        chunks_used=_read(row.chunks_used, []),
        at=moment(row.created_at),
        id=row.id,
    )


def summary(row: Row) -> InteractionSummary:
    id, prompt, said, project, session, client, length, at = row
    return InteractionSummary(
        id=id,
        prompt=one_line(prompt)[:_MAX_LISTED_CHARACTERS],
        response_summary=one_line(said)[:_MAX_LISTED_CHARACTERS],
        project=project,
        session=session,
        client=client,
        response_chars=length,
        at=moment(at),
    )


def used(db: Database, row: InteractionRow) -> list[UsedLesson]:
    """The active lessons, of its project or of none, that an answer makes use of."""
    text = f"{row.response}\n{row.response_summary}".strip()
    if not text:
        return []
    found = db.matches(unique_terms(text)[:_MAX_QUERY_TERMS], _MAX_LESSONS_COMPARED, types=("lesson",))
    answer = AnswerStretches(text)
    pool = interactions.applicable(db, [item for item, _, _ in found], row.project)
    judged = [UsedLesson(id, "stems", answer.uses(lesson)) for id, lesson in pool]
    return [match for match in judged if match.overlap > 0]


_ASKED_AS = re.compile(r"^(?:open |unanswered )?question:\s*", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"\b(?:do(?:n't| not) know|(?:can(?:'t|not)|could(?:n't| not)) (?:tell|say|find|answer|determine)|not sure|no idea"
    r"|unclear|unknown|it depends)\b|\?\s*$",
    re.IGNORECASE,
)
_MIN_SHARE_OF_PROMPT = 0.7
"""Of the prompt's stems that are the question's: it was asked that, and hardly anything else."""
_MIN_STEMS_ANSWERED = 2


def answered(db: Database, row: InteractionRow) -> list[str]:
    """The open questions that the prompt asks, and that the answer is an answer to."""
    answer = (row.response or row.response_summary).strip()
    if not answer or _NO_ANSWER.search(answer[:_MAX_CHARACTERS_READ]):
        return []
    prompt, asked, told = set(terms(row.prompt)), AnswerStretches(row.prompt), set(terms(answer))
    found = []
    for id, text in interactions.open_questions(db, row.project, row.created_at):
        question = _ASKED_AS.sub("", text)
        wanted = set(terms(question))
        is_all = len(wanted & prompt) >= _MIN_SHARE_OF_PROMPT * len(prompt)
        if asked.uses(question) and (is_all or len(wanted & told) >= _MIN_STEMS_ANSWERED):
            found.append(id)
    return found


def _names(names: list[str], scrubber: Scrubber) -> str:
    return msgspec.json.encode(
        [scrubber.scrub(name[:_MAX_NAME_CHARACTERS]) for name in names[:_MAX_NAMES_KEPT]]
    ).decode()


def _read(text: str, empty: T) -> T:
    try:
        return msgspec.json.decode(text, type=type(empty))
    except msgspec.DecodeError:
        return empty  # of an import, whatever it was


# Candidates from what was answered, and from what stands under a heading that says what it is.

_HEADINGS: dict[str, Kind] = {
    "decision": "decision",
    "constraint": "decision",
    "requirement": "decision",
    "fact": "fact",
}
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s*|\*\*)?(?P<what>decision|constraint|requirement|fact)s?(?:\*\*)?\s*(?::(?:\*\*)?\s*(?P<rest>\S.*)|$)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*]|\d{1,2}[.)])\s+")
_MIN_VALUE_CHARACTERS, _MAX_VALUE_CHARACTERS = 8, 280
_MAX_ITEMS_PER_HEADING = 5
_PARAGRAPHS = re.compile(r"\n\s*\n")
_MAX_PARAGRAPHS = 200
_CONFIDENCE = 0.5


def said_in_answer(db: Database, row: InteractionRow) -> set[str]:
    """Lessons that say what the answer laid down, by the rules for what people type; an agent's claims, which wait."""
    text = (row.response or row.response_summary)[:_MAX_CHARACTERS_READ]
    parts = [part for part in _PARAGRAPHS.split(text) if part.strip() and not part.lstrip().startswith("#")]
    said = (Message(role="user", origin="user", text=part, at=row.created_at) for part in parts[:_MAX_PARAGRAPHS])
    talk = Session(external_id=row.id, agent=row.client, format="interaction", messages=tuple(said))
    drafts = catalogue.of_session(talk, list(statements(talk)), [])
    return {_candidate(db, row, draft, 1, "agent") for draft in drafts if not draft.dropped and row.project}


def headed(db: Database, row: InteractionRow) -> set[str]:
    """Lessons from under the headings Decision, Constraint, Requirement and Fact, of the prompt and of the answer."""
    found = set()
    for index, (text, who) in enumerate(((row.prompt, "user"), (row.response or row.response_summary, "agent"))):
        for kind, value in _under_headings(text[:_MAX_CHARACTERS_READ]):
            source = Source(message_index=index, quote=value, origin="agent")
            draft = Draft(kind=kind, text=value, confidence=_CONFIDENCE, rule="heading", source=source)
            if row.project:
                found.add(_candidate(db, row, draft, index, who))
    return found


def _under_headings(text: str) -> Iterator[tuple[Kind, str]]:
    kind: Kind | None = None
    left = 0
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading is not None:
            kind, left = _HEADINGS[heading["what"].lower()], _MAX_ITEMS_PER_HEADING
        elif line.lstrip().startswith("#"):
            left = 0
        said = (heading["rest"] or "") if heading is not None else line
        value = one_line(_ITEM.sub("", said)).strip("* ")
        if kind and left and _MIN_VALUE_CHARACTERS <= len(value) <= _MAX_VALUE_CHARACTERS:
            left -= 1
            yield kind, value


def _candidate(db: Database, row: InteractionRow, draft: Draft, index: int, who: str) -> str:
    trust: Trust = "human" if who == "user" else "untrusted" if gives_orders(draft.text) else "claimed"
    waits: tuple[Status, Trust] = ("candidate", trust)
    id = lessons.save(db, draft, waits, project=row.project, agent=row.client, at=row.created_at, version=VERSION)
    root = row.session or row.id
    lessons.cite(db, [Cited(id, row.id, index, root, row.created_at, draft.source.quote, who)])
    return id


_CURSOR = re.compile(r"(\d{1,18})-(I[0-9a-z]{1,40})")


class Interactions(Part):
    """What was asked and answered, and which lessons the answers made use of."""

    def record(self, interaction: Interaction, *, reinforce: bool = True) -> str:
        """Keep an interaction; returns its id. Lessons that its answer makes use of gain confidence, and open questions
        that it answers are closed.

        What goes wrong with the lessons is left for `hardwon doctor`, and never in the way of recording. Raises
        `NotAllowed` without a prompt, or for a context that is too long.
        """
        need_switched_on()
        db = self._memory.writing()
        meta.need_room(db)
        row = stored(interaction, None, scrubber(db))
        row = row._replace(project=self._memory.project_to_keep(interaction.project) or None)
        with db.transaction(row.project):
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
        return interaction(_known(self._memory.reading() if self._memory.exists else None, id))

    def reinforce(self, id: str) -> builtins.list[Reinforced]:
        """Do it for one that was recorded without, or again: what was done already is told and not done twice.

        Raises `NotFound`.
        """
        need_switched_on()
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
        need_switched_on()
        db = self._memory.writing()
        row = _known(db, id)
        with db.transaction():
            made = candidates(db, row) | said_in_answer(db, row) | headed(db, row)
            meta.mark_stale(db, made)
        meta.recount_stale(db)
        return [*map(convert.lesson, lessons.named(db, sorted(made)))]

    def _reinforce(self, db: Database, row: InteractionRow) -> builtins.list[Reinforced]:
        matches, questions = used(db, row), answered(db, row)
        if not matches and not questions:
            return _told(interactions.steps_of(db, row.id))
        with db.transaction():
            for id in questions:
                lifecycle.answer(db, id, "", actor=self._actor("interaction"), why=f"answered in {row.id}")
            done = interactions.reinforce(db, row.id, matches, now())
            interactions.mark_used(db, row.session, [match.lesson for match in matches])
            steps = interactions.steps_of(db, row.id)
        if done or questions:
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
        return InteractionPage([summary(row) for row in rows[:limit]], more)


def _told(steps: Iterable[ReinforcementRow]) -> list[Reinforced]:
    return [Reinforced(**step._asdict()) for step in steps]


def _known(db: Database | None, id: str) -> InteractionRow:
    row = interactions.get(db, id) if db else None
    if row is None:
        raise NotFound(f"no interaction '{id}': `hardwon interactions list` lists them")
    return row


def _before(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise NotAllowed(f"'{cursor[:40]}' is not a cursor: use the one that the page before gave")
    return int(found[1]), found[2]
