"""A file and the ways a format may read it: as JSON lines, as one JSON document, as text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from oldhand.model.session import Damage, Record
from oldhand.sessions.compressed import opened
from oldhand.sessions.lines import Lines, mended_surrogates

HEAD_BYTES = 32 * 1024
_HEAD_RECORDS = 8
_FIRST_READ = 256 * 1024
_BLOCK = 4 * 1024 * 1024
_LARGEST_DOCUMENT = 512 * 1024 * 1024

T = TypeVar("T")


class Source:
    """What a format is given. Nothing here raises for bad content: what is lost is in `damaged`."""

    def __init__(self, path: Path, *, head_only: bool = False) -> None:
        self.path = path
        self.stem = path.name.split(".")[0]
        self._head_only = head_only
        self._lines = Lines()

    @cached_property
    def head(self) -> list[Record]:
        """The first records, if the file is one of JSON lines."""
        lines = self._first[:HEAD_BYTES].split(b"\n", _HEAD_RECORDS)
        if len(lines) == 1:  # a first line longer than that
            lines = self._first.split(b"\n", 1)
        return list(Lines().records(iter((b"\n".join(lines[:-1]) or lines[0],))))

    def records(self) -> Iterator[Record]:
        """Every record of a file of JSON lines."""
        return self._lines.records(self._blocks())

    def typed(self, struct: type[T]) -> Iterator[T]:
        """Every record as a struct, which is read faster; a field of a wrong type has its default."""
        return self._lines.typed(self._blocks(), struct)

    @property
    def damaged(self) -> list[Damage]:
        """What was lost while the records were taken."""
        return self._lines.damaged

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins as JSON does, lines or a document."""
        return self._first[:1024].lstrip(b"\xef\xbb\xbf \t\r\n\x00")[:1] in (b"{", b"[")

    @cached_property
    def beginning(self) -> str:
        """The first 32 KiB as text."""
        return self._first[:HEAD_BYTES].decode("utf-8", "replace")

    @cached_property
    def document(self) -> object:
        """The whole file as one JSON value; None when it is not one."""
        if self._is_lines or self._size() > _LARGEST_DOCUMENT:
            return None  # reading all of many records to find out that they are no single value is slow
        if self.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
            return None
        try:
            return msgspec.json.decode(mended_surrogates(self.text.encode()))
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None

    @cached_property
    def text(self) -> str:
        with opened(self.path) as file:
            return file.read(_LARGEST_DOCUMENT).decode("utf-8-sig", "replace")

    @cached_property
    def _first(self) -> bytes:
        """The first block, which is all of most files: read once for recognising and reading."""
        with opened(self.path) as file:
            first = file.read(HEAD_BYTES if self._head_only else _FIRST_READ)
            if len(first) == _FIRST_READ:  # a buffer of a whole block would cost more than a small file
                first += file.read(_BLOCK - _FIRST_READ)
            if self._head_only and b"\n" not in first:
                first += file.readline(_BLOCK)
            return first

    @property
    def _is_lines(self) -> bool:
        """Whether the first line is a record by itself, with more behind it."""
        line, _, more = self._first.partition(b"\n")
        return bool(self.head) and line.rstrip().endswith(b"}") and bool(more[:1024].strip())

    def _blocks(self) -> Iterator[bytes]:
        first = self._first
        if self._head_only:
            # Without the last line, which is cut off only here.
            yield first[: first.rfind(b"\n") + 1] or first
            return
        yield first
        if len(first) == _BLOCK:
            with opened(self.path) as file:
                file.read(_BLOCK)
                while block := file.read(_BLOCK):
                    yield block

    def _size(self) -> int:
        return self.path.stat().st_size
