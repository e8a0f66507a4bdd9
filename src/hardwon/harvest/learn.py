"""What one session teaches, without what a person wants forgotten."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from hardwon.failures.ledger import Findings, Turn, examine, never_ran, turns
from hardwon.failures.speaker import told_command
from hardwon.failures.turns import OF_A_SCREEN
from hardwon.harvest import trust
from hardwon.harvest.attempts import attempts
from hardwon.harvest.rules import catalogue, said
from hardwon.harvest.rules.sentences import statements
from hardwon.harvest.trust import Admission, with_origins_and_typed
from hardwon.map.commands_ran import Ran, ran
from hardwon.map.touched import Call, End, Touch, locates, opening, place, touches
from hardwon.model.attempt import HarvestedAttempt
from hardwon.model.failure import FOREIGN, Fix, Occurrence, Step, Tried
from hardwon.model.lesson import Draft
from hardwon.model.session import Message, Session, Transcript
from hardwon.scrub.scrubber import Scrubber, Scrubbing, Short, scrubbed, stored
from hardwon.sessions.origin import outcome
from hardwon.sessions.project import Project, checkout
from hardwon.store import lessons
from hardwon.store.attempts import id_in_session
from hardwon.store.database import Database
from hardwon.store.interactions import InteractionRow
from hardwon.store.lessons import Cited
from hardwon.store.meta import Forgotten
from hardwon.store.projects import OpenedRow
from hardwon.store.sessions import (
    CHARACTERS_PER_DIGEST,
    MARKS,
    CallRow,
    Passage,
    Said,
    SessionRow,
    Trail,
    root_of,
    session_id,
    trail_of,
)
from hardwon.text.normalise import normalised, tilde
from hardwon.text.shown import estimate, one_line, unfenced

VERSION = 16 + catalogue.VERSION
"""Of the rules and readers together: sessions harvested by an older one are read again."""
_CHARACTERS_PER_SUBJECT = 500
_CHARACTERS_PER_OPENING = 4_000
_CHARACTERS_COUNTED = 64 * 1024
_CHARACTERS_PER_TOKEN = 3
_NO_MESSAGES = msgspec.msgpack.encode("messages") + msgspec.msgpack.encode(())


class Learned(NamedTuple):
    row: SessionRow
    project: Project | None
    calls: list[CallRow]
    findings: Findings
    drafts: list[Draft]
    attempts: list[HarvestedAttempt]
    touched: list[Touch]
    ran: list[Ran]
    opened: OpenedRow | None
    said: list[Said]
    passages: list[Passage]
    unsure: int = 0
    trail: Trail = Trail("", "")

    def of(self, project: Project | None) -> Learned:
        return self._replace(project=project, row=self.row._replace(project=project.id if project else None))


def learn(
    raw: Session, project: Project | None, transcript: Transcript, modified: int, scrubbing: Scrubbing
) -> Learned:
    """Scrub a session, then find its failures, fixes and lessons. `modified` dates one without times.

    Raises ScrubTimeout when scrubbing it takes longer than it may.
    """
    characters = _characters(raw)
    scrubber = scrubbing.scrubber(characters)
    short = Short(scrubber)
    session = scrubbed(raw, scrubber, short)
    findings = examine(session)
    calls = turns(session)
    started = session.started_at or modified
    row = SessionRow(
        id=session_id(raw),
        agent=session.agent,
        external_id=session.external_id,
        subagent=session.subagent,
        root=root_of(session.agent, session.external_id),
        project=project.id if project else None,
        format=session.format,
        version=session.version,
        path=tilde(transcript.path),
        branch=session.branch,
        task=_first_words(session),
        started_at=started,
        ended_at=session.ended_at or started,
        messages=len(session.messages),
        user_messages=session.user_messages,
        tool_calls=len(calls),
        errors=sum(turn.failed for turn in calls),
        unknown_records=session.unknown_records,
        redactions=scrubber.redactions,
        outcome=outcome(session),
        content_hash=content_hash(raw),
        harvester_version=VERSION,
        tokens_in=_tokens_in(raw),
        tokens_out=_tokens_out(raw),
    )
    sentences = list(statements(session))
    drafts, typed = with_origins_and_typed(
        session, catalogue.of_session(session, sentences, calls), said.waiting(sentences)
    )
    rows = [_call_row(row.id, turn) for turn in calls]
    done = touch_calls(calls, findings.occurrences)
    where = place(session.cwd, scrubber.scrub(_top(raw, transcript)))
    learned = Learned(
        row=row,
        project=project,
        calls=rows,
        findings=findings,
        drafts=drafts,
        attempts=attempts(session, calls, findings.occurrences),
        touched=touches(done, where),
        ran=ran(done, [turn.output for turn in calls], where, "\n".join(one.text for one in sentences)),
        opened=_opened(row.id, raw, done, scrubber),
        said=typed,
        unsure=session.unsure_messages,
        passages=passages(session, calls, findings.occurrences, characters, scrubber.scrub),
    )
    return stored(learned, short.scrub)._replace(trail=trail_of(raw))


def _top(session: Session, transcript: Transcript) -> str:
    """The folder that paths are told from: a sub-agent that went below its session's names files as that does."""
    own, its = checkout(session.cwd), checkout(transcript.sessions[0].cwd) if session.subagent else ""
    return its if its and own.startswith((f"{its}/", f"{its}\\")) else own


