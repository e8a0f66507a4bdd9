"""Paths without the person: a home folder becomes `~`, whichever system wrote it."""

from __future__ import annotations

import re
from functools import cache

_PERSON = r"(?!(?:Shared|Public|linuxbrew)\b)\w(?:[\w.+-]{0,62}\w)?(?![\w-])"
_MARK_ENDS = "\u2039\u203a"
# By the part they share, which alone is searched in most texts; longer ones first.
_UNIX_HOMES = {
    "/home/": ("/var/home/", "/home/"),
    "/Users/": ("/mnt/c/Users/", "/c/Users/", "/Users/"),
    "/root": ("/root",),
}
_WINDOWS_TAILS = ("sers", "SERS")
_SLASHES = "/\\"
_WINDOWS_HOME = (
    r"(?i)(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/)"
    rf"(?:[\w.+%-]{{1,32}}(?: [\w.+-]{{1,32}}){{0,2}}(?=[\\/])|{_PERSON})"
)
HOME_PROBE = r"/home/|/Users/|/root|(?i::(?:\\{1,4}|/)users)"
"""Where `tilde` may find something to shorten, for a search over many patterns at once."""


def tilde(text: str) -> str:
    """`/home/alice/x` becomes `~/x`, wherever the system keeps its homes."""
    for tail in _WINDOWS_TAILS:
        text = _shorten_windows_homes(text, tail)
    for tail, homes in _UNIX_HOMES.items():
        text = _shorten_unix_homes(text, tail, homes)
    return text


def is_homeless(text: str) -> bool:
    """Whether `tilde` would leave it as it is; it errs on the other side only."""
    return not any(tail in text for tail in ("/home/", "/root", *_WINDOWS_TAILS))


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


@cache
def _home(folder: str) -> re.Pattern[str]:
    """A folder where a path begins; its literal start is what keeps the search fast."""
    plain = re.escape(folder)
    begins = (
        rf"{plain}(?:(?<![\w~/.)}}\]{_MARK_ENDS}-]{plain})|(?<=\\[nrt]{plain})"
        rf"|(?<=\s-[A-Za-z]{plain})|(?<=^-[A-Za-z]{plain})|(?<=file://{plain})|(?<=%3A{plain}))"
    )
    return re.compile(begins + (r"(?![\w.-])" if folder == "/root" else _PERSON))


def _shorten_unix_homes(text: str, tail: str, homes: tuple[str, ...]) -> str:
    at = text.find(tail)  # many times faster than a search by the pattern
    if at < 0:
        return text
    pieces: list[str] = []
    done = 0
    while at >= 0:
        end = at + len(tail)
        for folder in homes:
            start = end - len(folder)
            if start >= done and text.startswith(folder, start) and (home := _home(folder).match(text, start)):
                pieces += (text[done:start], "~")
                done = end = home.end()
                break
        at = text.find(tail, end)
    return "".join(pieces) + text[done:] if pieces else text


def _shorten_windows_homes(text: str, tail: str) -> str:
    at = text.find(tail)
    pieces: list[str] = []
    done = 0
    while at >= 0:
        end = at + len(tail)
        # Most of them are no path of Windows, which the sign before tells faster than a pattern.
        if at > 3 and text[at - 2] in _SLASHES:
            drive = text.rfind(":", max(done, at - 6), at) - 1
            if drive >= done and (home := _windows_home().match(text, drive)):
                pieces += (text[done:drive], "~")
                done = end = home.end()
        at = text.find(tail, end)
    return "".join(pieces) + text[done:] if pieces else text


@cache
def _windows_home() -> re.Pattern[str]:
    return re.compile(_WINDOWS_HOME)


# The files and folders that a text names.

_FILE = re.compile(
    r"(?<![\w/.-])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}\b|(?<![\w/.-])(?:[\w.@+-]+/)+[\w.@+-]+"
)


def named_in(text: str) -> list[str]:
    """Each once, in the order they come."""
    return list(dict.fromkeys(found for found in _FILE.findall(text) if len(found) > len("e.g")))
