"""Bytes that no client would send."""

from __future__ import annotations

import socket
from contextlib import suppress

from tests.serve.service import Service


def raw(service: Service, sent: bytes, *, wait: float = 20) -> bytes:
    """What comes back for bytes that no client would send."""
    host, _, port = service.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=wait) as connection:
        answer = b""
        with suppress(ConnectionError):  # it hung up before all was said
            connection.sendall(sent)
            while data := connection.recv(65536):
                answer += data
        return answer


def head(service: Service, *lines: str, path: str = "/api/me", method: str = "GET", host: str | None = None) -> bytes:
    first = [f"{method} {path} HTTP/1.1", f"Host: {service.host if host is None else host}"]
    return "\r\n".join([*first, f"Authorization: Bearer {service.token}", "Connection: close", *lines, "", ""]).encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0
