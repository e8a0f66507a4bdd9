"""The walk with a model: sessions → extracts → questions → claims → held to their quotes → store.

What was asked is on the disk before the next question: a run that ends early, for want of money, of an answer, or
because it was stopped, is taken up by the next one where it ended, and nothing is paid for twice.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hardwon.errors import NoModel
from hardwon.harvest.distil.claims import (
    ITEMS,
    Claim,
    Entry,
    Quote,
    grounded,
    in_own_words,
    items,
    names_in,
    whose_words,
    with_true_origins,
    words_of,
)
from hardwon.harvest.distil.deciding import are_related, decided, gist, is_borne_out_by, supports
from hardwon.harvest.distil.extract import Waiting, unread, waiting
from hardwon.harvest.distil.model import Model, Passing, Spend, Unanswered, patiently
from hardwon.harvest.distil.questions import (
    Question,
    asked,
    guesses,
    known_lessons,
    prompt,
    questions,
)
from hardwon.harvest.learn import VERSION, is_forgotten_lesson
from hardwon.harvest.rules.sentences import is_of_a_length
from hardwon.harvest.trust import Admission
from hardwon.harvest.walk import Progress
from hardwon.model.lesson import DISTILLED, FOR_ONE_PART, Draft, Source, StoredLesson
from hardwon.scrub.scrubber import Scrubber, Scrubbing
from hardwon.store import lessons, lifecycle, meta, sessions
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from hardwon.text.shown import estimate

_ANSWERS_PER_QUESTION = 0.4
"""Tokens of an answer, before it is there, for each token shown."""
_CAPPED = "the daily limit is reached: raise llm_tokens_per_day or llm_cost_per_day, or go on tomorrow"


_claims = msgspec.json.Decoder(list[Claim])


class Capped(Exception):
    """The next question could cost more than the day has left."""


class Estimate(Struct, frozen=True):
    """What a run would read and cost."""

    projects: int
    sessions: int
    questions: int
    tokens: int
    """Sent and answered."""
    cost: float
    """By the prices that are set; 0 where none are."""
    share: float
    """Tokens for each token of the transcripts that they are about."""


class Distilled(Struct):
    """What came of a run."""

    projects: int = 0
    sessions: int = 0
    questions: int = 0
    left: int = 0
    """Sessions that wait for the next run: the daily limit is reached, or the model gave no answer."""
    lessons: int = 0
    """New ones, active or candidates."""
    active: int = 0
    candidates: int = 0
    repeated: int = 0
    """Claims that say what was known, and support it."""
    tokens: int = 0
    cost: float = 0.0
    rejected_by_reason: dict[str, int] = {}
    waits_by_reason: dict[str, int] = {}
    """Why candidates are not active."""
    trouble: str = ""
    """The last thing that went wrong."""


class Reading:
    """What a run reads with, and whose of it."""

    def __init__(self, db: Database, scrubbing: Scrubbing, spend: Spend, depth: int = 1) -> None:
        self.db = db
        self.depth = depth
        self.scrubbing = scrubbing
        self.spend = spend

    def questions(self, rows: Sequence[Waiting], room: int) -> Iterator[Question]:
        return questions(unread(rows, self.scrubbing, self.depth), room)

    def waiting(self, project: str | None, paths: Sequence[str] | None) -> dict[str, list[Waiting]]:
        return waiting(self.db, project, paths, self.depth)


def estimated(
    reading: Reading, room: int, *, project: str | None = None, paths: Sequence[str] | None = None
) -> Estimate:
    """What a run would cost, without asking anybody."""
    overhead = estimate(prompt())
    projects = found = count = 0
    sent = answered = transcripts = extracted = of_extracts = 0
    for rows in reading.waiting(project, paths).values():
        before = count
        for question in reading.questions(rows, room):
            found += len(question.done)
            transcripts += sum(one.characters for one in question.done)
            if not question.entries:
                continue
            count += 1
            tokens = estimate(question.text)
            extracted, of_extracts = extracted + len(question.text), of_extracts + tokens
            answers = int(_ANSWERS_PER_QUESTION * tokens)
            sent += overhead + tokens
            answered += answers
        projects += count > before
    total = sent + answered
    # The transcripts' tokens, by what a character of the extract costs: estimating all of them takes too long.
    share = total * extracted / max(1, of_extracts * transcripts)
    return Estimate(projects, found, count, total, round(reading.spend.price(sent, answered), 4), round(share, 4))


def distil(
    reading: Reading,
    model: Model,
    *,
    project: str | None = None,
    paths: Sequence[str] | None = None,
    least: int = 0,
    progress: Progress | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Distilled:
    """Ask a model about every session that it has not read; a project with less than `least` characters waits."""
    report = Distilled()
    found = reading.waiting(project, paths)
    total = sum(map(len, found.values()))
    run = _Run(reading, model, report, pause)
    for id, rows in found.items():
        if (
            least
            and sum(len(one.text) for question in reading.questions(rows, model.room) for one in question.entries)
            < least
        ):
            continue
        done = report.sessions
        try:
            for question in reading.questions(rows, model.room):
                if progress:
                    progress(f"asking {model.name}", report.sessions, total)
                run.read(id, question)
        except Capped:
            report.trouble = _CAPPED
        except NoModel as error:
            report.trouble = str(error)
        report.projects += report.sessions > done
        if report.trouble:
            break
    report.left = sum(map(len, reading.waiting(project, paths).values())) if report.trouble else run.unanswered
    report.rejected_by_reason = _sorted(run.rejected)
    report.waits_by_reason = _sorted(run.waits)
    return report


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return {why: count for why, count in sorted(counts.items()) if count}


class _Run:
    def __init__(self, reading: Reading, model: Model, report: Distilled, pause: Callable[[float], None]) -> None:
        self._reading = reading
        self._db = reading.db
        self._model = model
        self._report = report
        self._pause = pause
        self._behind: set[str] = set()
        """Projects of which a question waits for its answer: what comes after it is not written before."""
        self.rejected: Counter[str] = Counter()
        self.waits: Counter[str] = Counter()
        self.unanswered = 0

    def read(self, project: str, question: Question) -> None:
        """Ask, unless it was asked before, and write what came of it."""
        claims: list[Claim] = []
        try:
            if question.entries:
                claims = self._answered(project, question)
        except Unanswered:
            self._behind.add(project)
        if project in self._behind:
            self.unanswered += len(question.done)
            return
        report = self._report
        with self._db.transaction():
            guessed = guesses(self._db, project, question) if question.entries else {}
            made = keep(self._db, project, claims, self.rejected, self.waits)
            overrule(self._db, guessed, claims, made.confirmed)
            for one in question.done:
                sessions.mark_distilled(self._db, one.id, one.state)
            if question.is_last:
                sessions.drop_windows(self._db, [one.id for one in question.done])
            meta.mark_for_rules(self._db, [project])
        report.sessions += len(question.done)
        report.questions += bool(question.entries)
        report.active += made.active
        report.candidates += made.candidates
        report.lessons += made.active + made.candidates
        report.repeated += made.repeated

    def _answered(self, project: str, question: Question) -> list[Claim]:
        held = sessions.distilled_window(self._db, question.sessions[0].id, question.key)
        if held is not None:
            return _claims.decode(held)
        claims = self._read_out(project, question)
        self._hold(question, claims)
        return claims

    def _hold(self, question: Question, claims: list[Claim]) -> None:
        """On the disk, with every session that it is about, so that forgetting one of them reaches it."""
        held = msgspec.json.encode(claims).decode()
        with self._db.transaction():
            for at, one in enumerate(question.sessions):
                sessions.keep_window(self._db, one.id, question.key, "[]" if at else held)

    def _read_out(self, project: str, question: Question) -> list[Claim]:
        known = known_lessons(self._db, project, question)
        numbers = {number: one.id for number, one in known.items()}
        answer = self._ask(question.key, asked(question, known))
        found = self._grounded(answer, question.entries, numbers)
        return _with_own_words(question, self._with_true_origins(question, found))

    def _grounded(self, answer: Any, entries: Sequence[Entry], known: dict[str, str]) -> list[Claim]:
        scrubber = self._reading.scrubbing.scrubber()
        words = {word for entry in entries for word in words_of(entry.text)}
        found = []
        for item in items(answer, self.rejected):
            # A model may say anything, whatever it was shown.
            said = replace(item, claim=_clean(item.claim, scrubber))
            claim, why = grounded(said, entries, words, known)
            if claim is None:
                self.rejected[why] += 1
            else:
                found.append(claim)
        return found

    def _with_true_origins(self, question: Question, claims: list[Claim]) -> list[Claim]:
        true: dict[Quote, Quote | None] = {}
        for one in question.sessions:
            cited = {quote for claim in claims for quote in claim.quotes if quote.session == one.id}
            true |= with_true_origins(one.session, cited)
        found = []
        for claim in claims:
            quotes = [quote for one in claim.quotes if (quote := true[one]) is not None]
            if quotes:
                found.append(replace(claim, quotes=quotes))
            else:
                self.rejected["our own words"] += 1
        return found

    def _ask(self, key: str, text: str) -> Any:
        def once() -> Any:
            if not self._reading.spend.allows(estimate(prompt() + text)):
                raise Capped  # tries that came to nothing may have used up the day
            try:
                answer = self._model.ask(prompt(), text, ITEMS, name=f"read-{key}")
            except Passing as trouble:
                self._paid(*trouble.spent)
                raise
            self._paid(answer.tokens_in, answer.tokens_out, answer.cost)
            return answer.value

        return patiently(once, self._pause)

    def _paid(self, tokens_in: int, tokens_out: int, cost: float | None = None) -> None:
        spend = self._reading.spend
        paid = spend.price(tokens_in, tokens_out) if cost is None else cost
        spend.record(tokens_in, tokens_out, paid)
        self._report.tokens += tokens_in + tokens_out
        self._report.cost = round(self._report.cost + paid, 6)


def _with_own_words(question: Question, claims: list[Claim]) -> list[Claim]:
    """Each with whether its words are the model's own in all sessions that it cites, and who had them first there."""
    echoes: set[str] = set()
    said: defaultdict[str, set[str]] = defaultdict(set)
    heard: defaultdict[str, set[str]] = defaultdict(set)
    for one in question.sessions:
        cited = [claim for claim in claims if any(quote.session == one.id for quote in claim.quotes)]
        if not cited:
            continue
        own = in_own_words(one.session, cited, one.id)
        echoes.update(claim.text for claim, is_own in zip(cited, own, strict=True) if not is_own)
        said_here, heard_here = whose_words(one.session, cited, one.id)
        for claim in cited:
            said[claim.text] |= said_here
            heard[claim.text] |= heard_here
    return [
        replace(
            claim,
            own=claim.text not in echoes,
            said=sorted(said[claim.text] & wanted),
            heard=sorted(heard[claim.text] & wanted - said[claim.text]),
        )
        for claim in claims
        for wanted in [words_of(claim.text).union(names_in(claim.text))]
    ]


