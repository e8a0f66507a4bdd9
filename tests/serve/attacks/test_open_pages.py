"""The pages of `hardwon open`: forms of others, logins of others, texts that want to run."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest

from tests.serve.payloads import HIDDEN, PAYLOADS
from tests.serve.service import Service
from tests.serve.test_pages import Visitor

UNHURRIED = {"HARDWON_SERVE_RATE": "10000", "HARDWON_SERVE_BURST": "10000"}
"""Of the service: these ask more in a second than it allows."""
FORMS = (
    *("/review/all", "/review/undo", "/review/settle", "/logout", "/settings/revoke", "/lessons/new", "/proof/replay"),
    "/projects/reef/rename",
)
ELSEWHERE = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Content-Type": "text/plain"},
    {"Content-Type": "multipart/form-data; boundary=x"},
)
ASKED = (("/lessons", "q"), ("/failures", "q"), ("/sessions", "q"), ("/briefing", "task"), ("/review", "rule"))
_OURS = '<script type="module" src="/assets/page.js">'


class _Runs(HTMLParser):
    """What of a page a browser would run, as it reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        runs = [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "").lower()[:40]]
        asked = [name for name in runs if name not in ("value", "title")]
        if asked or tag in ("style", "iframe", "object", "embed"):
            self.found.append(str(self.get_starttag_text()))


@pytest.fixture
def owner(service: Service) -> Visitor:
    return Visitor(service, service.token)


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
@pytest.mark.parametrize("path", FORMS)
def test_a_form_on_another_page_changes_nothing(owner: Visitor, path: str, headers: dict[str, str]) -> None:
    answer = owner.post(path, headers, csrf=owner.sign, decision="promote", rule="remember", text="x", name="x")
    assert answer.status in (403, 415)


@pytest.mark.parametrize("sign", ["", "0" * 32, "0" * 64, "csrf", "\u0660" * 32])
@pytest.mark.parametrize("path", FORMS)
def test_a_guessed_sign_sends_no_form(owner: Visitor, path: str, sign: str) -> None:
    assert owner.post(path, csrf=sign, decision="promote", rule="remember", text="x", name="x").status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["navigate", "no-cors", "cors"])
def test_nobody_is_logged_in_by_another_site(service: Service, site: str, mode: str) -> None:
    """The link stays good for the browser it was made for."""
    link = service.hardwon_link()
    led = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Referer": "https://evil.example/"}
    answer = service.call("GET", f"/login?token={link}", token="", headers=led)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert service.call("GET", f"/login?token={link}", token="").status == 303


@pytest.mark.parametrize("next_page", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"])
@pytest.mark.parametrize("name", ["next", "to", "redirect", "url"])
def test_a_login_leads_to_our_own_page(service: Service, name: str, next_page: str) -> None:
    led = urlencode({"token": service.hardwon_link(), name: next_page})
    answer = service.call("GET", f"/login?{led}", token="")
    assert "evil" not in answer.headers.get("location", "")
    assert "javascript" not in answer.headers.get("location", "")


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_what_is_asked_for_is_shown_as_text(owner: Visitor, number: int) -> None:
    path, name = ASKED[number % len(ASKED)]
    answer = owner.get(path, **{name: PAYLOADS[number]})
    assert answer.status in (200, 400, 404)
    text = answer.body.decode()
    assert [found for found in re.findall(r"<script[^>]*>", text) if found != _OURS] == []
    assert _Runs(text).found == []
    assert not any(sign in text for sign in HIDDEN)
