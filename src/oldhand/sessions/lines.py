"""Read a file of JSON lines that may be damaged: every intact record is found, every loss located."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

import msgspec

from oldhand.model.session import Damage, Record

LONGEST_LINE = 64 * 1024 * 1024
HEAD_BYTES = 32 * 1024

_decode = msgspec.json.Decoder().decode
_NULS = re.compile(rb"\x00+")
_RECORD_START = re.compile(rb'\{"')
_SURROGATES = re.compile(rb"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F][0-9a-fA-F]{2}", re.DOTALL)
_MOST_STARTS = 200
_LONGEST_GLUED = 4 * 1024 * 1024


class Lines:
    """Iterates over the records of a file; `damaged` is known afterwards."""

    def __init__(self, path: Path, *, head_only: bool = False) -> None:
        self.path = path
        self.damaged: list[Damage] = []
        self.bytes_read = 0
        self._head_only = head_only

    def __iter__(self) -> Iterator[Record]:
        with self.path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                offset = self.bytes_read
                self.bytes_read += len(line)
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    self._skip_rest_of_line(file)
                    self.damaged.append(Damage(offset, "line longer than 64 MiB"))
                else:
                    yield from self._records(line, offset)
                if self._head_only and self.bytes_read >= HEAD_BYTES:
                    return

    def _skip_rest_of_line(self, file: BufferedReader) -> None:
        while chunk := file.readline(LONGEST_LINE):
            self.bytes_read += len(chunk)
            if chunk.endswith(b"\n"):
                return

    def _records(self, line: bytes, offset: int) -> Iterator[Record]:
        try:
            record = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            if line.strip():
                yield from self._salvage(line, offset)
            return
        if isinstance(record, dict):
            yield record
        else:
            self.damaged.append(Damage(offset, "not a JSON object"))

    def _salvage(self, line: bytes, offset: int) -> Iterator[Record]:
        """Of a damaged line, keep what is whole: beside NUL bytes, or glued behind a record cut short."""
        if (whole_line := _mended(line)) is not None:
            self.damaged.append(Damage(offset, "characters that are not Unicode were replaced"))
            yield whole_line
            return
        pieces = [piece for piece in _NULS.split(line) if piece.strip()]
        whole = [record for piece in pieces if (record := _mended(piece) or _glued(piece)) is not None]
        if b"\x00" in line:
            reason = "NUL bytes"
        elif whole:
            reason = "a cut-off record before a whole one"
        elif not line.endswith(b"\n"):
            reason = "last line cut off"
        else:
            reason = "not JSON"
        self.damaged.append(Damage(offset, reason))
        yield from whole


def _mended(piece: bytes) -> Record | None:
    """Decode with bad UTF-8 and lone surrogates replaced; None when the JSON itself is broken."""
    text = piece.decode("utf-8", "replace").encode()
    try:
        record = _decode(_SURROGATES.sub(_keep_pairs, text))
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _keep_pairs(found: re.Match[bytes]) -> bytes:
    whole = found.group()
    return b"\\ufffd" if len(whole) == 6 else whole


def _glued(piece: bytes) -> Record | None:
    """A whole record behind a cut-off one; told from a nested object by its envelope keys."""
    if len(piece) > _LONGEST_GLUED:
        return None
    for tried, start in enumerate(_RECORD_START.finditer(piece, 1)):
        if tried == _MOST_STARTS:
            return None
        record = _mended(piece[start.start() :])
        if record is not None:
            return record if "type" in record or "role" in record else None
    return None
