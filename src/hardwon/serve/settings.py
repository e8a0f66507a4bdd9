"""How a service is reached, and what it puts up with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from hardwon.errors import HardwonError

_VARIABLE = "HARDWON_SERVE_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PORT = 8765


class Settings(Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = PORT
    public: tuple[str, ...] = ()
    """Addresses that others use, such as `https://memory.example.org`; what stands there ends TLS."""
    largest_body: int = 1_000_000
    head_seconds: float = 10
    body_seconds: float = 10
    """A request must be there whole within this time."""
    rate: float = 50
    """Requests a second that one token may make on the average."""
    burst: int = 200
    readers: int = 4
    """How many requests read at the same time."""

    @property
    def local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def address(self) -> str:
        return f"http://{_bracketed(self.host)}:{self.port}"

    def origins(self) -> frozenset[str]:
        """The origins of pages that may call the service: its own; where others reach it, only by its public names."""
        own = [f"http://{_bracketed(name)}:{self.port}" for name in LOOPBACK] if self.local else []
        return frozenset((*own, *self.public))

    def hosts(self) -> frozenset[str]:
        """What may stand in a `Host` header; with another name, somebody's page may have led a browser here."""
        return frozenset(origin.partition("://")[2].lower() for origin in self.origins())


def limits(environment: Mapping[str, str]) -> dict[str, float]:
    """What is put up with, where a variable such as `HARDWON_SERVE_RATE` says otherwise."""
    found: dict[str, float] = {}
    for name in ("largest_body", "head_seconds", "body_seconds", "rate", "burst", "readers"):
        given = environment.get(_VARIABLE + name.upper())
        try:
            value = float(given) if given is not None else None
        except ValueError:
            value = -1.0
        if value is not None:
            if not 0 < value < math.inf:
                raise HardwonError(f"{_VARIABLE}{name.upper()} = {given} is not a valid number: use a number above 0")
            found[name] = int(value) if name in ("largest_body", "burst", "readers") else value
    return found


def public_address(text: str) -> str:
    """`https://name[:port]`, as a browser writes an origin."""
    parts = urlsplit(text.strip().rstrip("/"))
    plain = parts.hostname and not (parts.path or parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("http", "https") or not plain:
        raise HardwonError(f"--public {text} is not a valid address: write it as https://memory.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
