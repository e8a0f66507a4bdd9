"""Paths without the person: a home folder becomes `~`, whichever system wrote it."""

from __future__ import annotations

import re
from functools import lru_cache

_PERSON = r"(?!(?:Shared|Public|linuxbrew)\b)\w(?:[\w.+-]{0,62}\w)?(?![\w-])"
_MARK_ENDS = "\u2039\u203a"
# By the part they share, which alone is searched in most texts; longer ones first.
_UNIX_HOMES = {
    "/home/": ("/var/home/", "/home/"),
    "/Users/": ("/mnt/c/Users/", "/c/Users/", "/Users/"),
    "/root": ("/root",),
}
_WINDOWS_HOME = (
    r"(?i):(?:\\{1,4}|/)Users(?:\\{1,4}|/)"
    rf"(?:[\w.+%-]{{1,32}}(?: [\w.+-]{{1,32}}){{0,2}}(?=[\\/])|{_PERSON})"
)
HOME_PROBE = r"/home/|/Users/|/root|(?i::(?:\\{1,4}|/)users)"
"""Where `tilde` may find something to shorten, for a search over many patterns at once."""
_DRIVE = r"(?<![A-Za-z0-9])[A-Za-z]"


def tilde(text: str) -> str:
    """`/home/alice/x` becomes `~/x`, wherever the system keeps its homes."""
    if "sers" in text and ":" in text:
        text = _shorten_windows_homes(text)
    for tail, homes in _UNIX_HOMES.items():
        if tail in text:
            for folder in homes:
                if folder in text:
                    text = _home(folder).sub("~", text)
    return text


def is_homeless(text: str) -> bool:
    """Whether `tilde` would leave it as it is; it errs on the other side only."""
    return "/home/" not in text and "sers" not in text and "/root" not in text


def base_name(path: str) -> str:
    """The last part of a path of any system."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


@lru_cache(maxsize=8)
def _home(folder: str) -> re.Pattern[str]:
    """A folder where a path begins; its literal start is what keeps the search fast."""
    plain = re.escape(folder)
    begins = (
        rf"{plain}(?:(?<![\w~/.)}}\]{_MARK_ENDS}-]{plain})|(?<=\\[nrt]{plain})"
        rf"|(?<=\s-[A-Za-z]{plain})|(?<=^-[A-Za-z]{plain})|(?<=file://{plain})|(?<=%3A{plain}))"
    )
    return re.compile(begins + (r"(?![\w.-])" if folder == "/root" else _PERSON))


def _shorten_windows_homes(text: str) -> str:
    pieces: list[str] = []
    done = 0
    drive_letter = re.compile(_DRIVE)
    # From the colon on, for a search that began with any letter would stop at each.
    for home in re.finditer(_WINDOWS_HOME, text):
        drive = home.start() - 1
        if drive >= done and drive_letter.match(text, drive):
            pieces += (text[done:drive], "~")
            done = home.end()
    return "".join(pieces) + text[done:] if pieces else text