def _clean(text: str, scrubber: Scrubber) -> str:
    return scrubber.scrub(" ".join(text.split()))


# What becomes of claims: new lessons, more support for known ones, conflicts and what is withdrawn.

_ACTOR = "harvest"
_CORROBORATED = 0.66
"""Two sessions make it 0.74, as for what agents say."""
_IN_THE_USERS_WORDS = 0.75
"""What holds at once is told: how sure the model felt does not matter where every word is the user's."""


_NOTED_AT_LEAST = 0.7
_SHARE_OF_A_MODELS_WORD = 0.5
"""What is told as unconfirmed is told for what it is; the surer the model was, the sooner."""


class Made(NamedTuple):
    active: int
    candidates: int
    repeated: int
    confirmed: set[str]
    """Lessons that were there, and that a claim says again."""


def keep(db: Database, project: str, claims: Sequence[Claim], rejected: Counter[str], waits: Counter[str]) -> Made:
    """Put claims into the store, each by itself; inside a transaction. Counts go to why they are dropped, or wait."""
    forgotten = meta.load_tombstones(db)
    held = [one for one in lessons.listed(db, project=project) if one.project == project]
    same_words = {gist(one.text): one.id for one in held if one.status in ("active", "candidate")}
    counts: Counter[str] = Counter()
    confirmed: set[str] = set()
    for claim in claims:
        text, admission, why = decided(claim)
        draft = _draft(replace(claim, text=text), admission)
        reason = why if admission is None else "" if is_of_a_length(draft.text) else "too short or too long"
        if admission is None or reason or (forgotten and is_forgotten_lesson(draft, forgotten)):
            rejected[reason or "forgotten"] += 1
            continue
        same = _repeated(db, claim) or same_words.get(gist(draft.text), "")
        if same:
            _support(db, same, claim.quotes)
            _close(db, same, claim, admission)
            counts["repeated"] += 1
            confirmed.add(same)
            continue
        at = min(quote.at for quote in claim.quotes)
        id = lessons.save(db, draft, admission, project=project, agent="", at=at, version=VERSION)
        _cite(db, id, claim.quotes)
        same_words[gist(draft.text)] = id
        if claim.relation == "answers":
            _close(db, id, claim, admission)
        elif claim.known:
            _relate(db, id, claim, admission)
        counts[admission.status] += 1
        if why:
            waits[why] += 1
    return Made(counts["active"], counts["candidate"], counts["repeated"], confirmed)