def touch_calls(done: Sequence[Turn], failures: Iterable[Occurrence] = ()) -> list[Call]:
    """The calls of a session as the map needs them, which tells a failure of the same command as `failures` do."""
    of_call = {one.call_index: one for one in failures}
    return [_call(turn, of_call.get(turn.position)) for turn in done]


def _call(turn: Turn, failure: Occurrence | None) -> Call:
    call, result = turn.call, turn.result
    content = call.detail if call.action == "edit" else "" if turn.failed else turn.output
    end: End = ""
    if never_ran(turn, failure):
        end = "not run"
    elif result is None or result.outcome == "unknown":
        end = "unknown"
    elif result.evidence in OF_A_SCREEN:
        end = "by words"
    return Call(
        call.action,
        call.name,
        call.command or call.target,
        not turn.failed,
        others=call.others,
        gone=call.gone,
        content=content,
        end=end,
        told=told_command(failure.command, failure.words, family=failure.family) if failure and call.command else "",
    )


def _opened(id: str, raw: Session, calls: list[Call], scrubber: Scrubber) -> OpenedRow | None:
    """None for a session that was asked for nothing and did nothing."""
    words = one_line(scrubber.scrub(opening(raw))[:_CHARACTERS_PER_OPENING])
    first = next((at for at, call in enumerate(calls) if call.action == "edit" and call.ok), None)
    looks = None if first is None else sum(map(locates, calls[:first]))
    return OpenedRow(id, words, first, looks) if words or calls else None


def _tokens_in(session: Session) -> int:
    said = sum(
        len(message.text) + sum(len(part.text) for part in message.beside)
        for message in session.messages
        if message.origin != "agent"
    )
    return (said + sum(len(result.text) for result in session.results())) // _CHARACTERS_PER_TOKEN


def _tokens_out(session: Session) -> int:
    said = sum(len(message.text) for message in session.messages if message.origin == "agent")
    done = sum(len(call.command) + len(call.detail) for message in session.messages for call in message.calls)
    return (said + done) // _CHARACTERS_PER_TOKEN


def _characters(session: Session) -> int:
    """What it holds, all outputs with it."""
    return (_tokens_in(session) + _tokens_out(session)) * _CHARACTERS_PER_TOKEN


def _first_words(session: Session) -> str:
    """What the user first asked for, in a line."""
    said = next((message.text for message in session.messages if message.is_sent and message.text.strip()), "")
    return one_line(said[:_CHARACTERS_PER_SUBJECT])


def content_hash(session: Session) -> str:
    """Of what was read, not of the file: a file may hold many sessions, and grow by one."""
    hashed = hashlib.blake2b(digest_size=16)
    for piece in _packed(session):
        hashed.update(piece)
    return hashed.hexdigest()


def _packed(session: Session) -> Iterator[bytes]:
    """As MessagePack, a message at a time: packed at once, a very long session would be in memory twice."""
    pack = msgspec.msgpack.encode
    count = len(session.messages)
    before, after = pack(replace(session, messages=())).rsplit(_NO_MESSAGES, 1)
    yield before + _NO_MESSAGES[:-1]
    yield pack([None] * count)[: -count or None]  # how many there are
    yield from map(pack, session.messages)
    yield after


