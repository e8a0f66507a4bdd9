"""Hosts and pages of others: a browser must not be led here, nor used to write here."""

from __future__ import annotations

import json

import pytest

from tests.serve.attacks.sockets import head, raw, status
from tests.serve.service import Service

LESSON = {"text": "An attack.", "project": "reef"}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "0.0.0.0:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}@evil.example",
        "127.0.0.1.nip.io:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "",
    ],
)
def test_another_host_name_is_not_served(service: Service, host: str) -> None:
    port = service.host.rpartition(":")[2]
    assert status(raw(service, head(service, host=host.format(port=port)))) in (400, 421)


def test_two_host_headers_are_not_served(service: Service) -> None:
    assert status(raw(service, head(service, "Host: evil.example"))) in (400, 421)


def test_no_host_header_is_not_served(service: Service) -> None:
    assert status(raw(service, b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")) == 400
    assert status(raw(service, b"GET /health HTTP/1.0\r\n\r\n")) in (400, 421)


def test_an_absolute_address_does_not_stand_for_the_host(service: Service) -> None:
    answer = raw(service, head(service, path="http://evil.example/api/me", host="evil.example"))
    assert status(answer) in (400, 421)


# A page of another site.


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://", "http://localhost.evil.example"]
)
def test_pages_of_other_sites_are_not_served(service: Service, origin: str) -> None:
    answer = service.call("POST", "/api/lessons", LESSON, headers={"Origin": origin})
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_browser_says_comes_from_elsewhere_is_not_served(service: Service, site: str) -> None:
    assert service.call("GET", "/api/lessons", headers={"Sec-Fetch-Site": site}).status == 403
    assert service.call("POST", "/api/lessons", LESSON, headers={"Sec-Fetch-Site": site}).status == 403


def test_a_preflight_gets_no_leave(service: Service) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = service.call("OPTIONS", "/api/lessons", token="", headers=asked)
    assert answer.status == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"]
)
def test_a_form_cannot_write(service: Service, kind: str) -> None:
    body = json.dumps(LESSON).encode()
    assert service.call("POST", "/api/lessons", body, headers={"Content-Type": kind}).status == 415


def test_a_cookie_alone_cannot_write(service: Service) -> None:
    cookie = {"Cookie": f"hardwon={service.token}"}
    assert service.call("GET", "/api/me", token="", headers=cookie).status == 200
    assert service.call("POST", "/api/lessons", LESSON, token="", headers=cookie).status == 403
    own = {**cookie, "Origin": service.address}
    assert service.call("POST", "/api/lessons", LESSON, token="", headers=own).status == 201


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(service: Service) -> None:
    answer = service.call("GET", f"/login?token={service.token}", token="")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("query", ["token=hardwon_0_0", "token=", "", "token=a&token=b"])
def test_a_wrong_link_sets_no_cookie(service: Service, query: str) -> None:
    answer = service.call("GET", f"/login?{query}", token="")
    assert answer.status in (400, 401)
    assert "set-cookie" not in answer.headers


def test_login_leads_nowhere_else(service: Service) -> None:
    answer = service.call("GET", f"/login?token={service.token}&next=https://evil.example&url=//evil.example", token="")
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_cannot_log_somebody_in(service: Service, site: str) -> None:
    """A link there would put its owner's token into the visitor's browser."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    answer = service.call("GET", f"/login?token={service.token}", token="", headers=headers)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_guesses_at_the_login_are_slowed_down(service: Service) -> None:
    answers = [service.call("GET", f"/login?token=guess{number}", token="").status for number in range(80)]
    assert answers[0] == 401
    assert 429 in answers