def overrule(
    db: Database, guessed: dict[str, set[tuple[str, int]]], claims: Sequence[Claim], confirmed: Collection[str]
) -> None:
    """Let lessons wait that a rule guessed: the model that read their words says it otherwise, or saw nothing in them.

    One of whose words it made something that cannot be told stays.
    """
    admitted = [(claim, decided(claim).admission) for claim in claims]
    told = [claim for claim, admission in admitted if admission is not None and admission.trust != "untrusted"]
    said = {(quote.session, quote.message) for claim in told for quote in claim.quotes}
    cited = {(quote.session, quote.message) for claim in claims for quote in claim.quotes}
    for id, messages in guessed.items():
        if id not in confirmed and (messages & said or not messages & cited):
            lessons.settle(db, id, why="a model that read the session says otherwise, or nothing", status="candidate")
            meta.mark_stale(db, [id])


def _draft(claim: Claim, admission: Admission | None) -> Draft:
    quote = claim.quotes[0]
    return Draft(
        kind=claim.kind,
        text=claim.text,
        confidence=_confidence(claim, admission),
        rule=DISTILLED,
        source=Source(message_index=quote.message, quote=quote.text, origin=quote.origin),
        measured=admission is not None and admission.trust == "measured",
        tags=() if claim.wide else (FOR_ONE_PART,),
    )


