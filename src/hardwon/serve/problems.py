"""What went wrong, as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, NotFoundException, ValidationException
from msgspec import Struct

from hardwon.errors import HardwonError, NotAllowed, NotFound, StoreError
from hardwon.serve.pool import Busy, KeyUsedBefore

MEDIA_TYPE = "application/problem+json"
log = logging.getLogger("hardwon.serve")


class Problem(Struct, frozen=True):
    title: str
    status: int
    detail: str
    type: str = "about:blank"


class Refused(HardwonError):
    """A request that is not served, with the status that says why."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def problem(status: int, detail: str) -> Problem:
    return Problem(HTTPStatus(status).phrase, status, detail)


def encoded(status: int, detail: str) -> bytes:
    return msgspec.json.encode(problem(status, detail))


def answer(status: int, detail: str, headers: dict[str, str] | None = None) -> Response[Problem]:
    return Response(problem(status, detail), status_code=status, media_type=MEDIA_TYPE, headers=headers)


def of_framework(_: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """Unknown paths, wrong methods, parameters and bodies that do not fit."""
    detail = str(error.detail)
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        told = [f"{each.get('key', '')}: {each.get('message', '')}".strip(": ") for each in error.extra]
        detail = "; ".join(told) or detail
    if isinstance(error, NotFoundException):
        detail = "no such path: /schema lists the API"
    headers = {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
    return answer(error.status_code, detail, headers)


def of_ours(_: Request[Any, Any, Any], error: HardwonError) -> Response[Problem]:
    if isinstance(error, Refused):
        return answer(error.status, str(error))
    if isinstance(error, NotFound):
        return answer(HTTPStatus.NOT_FOUND, str(error))
    if isinstance(error, KeyUsedBefore):
        return answer(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    if isinstance(error, Busy):
        return answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error), {"Retry-After": "1"})
    if isinstance(error, StoreError):  # its words name places on this machine
        log.error("the store: %s", error)
        return answer(HTTPStatus.SERVICE_UNAVAILABLE, "the store is unavailable: try again later", {"Retry-After": "5"})
    if isinstance(error, NotAllowed):
        return answer(HTTPStatus.CONFLICT, str(error))
    log.error("%s", error)
    return answer(HTTPStatus.CONFLICT, str(error))


def of_depth(_: Request[Any, Any, Any], __: RecursionError) -> Response[Problem]:
    return answer(HTTPStatus.BAD_REQUEST, "the JSON body is nested too deeply")


def of_unexpected(_: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    log.exception("unexpected", exc_info=error)
    return answer(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error: see the log of the service")
