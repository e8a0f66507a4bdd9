"""The experiment at session start: deal the lines, and leave on disk what was dealt before anything is said."""

from __future__ import annotations

import json
import os
import time

from hardwon.home import home_directory
from hardwon.hook_config import says_off
from hardwon.store import spool
from hardwon.store.spool import HELD_OUT, OFF, SESSIONS_HELD_OUT, TREATED, Placed, Standing, deal, dealer, held_out
from hardwon.text.normalise import digest

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.hook_config import HookConfig

_ID_CHARACTERS = 200


def lines_for(
    payload: dict[str, object], agent: str, project: str, lines: list[Standing], key: bytes, config: HookConfig
) -> list[tuple[str, str]]:
    """(section, text) of what this session is shown. Nothing is withheld that cannot be remembered as withheld."""
    everything = [(section, text) for section, _, text, _, _, spare, _ in lines if not spare]
    root = root_session(payload, agent)
    if not root or not lines:
        return everything
    if not switched_on(payload, config):
        own = [(item, tokens, score) for _, item, _, tokens, _, spare, score in lines if not spare]
        placed = [(item, rank, tokens, 1, 1.0, score) for rank, (item, tokens, score) in enumerate(own)]
        _leave(root, agent, project, OFF, 1.0, key, everything, placed)
        return everything
    out = held_out(key, root)
    shown, dealt = deal(lines, key, root)
    arm, propensity = (HELD_OUT, SESSIONS_HELD_OUT) if out else (TREATED, 1 - SESSIONS_HELD_OUT)
    return shown if _leave(root, agent, project, arm, propensity, key, shown, dealt) else everything


def items_for(
    payload: dict[str, object], agent: str, lines: list[Standing], key: bytes, config: HookConfig
) -> set[str]:
    """What this session's briefing told or withheld on purpose."""
    root = root_session(payload, agent)
    if root and switched_on(payload, config):
        return {placed[0] for placed in deal(lines, key, root)[1]}
    return {line[1] for line in lines if not line[5]}


def keeps_silent(payload: dict[str, object], agent: str, key: bytes, config: HookConfig) -> bool:
    """Whether this is a session that is told nothing at all, by any hook."""
    root = root_session(payload, agent)
    return bool(root) and switched_on(payload, config) and held_out(key, root)


def root_session(payload: dict[str, object], agent: str) -> str:
    """The session that a person started, as the store calls it; empty if the agent does not say."""
    id = payload.get("root_session_id") or payload.get("session_id")
    fits = isinstance(id, str) and 0 < len(id) <= _ID_CHARACTERS and id.isprintable() and agent
    return f"{agent}:{id}" if fits else ""


def switched_on(payload: dict[str, object], config: HookConfig) -> bool:
    """This call's own word, else the setting."""
    said = payload.get("experiment")
    return config.is_experiment if said is None else not says_off(said)


def _leave(
    root: str,
    agent: str,
    project: str,
    arm: str,
    propensity: float,
    key: bytes,
    shown: list[tuple[str, str]],
    placed: list[Placed],
) -> bool:
    record = {
        "id": "B" + os.urandom(12).hex(),
        "session": root,
        "project": project,
        "agent": agent,
        "event": "session-start",
        "arm": arm,
        "propensity": propensity,
        "dealer": dealer(key),
        "text_hash": digest(*(text for _, text in shown)) if shown else "",
        "at": time.time_ns() // 1000,
        "lines": placed,
    }
    line = json.dumps(record, separators=(",", ":")).encode()
    return spool.append(home_directory(), spool.DEALT, line, spool.MAX_DEAL_BYTES)
