"""Read a file of JSON lines that may be damaged: every intact record is found, every loss located."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import UnionType
from typing import IO, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from hardwon.model.session import Damage, Record

# Structs from records of no known shape.

T = TypeVar("T")


def leniently(record: Record, struct: type[T]) -> T:
    """A struct with those fields of a record that fit it, and defaults for the others."""
    values = {}
    for field in _fields(struct):
        if field.encode_name in record:
            try:
                values[field.name] = _fitted(record[field.encode_name], field.type)
            except (msgspec.ValidationError, TypeError, ValueError, RecursionError):
                continue
    return struct(**values)


_known: dict[Any, tuple[msgspec.structs.FieldInfo, ...]] = {}


def _fields(struct: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    """A struct's fields; looking them up is slow."""
    if struct not in _known:
        _known[struct] = msgspec.structs.fields(struct)
    return _known[struct]


def _fitted(value: object, wanted: Any) -> object:
    """The value as the wanted type, with structs inside it built as leniently."""
    if wanted is Raw:
        return Raw(msgspec.json.encode(value))
    options = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    for option in options:
        if isinstance(option, type) and issubclass(option, Struct) and isinstance(value, dict):
            return leniently(value, option)
        if get_origin(option) is list and isinstance(value, list):
            (element,) = get_args(option)
            if isinstance(element, type) and issubclass(element, Struct):
                return [leniently(entry, element) for entry in value if isinstance(entry, dict)]
    return msgspec.convert(value, wanted)


MAX_LINE_BYTES = 64 * 1024 * 1024

_NULS = re.compile(rb"\x00+")
_RECORD_START = re.compile(rb'\{"')
_SURROGATES = re.compile(rb"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F][0-9a-fA-F]{2}", re.DOTALL)
_MAX_RECORD_STARTS_TRIED = 200
_MAX_GLUED_BYTES = 4 * 1024 * 1024

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)
_untyped = Decoder(dict[str, Any])
_decode = _untyped.decode


class Lines:
    """The records of a file; `damaged` is known when they have been taken."""

    def __init__(self, start: int = 0) -> None:
        self.damaged: list[Damage] = []
        self._start = self.offset = start
        """Where the first line begins that is not read yet: at the end, an unfinished one or none."""
        self._unfinished = b""

    def records(self, blocks: Iterator[bytes]) -> Iterator[Record]:
        """Of the bytes of a file, some megabytes at a time."""
        for batch in self._finished(blocks, _untyped, _as_it_is):
            yield from batch
        yield from self._one_by_one(self._unfinished, self.offset, _untyped, _as_it_is)

    def typed(self, blocks: Iterator[bytes], struct: type[T]) -> Iterator[T]:
        """Records as structs, decoded twice as fast; a field of a wrong type has its default."""
        for batch in self.finished(blocks, struct):
            yield from batch
        yield from self.unfinished(struct)

    def finished(self, blocks: Iterator[bytes], struct: type[T]) -> Iterator[list[T]]:
        """The records of all lines that have an end, many at a time."""
        return self._finished(blocks, _decoder(struct), partial(leniently, struct=struct))

    def unfinished(self, struct: type[T]) -> list[T]:
        """What can be read of a last line without an end."""
        if not self._unfinished:
            return []
        convert = partial(leniently, struct=struct)
        return list(self._one_by_one(self._unfinished, self.offset, _decoder(struct), convert))

    def _finished(
        self, blocks: Iterator[bytes], decoder: Decoder[T], convert: Callable[[Record], T]
    ) -> Iterator[list[T]]:
        """With never more in memory than a block and a line."""
        self.damaged, self.offset, rest = [], self._start, b""
        for block in blocks:
            content = rest + block if rest else block
            end = content.rfind(b"\n") + 1
            whole, rest = content[:end], content[end:]
            try:
                batch = decoder.decode_lines(whole)  # all at once, as long as nothing is wrong
            except _UNREADABLE:
                batch = list(self._one_by_one(whole, self.offset, decoder, convert))
            self.offset += end
            yield batch
            if len(rest) > MAX_LINE_BYTES:
                self.damaged.append(Damage(self.offset, f"line longer than {MAX_LINE_BYTES >> 20} MiB"))
                skipped, rest = _after_break(blocks, len(rest))
                self.offset += skipped
        self._unfinished = rest

    def _one_by_one(
        self, content: bytes, offset: int, decoder: Decoder[T], convert: Callable[[Record], T]
    ) -> Iterator[T]:
        for line in _lines(content):
            try:
                yield decoder.decode(line)
            except _UNREADABLE:
                yield from map(convert, self._salvaged(line, offset, ended=line.endswith(b"\n")))
            offset += len(line)

    def _salvaged(self, line: bytes, offset: int, *, ended: bool) -> list[Record]:
        """Of a damaged line, what is whole: beside NUL bytes, or glued behind a record cut short."""
        if not line.strip():
            return []
        mended, replaced = _mended(line)
        if mended is not None:
            if replaced:
                self.damaged.append(Damage(offset, "characters that are not Unicode were replaced"))
            return [mended]
        pieces = [piece for piece in _NULS.split(line) if piece.strip()]
        whole = [record for piece in pieces if (record := _mended(piece)[0] or _glued(piece)) is not None]
        if b"\x00" in line:
            reason = "NUL bytes"
        elif whole:
            reason = "a cut-off record before a whole one"
        else:
            reason = "not a JSON object" if ended else "last line cut off"
        self.damaged.append(Damage(offset, reason))
        return whole


