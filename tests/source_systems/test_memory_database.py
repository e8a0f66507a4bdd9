"""What the author of the memory database (ATOCore) does, row by row: what was run, and what must come of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardwon import Hardwon, Interaction, NotAllowed, connect
from tests.conftest import Run
from tests.exchange.test_atocore import whole
from tests.serve.service import Service, environment, served

RULE = "Squid ink stains the reef walls."


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    """A new store."""
    with served(environment(home, Path())) as running:
        yield running


# ON DELETE CASCADE; a memory cites a chunk: import, then `ingest --remove`.


def imported(hardwon: Run, tmp_path: Path) -> str:
    """The id of the lesson that the imported memory became."""
    done = hardwon("import", "--from", "atocore", whole(tmp_path / "atocore.db"))
    assert done.returncode == 0, done.stderr
    (lesson,) = json.loads(hardwon("lessons", "--json").stdout)
    return str(lesson["id"])


def test_removing_a_document_leaves_a_healthy_store(hardwon: Run, tmp_path: Path) -> None:
    imported(hardwon, tmp_path)
    (document,) = json.loads(hardwon("ingest", "--list", "--json").stdout)
    assert hardwon("ingest", "--remove", document["id"]).returncode == 0
    done = hardwon("doctor")
    assert done.returncode == 0, done.stdout
    assert "BAD" not in done.stdout


# Audit of where a memory came from: `why Lb9621e41`.


def test_why_names_the_memory_and_its_chunk(hardwon: Run, tmp_path: Path) -> None:
    told = hardwon("why", imported(hardwon, tmp_path)).stdout
    assert "import:atocore:m-1" in told
    assert "reef/README.md > Reef > Ports" in told


# `create_memory(status=…)`: a command to add a lesson.


def test_a_lesson_is_added_from_the_command_line(hardwon: Run) -> None:
    kept = json.loads(hardwon("remember", RULE, "--project", "reef", "--kind", "fact", "--json").stdout)
    assert (kept["status"], kept["trust"], kept["scope"]) == ("active", "human", "project")
    assert RULE in hardwon("bootstrap", "--project", "reef").stdout
    waits = json.loads(hardwon("remember", "Eels bite.", "--project", "reef", "--candidate", "--json").stdout)
    assert waits["status"] == "candidate"


# The projects table: create, describe, rename, alias, archive; names in any case.


def test_projects_are_made_described_renamed_aliased_and_archived(hardwon: Run) -> None:
    assert hardwon("projects", "add", "p04-gigabit", "--description", "The faster one.").returncode == 0
    assert "p04-gigabit" in hardwon("projects").stdout
    assert "The faster one." in hardwon("projects").stdout
    hardwon("projects", "alias", "p04-gigabit", "giga")
    hardwon("projects", "rename", "giga", "gigabit")
    hardwon("remember", RULE, "--project", "P04-Gigabit")
    for name in ("gigabit", "GIGABIT", "giga", "P04-Gigabit"):
        assert RULE in hardwon("bootstrap", "--project", name).stdout, name
    (only,) = json.loads(hardwon("projects", "--json").stdout)
    assert only["name"] == "gigabit"
    hardwon("projects", "archive", "giga")
    assert json.loads(hardwon("projects", "--json").stdout) == []
    assert json.loads(hardwon("projects", "--all", "--json").stdout)[0]["status"] == "archived"
    assert RULE in hardwon("bootstrap", "--project", "gigabit").stdout
    hardwon("projects", "archive", "giga", "--restore")
    assert len(json.loads(hardwon("projects", "--json").stdout)) == 1


def test_the_same_over_http(service: Service) -> None:
    made = service.post("/api/projects", {"name": "p04-gigabit", "description": "The faster one."})
    assert (made["name"], made["description"], made["status"]) == ("p04-gigabit", "The faster one.", "active")
    path = f"/api/projects/{made['id']}"
    assert service.call("PATCH", path, {"name": "gigabit", "archived": True}).json["status"] == "archived"
    service.post(f"{path}/aliases", {"name": "giga"})
    assert service.get("/api/projects/GIGA")["id"] == made["id"]
    other = service.post("/api/projects", {"name": "megabit"})
    assert service.post(f"/api/projects/{other['id']}/merge", {"into": "giga"})["id"] == made["id"]
    assert [one["id"] for one in service.get("/api/projects")["items"]] == [made["id"]]
    assert service.call("POST", "/api/projects", {"name": "/etc"}).status == 400
    for scopes in (("read",), ("read", "write")):
        weak = service.make_token("-".join(scopes), *scopes)
        assert service.call("PATCH", path, {"name": "mine"}, token=weak).status == 403
    limited = service.make_token("limited", "write", project="gigabit")
    assert service.call("POST", "/api/projects", {"name": "other"}, token=limited).status == 403


def test_the_same_from_the_python_client(service: Service) -> None:
    with connect(service.address, service.token) as memory:
        id = memory.store.add_project("reef", description="Gauges.")
        memory.store.rename_project(id, "lagoon")
        memory.store.describe_project("lagoon", "Serves the gauges.")
        memory.store.alias_project("lagoon", "lg")
        memory.store.archive_project("LG")
        memory.store.merge_projects(memory.store.add_project("pond"), "lagoon")
        (found,) = memory.store.projects()
    assert (found.id, found.name, found.description, found.status) == (id, "lagoon", "Serves the gauges.", "archived")


# Capture for any project name: interactions, attempts, lessons, documents over HTTP on a new store.


def test_what_is_written_to_a_new_name_makes_the_project(service: Service) -> None:
    for path, body in (
        ("/api/interactions", {"prompt": "Why?"}),
        ("/api/attempts", {"task_description": "Add a lock"}),
        ("/api/lessons", {"text": RULE}),
        ("/api/documents", {"name": "notes.md", "text": "# Walls\n\nInk stains."}),
    ):
        name = path.rpartition("/")[2]
        assert service.call("POST", path, {**body, "project": f"new-{name}"}).status == 201
        assert service.call("POST", path, {**body, "project": f"New-{name}"}).status == 201
        limited = service.make_token(f"limited {name}", "read", "write", "review", project=f"new-{name}")
        assert service.call("POST", path, {**body, "project": "not-mine"}, token=limited).status == 404
        assert service.call("POST", path, {**body, "project": "../etc"}).status == 400
    assert sorted(one["name"] for one in service.get("/api/projects")["items"]) == [
        "new-attempts", "new-documents", "new-interactions", "new-lessons",
    ]  # fmt: skip


def test_the_library_works_on_a_fresh_home(tmp_path: Path) -> None:
    with Hardwon(tmp_path / "one") as memory:
        assert memory.lessons.list() == []
        id = memory.lessons.add(RULE, project="reef")
        assert [one.id for one in memory.lessons.list(project="Reef")] == [id]
    with Hardwon(tmp_path / "two") as memory:
        memory.lessons.propose(RULE, project="reef")
        assert [one.lesson.text for one in memory.review.queue()] == [RULE]


# `reinforce_memory(id, delta)` and POST /interactions/{id}/reinforce.


def test_a_lesson_is_reinforced_by_a_verb(hardwon: Run, home: Path) -> None:
    with Hardwon(home) as memory:
        id = memory.lessons.add(RULE, project="reef", confidence=0.97)
        steps = [memory.lessons.reinforce(id) for _ in range(3)]
        assert [(round(one.before, 2), round(one.after, 2)) for one in steps] == [(0.97, 0.99), (0.99, 1.0), (1.0, 1.0)]
        found = memory.lessons.get(id).lesson
        assert (found.reference_count, found.last_referenced is not None) == (3, True)
        waiting = memory.lessons.propose("Eels bite.", project="reef")
        with pytest.raises(NotAllowed, match="only a lesson that is believed"):
            memory.lessons.reinforce(waiting)
        assert [check for check in memory.store.check() if not check.ok] == []
    assert "1.00 → 1.00" in hardwon("review", "--reinforce", id[:9]).stdout


def test_over_http_recording_and_reinforcing_tell_what_was_reinforced(service: Service) -> None:
    body = {"text": RULE, "project": "reef", "status": "active", "confidence": 0.8}
    lesson = service.post("/api/lessons", body)["lesson"]["id"]
    made = service.post("/api/interactions", {"prompt": "Why black?", "response": f"Because {RULE.lower()}",
                                              "project": "reef"})  # fmt: skip
    ((used, before, after),) = [(one["lesson"], one["before"], one["after"]) for one in made["reinforced"]]
    assert (used, before, round(after, 2)) == (lesson, 0.8, 0.82)
    later = service.post(
        "/api/interactions",
        {"prompt": "And now?", "response": f"Still, {RULE.lower()}", "project": "reef", "reinforce": False},
    )
    assert later["reinforced"] == []
    answer = service.call("POST", f"/api/interactions/{later['id']}/reinforce")  # no body, no header
    assert answer.status == 200
    assert [one["lesson"] for one in answer.json] == [lesson]
    assert service.call("POST", f"/api/lessons/{lesson}/reinforce").json["lesson"] == lesson


def test_over_http_an_answer_closes_a_question_and_the_trail_names_the_token(service: Service) -> None:
    body = {"text": "Who stains the reef walls?", "kind": "question", "project": "reef", "status": "active"}
    question = service.post("/api/lessons", body)["lesson"]["id"]
    weak = service.make_token("capture", "read", "write", project="reef")
    asked = {"prompt": "Who stains the reef walls?", "response": "The squid.", "project": "reef"}
    service.post("/api/interactions", asked, token=weak)
    assert service.get(f"/api/lessons/{question}")["lesson"]["status"] == "archived"
    last = service.hardwon("history", question)[-1]
    assert (last["action"], last["actor"].startswith("token capture")) == ("answer", True)
    assert service.hardwon("undo", str(last["number"]))
    assert service.get(f"/api/lessons/{question}")["lesson"]["status"] == "active"


# Commit C: the rule-based extractor reads the prompt, the answer and headings.


def test_extract_reads_the_answer_and_headings(home: Path) -> None:
    prompt = "Always wash the walls with vinegar.\n\n## Requirement\n\n- The pump must start within 5 seconds.\n"
    response = (
        "We decided to keep the old pump because the new one leaks.\n\n## Decision\nUse PostgreSQL for the gauges.\n\n"
        "## Notes\nNothing to see here at all, really.\n\nFact: the gauges speak Modbus over TCP.\n"
    )
    with Hardwon(home) as memory:
        id = memory.interactions.record(Interaction(prompt=prompt, response=response, project="reef"))
        found = {one.text: (one.kind, one.status) for one in memory.interactions.extract(id)}
        again = memory.interactions.extract(id)
    assert found["The pump must start within 5 seconds."] == ("decision", "candidate")
    assert found["Use PostgreSQL for the gauges."] == ("decision", "candidate")
    assert found["the gauges speak Modbus over TCP."] == ("fact", "candidate")
    assert any("vinegar" in text for text in found)
    assert any("old pump" in text for text in found)
    assert not any("Nothing to see" in text for text in found)
    assert {status for _, status in found.values()} == {"candidate"}
    assert {one.text for one in again} == set(found)


# The promote/reject queue: ids as they are printed.


def test_the_printed_id_is_enough_to_decide(hardwon: Run) -> None:
    for text in ("Eels bite.", "Crabs pinch.", "Squid ink stains."):
        hardwon("remember", text, "--project", "reef", "--candidate")
    printed = re.findall(r"^L\w+", hardwon("review", "--list").stdout, re.MULTILINE)
    assert len(set(printed)) == 3
    assert "approved" in hardwon("review", "--promote", printed[0]).stdout
    rejected = hardwon("review", "--reject", printed[1])
    assert rejected.returncode == 0
    assert f"{printed[1]} rejected;" in rejected.stdout
