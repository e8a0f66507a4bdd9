"""What of a session a model is shown, and which sessions it has not read.

A few hundredths of the transcript, scrubbed: all that a person typed, where there is too much of it every message
shortened; what failed, what worked, what commands printed and what the agent found out share the rest by worth.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import NotASession, NotFound
from hardwon.failures import tools
from hardwon.failures.ledger import Findings, Turn, examine, read, turns
from hardwon.failures.signature import from_elsewhere
from hardwon.failures.told import printed_line
from hardwon.harvest.rules.sentences import ASKING_TOOLS, NOBODY_TYPES
from hardwon.harvest.trust import FENCED, TYPED_CHARACTERS
from hardwon.model.failure import GOT_PAST, Fix, Occurrence
from hardwon.model.session import Message, Origin, Session
from hardwon.scrub.scrubber import Scrubber, Scrubbing, scrubbed
from hardwon.store import sessions
from hardwon.store.database import Database
from hardwon.text.normalise import digest
from hardwon.text.shown import one_line
from hardwon.text.words import language

_READING = 2
"""Rises when what is shown of a session changes so much that all must be read again."""
_FOR_EACH_ROOT = 24
"""Characters shown, times the root of a session's: what there is to know grows more slowly than what was said. A depth
of 2 shows twice as much of what was not typed."""
_LEAST_SAID, _LEAST_MEASURED = 8_000, 1_200
"""Characters of what a person typed, and of all else, that are shown in any case."""
_CHARACTERS_PER_MESSAGE = (2_500, 1_800, 1_200, 900, 600, 450, 300)
"""The longest that is tried first."""
_SAYS_LITTLE_ALONE = 80
_CHARACTERS_BEFORE = 200
"""Of the agent's words before a message of the user that says little alone."""
_CHARACTERS_SCRUBBED_BEFORE = 1_200
_CHOSEN = re.compile(r"(?:(?<=\s)|(?<=[#(,;:/+&])|^)(\d{1,2}|[A-Fa-f])(?=[\s.,;:)/+&-]|$)", re.ASCII | re.MULTILINE)
"""The user answers by a number or a letter: what was offered under it says what was chosen."""
_OFFERED = re.compile(
    r"^[\s>*_#-]*(?:option |question )?(\d{1,2}|[A-Fa-f])[.):*]\W*\S.*$", re.IGNORECASE | re.MULTILINE
)
_LONGEST_CHOICE = 1_200
_CHARACTERS_OF_AN_OFFER = 120
_CHARACTERS_OFFERED = 1_200
_CHARACTERS_PER_COMMAND = 240
_CHARACTERS_PER_ERROR = 200
_CHARACTERS_PER_NEW_COMMAND = 240
_LINES_PRINTED = 3
_LINES_OF_A_SHORT_OUTPUT = 12
_CHARACTERS_OF_AN_ECHO = 30
_PROMPT = re.compile(r"(?:^|\s)[%$>]$")
_TELLS_NOTHING = re.compile(r"git (?:add|commit|push|fetch|log|status|diff)\b")
"""What these print when they work is of the moment."""
_LINES_LOOKED_AT = 400
"""Of an output, from its end."""
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"(])|(?<=[。！？])|\n+(?:\s*(?:[-*•]|\d+[.)])\s+)?|\s+\|\s+")
_CHARACTERS_OF_A_FINDING = range(40, 401)
_FOUND_OUT = re.compile(
    r"\b(?:because|root cause|caused by|turns out|actually|the (?:real |actual )?(?:problem|issue|cause|reason)|"
    r"(?:does|do|did|is|are|was|were|has|have|can|will|must|should)(?:n't| not|not)\b|never|only|requires?|needs?|"
    r"expects?|must|instead of|rather than|unless|until|even (?:though|if)|otherwise|which means|by default|by design|"
    r"no longer|already|fails? (?:if|when|because|with)|works? (?:if|when|because|only)|not supported|silently|"
    r"confirmed|verified|limit(?:ed|s)?)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]+")
