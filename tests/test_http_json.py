"""A request to an endpoint ends in time, within its size, at the address that was named; its key stays secret."""

from __future__ import annotations

import datetime
import ipaddress
import json
import logging
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hardwon import NoModel
from hardwon.http_json import RequestFailed, api_key, post_json

GOOD = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"a": "\xc3\xa9"}'
Talk = Callable[[socket.socket, threading.Event], None]


@contextmanager
def served(talk: Talk, tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server that answers with `talk`, and what it was sent."""
    sent: list[bytes] = []
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while not over.is_set():
                with suppress(OSError):
                    connection, _ = listening.accept()
                    with tls.wrap_socket(connection, server_side=True) if tls else connection as one:
                        data = b""
                        while not data.endswith(b"}") and (more := one.recv(65_536)):
                            data += more
                        if data:
                            sent.append(data)
                            talk(one, over)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{listening.getsockname()[1]}/v1", sent
        finally:
            over.set()
            socket.create_connection(listening.getsockname()).close()  # for `accept` to return
            thread.join()


def saying(data: bytes) -> Talk:
    return lambda one, _: one.sendall(data)


def drip(head: bytes) -> Talk:
    """After `head`, a byte now and then, for ever."""

    def talk(one: socket.socket, over: threading.Event) -> None:
        one.sendall(head)
        while not over.wait(0.02):
            one.sendall(b"x")

    return talk


def ask(address: str, seconds: float = 20, **headers: str) -> object:
    return post_json(address, {"text": "\ud800é"}, headers, seconds=seconds, max_bytes=100_000)


def test_what_is_asked_and_answered() -> None:
    with served(saying(GOOD)) as (address, sent):
        assert ask(address, Authorization="Bearer k") == {"a": "é"}
    head, _, body = sent[0].partition(b"\r\n\r\n")
    assert b"Authorization: Bearer k" in head
    assert json.loads(body) == {"text": "\ud800é"}


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 ",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n",
    ],
)
def test_a_server_that_answers_byte_by_byte_is_left(head: bytes) -> None:
    with served(drip(head)) as (address, _), pytest.raises(RequestFailed) as failed:
        ask(address, seconds=0.3)
    assert str(failed.value) == f"{address} did not answer in 0.3 seconds"
    assert failed.value.status == 0


def test_a_server_that_says_nothing_is_left() -> None:
    with served(lambda _, over: over.wait() and None) as (address, _), pytest.raises(RequestFailed, match=r"in 0\.3 s"):
        ask(address, seconds=0.3)


@pytest.mark.parametrize("length", [b"", b"Content-Length: 1000000000\r\n"])
def test_a_server_that_sends_for_ever_is_left(length: bytes) -> None:
    def talk(one: socket.socket, over: threading.Event) -> None:
        one.sendall(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n")
        while not over.is_set():
            one.sendall(b" " * 65_536)

    with served(talk) as (address, _), pytest.raises(RequestFailed, match="more than 100,000 bytes"):
        ask(address)


def test_what_is_packed_is_not_unpacked() -> None:
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00"
    with served(saying(packed)) as (address, sent), pytest.raises(ValueError, match=r"."):
        ask(address)
    assert b"Accept-Encoding: identity" in sent[0]


@pytest.mark.parametrize("text", [b"<html>", b"", b"[" * 90_000, b"9" * 5_000])
def test_what_is_not_json_is_said(text: bytes) -> None:
    answer = saying(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + text)
    with served(answer) as (address, _), pytest.raises(ValueError, match=r"."):
        ask(address)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_other_address_is_asked(status: int) -> None:
    with served(saying(GOOD)) as (other, asked):
        moved = f"HTTP/1.1 {status} Moved\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n".encode()
        with served(saying(moved)) as (address, _), pytest.raises(RequestFailed) as failed:
            ask(address, Authorization="Bearer k")
    assert (failed.value.status, asked) == (status, [])


def test_a_server_that_is_busy_says_for_how_long() -> None:
    busy = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
    with served(saying(busy)) as (address, _), pytest.raises(RequestFailed) as failed:
        ask(address)
    assert (failed.value.status, failed.value.retry_after) == (429, "7")


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/v1", "http://[bad/v1", "http:///v1", "http://a b/v1", "http://x:99999/v1"]
)
def test_an_address_that_cannot_be_reached_is_one_clear_line(address: str) -> None:
    with pytest.raises(RequestFailed, match=r"(cannot connect to|the request to) http:.*: ."):
        ask(address)


def test_a_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(saying(GOOD)) as (proxy, asked), served(saying(GOOD)) as (address, direct):
        monkeypatch.setenv("http_proxy", proxy.removeprefix("http://").removesuffix("/v1"))
        monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
        ask("http://model.example/v1")
        assert asked[0].startswith(b"POST http://model.example/v1 ")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        ask(address)
        assert (len(asked), len(direct)) == (1, 1)


def test_a_proxy_that_cannot_be_used_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "gopher://me:secret-1@proxy.example")
    with pytest.raises(RequestFailed, match="proxy") as failed:
        ask("http://model.example/v1")
    assert "secret-1" not in str(failed.value)


@pytest.mark.parametrize("key", ["sk-1\nX-Evil: 1", "sk-1é", "sk-\x001"])
def test_a_key_that_is_none_is_not_repeated(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"MODEL_KEY": key}
    monkeypatch.setattr("os.environ", environment)
    with pytest.raises(NoModel, match="MODEL_KEY contains") as failed:
        api_key("MODEL_KEY")
    assert "sk-" not in str(failed.value)
    environment["MODEL_KEY"] = " sk-1\n"
    assert api_key("MODEL_KEY") == "sk-1"


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(NoModel, match="user name or password") as failed:
        ask("http://me:secret-1@127.0.0.1:1/v1")
    assert "secret-1" not in str(failed.value)


def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with served(saying(GOOD)) as (address, _):
        ask(address, Authorization="Bearer sk-1")
    assert caplog.records
    assert "sk-1" not in caplog.text


def test_a_certificate_counts_if_this_machine_trusts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    file = certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    with served(saying(GOOD), tls) as (address, sent):
        with pytest.raises(RequestFailed, match="CERTIFICATE_VERIFY_FAILED"):
            ask(address)
        assert sent == []
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert ask(address) == {"a": "é"}
    slow = drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    with served(slow, tls) as (address, _), pytest.raises(RequestFailed, match=r"did not answer in 0\.5 seconds"):
        ask(address, seconds=0.5)


def certificate(folder: Path) -> Path:
    """A file with a key, and a certificate of 127.0.0.1 that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_without_httpx_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['httpx'] = None\n"
        "from hardwon.http_json import post_json\n"
        "post_json('http://127.0.0.1:1', {}, {}, seconds=1, max_bytes=1)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "NoModel: asking a model over HTTP needs httpx: `hardwon extras add client`" in done.stderr.splitlines()[-1]


def test_only_a_request_loads_httpx() -> None:
    program = (
        "import sys, hardwon.recall.embedder, hardwon.harvest.distil.asking\n"
        "print({'httpx', 'ssl', 'http.client', 'urllib.request'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
