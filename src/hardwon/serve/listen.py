"""`hardwon serve`: a server that waits for requests until it is stopped."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import uvicorn
from msgspec.structs import replace
from uvicorn.protocols.http.h11_impl import H11Protocol

from hardwon.api.access import make_first
from hardwon.errors import HardwonError
from hardwon.serve.app import application
from hardwon.serve.pool import Pool
from hardwon.serve.settings import Settings

_MAX_CONNECTIONS = 500


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which a request does not begin in time, or does not end its headers."""

    patience = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete:  # what came is no whole request yet
            self._watch()

    def _watch(self) -> None:
        self.loop.call_later(self.patience, self._look, self.cycle)

    def _look(self, last: object) -> None:
        if self.cycle is last and not self.transport.is_closing():
            self.transport.close()


class Server:
    """A service and the link that its owner gets in by, if there was no token yet."""

    def __init__(self, settings: Settings, home: Path | None = None) -> None:
        self._socket = _listening(settings)
        self.settings = replace(settings, port=self._socket.getsockname()[1])
        self._pool = Pool(home, settings.readers)
        try:
            self._app = application(self._pool, self.settings)
            self.token = self._prepare()
        except BaseException:
            self._close()
            raise

    def _prepare(self) -> str:
        with self._pool.writing() as memory:
            memory.writing()  # makes the store, or brings an old one up to date
            if self.settings.local:
                return make_first(memory)
            if not any(token.valid for token in memory.store.tokens()):
                raise HardwonError(
                    f"other machines can reach {self.settings.host}: first create a token for each user with "
                    "`hardwon token make`, and put a TLS proxy in front of it (docs/service.md)"
                )
        if not self.settings.public:
            raise HardwonError(
                f"listening on {self.settings.host} needs the public address, such as "
                "--public https://memory.example.org, where a TLS proxy runs (docs/service.md)"
            )
        return ""

    @property
    def link(self) -> str:
        return f"{self.settings.address}/login?token={self.token}" if self.token else ""

    def run(self) -> None:
        patience = self.settings.head_seconds
        protocol: Any = type("ImpatientProtocol", (ImpatientProtocol,), {"patience": patience})
        config = uvicorn.Config(
            self._app,
            http=protocol,
            ws="none",
            access_log=False,
            log_level="warning",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=5,
        )
        try:
            uvicorn.Server(config).run(sockets=[self._socket])
        finally:
            self._close()

    def _close(self) -> None:
        self._socket.close()
        self._pool.close()


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once only if it is said
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(_MAX_CONNECTIONS)
        return listening
    except OSError as error:
        listening.close()
        raise HardwonError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; name another with --port"
        ) from error