def _call_row(session: str, turn: Turn) -> CallRow:
    result = turn.result
    return CallRow(
        session=session,
        position=turn.position,
        message_index=turn.message_index,
        at=turn.at,
        tool=turn.call.name,
        action=turn.call.action,
        subject=(turn.call.command or turn.call.target)[:_CHARACTERS_PER_SUBJECT],
        outcome=result.outcome if result else "unknown",
        evidence=result.evidence if result else "none",
        exit_code=result.exit_code if result else None,
        tokens=estimate(turn.call.command + result.text[:_CHARACTERS_COUNTED]) if result and turn.failed else 0,
    )


# Candidates from one interaction, when somebody asks for them.


def candidates(db: Database, row: InteractionRow) -> set[str]:
    """The lessons that say what the prompt laid down; new ones wait for a person. Inside a transaction."""
    said = Message(role="user", origin="user", text=row.prompt, at=row.created_at)
    answered = Message(role="assistant", origin="agent", text=row.response, at=row.created_at)
    talk = Session(external_id=row.id, agent=row.client, format="interaction", messages=(said, answered))
    found: set[str] = set()
    for draft in catalogue.of_session(talk, list(statements(talk)), []):
        admitted = trust.admit(draft)
        if draft.dropped or admitted is None or draft.source.origin != "user" or not row.project:
            continue
        waits = Admission("candidate", admitted.trust)
        id = lessons.save(db, draft, waits, project=row.project, agent=row.client, at=row.created_at, version=VERSION)
        quoted = draft.source
        root = row.session or row.id
        cited = Cited(id, row.id, quoted.message_index, root, row.created_at, quoted.quote, quoted.origin)
        lessons.cite(db, [cited])
        found.add(id)
    return found


# What somebody else's session may teach.


def of_another(learned: Learned) -> Learned:
    """Its words wait for a person, its fixes are unconfirmed, and what it tried and was asked for is not taken over."""
    found = learned.findings
    fixes = [replace(fix, untrusted=FOREIGN, avoid=(), failed_again=0) for fix in found.fixes]
    return learned._replace(
        row=learned.row._replace(owner="foreign"),
        findings=found._replace(fixes=fixes, tried=[]),
        drafts=[trust.of_another(draft) for draft in learned.drafts],
        attempts=[],
        said=[],
    )


# Leave out of what a session taught what was forgotten on purpose.
# The rules are those by which forgetting changed the rows that were there (`said` in store/schema.py), so that a
# harvest after it and a harvest before it end with the same store.


def remembered(learned: Learned, forgotten: Forgotten) -> Learned | None:
    """What may be stored of it; None when the whole session is forgotten."""
    if not forgotten:
        return learned
    if _session(learned, forgotten) or (learned.project and _project(learned.project, forgotten)):
        return None
    masked = forgotten.masked
    found = learned.findings
    hidden = {
        seen.fingerprint
        for seen in found.occurrences
        if forgotten.holds("failure", seen.fingerprint) or _any(forgotten, seen.signature, seen.error_type)
    }
    occurrences = [
        seen
        for seen in found.occurrences
        if seen.fingerprint not in hidden and not _any(forgotten, seen.command, seen.excerpt)
    ]
    left = {seen.fingerprint for seen in occurrences}
    fixes = [_shortened(fix, forgotten) for fix in found.fixes if _fix(fix, left, forgotten)]
    tried = [one for one in found.tried if one.fingerprint in left and not _any(forgotten, one.tried_as, *_said(one))]
    row = learned.row._replace(
        branch=masked(learned.row.branch), version=masked(learned.row.version), task=masked(learned.row.task)
    )
    return learned._replace(
        row=row,
        project=_without_root(learned.project, forgotten),
        calls=[call._replace(tool=masked(call.tool), subject=masked(call.subject)) for call in learned.calls],
        findings=found._replace(occurrences=occurrences, fixes=fixes, tried=tried),
        drafts=[
            draft
            for draft in learned.drafts
            if draft.failure not in hidden and not is_forgotten_lesson(draft, forgotten)
        ],
        attempts=[attempt for attempt in learned.attempts if _attempt(row.id, attempt, forgotten)],
        touched=[touch for touch in learned.touched if not forgotten.says(touch.path)],
        ran=[one for one in learned.ran if not _any(forgotten, one.command, one.text)],
        opened=learned.opened and learned.opened._replace(words=masked(learned.opened.words)),
        said=[one for one in learned.said if not _any(forgotten, one.text, one.quote)],
        passages=[one for one in learned.passages if not forgotten.says(one.text)],
    )


def _any(forgotten: Forgotten, *texts: str) -> bool:
    return any(map(forgotten.says, texts))


