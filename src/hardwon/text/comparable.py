"""The same words, however they are disguised: what a text says to whoever reads it, for comparing alone."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from html import unescape
from unicodedata import normalize

from hardwon.text.visible import clean

LOOK_ALIKES = str.maketrans(  # Cyrillic, Greek, small capitals
    "аеорсухіјѕԁԛԝһӏАВЕКМНОРСТХІЈЅҮԌαοριυνκτχηΑΒΕΖΗΙΚΜΝΟΡΤΥΧᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıſ",
    "aeopcyxijsdqwhlABEKMHOPCTXIJSYGaopiuvktxnABEZHIKMNOPTYXabcdefghijklmnoprstuvwyzis",
)
_TAG_LETTERS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
_MARKS = re.compile(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_BACKSLASH = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2}))")
_SPELLED = re.compile(r"(?<!\w)(?:\w[ .*_|-]){3,}\w(?!\w)")
_BETWEEN_LETTERS = re.compile(r"[ .*_|-]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}[ :]?){16,}")
_URL_SAFE = str.maketrans("-_", "+/")
_MIN_SHARE_OF_TEXT = 0.8
_COLOURS = re.compile(r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?")
_AS_LINES = dict.fromkeys((7, 11, 12, 13, 27, 133, 156, 157, 8232, 8233), "\n")
_COMMENT = re.compile(r"<!--([^<>]{0,2000})-->")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|(?<=\w)(?:\*{1,3}|~~)(?=\w)")


def comparable(text: str) -> str:
    """What a text says, without its disguise: case, look-alike letters, entities, escapes, letters set apart.

    Behind it stands what is encoded or hidden in it. In linear time, and nothing is cut off.
    """
    if not text.isascii():
        text = text.translate(_TAG_LETTERS)
    # What a terminal would not show, a title or a line drawn over, a model reads all the same.
    text = clean(_COLOURS.sub("", text).translate(_AS_LINES))
    if not text.isascii():
        # Pieces, since putting many marks in order is quadratic.
        text = _MARKS.sub("", re.sub(r"[^\x00-\x7f]{1,64}", _decomposed, text)).translate(LOOK_ALIKES)
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    if "%" in text:
        text = _PERCENT.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)
    if "\\" in text:
        text = _BACKSLASH.sub(_character, text)
    hidden = [found[1] for found in _COMMENT.finditer(text)] if "<!--" in text else []
    text = _MARKUP.sub("", _COMMENT.sub("", text))
    text = _SPELLED.sub(lambda found: _BETWEEN_LETTERS.sub("", found[0]), text)
    return "\n".join((text, *hidden, *_encoded(text))).casefold()


def _encoded(text: str) -> Iterator[str]:
    """The sentences that stand in it as base64 or in hexadecimal; what goes on in the next line is put together."""
    said, end = "", -1
    for found in _BASE64.finditer(text):
        piece = _decoded(found[0])
        if said and found.start() > end + 2:
            yield said
            said = ""
        said, end = said + piece, found.end()
    yield said
    for found in _HEX.finditer(text):
        yield _told(bytes.fromhex(re.sub("[ :]", "", found[0])))


def _decomposed(found: re.Match[str]) -> str:
    return normalize("NFKD", found[0])


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found[0]


def _decoded(found: str) -> str:
    body = found.rstrip("=").translate(_URL_SAFE)
    for start in range(4):  # something may stand before it
        wanted = body[start:]
        wanted = wanted[: len(wanted) - (len(wanted) % 4 == 1)]
        if said := _told(b64decode(wanted + "=" * (-len(wanted) % 4))):
            return said
    return ""


def _told(content: bytes) -> str:
    """Bytes as the sentence that they are; empty if they are none."""
    text = content.replace(b"\0", b"").decode("utf-8", "replace")
    letters = sum(sign.isalnum() or sign.isspace() for sign in text)
    return text if " " in text and letters >= _MIN_SHARE_OF_TEXT * len(text) else ""
