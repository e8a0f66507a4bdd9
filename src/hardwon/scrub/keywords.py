"""Which keywords of many a text holds: the gate that keeps most rules from running at all."""

from __future__ import annotations

from collections.abc import Iterable

_BEGINNING = 3


class Keywords:
    """A few keywords to look for in many texts, one after the other.

    One that holds a shorter one is looked for only where that one was found; `common` adds such
    shorter ones.
    """

    def __init__(self, keywords: Iterable[str], common: Iterable[str] = ()) -> None:
        self._wanted = frozenset(keywords)
        known = sorted({*self._wanted, *common}, key=lambda keyword: (len(keyword), keyword))
        self._roots: list[str] = []
        self._longer: dict[str, list[str]] = {}
        for place, keyword in enumerate(known):
            inside = next((shorter for shorter in known[:place] if shorter in keyword), None)
            (self._roots if inside is None else self._longer.setdefault(inside, [])).append(keyword)

    def present(self, text: str) -> list[str]:
        found = [keyword for keyword in self._roots if keyword in text]
        for keyword in found:  # grows while it is walked through
            if keyword in self._longer:
                found += [longer for longer in self._longer[keyword] if longer in text]
        return [keyword for keyword in found if keyword in self._wanted]


class ManyKeywords:
    """Hundreds of keywords to look for in short texts, by the three characters they begin with."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._short: list[str] = []
        self._by_beginning: dict[tuple[str, ...], list[str]] = {}
        for keyword in dict.fromkeys(keywords):
            if len(keyword) < _BEGINNING:
                self._short.append(keyword)
            else:
                self._by_beginning.setdefault(tuple(keyword[:_BEGINNING]), []).append(keyword)

    def present(self, text: str) -> list[str]:
        found = [keyword for keyword in self._short if keyword in text]
        for beginning in self._by_beginning.keys() & set(zip(text, text[1:], text[2:], strict=False)):
            found += [keyword for keyword in self._by_beginning[beginning] if keyword in text]
        return found
