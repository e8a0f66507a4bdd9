"""No token, a foreign token, less than a token; more than the scope allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.serve.attacks.sockets import head, raw, status
from tests.serve.service import Service, environment

LESSON = {"text": "An attack.", "project": "reef"}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer hardwon__",
        "Bearer hardwon_%_%",
        "Bearer {id}",
        "Bearer {id}_",
        "Bearer {token}x",
        "Bearer {short}",
        "Basic {token}",
        "{token}",
        "Bearer hardwon_' OR 1=1 --_x",
        "Bearer " + "A" * 5000,
        "Bearer {token} {token}",
    ],
)
def test_what_is_not_a_token_opens_nothing(service: Service, header: str) -> None:
    id = service.token.rpartition("_")[0] if service.token.count("_") == 2 else "_".join(service.token.split("_")[:2])
    value = header.format(token=service.token, short=service.token[:-1], id=id)
    sent = {"Authorization": value} if header else {}
    answer = service.call("GET", "/api/lessons", token="", headers=sent)
    assert answer.status in (400, 401)
    assert b"reefctl" not in answer.body


@pytest.mark.parametrize("path", ["/api/lessons", "/api/nothing", "/nothing", "/health%0a", "/health/x", "/assets/"])
def test_without_a_token_no_path_can_be_told_from_another(service: Service, path: str) -> None:
    answer = service.call("GET", path, token="")
    assert answer.status == 401
    assert answer.body == service.call("GET", "/api/me", token="").body
    assert status(raw(service, head(service, path=path, host="evil.example"))) == 421


def test_two_authorizations_open_nothing(service: Service) -> None:
    assert status(raw(service, head(service, "Authorization: Bearer other"))) == 401


def test_a_token_of_another_store_opens_nothing(service: Service, tmp_path: Path) -> None:
    other = Service("", "", environment(tmp_path / "other", Path())).make_token("stranger", "read", "admin")
    assert service.call("GET", "/api/lessons", token=other).status == 401


def test_a_revoked_token_opens_nothing_at_once(service: Service) -> None:
    token = service.make_token("short-lived", "read")
    assert service.call("GET", "/api/me", token=token).status == 200
    service.hardwon("token", "revoke", "short-lived")
    assert service.call("GET", "/api/me", token=token).status == 401


def test_a_token_that_has_ended_opens_nothing(service: Service) -> None:
    token = service.hardwon("token", "make", "over", "--days", "0")["token"]
    assert service.call("GET", "/api/me", token=token).status == 401


def test_a_token_in_the_address_opens_nothing(service: Service) -> None:
    assert service.call("GET", f"/api/me?token={service.token}&access_token={service.token}", token="").status == 401


def test_the_schema_too_asks_for_a_token(service: Service) -> None:
    assert service.call("GET", "/schema", token="").status == 401


# More than the scope allows.


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/lessons", LESSON),
        ("POST", "/api/lessons/{lesson}/promote", {}),
        ("POST", "/api/lessons/{lesson}/reject", {}),
        ("POST", "/api/lessons/{lesson}/feedback", {"helped": True}),
        ("PATCH", "/api/lessons/{lesson}", {"text": "Mine."}),
        ("POST", "/api/attempts", {"task": "x"}),
        ("PUT", "/api/attempts/1/reflection", {"reflection": "x"}),
        ("GET", "/api/export", None),
        ("GET", "/api/events", None),
    ],
)
def test_a_reader_cannot_do_more_than_read(
    service: Service, reader: str, kelp: dict[str, Any], method: str, path: str, body: Any
) -> None:
    assert service.call(method, path.format(**kelp), body, token=reader).status == 403


def test_a_writer_cannot_decide(service: Service, kelp: dict[str, Any]) -> None:
    writer = service.make_token("writer", "read", "write")
    active = {**LESSON, "status": "active"}
    assert service.call("POST", "/api/lessons", active, token=writer).status == 403
    assert service.call("POST", f"/api/lessons/{kelp['lesson']}/archive", {}, token=writer).status == 403
    smuggled = {**LESSON, "trust": "human", "confidence": 1.0}
    assert service.call("POST", "/api/lessons", smuggled, token=writer).status == 400
    assert service.post("/api/lessons", LESSON, token=writer)["lesson"]["status"] == "candidate"
