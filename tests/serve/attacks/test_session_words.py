"""What was said in sessions: for a token that may read sessions, and for no other."""

from __future__ import annotations

import pytest

from tests.serve.service import Service
from tests.serve.test_mcp import ask, call, over_http

SCOPES = (("read",), ("read", "write"), ("read", "review"), ("read", "write", "review"))
QUERIES = ("reefctl", "reefctl kelpctl", "always use", '"reefctl"', "session said reefctl", "reefctl* OR 1=1")
ASKING = ("true", "1", "yes", "TRUE", "on")


@pytest.mark.parametrize("scopes", SCOPES, ids=" ".join)
@pytest.mark.parametrize("query", QUERIES)
def test_over_mcp_nothing_is_told_of_what_was_said(service: Service, scopes: tuple[str, ...], query: str) -> None:
    token = service.make_token(f"{' '.join(scopes)} {query}", *scopes)
    ((_, told),) = ask(over_http(service, token), call("recall", query=query, project="reef"))
    assert not [line for line in told.splitlines() if " own, " in line or " foreign, " in line]


def test_over_mcp_a_token_that_may_is_told(service: Service) -> None:
    token = service.make_token("all", "read", "sessions")
    ((good, told),) = ask(over_http(service, token), call("recall", query="reefctl", project="reef"))
    assert good
    assert " own, " in told


@pytest.mark.parametrize("scopes", SCOPES, ids=" ".join)
@pytest.mark.parametrize("asking", ASKING)
def test_over_http_asking_for_it_is_refused(service: Service, scopes: tuple[str, ...], asking: str) -> None:
    token = service.make_token(f"http {' '.join(scopes)} {asking}", *scopes)
    answer = service.call("GET", "/api/search", token=token, q="reefctl", sessions=asking)
    assert answer.status in (400, 403) or answer.json["passages"] == []


@pytest.mark.parametrize("scopes", SCOPES, ids=" ".join)
@pytest.mark.parametrize("path", ["/transcript", "/messages", "/text", "/passages"])
def test_no_other_address_has_the_words(service: Service, scopes: tuple[str, ...], path: str) -> None:
    session = service.get("/api/sessions", project="reef")["items"][0]["id"]
    token = service.make_token(f"words {' '.join(scopes)} {path}", *scopes)
    answer = service.call("GET", f"/api/sessions/{session}{path}", token=token)
    assert b"Always use reefctl" not in answer.body or answer.status >= 400
