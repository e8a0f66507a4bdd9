"""The whole store as JSON lines: a header, then one row of one table a line, those that others refer to first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from hardwon.errors import HardwonError
from hardwon.exchange.rows import AT_ONCE, count
from hardwon.store import migrations
from hardwon.store.content import content_hash, whole_hash
from hardwon.store.database import Database, Row
from hardwon.store.schema import Table, copied

_TYPES: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (float, int)}


class Header(Struct, frozen=True, kw_only=True):
    """The first line."""

    hardwon: str = "dump"
    schema: int
    content: str
    """The content hash of the store."""
    whole: str
    """The hash of every row below."""
    rows: dict[str, int]


class Record(Struct, frozen=True):
    table: str
    row: dict[str, Any]


def write(db: Database, out: BinaryIO) -> Header:
    """All of it, as it is at one moment."""
    with db.snapshot():
        header = Header(
            schema=migrations.newest(),
            content=content_hash(db),
            whole=whole_hash(db),
            rows={table.name: count(db, table.name) for table in copied()},
        )
        encoder = msgspec.json.Encoder()
        out.write(encoder.encode(header) + b"\n")
        for table in copied():
            for rows in table.rows(db):
                records = [Record(table.name, dict(zip(table.columns, row, strict=True))) for row in rows]
                out.write(encoder.encode_lines(records))
    return header


def header(line: bytes) -> Header:
    try:
        found = msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HardwonError("the file is no dump of Hardwon: its first line is no header of one") from error
    if found.schema != migrations.newest():
        raise HardwonError(
            f"the dump is of schema {found.schema}, this Hardwon has {migrations.newest()}: load it with the version "
            "that wrote it, upgrade that store, and dump it again"
        )
    return found


def batches(lines: Iterable[bytes]) -> Iterator[tuple[Table, list[Row]]]:
    """The rows behind the header, some of one table at a time."""
    known = {table.name: table for table in copied()}
    decoder = msgspec.json.Decoder(Record)
    numbered = enumerate(lines, start=2)
    for name, records in groupby(_records(decoder, numbered), lambda entry: entry[1].table):
        if name not in known:
            raise HardwonError(f"line {next(records)[0]} of the dump is of an unknown table '{name}'")
        while some := list(islice(records, AT_ONCE)):
            yield known[name], [_row(known[name], number, record.row) for number, record in some]


def _records(
    decoder: msgspec.json.Decoder[Record], numbered: Iterable[tuple[int, bytes]]
) -> Iterator[tuple[int, Record]]:
    for number, line in numbered:
        if line.strip():
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise HardwonError(f"line {number} of the dump is damaged: {error}") from error


def _row(table: Table, number: int, values: dict[str, Any]) -> Row:
    if set(values) != set(table.columns):
        raise HardwonError(f"line {number} of the dump has not the columns of {table.name}")
    return tuple(_value(values[name], type, number) for name, type in zip(table.columns, table.types, strict=True))


def _value(value: Any, type: str, number: int) -> Any:
    if value is None:
        return None
    fits = isinstance(value, _TYPES[type]) and not isinstance(value, bool)
    if not fits:
        raise HardwonError(f"line {number} of the dump has a value that is no {type.lower()}")
    return float(value) if type == "REAL" else value
