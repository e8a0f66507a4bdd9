"""A picture of a project: folders as large as the sessions that touched them, coloured by how lately, errors marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from hardwon.map.known import Known
from hardwon.text.shown import clean

_WIDTH, _HEIGHT = 960.0, 600.0
_DEPTH = 2
"""Folders of so many parts are told apart."""
_FOLDERS_SHOWN = 40
_LETTER = 7.0
_LEGEND = (
    f'<text x="{_WIDTH - 20:g}" y="16" font-size="11" fill="#555" text-anchor="end">'
    "size: sessions · colour: the darker, the more lately · dot: some ended in failure</text>"
    f'<circle cx="{_WIDTH - 10:g}" cy="12" r="4" fill="#c0392b"/>'
)


class Folder(NamedTuple):
    name: str
    sessions: int
    edits: int
    last: int
    """The newest session that touched it."""
    failed: int
    """Sessions that touched it and ended in failure."""


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def folders(known: Known) -> list[Folder]:
    """The folders of a project, those of most sessions first."""
    touched: dict[str, set[int]] = defaultdict(set)
    edited: dict[str, int] = defaultdict(int)
    for file in known.files:
        parts = file.path.split("/")[:-1]
        name = "/".join(parts[:_DEPTH]) or "(root)"
        touched[name] |= file.touched
        edited[name] += len(file.edited)
    failed = {number for number, visit in enumerate(known.visits) if visit.outcome == "failure"}
    found = [
        Folder(name, len(numbers), edited[name], max(numbers), len(numbers & failed))
        for name, numbers in touched.items()
    ]
    return sorted(found, key=lambda folder: (-folder.sessions, folder.name))[:_FOLDERS_SHOWN]


def svg(known: Known, name: str) -> str:
    """A tree map; every text in it is data out of transcripts, and escaped."""
    shown = folders(known)
    boxes = squares([float(folder.sessions) for folder in shown], Box(0, 24, _WIDTH, _HEIGHT - 24))
    parts = [_drawn(folder, box, len(known.visits)) for folder, box in zip(shown, boxes, strict=True)]
    title = _safe(f"{name}: {len(known.visits)} sessions, {len(known.files)} files")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'font-family="sans-serif" font-size="12"><title>{title}</title>'
        f'<text x="4" y="16" font-weight="bold">{title}</text>{_LEGEND}{"".join(parts)}</svg>\n'
    )


def _drawn(folder: Folder, box: Box, count: int) -> str:
    fresh = (folder.last + 1) / (count or 1)
    colour = f"hsl(205 {20 + 60 * fresh:.0f}% {92 - 32 * fresh:.0f}%)"
    told = _safe(f"{folder.name}: {folder.sessions} sessions, {folder.edits} edits, {folder.failed} ended in failure")
    letters = max(0, int((box.width - 8) / _LETTER))
    label = folder.name if len(folder.name) <= letters else folder.name[: max(0, letters - 1)] + "…"
    text = _text(box.x + 4, box.y + 15, label) if letters > 3 and box.height > 18 else ""
    counted = f"{folder.sessions} sessions"
    if text and letters >= len(counted) and box.height > 36:
        text += _text(box.x + 4, box.y + 30, counted, 'font-size="10" fill="#234"')
    mark = (
        f'<circle cx="{box.x + box.width - 8:.1f}" cy="{box.y + box.height - 8:.1f}" r="4" fill="#c0392b"/>'
        if folder.failed and box.width > 16 and box.height > 16
        else ""
    )
    return (
        f'<g><title>{told}</title><rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="{colour}" stroke="#fff"/>{text}{mark}</g>'
    )


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape(clean(text))


def squares(sizes: Sequence[float], box: Box) -> list[Box]:
    """Boxes of these sizes that fill a box: the larger half beside the smaller, again and again."""
    if len(sizes) <= 1:
        return [box] * len(sizes)
    whole = sum(sizes)
    at, taken = 1, sizes[0]
    while at < len(sizes) - 1 and taken + sizes[at] <= whole / 2:
        taken += sizes[at]
        at += 1
    share = taken / whole
    if box.width >= box.height:
        first = Box(box.x, box.y, box.width * share, box.height)
        rest = Box(box.x + first.width, box.y, box.width - first.width, box.height)
    else:
        first = Box(box.x, box.y, box.width, box.height * share)
        rest = Box(box.x, box.y + first.height, box.width, box.height - first.height)
    return [*squares(sizes[:at], first), *squares(sizes[at:], rest)]
