"""Build a struct from a record of no known shape: a field that does not fit has its default."""

from __future__ import annotations

from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

from hardwon.model.session import Record

T = TypeVar("T")


def leniently(record: Record, struct: type[T]) -> T:
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
