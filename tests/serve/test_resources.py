"""Every resource, on either engine: what it answers, and that what is changed stays changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ClaudeSession
from tests.serve.service import Service


def ids(service: Service, path: str, **query: object) -> list[str]:
    """Of all pages."""
    found: list[str] = []
    cursor = ""
    while True:
        page = service.get(path, cursor=cursor, **query)
        found += [row["id"] for row in page["items"]]
        cursor = page["next"]
        if not cursor:
            return found


def test_health_asks_for_no_token_and_says_no_more_than_that(service: Service) -> None:
    assert service.get("/health", token="") == {"status": "ok"}


def test_the_first_start_lets_its_owner_do_everything(service: Service) -> None:
    assert service.get("/api/me") == {
        "name": "first",
        "scopes": ["read", "write", "review", "admin", "sessions", "push"],
        "projects": [],
    }


def test_projects_are_listed_and_found_by_name(service: Service) -> None:
    listed = {row["name"]: row for row in service.get("/api/projects")["items"]}
    assert {"reef", "kelp"} <= set(listed)
    assert service.get("/api/projects/reef") == listed["reef"]
    assert service.call("GET", "/api/projects/nowhere").status == 404


@pytest.mark.parametrize("path", ["lessons", "failures", "sessions", "attempts", "projects", "documents"])
def test_pages_hold_every_row_once(service: Service, path: str) -> None:
    whole = ids(service, f"/api/{path}", limit=200)
    assert len(whole) > 1
    assert ids(service, f"/api/{path}", limit=1) == whole
    assert len(set(whole)) == len(whole)


def test_lessons_of_a_project_are_its_own_and_the_global_ones(service: Service) -> None:
    made = service.post("/api/lessons", {"text": "Coral is an animal.", "status": "active"})["lesson"]
    texts = [row["text"] for row in service.get("/api/lessons", project="reef", limit=200)["items"]]
    assert made["text"] in texts
    assert any("reefctl" in text for text in texts)
    assert not any("kelpctl" in text for text in texts)


def test_a_lesson_tells_its_sources(service: Service) -> None:
    (found,) = [
        row for row in service.get("/api/lessons", project="reef", kind="preference", limit=200)["items"]
        if "reefctl" in row["text"]
    ]  # fmt: skip
    page = service.get(f"/api/lessons/{found['id']}")
    assert page["lesson"] == found
    assert {source["quote"] for source in page["sources"]} == {"Always use reefctl in this project."}
    assert found["first_seen"].endswith("Z")


def test_what_is_created_is_a_candidate_until_a_reviewer_decides(service: Service) -> None:
    made = service.post("/api/lessons", {"text": "Tides are salty.", "project": "reef", "kind": "fact"})["lesson"]
    assert (made["status"], made["trust"]) == ("candidate", "claimed")
    path = f"/api/lessons/{made['id']}"
    assert service.post(f"{path}/promote", {"why": "measured"})["lesson"]["status"] == "active"
    assert service.call("POST", f"{path}/promote", {}).status == 409
    changed = service.call("PATCH", path, {"text": "Tides are salt water.", "tags": ["sea"], "confidence": 0.9})
    assert changed.json["lesson"]["text"] == "Tides are salt water."
    assert (changed.json["lesson"]["tags"], changed.json["lesson"]["confidence"]) == (["sea"], 0.9)
    newer = service.post("/api/lessons", {"text": "Tides are brackish.", "project": "reef", "status": "active"})
    replaced = service.post(f"{path}/supersede", {"by": newer["lesson"]["id"]})["lesson"]
    assert (replaced["status"], replaced["superseded_by"]) == ("superseded", newer["lesson"]["id"])
    assert service.post(f"{path}/restore")["lesson"]["status"] == "active"
    assert service.post(f"{path}/archive")["lesson"]["status"] == "archived"
    story = service.get(f"{path}/history")
    assert [event["action"] for event in story] == ["create", "promote", "edit", "supersede", "restore", "archive"]
    assert all(event["actor"].startswith("token first ") for event in story)
    assert story[1]["why"] == "measured"


def test_a_candidate_can_be_rejected_and_feedback_is_on_record(service: Service) -> None:
    made = service.post("/api/lessons", {"text": "Fish are birds.", "project": "kelp"})["lesson"]
    path = f"/api/lessons/{made['id']}"
    service.post(f"{path}/feedback", {"helped": False, "why": "they are not"})
    assert service.post(f"{path}/reject")["lesson"]["status"] == "invalid"
    assert [event["action"] for event in service.get(f"{path}/history")] == ["create", "wrong", "reject"]


def test_failures_are_listed_shown_and_recognised(service: Service) -> None:
    listed = service.get("/api/failures", project="reef")["items"]
    (known,) = [row for row in listed if "reef_tools" in row["error"]]
    assert (known["occurrences"], known["sessions"], known["agents"]) == (2, 2, ["claude-code"])
    page = service.get(f"/api/failures/{known['id']}")
    assert page["failure"]["fixes"][0]["text"] == "run `uv sync --extra reef-tools`"
    assert len(page["occurrences"]) == 2
    output = {"text": "ModuleNotFoundError: No module named 'reef_tools'", "project": "reef"}
    match = service.post("/api/failures/match", output)
    assert (match["known"], match["fingerprint"]) == (True, known["id"])
    assert "uv sync --extra reef-tools" in match["said"]
    assert service.post("/api/failures/match", {"text": "TypeError: never seen"})["known"] is False


def test_former_names_of_fields_are_still_taken(service: Service) -> None:
    at = "2026-10-31T14:30:00Z"
    former = {"task_description": "x", "files_modified": ["a.py"], "failure_analysis": "busy", "timestamp": at}
    numbers = [service.post("/api/attempts", former)["id"]]
    numbers += service.post("/api/attempts/batch", {"attempts": [former]})
    for number in numbers:
        found = service.get(f"/api/attempts/{number}")
        assert (found["task"], found["files"], found["analysis"], found["at"]) == ("x", ["a.py"], "busy", at)
    assert service.post("/api/interactions", {"prompt": "why?", "created_at": at})["at"] == at


def test_the_whole_journal(service: Service) -> None:
    first = service.post(
        "/api/attempts",
        {
            "task": "Add a lock to the tide store",
            "approach": "flock",
            "files": ["src/tide.py"],
            "test_results": "FAILED tests/test_tide.py::test_lock - OSError: busy",
            "outcome": "failure",
            "project": "reef",
            "run": "run-7",
            "at": "2026-10-31T14:30:00Z",
        },
    )
    assert first["at"] == "2026-10-31T14:30:00Z"
    again = service.post(
        "/api/attempts",
        {"task": "Add a lock, again", "retry_of": first["id"], "project": "reef", "outcome": "success"},
    )
    assert again["retry_of"] == first["id"]
    assert service.get(f"/api/attempts/{first['id']}") == first
    reflected = service.call("PUT", f"/api/attempts/{first['id']}/reflection", {"reflection": "Lock, then open."})
    assert reflected.json["reflection"] == "Lock, then open."
    similar = service.get("/api/attempts/similar", task="lock of the tide store", project="reef")
    assert first["id"] in [one["attempt"]["id"] for one in similar]
    assert [one["id"] for one in service.get("/api/attempts/of-file", path="src", project="reef")] == [first["id"]]
    failed = service.get("/api/attempts", project="reef", outcome=["failure", "rollback"], run="run-7")["items"]
    assert [one["id"] for one in failed] == [first["id"]]
    assert service.get("/api/attempts/stats", project="reef")["overall"]["outcomes"]["failure"] >= 1
    told = service.get("/api/attempts/past-failures", project="reef", run="run-7")
    assert "PAST FAILURES TO AVOID:" in told["text"]
    assert service.call("GET", "/api/attempts/999999").status == 404


def test_interactions_are_recorded_listed_and_learned_from(service: Service) -> None:
    lesson = service.post("/api/lessons", {"text": "Squid ink stains the reef walls.", "project": "reef",
                                           "status": "active", "confidence": 0.8})["lesson"]["id"]  # fmt: skip
    made = service.post(
        "/api/interactions",
        {
            "prompt": "Always wash the walls with vinegar. Why are they black?",
            "response": "Because squid ink stains the reef walls.",
            "project": "reef",
            "session": "i-1",
            "client": "manual",
            "lessons_used": [lesson],
        },
    )
    path = f"/api/interactions/{made['id']}"
    assert made.pop("reinforced") == service.get(f"{path}/reinforced")
    assert service.get(path) == made
    listed = service.get("/api/interactions", project="reef", session="i-1")
    assert [row["id"] for row in listed["items"]] == [made["id"]]
    assert "response" not in listed["items"][0]
    (used,) = service.post(f"{path}/reinforce")
    assert (used["lesson"], round(used["after"], 6)) == (lesson, 0.82)
    drawn = service.post(f"{path}/extract")
    assert all(one["status"] == "candidate" for one in drawn)
    assert service.call("POST", "/api/interactions", {"prompt": ""}).status == 400
    assert service.call("POST", "/api/interactions", {"prompt": "  "}).status == 400
    for method, end in (("GET", ""), ("POST", "/reinforce"), ("POST", "/extract")):
        assert service.call(method, f"/api/interactions/Inone{end}", {} if method == "POST" else None).status == 404
    again = service.get("/api/interactions", limit=1)
    assert again["next"] == "" or service.get("/api/interactions", limit=1, cursor=again["next"])


def test_sessions_and_their_calls(service: Service) -> None:
    listed = service.get("/api/sessions", project="kelp", agent="claude-code")["items"]
    assert [row["external_id"] for row in listed] == ["kelp-2", "kelp-1"]
    page = service.get(f"/api/sessions/{listed[0]['id']}")
    assert page["calls"][0]["subject"] == "pytest -q"
    assert page["calls"][0]["outcome"] == "error"


def test_where_to_look(service: Service) -> None:
    found = service.get("/api/map", project="reef", task="run the tests")
    assert set(found) == {"files", "commands", "tokens"}
    assert any(one["command"].startswith("pytest") for one in found["commands"])
    assert any(one["command"].startswith("pytest") for one in service.get("/api/how", project="reef", words="pytest"))
    assert service.get("/api/blame", project="reef", path="nowhere.py") == []
    for path in ("/api/map", "/api/how", "/api/blame"):
        assert service.call("GET", path).status == 400
    assert service.call("GET", "/api/map?project=reef&limit=0").status == 400


def test_search_and_bootstrap(service: Service) -> None:
    hits = service.get("/api/search", q="reefctl", project="reef", type="lesson")["hits"]
    assert any("reefctl" in hit["text"] for hit in hits)
    told = service.get("/api/bootstrap", project="reef", task="run the tests")
    assert told["text"].startswith("<hardwon-memory")
    assert "uv sync --extra reef-tools" in told["text"]
    assert {line["id"] for line in told["lines"]}
    assert service.get("/api/bootstrap", project="reef", budget=0)["text"] == ""
    assert service.call("GET", "/api/bootstrap").status == 400
    handed = service.post("/api/bootstrap", {"project": "reef", "session": "s-9", "experiment": False})
    assert handed["text"] == service.get("/api/bootstrap", project="reef")["text"]


def test_replay_and_metrics(service: Service) -> None:
    report = service.get("/api/replay", project="reef")
    assert report["sessions"] == 2
    metrics = service.get("/api/metrics")
    assert metrics["totals"]["sessions"] == 4
    assert all({"name", "value", "n"} <= set(one) for one in metrics["numbers"])


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/metrics", {"days": 590_034_127_800}),
        ("/api/metrics", {"days": 0}),
        ("/api/bootstrap", {"project": "reef", "budget": -1}),
        ("/api/bootstrap", {"project": "reef", "budget": 10**9}),
    ],
)
def test_a_number_beyond_its_bounds_is_refused(service: Service, path: str, query: dict[str, Any]) -> None:
    assert service.call("GET", path, **query).status == 400


def test_the_export_is_a_dump_without_tokens(service: Service) -> None:
    answer = service.call("GET", "/api/export")
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert lines[0]["hardwon"] == "dump"
    assert {"session", "lesson", "failure"} <= {line["table"] for line in lines[1:]}
    assert "token" not in {line["table"] for line in lines[1:]}
    assert "token" not in lines[0]["rows"]


def test_documents_of_a_project_are_its_own_and_those_of_none(service: Service) -> None:
    listed = service.get("/api/documents", project="reef")["items"]
    assert {row["path"].rpartition("/")[2] for row in listed} == {"reef.md", "everywhere.md"}
    (own,) = [row for row in listed if row["project"]]
    assert "reef tide tables" in service.get(f"/api/documents/{own['id']}")["chunks"][0]["content"]
    assert service.call("GET", "/api/documents/D0").status == 404


def test_who_did_what_is_told_newest_first(service: Service) -> None:
    made = service.post("/api/lessons", {"text": "Kelp grows fast.", "project": "kelp"})["lesson"]
    newest = service.get("/api/events", limit=1)["items"][0]
    assert (newest["action"], newest["item"]) == ("create", made["id"])
    attempt = service.post("/api/attempts", {"task": "Grow kelp", "project": "kelp"})
    newest = service.get("/api/events", limit=1)["items"][0]
    assert (newest["action"], newest["item"]) == ("log", attempt["key"])
    assert newest["actor"].startswith("token first ")


def test_what_a_client_has_already_is_not_sent_again(service: Service) -> None:
    first = service.call("GET", "/api/sessions")
    tag = first.headers["etag"]
    again = service.call("GET", "/api/sessions", headers={"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")
    assert service.call("GET", "/api/projects", headers={"If-None-Match": tag}).status == 200


def test_a_request_that_is_sent_again_is_done_once(service: Service) -> None:
    body = {"task": "Sent twice", "project": "reef"}
    key = {"Idempotency-Key": "retry-1"}
    first = service.post("/api/attempts", body, headers=key)
    assert service.post("/api/attempts", body, headers=key) == first
    assert service.post("/api/attempts", body)["id"] != first["id"]
    other = service.call("POST", "/api/attempts", {**body, "approach": "else"}, headers=key)
    assert other.status == 422
    assert "Idempotency-Key" in other.json["detail"]


def test_a_request_whose_lesson_was_forgotten_does_not_bring_it_back(service: Service) -> None:
    body = {"text": "Cuttlefish see polarised light.", "scope": "global"}
    key = {"Idempotency-Key": "retry-forgotten"}
    id = service.post("/api/lessons", body, headers=key)["lesson"]["id"]
    assert service.post("/api/forget", {"id": id, "dry_run": False})["left"] == []
    assert service.call("POST", "/api/lessons", body, headers=key).status == 404


@pytest.mark.parametrize("named", ["id", "text", "project"])
def test_what_is_forgotten_under_a_key_is_forgotten_once(service: Service, named: str, tmp_path: Path) -> None:
    ClaudeSession("squid", cwd="/srv/work/squid").user("Show me the tide tables.").write(tmp_path)
    service.hardwon("harvest", str(tmp_path), "--mine")
    body = {"text": f"Octopuses of {named} have three hearts.", "scope": "project", "project": "squid"}
    id = service.post("/api/lessons", body)["lesson"]["id"]
    asked = {named: {"id": id, "text": body["text"], "project": "squid"}[named], "dry_run": False}
    key = {"Idempotency-Key": f"forget {named}"}
    first = service.post("/api/forget", asked, headers=key)
    assert (first["rows"]["lesson"], first["left"]) == (1, [])
    again = service.post("/api/forget", asked, headers=key)
    assert [again[field] for field in ("what", "rows", "left")] == [first[field] for field in ("what", "rows", "left")]
    assert service.call("POST", "/api/forget", asked).status == 404


def test_what_is_old_is_purged_once_under_a_key(service: Service) -> None:
    key = {"Idempotency-Key": "purge"}
    asked = {"days": 36_500, "dry_run": False}
    assert service.post("/api/purge", asked, headers=key) == service.post("/api/purge", asked, headers=key)
    assert service.call("POST", "/api/purge", {**asked, "days": 36_499}, headers=key).status == 422


def test_a_request_that_failed_may_be_sent_again_with_its_key(service: Service) -> None:
    key = {"Idempotency-Key": "retry-2"}
    body = {"task": "Sent too early", "project": "reef", "retry_of": 999_999}
    assert service.call("POST", "/api/attempts", body, headers=key).status == 404
    assert service.call("POST", "/api/attempts", {**body, "retry_of": None}, headers=key).status == 201


def test_errors_are_problems(service: Service) -> None:
    for answer in (
        service.call("GET", "/api/lessons/none"),
        service.call("GET", "/nowhere"),
        service.call("POST", "/api/lessons", {"text": ""}),
        service.call("GET", "/api/lessons", token=""),
        service.call("DELETE", "/api/lessons"),
    ):
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json) == {"type", "title", "status", "detail"}
        assert answer.json["status"] == answer.status


def test_what_does_not_fit_is_said(service: Service) -> None:
    answer = service.call("POST", "/api/lessons", {"text": "x", "colour": "red"})
    assert answer.status == 400
    assert "colour" in answer.json["detail"]
    assert "limit" in service.call("GET", "/api/lessons", limit=0).json["detail"]
    assert service.call("GET", "/api/lessons", cursor="AAAA").status == 400


def test_secrets_do_not_reach_the_store(service: Service) -> None:
    import secrets

    secret = "ghp_" + "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(36))
    made = service.post("/api/lessons", {"text": f"The token is {secret}.", "project": "reef", "why": secret})
    assert secret not in json.dumps(made)
    service.post(f"/api/lessons/{made['lesson']['id']}/promote", {"why": f"because of {secret}"})
    tried = service.post("/api/attempts", {"task": f"Use {secret}", "project": "reef"})
    assert secret not in json.dumps(tried)
    assert secret.encode() not in service.call("GET", "/api/export").body


def test_passages_of_sessions_are_for_who_may_read_sessions(service: Service) -> None:
    reader = service.make_token("passages-no", "read")
    for asked in ({"sessions": "true"}, {"type": "passage"}):
        refused = service.call("GET", "/api/search", token=reader, q="reefctl", **asked)
        assert (refused.status, b"sessions" in refused.body) == (403, True)
    assert service.get("/api/search", token=reader, q="reefctl")["passages"] == []
    allowed = service.make_token("passages-yes", "read", "sessions", project="reef")
    found = service.get("/api/search", token=allowed, q="reefctl kelpctl", sessions="true")["passages"]
    assert found
    assert {hit["project"] for hit in found} == {service.get("/api/projects/reef")["id"]}


def test_an_attempt_that_was_forgotten_is_not_answered_with_another_when_its_request_is_sent_again(
    service: Service,
) -> None:
    once, entry = {"Idempotency-Key": "puffin-1"}, {"task": "Band the puffins", "project": "reef"}
    logged = service.post("/api/attempts", entry, headers=once)
    assert service.post("/api/attempts", entry, headers=once) == logged
    service.post("/api/forget", {"id": str(logged["id"]), "dry_run": False})
    other = service.post("/api/attempts", {"task": "Count the puffins", "project": "reef"})
    assert other["id"] == logged["id"] + 1
    assert service.call("POST", "/api/attempts", entry, headers=once).status == 404