def _confidence(claim: Claim, admission: Admission | None) -> float:
    if admission is None or admission.trust == "untrusted":
        return claim.confidence
    if admission.status == "active":
        return max(claim.confidence, _IN_THE_USERS_WORDS)
    return _NOTED_AT_LEAST + (1 - _NOTED_AT_LEAST) * _SHARE_OF_A_MODELS_WORD * claim.confidence


def _repeated(db: Database, claim: Claim) -> str:
    """The lesson that the model says it repeats, if the quotes say so, too."""
    if claim.relation != "repeats":
        return ""
    known = lessons.get(db, claim.known)
    own = [quote for quote in claim.quotes if quote.origin in ("user", "agent")]
    is_held = known is not None and known.status in ("active", "candidate")
    return known.id if known is not None and is_held and supports(known.text, own) else ""


def _support(db: Database, id: str, quotes: Sequence[Quote]) -> None:
    """More sources for a lesson that waits or holds; what two sessions say is believed."""
    lesson = lessons.get(db, id)
    own = [quote for quote in quotes if quote.origin in ("user", "agent")]
    if lesson is None or not own:
        return
    _cite(db, id, own)
    if lesson.status != "candidate" or lesson.trust == "untrusted" or lesson.kept:
        return
    if is_borne_out_by(lesson.text, own):
        lessons.settle(db, id, why="the user said so in these words", status="active", trust="human")
    elif _two_sessions_say_so(db, lesson):
        believed = {"status": "active", "trust": "corroborated", "base_confidence": _CORROBORATED}
        lessons.settle(db, id, why="said in a second session", **believed)


