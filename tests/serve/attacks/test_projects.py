"""Rows of another project: they do not exist for who may not see them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.service import Service


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/lessons/{lesson}", None),
        ("GET", "/api/lessons/{lesson}/history", None),
        ("PATCH", "/api/lessons/{lesson}", {"text": "Mine."}),
        ("POST", "/api/lessons/{lesson}/archive", {}),
        ("POST", "/api/lessons/{lesson}/feedback", {"helped": False}),
        ("GET", "/api/failures/{failure}", None),
        ("GET", "/api/failures/{failure}?project=kelp", None),
        ("GET", "/api/sessions/{session}", None),
        ("GET", "/api/documents/{document}", None),
        ("GET", "/api/attempts/{attempt}", None),
        ("PUT", "/api/attempts/{attempt}/reflection", {"reflection": "Mine."}),
        ("POST", "/api/attempts", {"task": "x", "retry_of": "{attempt}", "project": "reef"}),
        ("POST", "/api/attempts", {"task": "x", "project": "kelp"}),
        ("POST", "/api/attempts", {"task": "x", "project": "https://git.example/new"}),
        ("POST", "/api/lessons", {"text": "x", "project": "kelp"}),
        ("GET", "/api/interactions/{interaction}", None),
        ("POST", "/api/interactions/{interaction}/reinforce", {}),
        ("POST", "/api/interactions/{interaction}/extract", {}),
        ("POST", "/api/interactions", {"prompt": "x", "project": "kelp"}),
        ("GET", "/api/projects/{project}", None),
        ("GET", "/api/lessons?project=kelp", None),
        ("GET", "/api/search?q=kelpctl&project=kelp", None),
        ("GET", "/api/bootstrap?project=kelp", None),
        ("GET", "/api/replay?project=kelp", None),
        ("GET", "/api/metrics?project={project}", None),
        ("GET", "/api/attempts/stats?project=kelp", None),
    ],
)
def test_what_belongs_to_another_project_is_not_there(
    service: Service, reef: str, kelp: dict[str, Any], method: str, path: str, body: Any
) -> None:
    if body and body.get("retry_of"):
        body = {**body, "retry_of": kelp["attempt"]}
    answer = service.call(method, path.format(**kelp), body, token=reef)
    assert answer.status == 404
    assert b"kelp" not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/api/lessons?limit=200",
        "/api/failures?limit=200",
        "/api/sessions?limit=200",
        "/api/attempts?limit=200",
        "/api/projects",
        "/api/interactions",
        "/api/documents",
        "/api/bootstrap?task=tide+tables+in+kelp",
        "/api/search?q=kelpctl+kelp+uv+add",
        "/api/bootstrap",
        "/api/metrics",
        "/api/attempts/stats",
        "/api/attempts/similar?task=kelp",
        "/api/attempts/past-failures",
        "/api/replay",
    ],
)
def test_lists_hold_nothing_of_another_project(service: Service, reef: str, path: str) -> None:
    answer = service.call("GET", path, token=reef)
    assert answer.status == 200
    assert b"kelp" not in answer.body.lower()


def test_a_failure_that_two_projects_know_tells_each_only_of_its_own(service: Service, reef: str) -> None:
    output = {"text": "ModuleNotFoundError: No module named 'shared_tools'"}
    match = service.call("POST", "/api/failures/match", output, token=reef)
    assert match.json["known"]
    assert b"kelp" not in match.body
    page = service.call("GET", f"/api/failures/{match.json['fingerprint']}", token=reef)
    assert page.json["failure"]["occurrences"] == 2
    assert b"kelp" not in page.body
    foreign = {"text": "ModuleNotFoundError: No module named 'kelp_tools'"}
    assert service.call("POST", "/api/failures/match", foreign, token=reef).json["known"] is False


def test_a_briefing_tells_no_fix_that_only_another_project_has_seen(service: Service, reef: str) -> None:
    told = service.call("GET", "/api/bootstrap?task=lonely_tools", token=reef)
    assert b"lonely_tools" in told.body
    assert b"--index kelp" not in told.body
    assert "--index kelp" not in service.get("/api/bootstrap", project="reef", task="lonely_tools")["text"]


def test_another_projects_run_tells_nothing(service: Service, reef: str) -> None:
    service.post("/api/attempts", {"task": "Kelp", "project": "kelp", "run": "k-1", "outcome": "failure"})
    assert service.call("GET", "/api/attempts/past-failures?run=k-1", token=reef).status == 404


def test_a_token_of_a_project_cannot_touch_what_is_everybodys(service: Service, reef: str) -> None:
    shared = service.post("/api/lessons", {"text": "Water is wet.", "status": "active"})["lesson"]["id"]
    assert service.call("GET", f"/api/lessons/{shared}", token=reef).status == 200
    assert service.call("POST", f"/api/lessons/{shared}/archive", {}, token=reef).status == 403
    assert service.call("GET", "/api/events", token=reef).status == 403


def test_an_unknown_project_is_not_told_from_a_forbidden_one(service: Service, reef: str) -> None:
    forbidden = service.call("GET", "/api/lessons?project=kelp", token=reef)
    unknown = service.call("GET", "/api/lessons?project=never-seen", token=reef)
    assert (forbidden.status, forbidden.body) == (unknown.status, unknown.body)
