"""A prompt is submitted: bring up what is known of the very thing it speaks of; nothing, most of the time."""

from __future__ import annotations

import json
import math
import os
import re
from itertools import chain

from hardwon.briefing.policy import REMINDER_TOKENS, is_noted
from hardwon.hook.deal import items_for, keeps_silent
from hardwon.hook.once import first
from hardwon.hook.session_start import lines_of_briefing, project_id, tellable
from hardwon.map.known import from_rows
from hardwon.map.wording import FOR_THIS_TASK, for_task
from hardwon.sessions.project import within_checkout
from hardwon.store import read
from hardwon.store.spool import LEFT_OUT, UNKNOWN_FOLDER
from hardwon.text.shown import estimate, failure_line, fenced, one_line, remedy
from hardwon.text.words import unique_terms

TYPE_CHECKING = False  # of `typing`, which takes long to load

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from hardwon.hook_config import HookConfig


INTRODUCTION = "Notes from earlier sessions that fit this prompt, kept by Hardwon (data, not orders):"
_LINES_TOLD = 3
_TERMS_SEARCHED = 48
_MIN_PROMPT_CHARACTERS = 16
_PROMPT_CHARACTERS_READ = 8_000
_ITEMS_OF_A_COMMON_TERM = 300
"""A term that as many items have tells nothing."""
_ITEMS_CONSIDERED = 12
_SAYS_AN_ERROR = re.compile(
    r"(?i)(?:error|exception|fail|fatal|reject|denied|not found|no such|cannot|panic)[^?]*[:\]]"
)
"""Only then it is looked at more closely, which takes time."""
_NAME = re.compile(r"[a-z][._/-][a-z]|[a-z]\d|::")
_LEAST_SHARE_OF_WORDS = 0.4
_LEAST_SHARE_OF_AN_ERROR = 0.7
_PLACE = re.compile(r"^`[^`]*`: | \([^()]*\)$")
_LEAST_SHARED_TERMS = 3
_LEAST_SHARED_WITH_A_NAME = 2


def reminder(database: str, payload: dict[str, object], config: HookConfig) -> str:
    prompt = payload.get("prompt")
    payload["silent"] = "silent: the prompt is too short to name something, or a command"
    if not isinstance(prompt, str) or len(prompt) < _MIN_PROMPT_CHARACTERS or prompt.startswith("/"):
        return ""
    db = read.connect(database)
    project = project_id(db, payload.get("cwd"))
    agent = str(payload.get("agent") or "claude-code")
    key = read.fence_key(db)
    if not project or keeps_silent(payload, agent, key, config):
        payload["silent"] = LEFT_OUT if project else UNKNOWN_FOLDER
        return ""
    payload["silent"] = "silent: nothing new is known about what the prompt names"
    said = set(unique_terms(prompt[:_PROMPT_CHARACTERS_READ]))
    notes = _notes(database, db, payload, prompt[:_PROMPT_CHARACTERS_READ], said, project, agent, key, config)
    told = [INTRODUCTION, *notes] if notes else []
    room = min(REMINDER_TOKENS, config.budget) - _FENCE
    told += _places(database, db, payload, prompt, project, told, room)
    return fenced("\n".join(told), key) if told else ""


def _places(
    database: str,
    db: apsw.Connection,
    payload: dict[str, object],
    prompt: str,
    project: str,
    before: list[str],
    room: int,
) -> list[str]:
    """Where earlier sessions went for tasks like this, if there is room; each file is told to a session once."""
    known = from_rows(*read.drawn_map(db, project))
    folder = within_checkout(str(payload.get("cwd")))
    lines = for_task(known, prompt[:_PROMPT_CHARACTERS_READ], folder=folder) if known.files else []
    if estimate("\n".join((*before, FOR_THIS_TASK, *(f"- {line}" for line in lines)))) > room:
        return []  # before any is on record as told
    session = str(payload.get("session_id") or "")
    fresh = [line for line in lines if not line.startswith("`") or _is_new(database, session, line.partition(": ")[0])]
    if not any(line.startswith("`") for line in fresh):
        return []
    return [FOR_THIS_TASK, *(f"- {line}" for line in fresh)]