_OF_THE_MOMENT = re.compile(
    r"^(?:let me|let's|i'll|i will|i'm|i am|now|next|first|i need|i should|perfect|great|good|done|ok|okay|checking|"
    r"looking|running|reading|starting|shall|would you|do you|want me|should i|if you)\b|\?\s*$",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:instead|first|but|however|still|unfortunately|wrong|mistake|forgot|missed|missing|failed|fails|fail|failing|"
    r"errors?|different(?:ly)?|workaround|skip(?:ped|s)?|remain(?:s|ing)|since|so)\b|n't\b|\bnot\b",
    re.IGNORECASE,
)
"""What went wrong, and what is done instead."""
_WENT_WRONG = re.compile(
    r"\b(?:errors?|failed|failure|fatal|denied|not found|no such|cannot|can't|could not|couldn't|unable|refused"
    r"|rejected|invalid|unknown|unexpected|missing|timed? ?out|exception|warn(?:ing)?|deprecated|nothing to"
    r"|no (?:tests?|files?|match)|not (?:supported|recognized|allowed|available|installed|a))\b|\"?success\"?: ?false",
    re.IGNORECASE,
)
_NAMES_SOMETHING = re.compile(r"`[^`]+`|\b\w+[_/.]\w+|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|\d")
_WORTH_OF_A_REPORT = 0.05
"""Of a sentence to the user when the work is done, over one on the way."""
_STEPS_SHOWN = 3
_OFTEN = 3
"""A tool of the agent's that refuses as often in one session says something of the project."""
_OF_THE_CODE = frozenset("pytest unittest jest tsc eslint lint rust go java dotnet c bundler python node".split())
"""Families of errors that most often are in what the session was writing, and gone when it ended."""
_OF_A_LOG = re.compile(
    r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]|[$>❯%|]\s|[{}\[\]<\"/+=│┃]|\S+:\d+|\w+\.\w+\(|\w+ @ )|[{};>]\s*$|:\d+:\d+"
    r"|^\s*$"
)
_LEFT_OUT = re.compile(r"\[… \d+ lines\]")
_LINES_OF_A_LOG = 4
"""In a row; fewer may be anything."""
_SAID_WITH_REFUSAL = re.compile(r"the user said:\s*(.+)", re.DOTALL)
_ANSWER_ENDS = re.compile(r"\"?\. (?:You can now continue|Read the answers)")


FOUND = "agent found"


class Shown(NamedTuple):
    """One entry of an extract."""

    message: int
    origin: Origin
    how: str
    """`user`, `agent`, `ran`, `failed`, `then`, `worked`, …"""
    text: str
    before: str = ""
    """What the agent had said right before the user's words."""
    typed: bool = False
    """Shown to be typed by a person: neither fenced nor part of a long document."""
    ran: bool = False
    """A command that worked, and that no output proposed."""
    quotable: str = ""
    """Of an error: what of it may be told as data, in its own words."""
    piece: int = 0
    """What is shown together has the same number."""
    times: int = 1
    """How often the same failed in the session."""


class Piece(NamedTuple):
    shown: tuple[Shown, ...]
    worth: float = 1.0

    @property
    def characters(self) -> int:
        return sum(len(one.text) + len(one.how) + 10 for one in self.shown)


def characters(session: Session, since: int = 0) -> int:
    """Of all that a session holds, as it was read, from a message on."""
    return sum(
        len(message.text)
        + sum(len(call.command or call.target) + len(call.detail) for call in message.calls)
        + sum(len(result.text) for result in message.results)
        for message in session.messages[since:]
    )


def extract(session: Session, scrubber: Scrubber, since: int = 0, depth: int = 1) -> list[Shown]:
    """What is shown of a scrubbed session, from a message on, in its order."""
    whole = depth * _FOR_EACH_ROOT * characters(session, since) ** 0.5
    found = _Found(session, scrubber, since)
    for longest in _CHARACTERS_PER_MESSAGE:
        chosen = list(found.said(longest))
        said = sum(piece.characters for piece in chosen)
        if said <= max(whole, _LEAST_SAID):
            break
    room = max(whole - said, depth * _LEAST_MEASURED)
    told = " ".join(one.text for piece in chosen for one in piece.shown)
    measured = found.measured(told)
    taken: set[int] = set()
    for at in sorted(range(len(measured)), key=lambda at: -measured[at].worth):
        if measured[at].characters <= room:
            taken.add(at)
            room -= measured[at].characters
    chosen += [measured[at] for at in sorted(taken)]  # sentences of a message stay in their order
    shown = [one._replace(piece=at) for at, piece in enumerate(chosen) for one in piece.shown]
    return sorted(shown, key=lambda one: one.message)


