"""What a terminal would have left on the screen: no escapes, no redrawn progress, no controls."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC: titles, hyperlinks
    r"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"  # DCS, SOS, PM, APC
    r"|[\x1b\x9b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI and short escapes
)
_REDRAWN = re.compile(r"^[^\n]*\r(?!\n|$)", re.MULTILINE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SUSPICIOUS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    if not _SUSPICIOUS.search(text):
        return text
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = _REDRAWN.sub("", text)
    return _CONTROLS.sub("", text)