def _session(learned: Learned, forgotten: Forgotten) -> bool:
    row = learned.row
    return (
        forgotten.holds("session", row.id)
        or forgotten.holds("session", row.agent, row.external_id)
        or _any(forgotten, row.external_id, row.subagent, row.path)
    )


def _project(project: Project, forgotten: Forgotten) -> bool:
    return (
        forgotten.holds("project", project.key)
        or forgotten.holds("project", project.root)
        or _any(forgotten, project.key, project.name)
    )


def _without_root(project: Project | None, forgotten: Forgotten) -> Project | None:
    return Project(project.key, "") if project and forgotten.says(project.root) else project


def _said(one: Fix | Tried) -> list[str]:
    return [part for step in one.steps for part in step]


def _attempt(session: str, attempt: HarvestedAttempt, forgotten: Forgotten) -> bool:
    id = id_in_session(session, attempt.message_index)
    said = (attempt.task, attempt.approach, attempt.test_command, attempt.evidence, *attempt.diff, *attempt.commits)
    return not (forgotten.holds("attempt", id) or _any(forgotten, *said, *(file.path for file in attempt.files)))


def _fix(fix: Fix, left: set[str], forgotten: Forgotten) -> bool:
    return fix.occurrence.fingerprint in left and not _any(forgotten, fix.succeeded_as, *_said(fix))


def _shortened(fix: Fix, forgotten: Forgotten) -> Fix:
    def clean(step: Step) -> bool:
        return not _any(forgotten, *step)

    return replace(fix, avoid=tuple(filter(clean, fix.avoid)))


def is_forgotten_lesson(draft: Draft, forgotten: Forgotten) -> bool:
    return forgotten.holds("lesson", normalised(draft.text)) or _any(forgotten, draft.text, draft.source.quote)


# What was said and done, in passages of some hundred characters that a person finds the session by. Whole outputs are
# no part of it: of a call its command or file, and what its error says.

_AGENT, (_USER, _COMMAND, _ERROR, _FILE) = "", MARKS
"""What a line begins with: the user's words, the agent's, a command, an error, a file that was changed."""
_LONGEST_PASSAGE = 500
"""Characters of a passage."""
_SHARE = 0.042
"""Of the characters of a session that its passages may have. With the index, a passage takes three to four times its
length."""
_LEAST = 400
"""Characters that every session may have."""
_LONGEST_LINE = {_USER: 2_000, _AGENT: 2_000, _COMMAND: 240, _ERROR: 300, _FILE: 120}
_SHORTEST_CUT = 60
"""What would have to be cut shorter than this is left out."""
_BEHIND_A_CUT = 300
"""So many characters more are scrubbed than are kept: what a secret is, is told by what stands around it."""


class _Line(NamedTuple):
    mark: str
    message_index: int
    at: int | None
    text: str
    call: int = -1
    """Its place among the calls; before them stands what the message says."""


def passages(
    session: Session, calls: list[Turn], failures: Iterable[Occurrence], characters: int, scrub: Callable[[str], str]
) -> list[Passage]:
    """Of a scrubbed session that has so many characters. What its agent said is scrubbed by `scrub`, as far as it is
    kept."""
    errors = {found.call_index: found.excerpt for found in failures}
    lines = [*_spoken_lines(session), *_done_lines(calls, errors)]
    room = max(_LEAST, int(characters * _SHARE))
    kept: list[_Line] = []
    for marks in ((_USER,), (_ERROR,), (_COMMAND, _FILE), (_AGENT,)):
        # What comes first may take no more than two thirds of what is left, or a pasted file would be all there is.
        share = room if marks == (_AGENT,) else room * 2 // 3
        fitting = list(_fitted([line for line in lines if line.mark in marks], share, scrub))
        room -= sum(_size(line.text) for line in fitting)
        kept += fitting
    kept.sort(key=lambda line: (line.message_index, line.call, line.mark == _ERROR))
    return [one._replace(nth=nth) for nth, one in enumerate(_joined(kept))]


def _spoken_lines(session: Session) -> Iterator[_Line]:
    for index, message in enumerate(session.messages):
        if message.text and (message.is_sent or message.origin == "agent"):
            mark = _USER if message.is_sent else _AGENT
            text = unfenced(message.text[: _LONGEST_LINE[mark] + _BEHIND_A_CUT]).strip()
            if text:
                yield _Line(mark, index, message.at, text)


