"""A file and the ways a format may read it: as JSON lines, as one JSON document, as text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec

from oldhand.model.session import Damage, Record
from oldhand.sessions.lines import HEAD_BYTES, Lines

_HEAD_RECORDS = 12
_LARGEST_DOCUMENT = 512 * 1024 * 1024

T = TypeVar("T")


class Source:
    """What a format is given. Nothing here raises for bad content: what is lost is in `damaged`."""

    def __init__(self, path: Path, *, head_only: bool = False) -> None:
        self.path = path
        self.stem = path.name.split(".")[0]
        self._lines = Lines(path, head_only=head_only)

    @cached_property
    def head(self) -> list[Record]:
        """The first records, if the file is one of JSON lines."""
        return list(islice(Lines(self.path, head_only=True).records(), _HEAD_RECORDS))

    def records(self) -> Iterator[Record]:
        """Every record of a file of JSON lines."""
        return self._lines.records()

    def typed(self, struct: type[T]) -> Iterator[T]:
        """Every record as a struct, which is read faster; a field of a wrong type has its default."""
        return self._lines.typed(struct)

    @property
    def damaged(self) -> list[Damage]:
        """What was lost while the records were taken."""
        return self._lines.damaged

    @cached_property
    def beginning(self) -> str:
        """The first 32 KiB as text."""
        with self.path.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", "replace")

    @cached_property
    def document(self) -> object:
        """The whole file as one JSON value; None when it is not one."""
        if self.beginning.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[") or self._size() > _LARGEST_DOCUMENT:
            return None
        try:
            return msgspec.json.decode(self.text.encode())
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None

    @cached_property
    def text(self) -> str:
        return self.path.read_bytes().decode("utf-8-sig", "replace")

    def _size(self) -> int:
        return self.path.stat().st_size
