"""Who gets what in the experiment: coins that fall the same way whenever the same thing is asked.

A session is held out, or an item withheld from it, by a keyed hash of the *root* session: resuming it, compacting
it and its sub-agents change nothing. Nobody without the store's key can tell how a coin falls. Standard library
only: a hook starts here.
"""

from __future__ import annotations

from hardwon.text.normalise import digest

TYPE_CHECKING = False  # of `typing`, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Iterable

SESSIONS_HELD_OUT = 0.10
ITEMS_WITHHELD = 0.20
TREATED, HELD_OUT, OFF = "treated", "held-out", "off"
_PERSONAL = ("preference", "decision")
_RANGE = float(1 << 64)

Prepared = tuple[str, str, str, int, int, float]
"""(section, item, text, tokens, exempt, score)"""
Standing = tuple[str, str, str, int, int, int, float]
"""(section, item, text, tokens, exempt, spare, score)"""
Placed = tuple[str, int, int, int, float, float]
"""(item, rank, tokens, shown, chance of being shown in a session that is not held out, score)"""


def told_in(project: str, confirmed_in: str, *, only_here: bool = False) -> bool:
    """Whether a fix that worked in these projects (with commas) may be told in this one."""
    projects = [name for name in confirmed_in.split(",") if name]
    return project in projects or (not only_here and len(projects) != 1)


def held_out(key: bytes, root: str) -> bool:
    return _fraction(key, "session", root) < SESSIONS_HELD_OUT


def withheld(key: bytes, root: str, item: str) -> bool:
    return _fraction(key, "item", root, item) < ITEMS_WITHHELD


def dealer(key: bytes) -> str:
    """Whose coins they were, without giving the key away: the store's id."""
    return digest("store", key=key)


def exempt(kind: str, trust: str, *, pinned: bool) -> bool:
    """What a person said or wants to be said is never withheld from a session that is told anything."""
    return pinned or trust == "human" or kind in _PERSONAL


def deal(lines: Iterable[Standing], key: bytes, root: str) -> tuple[list[tuple[str, str]], list[Placed]]:
    """What a session is shown as (section, text), and what is to be remembered of every line.

    A spare line takes the room of a withheld one, in its section. Whether one is needed depends on other lines'
    coins, so it is shown for certain and proves nothing (its chance is 1).
    """
    out = held_out(key, root)
    shown: list[tuple[str, str]] = []
    placed: list[Placed] = []
    places: dict[str, int] = {}
    room = 0
    for rank, (section, item, text, tokens, is_exempt, spare, score) in enumerate(lines):
        coin = not is_exempt and withheld(key, root, item)
        if spare and (out or coin or not places.get(section) or tokens > room):
            continue
        is_shown = not out and not coin
        if is_shown:
            shown.append((section, text))
        if spare or coin:
            places[section] = places.get(section, 0) + (-1 if spare else 1)
            room += -tokens if spare else tokens
        chance = 1.0 if is_exempt or spare else 1 - ITEMS_WITHHELD
        placed.append((item, rank, tokens, int(is_shown), chance, score))
    return shown, placed


def _fraction(key: bytes, *parts: str) -> float:
    return int(digest("experiment", *parts, key=key), 16) / _RANGE