def _done_lines(calls: list[Turn], errors: dict[int, str]) -> Iterator[_Line]:
    before = ""
    for turn in calls:
        call = turn.call
        mark = _COMMAND if call.command else _FILE if call.action == "edit" else ""
        subject = call.command or call.target
        if mark and subject and subject != before:
            yield _Line(mark, turn.message_index, turn.at, subject, turn.position)
            before = subject
        if turn.failed and not turn.stopped and (error := errors.get(turn.position) or _last_line(turn.output)):
            yield _Line(_ERROR, turn.message_index, turn.at, error, turn.position)


def _last_line(output: str) -> str:
    return next((line for line in reversed(output[-1_000:].splitlines()) if line.strip()), "")


def _fitted(lines: list[_Line], room: int, scrub: Callable[[str], str]) -> Iterator[_Line]:
    """As many characters of each as all can have; short lines leave what they do not need to the others."""
    left, many = room, len(lines)
    cut = 0
    for length in sorted(_size(line.text[: _LONGEST_LINE[line.mark]]) for line in lines):
        if length * many > left:
            cut = max(_SHORTEST_CUT, left // many)
            break
        left -= length
        many -= 1
    for line in lines:
        longest = min(cut or _LONGEST_LINE[line.mark], _LONGEST_LINE[line.mark])
        text = line.text[: longest + _BEHIND_A_CUT]
        text = _cut(one_line(scrub(text) if line.mark == _AGENT else text), longest)
        room -= _size(text)
        if room < 0:
            return
        if text:
            yield line._replace(text=text)


def _size(text: str) -> int:
    """What a text takes: scripts without spaces have longer characters, and each stands in two terms."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _cut(text: str, longest: int) -> str:
    """Between words, where there are any."""
    if len(text) <= longest:
        return text
    start = text[: longest - 1]
    space = start.rfind(" ")
    return (start[:space] if space > longest // 2 else start) + "…"


def _joined(lines: list[_Line]) -> Iterator[Passage]:
    """Lines that follow each other, as long as they have room together. What a user says begins a new passage: one
    who goes on with a copied session begins with that."""
    first: _Line | None = None
    some: list[str] = []
    for line in lines:
        for piece in _pieces(line.mark + line.text):
            if first is not None and (
                line.mark == _USER or sum(map(len, some)) + len(some) + len(piece) > _LONGEST_PASSAGE
            ):
                yield Passage(0, first.message_index, first.at, "\n".join(some))
                some = []
            if not some:
                first = line
            some.append(piece)
    if first is not None and some:
        yield Passage(0, first.message_index, first.at, "\n".join(some))


def _pieces(text: str) -> Iterator[str]:
    while len(text) > _LONGEST_PASSAGE:
        space = text.rfind(" ", _LONGEST_PASSAGE // 2, _LONGEST_PASSAGE)
        end = space if space > 0 else _LONGEST_PASSAGE
        yield text[:end]
        text = text[end:].lstrip()
    yield text


# What a session adds to the one that it begins with a copy of.


def without_copy(learned: Learned, copied: int) -> Learned:
    """What a session adds to the one that it begins with a copy of."""
    if not copied:
        return learned
    row, found = learned.row, learned.findings
    calls = [call for call in learned.calls if call.message_index >= copied]
    first = calls[0].position if calls else max((call.position + 1 for call in learned.calls), default=0)
    speakers = learned.trail.digests[: copied * CHARACTERS_PER_DIGEST : CHARACTERS_PER_DIGEST]
    return learned._replace(
        row=row._replace(
            messages=row.messages - copied,
            user_messages=row.user_messages - speakers.count("u"),
            tool_calls=len(calls),
            errors=sum(call.outcome == "error" for call in calls),
        ),
        calls=calls,
        findings=found._replace(
            occurrences=[one for one in found.occurrences if one.call_index >= first],
            fixes=[fix for fix in found.fixes if fix.succeeded_at >= first],
            tried=[one for one in found.tried if one.call_index >= first],
        ),
        drafts=[draft for draft in learned.drafts if draft.source.message_index >= copied],
        touched=[touch for one in learned.touched if (touch := one.since(first))],
        ran=[command for one in learned.ran if (command := one.since(first))],
        opened=learned.opened and learned.opened._replace(calls_before_edit=None, looks_before_edit=None),
        attempts=[attempt for attempt in learned.attempts if attempt.message_index >= copied],
        said=[one for one in learned.said if one.message_index >= copied],
        passages=[one for one in learned.passages if one.message_index >= copied],
        trail=learned.trail._replace(copied=copied),
    )
