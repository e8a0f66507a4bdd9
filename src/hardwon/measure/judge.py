"""Are two errors the same? A small judge of its own, frozen, so that the ledger cannot grade itself.

It knows nothing of families and fingerprints: it takes the line that says most, masks what varies, and
compares. Changing it changes what every past replay meant: make a new version instead.
"""

from __future__ import annotations

import re

VERSION = 1

_LONGEST = 160
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_ENVELOPE = re.compile(r"(?i)^(?:error: )?(?:exit code:? -?\d+|process exited with code -?\d+|output:|wall time:.*)$")
_RAISED = re.compile(r"^(?:E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Interrupt)\b")
_TELLS = re.compile(
    r"(?i)\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|cannot|can't|could not|unable|denied|refused|rejected|"
    r"missing|not found|no such|not exist|undefined|unexpected|unknown|invalid|illegal|timed out|exceeds|"
    r"unrecognized)\b"
)
_MARK = re.compile(r"‹([a-z-]+)(?::[^›]*)?›")
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/~.]*[\w.@+-]+)?(?:[\\/][\w.@+ -]*?(?=[\\/])|[\\/][\w.@+-]+)+")
_HEX = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b")
_NUMBER = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")


def key(output: str) -> str:
    """What makes an error this error; empty when the output says nothing."""
    line = _telling(output)
    line = _MARK.sub(r"<\1>", line)
    line = _PATH.sub(_last_part, line).lower()
    return _SPACES.sub(" ", _NUMBER.sub("#", _HEX.sub("#", line))).strip()[:_LONGEST]


def _telling(output: str) -> str:
    """The last line that names what was raised, else the first that speaks of an error, else the first."""
    text = _ANSI.sub("", output)
    lines = [line for raw in text.splitlines() if (line := raw.strip()) and not _ENVELOPE.match(line)]
    raised = [line for line in lines if _RAISED.match(line)]
    if raised:
        return raised[-1]
    return next((line for line in lines if _TELLS.search(line)), lines[0] if lines else "")


def _last_part(found: re.Match[str]) -> str:
    return re.split(r"[\\/]", found[0].rstrip("\\/"))[-1]
