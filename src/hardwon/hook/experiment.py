"""The experiment at session start: deal the lines, and leave on disk what was dealt before anything is said."""

from __future__ import annotations

import json
import os
import time

from hardwon.home import home_directory
from hardwon.store import spool
from hardwon.store.assignment import HELD_OUT, OFF, SESSIONS_HELD_OUT, TREATED, Placed, Standing, deal, dealer, held_out
from hardwon.text.digest import digest

_SETTINGS = "config.toml"
_LONGEST_ID = 200


def lines_for(
    payload: dict[str, object], agent: str, project: str, lines: list[Standing], key: bytes
) -> list[tuple[str, str]]:
    """(section, text) of what this session is shown. Nothing is withheld that cannot be remembered as withheld."""
    everything = [(section, text) for section, _, text, _, _, spare, _ in lines if not spare]
    root = root_session(payload, agent)
    if not root or not lines:
        return everything
    if not switched_on(payload):
        own = [(item, tokens, score) for _, item, _, tokens, _, spare, score in lines if not spare]
        placed = [(item, rank, tokens, 1, 1.0, score) for rank, (item, tokens, score) in enumerate(own)]
        _leave(root, agent, project, OFF, 1.0, key, everything, placed)
        return everything
    out = held_out(key, root)
    shown, dealt = deal(lines, key, root)
    arm, propensity = (HELD_OUT, SESSIONS_HELD_OUT) if out else (TREATED, 1 - SESSIONS_HELD_OUT)
    return shown if _leave(root, agent, project, arm, propensity, key, shown, dealt) else everything


def keeps_silent(payload: dict[str, object], agent: str, key: bytes) -> bool:
    """Whether this is a session that is told nothing at all, by any hook."""
    root = root_session(payload, agent)
    return bool(root) and switched_on(payload) and held_out(key, root)


def root_session(payload: dict[str, object], agent: str) -> str:
    """The session that a person started, as the store calls it; empty if the agent does not say."""
    id = payload.get("root_session_id") or payload.get("session_id")
    fits = isinstance(id, str) and 0 < len(id) <= _LONGEST_ID and id.isprintable() and agent
    return f"{agent}:{id}" if fits else ""


def switched_on(payload: dict[str, object]) -> bool:
    """This call's own word, else `HARDWON_EXPERIMENT`, else the setting, else yes."""
    for said in (payload.get("experiment"), os.environ.get("HARDWON_EXPERIMENT"), _setting()):
        if said is not None:
            return said not in (False, "off", "0", "")
    return True


def _setting() -> str | None:
    """`experiment` in the settings: one line of a file that is too dear to parse here."""
    try:
        with open(os.path.join(home_directory(), _SETTINGS), encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition("=")
                if name.strip() == "experiment":
                    return value.partition("#")[0].strip().strip("\"'")
    except OSError:
        pass
    return None


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
    return spool.append(home_directory(), spool.DEALT, line, spool.LONGEST_DEAL)
