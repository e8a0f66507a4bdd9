"""Which keywords of many a text holds: the gate that keeps most rules from running at all."""

from __future__ import annotations

from collections.abc import Iterable

_JOINTS = "_-"


class Keywords:
    """A fixed set of keywords to look for in many texts.

    Most token prefixes end in `_` or `-` (`ghp_`, `glpat-`). Cutting the text there once and
    looking up what stands before each cut costs the same for two such keywords or two hundred.
    """

    def __init__(self, keywords: Iterable[str]) -> None:
        self._plain: list[str] = []
        self._before: dict[str, dict[str, list[str]]] = {joint: {} for joint in _JOINTS}
        for keyword in dict.fromkeys(keywords):
            if len(keyword) > 2 and keyword[-1] in _JOINTS:
                self._before[keyword[-1]].setdefault(keyword[-3:-1], []).append(keyword)
            else:
                self._plain.append(keyword)

    def present(self, text: str) -> list[str]:
        found = [keyword for keyword in self._plain if keyword in text]
        for joint, before in self._before.items():
            if before and joint in text:
                ends = {piece[-2:] for piece in text.split(joint)}
                for end in ends.intersection(before):
                    found += [keyword for keyword in before[end] if keyword in text]
        return found