class _Found:
    def __init__(self, session: Session, scrubber: Scrubber, since: int) -> None:
        self._session = session
        self._scrub = scrubber.scrub
        self._since = max(since, 1) if session.subagent else since  # it begins with what it was asked to do
        self._by_person = not session.subagent and session.format not in NOBODY_TYPES

    def said(self, longest: int) -> Iterator[Piece]:
        """The user's messages, answers and refusals, each with what the agent had said before it."""
        calls = {call.id: call for message in self._session.messages for call in message.calls}
        asked = {id for id, call in calls.items() if call.name in ASKING_TOOLS}
        before = ""
        for index, message in enumerate(self._session.messages):
            if message.origin == "agent" and message.text.strip():
                before = message.text
            for kind, text, call in _words(message, asked):
                if index < self._since or not text.strip():
                    continue
                lead = self._tail(before, text)
                whole = _without_logs(text if kind == "user" else self._scrub(text))
                if not _LEFT_OUT.sub("", whole).strip():
                    continue
                shown = [Shown(index, self._origin, kind, part, lead, typed) for part, typed in _pieces(whole, longest)]
                about = calls.get(call)
                if kind == "refused" and about and (about.command or about.target):
                    refused = (about.command or about.target)[:_CHARACTERS_PER_COMMAND]
                    shown.insert(0, Shown(index, "agent", "wanted to run", one_line(refused)))
                elif lead:
                    shown.insert(0, Shown(max(0, index - 1), "agent", "agent", f"… {lead}"))
                yield Piece(tuple(shown))

    @property
    def _origin(self) -> Origin:
        return "user" if self._by_person else "agent"

    def _tail(self, before: str, text: str) -> str:
        """The end of what the agent had said, or what it had offered, where the user's words say little without it."""
        if len(text) <= _LONGEST_CHOICE and (chosen := self._chosen(before, text)):
            return chosen
        if len(text) > _SAYS_LITTLE_ALONE:
            return ""
        end = before.rstrip()[-_CHARACTERS_SCRUBBED_BEFORE:]
        clean = " ".join(self._scrub(end if len(end) == len(before.rstrip()) else end.partition(" ")[2]).split())
        return clean if len(clean) <= _CHARACTERS_BEFORE else clean[-_CHARACTERS_BEFORE:].partition(" ")[2]

    def _chosen(self, before: str, text: str) -> str:
        """Of several numbered things that the agent had put to the user those that are named, each by its beginning."""
        offered = [(found[1].lower(), found[0].strip(" >*_#-\n")) for found in _OFFERED.finditer(before)]
        named = {label.lower() for label in _CHOSEN.findall(text)} if len(offered) > 1 else set()
        each = (_start(one_line(one), _CHARACTERS_OF_AN_OFFER) for label, one in offered if label in named)
        return _start(self._scrub(" | ".join(each)), _CHARACTERS_OFFERED)

    def measured(self, said: str) -> list[Piece]:
        """Failures with what came after them, commands that worked, what the agent found out and is not in `said`."""
        calls = turns(self._session)
        findings = examine(self._session)
        return [*self._failures(calls, findings), *self._commands(calls), *self._found_out(said)]

    def _failures(self, calls: list[Turn], findings: Findings) -> Iterator[Piece]:
        fixes = {fix.occurrence.call_index: fix for fix in findings.fixes}
        often = Counter(one.fingerprint for one in findings.occurrences if one.message_index >= self._since)
        met: set[str] = set()
        for one in findings.occurrences:
            by_a_tool = not calls[one.call_index].call.command
            if by_a_tool and often[one.fingerprint] < _OFTEN:  # what agents' own tools refuse teaches nobody
                continue
            if one.message_index < self._since or one.fingerprint in met:
                continue
            met.add(one.fingerprint)
            fix = fixes.get(one.call_index)
            after = self._mended(fix, calls) if fix else self._after(one, calls)
            value = 0.15 if one.family in _OF_THE_CODE else 0.35
            yield Piece((*self._failed(one, calls, often[one.fingerprint]), *after), value + 0.1 * bool(fix))

    def _failed(self, one: Occurrence, calls: list[Turn], times: int) -> list[Shown]:
        call = calls[one.call_index].call
        how, ran = ("ran", f"$ {one.command}") if call.command else ("called", f"{call.name} {call.target}")
        error = self._scrub(one_line(one.excerpt[: 2 * _CHARACTERS_PER_ERROR]))[:_CHARACTERS_PER_ERROR]
        return [
            Shown(one.message_index, "agent", how, one_line(ran)[:_CHARACTERS_PER_COMMAND]),
            Shown(one.message_index, "tool", "failed", error or one.words, quotable=one.words, times=times),
            *self._printed(calls[one.call_index], [error, one.words]),
        ]

    def _mended(self, fix: Fix, calls: list[Turn]) -> list[Shown]:
        turn = calls[fix.succeeded_at]
        passing = one_line(turn.call.command or fix.passing)[:_CHARACTERS_PER_COMMAND]
        helped = fix.cause not in ("", GOT_PAST) and not fix.untrusted
        done = [one_line(f"{step.action} {step.what}") for step in fix.steps[:_STEPS_SHOWN] if step.what]
        steps = [
            Shown(turn.message_index, "agent", "then", what[:_CHARACTERS_PER_COMMAND], ran=helped)
            for what in done
            if passing not in what  # what worked is shown below
        ]
        return [*steps, Shown(turn.message_index, "agent", "worked", f"$ {passing}", ran=not fix.untrusted)]

    def _after(self, one: Occurrence, calls: list[Turn]) -> list[Shown]:
        done = [turn for turn in calls[one.call_index + 1 :] if turn.call.action in ("run", "edit")][:2]
        return [
            Shown(
                turn.message_index,
                "agent",
                "then failed" if turn.failed else "then",
                one_line(f"$ {turn.call.command}" if turn.call.command else f"edit {turn.call.target}")[
                    :_CHARACTERS_PER_COMMAND
                ],
            )
            for turn in done
        ]

    def _commands(self, calls: list[Turn]) -> Iterator[Piece]:
        """What ran without being known to fail, with the lines that tell most of what it printed."""
        met: set[str] = set()
        for turn in calls:
            command = one_line(turn.call.command)
            of_a_tool = not command  # one of the agent's, or of a server: shown where it went wrong
            if turn.message_index < self._since or turn.failed or turn.stopped:
                continue
            if of_a_tool and (turn.call.action in ("read", "edit") or turn.call.name in ASKING_TOOLS):
                continue
            about = tools.gist(command)
            printed = [] if _TELLS_NOTHING.match(about) else self._printed(turn, met)
            went_wrong = any(_WENT_WRONG.search(one.text) for one in printed)
            is_short = turn.output.count("\n") < _LINES_OF_A_SHORT_OUTPUT
            if not tools.changes_something(command) and not (went_wrong and is_short):
                continue
            is_new = about not in met and 0 < len(command) <= _CHARACTERS_PER_NEW_COMMAND and turn.succeeded
            if not is_new and not printed:
                continue
            met.update((about, *(_numberless(one.text) for one in printed)))
            how = "called" if of_a_tool else "worked" if turn.succeeded else "ran"
            said = one_line(f"{turn.call.name} {turn.call.target}") if of_a_tool else f"$ {command}"
            ran = Shown(turn.message_index, "agent", how, said[:_CHARACTERS_PER_COMMAND], ran=is_new)
            yield Piece((ran, *printed), 0.3 if went_wrong and is_short else 0.2)

    def _printed(self, turn: Turn, known: Collection[str]) -> list[Shown]:
        """The lines of an output that tell something else than what is known: what went wrong, else the last."""
        found: dict[str, tuple[int, Shown]] = {}
        echoed = one_line(turn.call.command)
        """A terminal shows what is typed into it, in one line or in pieces."""
        elsewhere = bool(turn.call.command) and from_elsewhere(turn.call.name, turn.call.command)
        is_of_work = turn.failed or tools.changes_something(turn.call.command)  # not of a file that it only shows
        lines = list(enumerate(turn.output.splitlines()[-_LINES_LOOKED_AT:]))
        for at, line in sorted(lines, key=lambda one: (not _WENT_WRONG.search(one[1]), -one[0])):
            if len(line) > 2 * _CHARACTERS_PER_ERROR:
                continue
            clean = self._scrub(line)
            may_be_told = printed_line(clean, turn.call.name, turn.call.command)
            said = may_be_told or ("" if elsewhere else one_line(clean))
            is_echo = bool(echoed) and (said in echoed or echoed[:_CHARACTERS_OF_AN_ECHO] in said)
            is_known = any(said in one or one in said for one in known if one) or _numberless(said) in known
            if said and not is_echo and not is_known and not _PROMPT.search(said):
                quotable = may_be_told if is_of_work else ""
                shown = Shown(turn.message_index, "tool", "printed", said, quotable=quotable)
                found[_numberless(said)] = (at, shown)
            if len(found) == _LINES_PRINTED:
                break
        return [shown for _, shown in sorted(found.values())]

    def _found_out(self, said: str) -> Iterator[Piece]:
        """The agent's sentences: most of all where it reports to the user, and where it says why something is so."""
        met: set[str] = set()
        messages = self._session.messages
        reports = True
        for index in range(len(messages) - 1, self._since - 1, -1):
            message = messages[index]
            if message.origin != "agent" or not message.text.strip():
                reports = reports or message.origin == "user"
                continue
            for sentence in _SENTENCE.split(FENCED.sub("\n", message.text)):
                found = one_line(sentence).strip("*#| ")
                worth = _worth_of_a_finding(found)
                if worth and found not in met and found not in said:
                    met.add(found)
                    worth += _WORTH_OF_A_REPORT * reports
                    yield Piece((Shown(index, "agent", FOUND, self._scrub(found)),), worth)
            reports = False