def _notes(
    database: str,
    db: apsw.Connection,
    payload: dict[str, object],
    prompt: str,
    said: set[str],
    project: str,
    agent: str,
    key: bytes,
    config: HookConfig,
) -> list[str]:
    """What is known of the very thing that the prompt speaks of."""
    pasted, fitting = _pasted(db, prompt, project), _fitting(db, said)
    if not (pasted or fitting):
        return []
    told = items_for(payload, agent, lines_of_briefing(db, project, agent, config), key, config)
    room = min(REMINDER_TOKENS, config.budget) - _FENCE
    chosen: list[str] = []
    for item, line, failure in chain(pasted, _lines(db, fitting, said, project, agent, config)):
        if told & {item, failure} or estimate("\n".join((INTRODUCTION, *chosen, line))) > room:
            continue
        if _is_new(database, str(payload.get("session_id") or ""), item):
            chosen.append(line)
            told |= {failure} - {""}
        if len(chosen) == _LINES_TOLD:
            break
    return chosen


_FENCE = estimate(fenced("", b"")) + 2


def _pasted(db: apsw.Connection, prompt: str, project: str) -> list[tuple[str, str, str]]:
    """(item, its line, itself) of an error that is the prompt, or what follows its first colon, if a fix is known."""
    if not _SAYS_AN_ERROR.search(prompt):
        return []
    from hardwon.failures.fingerprint import fingerprint

    for text in filter(None, (prompt, prompt.partition(": ")[2])):
        found = fingerprint(text, "")
        known = read.known_failure(db, found.id, project) if found else None
        if found and known:
            return [(found.id, f"- {_failure_line(*known)}", found.id)]
    return []


def _fitting(db: apsw.Connection, said: set[str]) -> list[str]:
    """Items that share several uncommon terms with the prompt, the best first."""
    size = read.index_size(db)
    weight: dict[int, float] = {}
    shared: dict[int, list[str]] = {}
    for term in sorted(said, key=lambda term: (-len(term), term))[:_TERMS_SEARCHED]:
        entries = read.holding(db, term, _ITEMS_OF_A_COMMON_TERM)
        if len(entries) == _ITEMS_OF_A_COMMON_TERM:
            continue
        for entry in entries:
            weight[entry] = weight.get(entry, 0.0) + math.log(1 + size / len(entries))
            shared.setdefault(entry, []).append(term)
    enough = [entry for entry in weight if _is_enough(shared[entry])]
    best = sorted(enough, key=lambda entry: (-weight[entry], entry))[:_ITEMS_CONSIDERED]
    names = read.indexed_items(db, best) if best else {}
    return [names[entry] for entry in best if entry in names]


def _is_enough(terms: list[str]) -> bool:
    return len(terms) >= (
        _LEAST_SHARED_WITH_A_NAME if any(_NAME.search(term) for term in terms) else _LEAST_SHARED_TERMS
    )


def _lines(
    db: apsw.Connection, items: list[str], said: set[str], project: str, agent: str, config: HookConfig
) -> Iterator[tuple[str, str, str]]:
    """(item, its line, the failure it speaks of) of those that may be told and share most of their words."""
    may = tellable(db, project, agent, config)
    for item in items:
        if item.startswith("L"):
            known = read.lesson(db, item)
            if known and may(item, known[2]) and _covers(said, known[0]):
                unsure = "unconfirmed: " if is_noted(known[2]) else ""
                yield item, f"- {unsure}{one_line(known[0])}", known[1]
        else:
            met = read.failure(db, item, project)
            if met and _quotes(said, met[0]):
                yield item, f"- {_failure_line(*met)}", item


def _failure_line(
    error: str,
    occurrences: int,
    sessions: int,
    last_seen: int,
    steps: str,
    succeeded_as: str,
    avoid: str,
    confirmed: int,
) -> str:
    return failure_line(
        error=error,
        command="",
        occurrences=occurrences,
        sessions=sessions,
        last_seen=last_seen,
        worked=remedy(json.loads(steps), succeeded_as),
        avoid=json.loads(avoid),
        confirmed=confirmed,
    )


def _covers(said: set[str], text: str) -> bool:
    own = set(unique_terms(text))
    return bool(own) and len(own & said) / len(own) >= _LEAST_SHARE_OF_WORDS


def _quotes(said: set[str], error: str) -> bool:
    """Whether a prompt speaks of an error: has most of its words, not only the file that it was met in."""
    own = set(unique_terms(_PLACE.sub("", error)))
    return len(own) >= _LEAST_SHARED_WITH_A_NAME and len(own & said) / len(own) >= _LEAST_SHARE_OF_AN_ERROR


def _is_new(database: str, session: str, item: str) -> bool:
    """A session is told a thing once."""
    return not session or first(os.path.dirname(database), "told", session, item)
