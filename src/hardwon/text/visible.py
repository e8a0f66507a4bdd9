"""Takes out of a text what a terminal, an editor or a model would read but a person cannot see."""

from __future__ import annotations

import re

_INVISIBLE = (
    "\u00ad\u034f\u180e"  # soft hyphen, grapheme joiner, Mongolian vowel separator
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction controls
    "\u200b\u200c\u2060-\u2065\ufeff"  # zero width, word joiner, byte order mark
    "\ufff9-\ufffb"  # annotation anchors
    "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters that are blank
    "\U000e0000-\U000e0fff"  # tags and extra variation selectors: a text hidden in a text
)
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # all but tab, newline and carriage return
_JOINER = "\u200d"
_SURROGATES = "\ud800-\udfff"

# A selector chooses how the emoji before it looks; behind ASCII, but for a key's cap, it only splits tokens.
_SELECTOR_BESIDE_ASCII = "[!-~][\ufe00-\ufe0f]"
_STRAY_SELECTOR = "(?<=[!-~])[\ufe00-\ufe0f]++(?!\u20e3)"

_SUSPECT = re.compile(f"[{_CONTROLS}\r{_INVISIBLE}{_JOINER}{_SURROGATES}]")
_SUSPECT_OR_SELECTOR = re.compile(f"[{_CONTROLS}\r{_INVISIBLE}{_JOINER}{_SURROGATES}\ufe00-\ufe0f]")
HIDDEN_PROBE = "".join(
    sign if sign in "[-]|!~" else f"\\x{{{ord(sign):x}}}"
    for sign in f"[{_CONTROLS}\r{_INVISIBLE}{_JOINER}]|{_SELECTOR_BESIDE_ASCII}"
)
"""Where `clean` may find something to take out, for a search over many patterns at once."""
_UNSEEN = re.compile(f"[{_CONTROLS}{_INVISIBLE}{_SURROGATES}]")
_ASCII_UNSEEN = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])

_ESCAPE = (
    r"\x1b(?:[\]PX^_][^\x07\x1b\x9c]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\[[0-?]*+[ -/]*+[@-~]?"
    r"|[ -/][0-~]|[]=>78cDEHMZ<])?"  # other letters are left, lest a secret lose its first one
)
_ONE_BYTE_ESCAPE = r"[\x90-\x9f]"
_ESCAPE_IN_ONE_BYTE = r"[\x90\x98\x9d-\x9f][^\x07\x1b\x90-\x9f]{0,4096}+(?:\x07|\x1b\\|\x9c)|\x9b[0-?]*+[ -/]*+[@-~]?"

# A joiner belongs inside an emoji or a word of another script; beside ASCII it only splits tokens.
_STRAY_JOINER = r"(?<!\u200d)(?:(?<![^\x00-\x7f])\u200d++|\u200d++(?![^\x00-\x7f]))"


def clean(text: str) -> str:
    """Text without escape sequences, control, direction, zero-width and tag characters."""
    if not text.isascii() and is_plain(text):
        return text
    if "\x1b" in text:
        text = re.sub(_ESCAPE, "", text)
    text = _drop_unseen(text)
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_redraw(line) for line in text.split("\n"))
    return re.sub(_STRAY_JOINER, "", text) if _JOINER in text else text


def is_plain(text: str) -> bool:
    """Whether `clean` would leave it as it is, or nearly always so: it errs on the other side only."""
    if text.isascii():
        # Deleting bytes and comparing lengths is ten times faster than a regex search.
        seen = text.encode("ascii").translate(None, _ASCII_UNSEEN)
        return len(seen) == len(text) and "\r" not in text
    if re.search(_SUSPECT_OR_SELECTOR, text) is None:
        return True
    return re.search(_SUSPECT, text) is None and re.search(_SELECTOR_BESIDE_ASCII, text) is None


def _drop_unseen(text: str) -> str:
    if text.isascii():
        seen = text.encode("ascii").translate(None, _ASCII_UNSEEN)
        return text if len(seen) == len(text) else seen.decode("ascii")
    if re.search(_ONE_BYTE_ESCAPE, text):
        text = re.sub(_ESCAPE_IN_ONE_BYTE, "", text)
    return re.sub(_STRAY_SELECTOR, "", re.sub(_UNSEEN, _replacement, text))


def _replacement(unseen: re.Match[str]) -> str:
    return "\ufffd" if "\ud800" <= unseen[0] <= "\udfff" else ""


def _last_redraw(line: str) -> str:
    """What a terminal shows of a line that a progress bar drew over itself."""
    return line.rstrip("\r").rpartition("\r")[2]
