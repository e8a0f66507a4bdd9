"""What an owner does to a store from afar: documents, forgetting, taking back, harvesting, on either engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon import NotAllowed, NotFound, connect
from tests.conftest import ClaudeSession
from tests.hook.test_session_end import wait_for
from tests.serve.service import Service

RELEASE = "# Release\n\nTag the barnacle branch, then push.\n\n## Rollback\n\nPush the tag before it again.\n"


def test_a_text_is_taken_in_found_replaced_and_let_go(service: Service) -> None:
    sent = {"name": "runbooks/release.md", "text": RELEASE, "project": "reef"}
    made = service.call("POST", "/api/documents", sent)
    assert made.status == 201
    id = made.json["document"]["id"]
    assert (made.json["document"]["title"], made.json["document"]["type"]) == ("Release", "markdown")
    assert [chunk["heading_path"] for chunk in made.json["chunks"]] == ["Release", "Release > Rollback"]
    hits = service.get("/api/search", q="barnacle branch", project="reef")["hits"]
    assert any(hit["id"] == made.json["chunks"][0]["id"] for hit in hits)
    again = service.post("/api/documents", {**sent, "text": "# Release\n\nMerge the whelk branch.\n"})
    assert again["document"]["id"] == id
    assert service.get("/api/search", q="barnacle", project="reef")["hits"] == []
    assert service.call("DELETE", f"/api/documents/{id}").status == 204
    assert service.call("GET", f"/api/documents/{id}").status == 404
    assert service.call("DELETE", f"/api/documents/{id}").status == 404
    done = [
        (event["action"], event["actor"][:11]) for event in service.get("/api/events")["items"] if event["item"] == id
    ]
    assert done == [(action, "token first") for action in ("remove", "ingest", "ingest")]


def test_the_same_name_in_two_projects_is_two_documents(service: Service) -> None:
    ids = {
        service.post("/api/documents", {"name": "a.md", "text": f"For {project or 'all'}.", "project": project})[
            "document"
        ]["id"]
        for project in ("reef", "kelp", "")
    }
    assert len(ids) == 3


def test_a_secret_in_a_text_or_its_name_is_not_kept(service: Service) -> None:
    secret = "ghp_" + "a1B2" * 9
    made = service.call("POST", "/api/documents", {"name": f"{secret}.md", "text": f"The token is {secret}."})
    assert made.status == 201
    assert secret.encode() not in made.body


@pytest.mark.parametrize("name", ["", "/etc/passwd", "a\\b.md", "a\u0001.md", "\\\\host\\share"])
def test_a_name_that_is_none_is_refused(service: Service, name: str) -> None:
    assert service.call("POST", "/api/documents", {"name": name, "text": "x"}).status == 400


def test_no_file_of_the_server_is_ever_read(service: Service) -> None:
    """A name is a name: that a file is called so on the disk means nothing."""
    made = service.post("/api/documents", {"name": "../../../../etc/hostname", "text": "Only these words."})
    assert [chunk["content"] for chunk in made["chunks"]] == ["Only these words."]
    assert made["document"]["path"].startswith("sent:")
    for body in ({"path": "/etc/passwd"}, {"name": "x", "text": "y", "path": "/etc/passwd"}):
        assert service.call("POST", "/api/documents", body).status == 400


def test_what_is_forgotten_is_gone_and_proved_so(service: Service) -> None:
    id = service.post("/api/lessons", {"text": "The nudibranch is purple.", "status": "active"})["lesson"]["id"]
    would = service.post("/api/forget", {"text": "nudibranch"})
    assert (would["dry_run"], would["rows"]["lesson"]) == (True, 1)
    assert service.call("GET", f"/api/lessons/{id}").status == 200
    done = service.post("/api/forget", {"text": "nudibranch", "dry_run": False})
    assert (done["dry_run"], done["left"]) == (False, [])
    assert service.call("GET", f"/api/lessons/{id}").status == 404
    assert service.call("POST", "/api/forget", {"text": "nudibranch", "dry_run": False}).status == 404
    last = service.get("/api/events")["items"][0]
    assert (last["action"], last["actor"][:11]) == ("forget", "token first")


def test_forgetting_takes_one_thing_at_a_time(service: Service) -> None:
    assert service.call("POST", "/api/forget", {}).status == 400
    assert service.call("POST", "/api/forget", {"id": "L1", "text": "x"}).status == 400
    for unknown in ({"id": "Lnone"}, {"session": "none"}, {"project": "/etc"}):
        assert service.call("POST", "/api/forget", unknown).status == 404
    assert service.post("/api/purge", {"days": 36_500})["rows"] == {}


def test_a_decision_is_taken_back(service: Service) -> None:
    made = service.post("/api/lessons", {"text": "Crabs walk sideways.", "project": "reef"})["lesson"]
    path = f"/api/lessons/{made['id']}"
    service.post(f"{path}/reject")
    number = service.get(f"{path}/history")[-1]["number"]
    back = service.post(f"/api/events/{number}/undo", {"why": "they do"})
    assert back["undone"] == number
    assert service.get(path)["lesson"]["status"] == "candidate"
    assert service.call("POST", f"/api/events/{number}/undo", {}).status == 409
    assert service.call("POST", "/api/events/999999/undo", {}).status == 404


def test_the_service_harvests_what_agents_keep_on_its_own_machine(service: Service) -> None:
    logs = Path(service.environment["HOME"]) / ".claude" / "projects" / "lagoon"
    ClaudeSession("of-the-lagoon", cwd="/srv/work/lagoon").user("Always use lagoonctl in this project.").write(logs)
    begun = service.call("POST", "/api/harvest", {"agent": "claude-code"})
    assert (begun.status, begun.json) == (202, {"agents": ["claude-code"]})
    wait_for(lambda: service.call("GET", "/api/projects/lagoon").status == 200)
    assert service.call("POST", "/api/harvest", {"agent": "../../etc"}).status == 400
    assert service.call("POST", "/api/harvest", {"path": "/etc"}).status == 400


def test_the_doctor_is_heard_over_http(service: Service) -> None:
    assert {check["name"] for check in service.get("/api/doctor")} >= {"sessions", "backups"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/documents", {"name": "a.md", "text": "x"}),
        ("DELETE", "/api/documents/D1", None),
        ("POST", "/api/forget", {"text": "tide tables"}),
        ("POST", "/api/purge", {"days": 1}),
        ("POST", "/api/harvest", {}),
        ("GET", "/api/doctor", None),
        ("POST", "/api/events/1/undo", {}),
    ],
)
def test_who_only_writes_may_do_none_of_this(service: Service, method: str, path: str, body: object) -> None:
    writer = service.make_token(f"writer {method} {path}", "read", "write")
    assert service.call(method, path, body, token=writer).status == 403


def test_a_token_of_a_project_changes_only_its_own_documents(service: Service) -> None:
    reef = service.make_token("reef librarian", "read", "review", project="reef")
    for project, status in (("kelp", 404), ("", 403)):
        sent = {"name": f"of {project}.md", "text": "Not yours.", "project": project}
        id = service.post("/api/documents", sent)["document"]["id"]
        assert service.call("DELETE", f"/api/documents/{id}", token=reef).status == status
        assert service.call("GET", f"/api/documents/{id}").status == 200
    assert (
        service.call("POST", "/api/documents", {"name": "x.md", "text": "x", "project": "kelp"}, token=reef).status
        == 404
    )
    own = service.call("POST", "/api/documents", {"name": "x.md", "text": "x"}, token=reef)
    assert own.json["document"]["project"] == service.get("/api/projects/reef")["id"]
    assert service.call("POST", "/api/events/1/undo", {}, token=reef).status == 403


def test_the_client_has_the_verbs_of_the_facade(service: Service) -> None:
    with connect(service.address, service.token) as memory:
        id = memory.documents.add("squid.md", "Squid have three hearts.", project="kelp")
        assert id in {document.id for document in memory.documents.list(project="kelp")}
        memory.documents.remove(id)
        with pytest.raises(NotFound):
            memory.documents.remove(id)
        lesson = memory.lessons.add("Octopuses have nine brains.", scope="global")
        memory.review.archive(lesson)
        memory.review.undo(memory.review.history(lesson)[-1].number)
        assert memory.lessons.get(lesson).lesson.status == "active"
        assert memory.store.forget(lesson, dry_run=True).rows["lesson"] == 1
        assert memory.store.forget(lesson).left == []
        assert memory.store.purge(36_500, dry_run=True).rows == {}
        with pytest.raises(NotAllowed):
            memory.store.forget(text="ab")
        assert any(check.name == "sessions" for check in memory.store.check())