def _numberless(line: str) -> str:
    """What two runs of the same thing print alike."""
    return re.sub(r"\d+", "0", line)


def _worth_of_a_finding(sentence: str) -> float:
    """0 for one that says nothing of why, or speaks of the moment and of nothing that went wrong."""
    if len(sentence) not in _CHARACTERS_OF_A_FINDING or sentence.endswith("?"):
        return 0.0
    named = min(3, len(_NAMES_SOMETHING.findall(sentence)))
    if language(_LETTERS.findall(sentence.lower())) not in ("en", ""):  # its words for why are not known: names must do
        return 0.08 + 0.04 * named if named else 0.0
    reasons = len({found.lower() for found in _FOUND_OUT.findall(sentence)})
    trouble = len({found.lower() for found in _TROUBLE.findall(sentence)})
    if _OF_THE_MOMENT.search(sentence):
        return 0.04 * min(3, trouble) + 0.02 * named if trouble and (reasons or named) else 0.0
    worth = 0.08 * min(3, reasons) + 0.04 * named if reasons else 0.02 * named
    return worth + 0.03 * min(2, trouble) if worth else 0.0


def _words(message: Message, asked: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """What a person said in a message: how, the words, and the call they are about."""
    if message.origin == "user":
        yield "user", message.text, ""
    for result in message.results:
        if result.evidence == "rejected":
            said = _SAID_WITH_REFUSAL.search(result.text)
            yield "refused", said[1] if said else "", result.call_id
        elif result.call_id in asked and result.outcome == "ok":
            yield "answered", _ANSWER_ENDS.split(result.text)[0], result.call_id


def _without_logs(text: str) -> str:
    """Without long runs of lines that nobody types: logs, code and tables, pasted without a fence."""
    kept: list[str] = []
    run: list[str] = []
    for line in [*text.splitlines(), "end"]:
        if _OF_A_LOG.search(line):
            run.append(line)
            continue
        kept += [f"[… {len(run)} lines]"] if len(run) >= _LINES_OF_A_LOG else [one for one in run if one.strip()]
        kept.append(line)
        run = []
    return "\n".join(kept[:-1])


def _pieces(text: str, longest: int) -> Iterator[tuple[str, bool]]:
    """A message as it is shown, what is fenced or quoted in it apart; whether each was typed."""
    is_typed = len(FENCED.sub("", text)) <= TYPED_CHARACTERS
    at, room = 0, longest
    spans = [(found.start(), found.end()) for found in FENCED.finditer(text)]
    for start, end in [*spans, (len(text), len(text))]:
        if (typed := text[at:start].strip()) and room > 0:
            yield _cut(typed, room), is_typed
            room -= len(typed)
        if (fenced := text[start:end].strip()) and room > 0:
            yield _cut(fenced, min(room, 200)), False
            room -= min(len(fenced), 200)
        at = end


def _start(text: str, longest: int) -> str:
    """The beginning, up to a word's end."""
    return text if len(text) <= longest else f"{text[:longest].rpartition(' ')[0]} …"


def _cut(text: str, longest: int) -> str:
    """The beginning and the end of what is too long."""
    if len(text) <= longest:
        return text
    head = text[: longest * 2 // 3].rpartition(" ")[0] or text[: longest * 2 // 3]
    tail = text[-longest // 3 :].partition(" ")[2]
    return f"{head} […] {tail}"


class Unread(NamedTuple):
    """A session of which a model has not seen all."""

    id: str
    root: str
    at: int
    agent: str
    state: str
    """What is noted when it is done: another content, and what is new in it is read."""
    session: Session
    shown: list[Shown]
    characters: int
    """Of the part of the transcript that the extract stands for."""


class Waiting(NamedTuple):
    """A session that must be read, by its row."""

    id: str
    path: str
    root: str
    agent: str
    at: int
    content: str
    state: str
    copied: int


def waiting(
    db: Database, project: str | None = None, paths: Sequence[str] | None = None, depth: int = 1
) -> dict[str, list[Waiting]]:
    """Project → its own sessions of which a model has not read all that deep, the oldest first.

    The liveliest project comes first.
    """
    where, given = (" AND s.project = ?", (project,)) if project else ("", ())
    rows = db.query(
        "SELECT s.project, s.id, s.path, s.root, s.agent, s.started_at, s.content_hash, coalesce(d.state, ''), "
        "coalesce(t.copied, 0) FROM session s LEFT JOIN distilled d ON d.session = s.id "
        "LEFT JOIN trail t ON t.session = s.id "
        f"WHERE s.owner = 'own' AND s.project IS NOT NULL{where} ORDER BY s.started_at, s.id",
        given,
    )
    named = set(paths) if paths is not None else None
    found: dict[str, list[Waiting]] = {}
    for project_id, *rest in rows:
        one = Waiting(*rest)
        reading, _, content = one.state.rpartition(" ")[0].rpartition(" ")[0].partition(" ")
        is_read = content == one.content and _depth(reading) >= depth
        if not is_read and (named is None or one.path in named):
            found.setdefault(project_id, []).append(one)
    return dict(sorted(found.items(), key=lambda entry: -entry[1][-1].at))


def _depth(reading: str) -> int:
    """How deep a session was read: `2` once, `2x3` three times as deep; 0 by another way of reading."""
    way, _, depth = reading.partition("x")
    return int(depth or 1) if way == str(_READING) else 0


def unread(rows: Sequence[Waiting], scrubbing: Scrubbing, depth: int = 1) -> Iterator[Unread]:
    """The sessions with what is to be shown of them; those whose log is gone are left."""
    path, held = "", dict[str, Session]()
    for row in rows:
        if row.path != path:
            path, held = row.path, _sessions(row.path)
        raw = held.get(row.id)
        if raw is None:
            continue
        scrubber = scrubbing.scrubber()
        session = scrubbed(raw, scrubber)
        since = max(row.copied, _read_before(row.state, session, depth))
        reading = str(_READING) if depth == 1 else f"{_READING}x{depth}"
        state = f"{reading} {row.content} {len(session.messages)} {_said(session, len(session.messages))}"
        shown = extract(session, scrubber, since, depth)
        yield Unread(row.id, row.root, row.at, row.agent, state, session, shown, characters(session, since))


def _sessions(path: str) -> dict[str, Session]:
    try:
        return {sessions.session_id(one): one for one in read(Path(os.path.expanduser(path))).sessions}
    except (NotASession, NotFound):
        return {}


def _read_before(state: str, session: Session, depth: int) -> int:
    """How many of its messages a model has seen that deep; none if they are not the same any more."""
    reading, _, rest = state.partition(" ")
    _, messages, said = (*rest.split(), "", "", "")[:3]
    if _depth(reading) < depth or not messages.isdigit() or _said(session, int(messages)) != said:
        return 0
    return int(messages)


def _said(session: Session, messages: int) -> str:
    return digest(*(message.text for message in session.messages[:messages] if message.origin == "user"))
