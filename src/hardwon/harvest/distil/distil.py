"""The walk with a model: session → windows → claims → grounded → seen again by themselves → trust → store.

Every window is written when it is read: a run that ends early, for want of money, of an answer, or because it was
killed, is taken up by the next one where it ended. A session that has grown is asked about its new windows alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hardwon.errors import NoModel, NotASession, NotFound
from hardwon.failures.verdicts import read
from hardwon.harvest import trust
from hardwon.harvest.clean import scrubbed
from hardwon.harvest.distil.claims import CHECK, Capped, Distilled, Reader, Window, prompt, windows
from hardwon.harvest.distil.model import Model, Spend
from hardwon.harvest.learn import VERSION, content_hash, is_forgotten_lesson
from hardwon.harvest.trust import shortcoming, with_origins
from hardwon.model.lesson import Draft
from hardwon.model.session import Session
from hardwon.scrub.scrubber import Scrubber, Scrubbing
from hardwon.store import deletion, lessons, sessions, stale
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from hardwon.store.sessions import HeldClaims
from hardwon.text.digest import digest
from hardwon.text.tokens import estimate

_EXPECTED_TOKENS_PER_ANSWER = 600
"""Before it is there; the second question repeats it."""
_MAX_FAILED_SESSIONS_IN_A_ROW = 3
_CAPPED = "the daily limit is reached: raise llm_tokens_per_day or llm_cost_per_day, or go on tomorrow"
_claims = msgspec.json.Decoder(list[Draft])


class Estimate(Struct, frozen=True):
    sessions: int
    windows: int
    tokens: int
    cost: float


class Unread(NamedTuple):
    id: str
    state: str
    """What is noted when it is done: another content, or other rules, and it is read again."""
    session: Session
    windows: dict[str, Window]
    """By their hashes: what was asked once is not asked again."""
    scrubber: Scrubber


def pending(db: Database, paths: Iterable[Path], scrubbing: Scrubbing) -> Iterator[Unread]:
    """Harvested sessions that no model has read as they are now, with their windows."""
    asked = digest(prompt())
    for path in paths:
        try:
            transcript = read(path)
        except (NotASession, NotFound):
            continue
        for raw in transcript.sessions:
            id, content = sessions.session_id(raw), content_hash(raw)
            held = sessions.held(db, id)
            state = f"{VERSION} {content}"
            if held is None or held[1] != content or sessions.is_distilled(db, id, state):
                continue
            scrubber = scrubbing.scrubber()
            session = scrubbed(raw, scrubber)
            parts = {digest(asked, part.text, size=16): part for part in windows(session, scrubber)}
            yield Unread(id, state, session, parts, scrubber)


def estimated(db: Database, paths: Iterable[Path], scrubbing: Scrubbing, spend: Spend) -> Estimate:
    """What a run would cost, without asking anybody."""
    asked, checked = estimate(prompt()), estimate(CHECK)
    count = found = tokens = 0
    for unread in pending(db, paths, scrubbing):
        read_before = sessions.distilled_windows(db, unread.id)
        left = [part for hash, part in unread.windows.items() if hash not in read_before]
        found += 1
        count += len(left)
        tokens += sum(part.tokens + asked + checked + _EXPECTED_TOKENS_PER_ANSWER for part in left)
    answered = count * _EXPECTED_TOKENS_PER_ANSWER
    return Estimate(found, count, tokens + answered, round(spend.price(tokens, answered), 4))


def distil(
    db: Database,
    paths: Iterable[Path],
    model: Model,
    scrubbing: Scrubbing,
    spend: Spend,
    pause: Callable[[float], None] = time.sleep,
) -> Distilled:
    report = Distilled()
    reader = Reader(model, spend, report, pause)
    failed_in_a_row = 0
    for unread in pending(db, paths, scrubbing):
        if failed_in_a_row >= _MAX_FAILED_SESSIONS_IN_A_ROW:
            report.left += 1
            continue
        try:
            _read(db, unread, reader, report)
        except Capped:
            report.left, report.trouble = report.left + 1, _CAPPED
        except NoModel as error:
            failed_in_a_row += 1
            report.left, report.trouble = report.left + 1, str(error)
        else:
            failed_in_a_row = 0
            report.sessions += 1
    report.rejected_by_reason = {why: count for why, count in sorted(reader.rejected.items()) if count}
    return report


def _read(db: Database, unread: Unread, reader: Reader, report: Distilled) -> None:
    """The windows that were not read before; the claims of those that were are written again, as a harvest may have
    taken them away with the shorter session."""
    read_before = sessions.distilled_windows(db, unread.id)
    for hash, window in unread.windows.items():
        held = read_before.get(hash)
        if held is not None and held.checked:
            with db.transaction():
                _write(db, unread, _claims.decode(held.claims), Counter())
            continue
        if held is None:
            held = HeldClaims(msgspec.json.encode(reader.claims(window, unread.scrubber)).decode(), checked=False)
            with db.transaction():
                sessions.keep_window(db, unread.id, hash, held)
        kept = reader.supported(_claims.decode(held.claims))
        report.windows += 1
        with db.transaction():
            sessions.keep_window(db, unread.id, hash, HeldClaims(msgspec.json.encode(kept).decode(), checked=True))
            report.lessons += _write(db, unread, kept, reader.rejected)
    with db.transaction():
        sessions.mark_distilled(db, unread.id, unread.state)


def _write(db: Database, unread: Unread, claims: list[Draft], rejected: Counter[str]) -> int:
    """Called inside a transaction; how many were worth keeping."""
    session = unread.session
    root = sessions.root_of(session.agent, session.external_id)
    kept = 0
    ((project, at, owner),) = db.query("SELECT project, started_at, owner FROM session WHERE id = ?", (unread.id,))
    forgotten = deletion.load_tombstones(db)
    for said in with_origins(session, claims):
        draft = trust.of_another(said) if owner == "foreign" else said
        admitted = trust.admit(draft)
        reason = draft.dropped or ("our own words" if admitted is None else shortcoming(draft, admitted.trust))
        if admitted is None or reason or (forgotten and is_forgotten_lesson(draft, forgotten)):
            rejected[reason or "forgotten"] += 1
            continue
        id = lessons.save(db, draft, admitted, project=project, agent=session.agent, at=at, version=VERSION)
        quoted = draft.source
        lessons.cite(db, [Cited(id, unread.id, quoted.message_index, root, at, quoted.quote, quoted.origin)])
        stale.mark(db, [id])
        kept += 1
    if project and kept:
        stale.mark_for_rules(db, [project])
    return kept