_decoders: dict[type[Any], Decoder[Any]] = {}


def _decoder(struct: type[T]) -> Decoder[T]:
    if struct not in _decoders:
        _decoders[struct] = Decoder(struct)
    return _decoders[struct]


def decoded(line: bytes) -> Record | None:
    """The record that a line is, if it is whole."""
    try:
        return _decode(line)
    except _UNREADABLE:
        return None


def _lines(content: bytes) -> list[bytes]:
    """Lines with their breaks, at line feeds alone: bytes.splitlines would break at more."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _after_break(blocks: Iterator[bytes], skipped: int) -> tuple[int, bytes]:
    """How many bytes stand before the next line, and what is read of that line; none if the line has no end."""
    for block in blocks:
        at = block.find(b"\n")
        if at >= 0:
            return skipped + at + 1, block[at + 1 :]
        skipped += len(block)
    return 0, b""


def _as_it_is(record: Record) -> Record:
    return record


def _mended(piece: bytes) -> tuple[Record | None, bool]:
    """The record, and whether bad UTF-8 or lone surrogates had to be replaced; None if it is no JSON object."""
    text = mended(piece)
    try:
        return _decode(text), text != piece
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None, False


def mended(content: bytes) -> bytes:
    """JSON with what is not Unicode replaced, which no decoder takes: bad bytes, and escapes of lone surrogates."""
    text = content.decode("utf-8", "replace").encode()
    return _SURROGATES.sub(_keep_pairs, text) if b"\\u" in text else text


def _keep_pairs(found: re.Match[bytes]) -> bytes:
    whole = found.group()
    return b"\\ufffd" if len(whole) == 6 else whole


def _glued(piece: bytes) -> Record | None:
    """A whole record behind a cut-off one; told from a nested object by its envelope keys."""
    if len(piece) > _MAX_GLUED_BYTES:
        return None
    text = mended(piece)
    last_key = max(text.rfind(b'"type"'), text.rfind(b'"role"'))
    for tried, start in enumerate(_RECORD_START.finditer(text, 1)):
        if tried == _MAX_RECORD_STARTS_TRIED or start.start() > last_key:
            return None
        try:
            record = _decode(text[start.start() :])
        except (msgspec.DecodeError, RecursionError, ValueError):
            continue
        return record if "type" in record or "role" in record else None
    return None


# Text and objects out of records of no known shape.


def text_of(value: object) -> str:
    """The value if it is a string; else empty."""
    return value if isinstance(value, str) else ""


def joined(content: object) -> str:
    """Message content: a string, or a list of parts with text."""
    if isinstance(content, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return text_of(content)


def json_object(value: object) -> Record | None:
    """The object that a JSON string holds, or the object itself."""
    if isinstance(value, str | bytes):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return None
    return value if isinstance(value, dict) else None


# Transcripts that an agent has compressed to save space, opened like the others.


def is_compressed(path: str) -> bool:
    return path.endswith((".zst", ".zstd"))


def first_bytes(path: str, start: int, count: int) -> bytes:
    """Of a file that is not compressed, without the buffers that would cost a small one more than reading it."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if start:
            os.lseek(file, start, os.SEEK_SET)
        content = os.read(file, max(count, 0))
        while len(content) < count and (more := os.read(file, count - len(content))):
            content += more
        return content
    finally:
        os.close(file)


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A file's content, unpacked if it is compressed. Raises OSError when the compression is damaged."""
    if not is_compressed(path):
        with open(path, "rb") as file:
            yield file
        return
    zstd = _zstd()
    try:
        with zstd.open(path, "rb") as unpacked:
            yield cast(IO[bytes], unpacked)
    except (zstd.ZstdError, EOFError) as error:
        raise OSError(f"damaged compression: {error}") from error


def unpacked(content: object, limit: int) -> bytes | None:
    """Bytes that are compressed; None when they are damaged, or more than the limit."""
    zstd = _zstd()
    decompressor = zstd.ZstdDecompressor()
    try:
        found: bytes = decompressor.decompress(content, limit) if isinstance(content, bytes) else b""
    except (zstd.ZstdError, EOFError, ValueError):
        return None
    return found if decompressor.eof else None


def _zstd() -> Any:
    """Imported when there is something compressed: few have it."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd
