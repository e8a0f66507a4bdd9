"""Too much, too slow, too deep, too often."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

import pytest

from tests.serve.attacks.sockets import head, raw, status
from tests.serve.service import Service, environment, served


def test_a_body_that_says_it_is_too_large_is_not_read(service: Service) -> None:
    answer = raw(service, head(service, "Content-Type: application/json", "Content-Length: 99999999999",
                               path="/api/lessons", method="POST"))  # fmt: skip
    assert status(answer) == 413


def test_a_body_that_grows_too_large_is_cut_off(service: Service) -> None:
    lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    answer = raw(service, head(service, *lines, path="/api/lessons", method="POST") + chunk * 20)
    assert status(answer) in (0, 413)


def test_a_body_that_does_not_come_is_not_waited_for(service: Service) -> None:
    lines = ("Content-Type: application/json", "Content-Length: 100")
    answer = raw(service, head(service, *lines, path="/api/lessons", method="POST") + b'{"text":')
    assert status(answer) == 408


def test_a_request_that_does_not_begin_is_not_waited_for(service: Service) -> None:
    assert raw(service, b"GET /health HTTP/1.1\r\nHost: ") == b""


def test_a_second_request_that_does_not_end_its_headers_is_not_waited_for(service: Service) -> None:
    host, _, port = service.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: {service.host}\r\n\r\n".encode())
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        rest = b""
        while data := connection.recv(65536):
            rest += data
        assert b"HTTP/1.1" not in rest


def test_a_length_that_is_none_is_refused(service: Service) -> None:
    for length in ("-1", "1e3", "0x10"):
        lines = ("Content-Type: application/json", f"Content-Length: {length}")
        assert status(raw(service, head(service, *lines, path="/api/lessons", method="POST"))) == 400


def test_a_request_with_two_lengths_is_refused(service: Service) -> None:
    lines = ("Content-Type: application/json", "Content-Length: 2", "Transfer-Encoding: chunked")
    answer = raw(
        service, head(service, *lines, path="/api/lessons", method="POST") + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\n"
    )
    assert status(answer) >= 400


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"text":' * 50_000, b'{"text": "' + b"a" * 3000 + b'"}', b"{", b"",
                                  b"\xff\xfe", b'{"text": "\\ud800"}', b'{"text": "a\\u0000b"}', b'"x"', b"null",
                                  b'{"text": 5}', b'{"text": "x", "confidence": 1e999}'])  # fmt: skip
def test_a_body_that_is_no_lesson_is_refused(service: Service, body: bytes) -> None:
    assert service.call("POST", "/api/lessons", body).status == 400


def test_a_packed_body_is_refused(service: Service) -> None:
    assert service.call("POST", "/api/lessons", b"\x1f\x8b", headers={"Content-Encoding": "gzip"}).status == 415


def test_headers_without_end_are_refused(service: Service) -> None:
    assert status(raw(service, head(service, "X-Long: " + "a" * 200_000))) in (0, 400)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "99999999999999999999999", "1e9", "' OR 1=1"])
def test_a_page_cannot_be_endless(service: Service, limit: str) -> None:
    assert service.call("GET", "/api/lessons", limit=limit).status == 400


@pytest.mark.parametrize("cursor", ["WzFd", "WyJ4Il0=", "bnVsbA==", "%00", "W1tbW1tbW1tbXV1d", "WzFlOTk5LCAieCJd"])
def test_a_made_up_cursor_is_refused(service: Service, cursor: str) -> None:
    assert service.call("GET", "/api/lessons", cursor=cursor).status == 400


def test_too_many_wrong_tokens_are_slowed_down_and_the_right_one_is_not(service: Service) -> None:
    connection = http.client.HTTPConnection(service.host, timeout=10)
    seen = set()
    for _ in range(120):
        connection.request("GET", "/api/me", headers={"Authorization": "Bearer hardwon_a_b"})
        answer = connection.getresponse()
        answer.read()
        seen.add(answer.status)
    connection.close()
    assert seen == {401, 429}
    assert service.call("GET", "/api/me").status == 200


def test_too_many_requests_are_slowed_down(tmp_path: Path) -> None:
    few = {**environment(tmp_path / "hardwon", Path()), "HARDWON_SERVE_RATE": "0.1", "HARDWON_SERVE_BURST": "3"}
    with served(few) as service:
        answers = [service.call("GET", "/api/me") for _ in range(5)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        other = service.make_token("patient", "read")
        assert service.call("GET", "/api/me", token=other).status == 200
