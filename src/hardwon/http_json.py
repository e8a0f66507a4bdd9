"""One JSON request to an endpoint that the settings name: bounded in time and size, and sent nowhere else."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from hardwon.errors import NoModel

_MAX_CONNECT_SECONDS = 10.0


class RequestFailed(Exception):
    """No usable answer; `status` is 0 where there was none at all, or it came too slowly, or was too large."""

    def __init__(self, why: str, status: int = 0, retry_after: str = "") -> None:
        super().__init__(why)
        self.status, self.retry_after = status, retry_after


def api_key(variable: str) -> str:
    """The key in an environment variable, or "". Raises NoModel, without the key in its message."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise NoModel(f"{variable} contains characters that an API key cannot have, such as a line break")
    return key


def post_json(address: str, body: Any, headers: dict[str, str], *, seconds: float, max_bytes: int) -> Any:
    """The decoded answer. Raises RequestFailed, ValueError if it is not JSON, NoModel if it cannot be asked at all."""
    try:
        import httpx  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise NoModel("asking a model over HTTP needs httpx: `hardwon extras add client`") from None
    from ssl import create_default_context  # noqa: PLC0415 - slow to load, like httpx

    sent = {"Content-Type": "application/json", "Accept-Encoding": "identity", **headers}
    limits = httpx.Timeout(2 * seconds, connect=_MAX_CONNECT_SECONDS)  # the deadline comes first
    answer = bytearray()
    try:
        if "@" in urlsplit(address).netloc:
            raise NoModel("a URL with a user name or password in it is not used: give the key by its variable")
        # The certificates that this machine trusts, as ever, not those that come with httpx.
        verify = create_default_context() if address.startswith("https:") else False
        with (
            _deadline(address, seconds) as watch,
            httpx.Client(verify=verify, proxy=_proxy(address), trust_env=False, timeout=limits) as client,
            client.stream(
                "POST", address, content=json.dumps(body), headers=sent, extensions={"trace": watch}
            ) as response,
        ):
            if not response.is_success:
                status, retry_after = response.status_code, response.headers.get("Retry-After", "")
                raise RequestFailed(f"{address} answered with HTTP {status}", status, retry_after)
            for part in response.iter_raw():
                answer += part
                if len(answer) > max_bytes:
                    raise RequestFailed(f"{address} sent an answer of more than {max_bytes:,} bytes")
    except (httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError) as error:
        unreachable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        what = f"cannot connect to {address}" if unreachable else f"the request to {address} failed"
        raise RequestFailed(f"{what}: {error!s:.200}") from error
    try:
        return json.loads(answer)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _proxy(address: str) -> str | None:
    """What http_proxy, https_proxy and no_proxy say, in upper case or lower."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - slow to load, like httpx

    parts = urlsplit(address)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


@contextmanager
def _deadline(address: str, seconds: float) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Ends a request when its time is over: httpx bounds each read alone, and a server may send byte by byte."""
    sockets: list[socket.socket] = []
    passed = threading.Event()

    def end() -> None:
        passed.set()
        for each in sockets:
            with suppress(OSError):  # closed already
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # SSLSocket's own is not made for two threads

    def watch(event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            sockets.append(info["return_value"].get_extra_info("socket"))
            if passed.is_set():
                end()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()
        if passed.is_set():
            raise RequestFailed(f"{address} did not answer in {seconds:g} seconds")
