"""Where a page begins, as an opaque text; only what could have been a key of ours is taken for one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, TypeVar

import msgspec
from litestar.params import Parameter

from hardwon.model.nouns import Page
from hardwon.serve.problems import Refused
from hardwon.store.pages import Key

T = TypeVar("T")

Cursor = Annotated[str, Parameter(query="cursor", max_length=500, description="`next` of the page before.")]
Limit = Annotated[int, Parameter(query="limit", ge=1, le=200, description="Most items of a page.")]
_LARGEST = 2**63 - 1


def page(items: Sequence[T], keys: Sequence[Key], limit: int) -> Page[T]:
    """Rows that were asked for with one more than wanted, which tells whether there are more."""
    more = len(items) > limit
    return Page(list(items[:limit]), _written(keys[limit - 1]) if more else "")


def after(cursor: str, *types: type) -> Key | None:
    """The key that a cursor stands for, of columns of these types."""
    if not cursor:
        return None
    try:
        key = msgspec.json.decode(base64.urlsafe_b64decode(cursor.encode()), type=tuple[int | str, ...])
    except (binascii.Error, UnicodeError, msgspec.DecodeError, RecursionError, ValueError):
        raise _unknown() from None
    fits = len(key) == len(types) and all(type(part) is wanted for part, wanted in zip(key, types, strict=True))
    if not fits or any(isinstance(part, int) and abs(part) > _LARGEST for part in key):
        raise _unknown()
    if any(isinstance(part, str) and "\0" in part for part in key):
        raise _unknown()
    return key


def _written(key: Key) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode()


def _unknown() -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, "invalid cursor: pass `next` of the previous page unchanged")
