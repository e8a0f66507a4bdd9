"""Requests to a service over one kept connection; the standard library is all it takes."""

from __future__ import annotations

import http.client
import threading
import time
import uuid
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from hardwon.errors import BadConfig, HardwonError, NotAllowed, NotFound, StoreError
from hardwon.model.wire import Page

T = TypeVar("T")

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_SECONDS = 60
_TRIES = 3
_LONGEST_WAIT = 5
_CHUNK = 256 * 1024
_PAGE = 200


class Client:
    """Speaks to one service. A change that must be sent again is done once."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadConfig(f"'{url}' is no address of a service: write it as https://memory.example.org")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise BadConfig(f"'{url}' would send the token for all to read: use https://")
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._place = f"{parts.scheme}://{parts.netloc}"
        self._connection = make(parts.hostname, parts.port, timeout=_SECONDS)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._lock = threading.Lock()

    def close(self) -> None:
        self._connection.close()

    def get(self, type: type[T], *path: object, **query: Any) -> T:
        return self._decoded(type, self._asked("GET", _address(path, query), None, {}))

    def send(self, method: str, type: type[T], body: dict[str, Any], *path: object) -> T:
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        return self._decoded(type, self._asked(method, _address(path, {}), msgspec.json.encode(body), headers))

    def delete(self, *path: object) -> None:
        self._asked("DELETE", _address(path, {}), None, {"Idempotency-Key": uuid.uuid4().hex})

    def pages(self, page: type[Page[T]], *path: object, **query: Any) -> Iterator[T]:
        """Every item of a list, fetched as it is needed."""
        cursor = ""
        while True:
            found = self.get(page, *path, **{**query, "limit": _PAGE, "cursor": cursor})
            yield from found.items
            cursor = found.next
            if not cursor:
                return

    def copy(self, out: BinaryIO, *path: object) -> None:
        """An answer of any size into a file."""
        with self._lock:
            answer = self._answer("GET", _address(path, {}), None, {})
            while data := answer.read(_CHUNK):
                out.write(data)

    def _asked(self, method: str, address: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        with self._lock:
            return self._answer(method, address, body, headers).read()

    def _answer(
        self, method: str, address: str, body: bytes | None, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        for tries in range(1, _TRIES + 1):
            try:
                self._connection.request(method, address, body, {**self._headers, **headers})
                answer = self._connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if tries == _TRIES:
                    raise HardwonError(f"cannot reach {self._place}: {error}; is `hardwon serve` running?") from error
                continue
            if answer.status < 400:
                return answer
            said = answer.read()
            if answer.status != HTTPStatus.TOO_MANY_REQUESTS or tries == _TRIES:
                raise _error(answer.status, said)
            time.sleep(min(_LONGEST_WAIT, float(answer.headers.get("Retry-After", 1))))
        raise AssertionError("the last try returns or raises")

    def _decoded(self, type: type[T], body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=type)
        except msgspec.DecodeError as error:
            raise HardwonError(f"{self._place} answers what this version does not understand: {error}") from error


def _address(path: tuple[object, ...], query: dict[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None and value != ""}
    place = "/" + "/".join(quote(str(part), safe="") for part in path)
    return f"{place}?{urlencode(given, doseq=True)}" if given else place


def _error(status: int, body: bytes) -> HardwonError:
    try:
        detail = str(msgspec.json.decode(body, type=dict[str, Any]).get("detail", ""))
    except msgspec.DecodeError:
        detail = HTTPStatus(status).phrase
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(detail)
    return StoreError(detail) if status >= HTTPStatus.INTERNAL_SERVER_ERROR else NotAllowed(detail)