def _two_sessions_say_so(db: Database, lesson: StoredLesson) -> bool:
    """Two that know nothing of each other; what waits was told in neither."""
    rows = db.query(
        "SELECT root, quote, origin FROM lesson_source WHERE lesson = ? AND origin IN ('user', 'agent') ORDER BY root",
        (lesson.id,),
    )
    said: dict[str, list[Quote]] = {}
    for root, quote, origin in rows:
        said.setdefault(root, []).append(Quote("", root, 0, 0, origin, quote))
    return sum(supports(lesson.text, quotes) for quotes in said.values()) > 1


def _cite(db: Database, id: str, quotes: Sequence[Quote]) -> None:
    together: dict[tuple[str, int], list[Quote]] = {}
    for one in quotes:
        together.setdefault((one.session, one.message), []).append(one)
    cited = []
    for (session, message), same in together.items():
        first = next((one for one in same if one.origin not in ("user", "agent")), same[0])  # the least trusted
        said = " … ".join(one.text for one in same)
        cited.append(Cited(id, session, message, first.root, first.at, said, first.origin))
    lessons.cite(db, cited)
    meta.mark_stale(db, [id])


def _close(db: Database, id: str, claim: Claim, admission: Admission) -> None:
    """A question that a later session answers is asked no longer; one that a person asked only where that holds."""
    asked = lessons.get(db, claim.known) if claim.relation == "answers" else None
    if asked is None or asked.id == id or asked.kind != "question" or asked.status not in ("active", "candidate"):
        return
    is_later = max(quote.at for quote in claim.quotes) > asked.first_seen
    is_held = admission.status == "active" or (admission.trust != "untrusted" and not asked.kept)
    about = any(are_related(asked.text, text) for text in (claim.text, *(quote.text for quote in claim.quotes)))
    if is_later and is_held and about:
        lifecycle.answer(db, asked.id, id, actor=_ACTOR, why="a later session answers it")


def _relate(db: Database, id: str, claim: Claim, admission: Admission) -> None:
    """Nothing is withheld or withdrawn but by what the user typed, of what it can be about, and never silently."""
    known = lessons.get(db, claim.known)
    if known is None or known.id == id or claim.relation not in ("contradicts", "withdraws"):
        return
    if not any(are_related(known.text, text) for text in (claim.text, *(quote.text for quote in claim.quotes))):
        return
    if admission != Admission("active", "human") or known.status != "active":
        lifecycle.note_contradiction(db, id, known.id, actor=_ACTOR)
    elif claim.relation == "withdraws" and not known.kept:
        since = {"status": "superseded", "superseded_by": id, "valid_until": max(quote.at for quote in claim.quotes)}
        lessons.settle(db, known.id, why="the user withdrew it", **since)
        lifecycle.link(db, id, "supersedes", known.id, actor=_ACTOR)
    else:
        lifecycle.note_conflict(db, [id, known.id], actor=_ACTOR, why="a later session says otherwise")
    meta.mark_stale(db, [known.id])
