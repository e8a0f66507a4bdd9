"""What the author of the harvest–bootstrap–measure pipeline does, row by row: what was run, and what must happen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, Interaction
from tests.conftest import ClaudeSession, Run
from tests.exchange.test_knowledge import FACT, grown
from tests.harvest.chat import GOOD, Reply, Server, answering
from tests.harvest.conftest import serve

__all__ = ["serve"]
MISSING = "ModuleNotFoundError: No module named 'asyncpg'"
ITEMS = [
    {"fact": "The harvester has 5 files.", "category": "fact", "repo": "the-nexus", "confidence": 0.9},
    {"fact": "The token is at ~/.config/gitea/token, not in an env var.", "category": "pitfall", "repo": "the-nexus",
     "confidence": 0.8},
    {"fact": "The URL of the repos API requires a trailing slash.", "category": "tool-quirk", "repo": "global",
     "confidence": 0.8},
    {"fact": "Open question: who owns the deploy key?", "category": "question", "repo": "the-nexus", "confidence": 0.5},
]  # fmt: skip


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    for day, project in enumerate(("The-Nexus", "kelp"), start=1):
        session = ClaudeSession(f"s-{day}", cwd=f"/srv/work/{project}", day=day).user("Always use uv here.")
        session.run("pytest -q", MISSING, exit_code=1).run("uv sync --extra db", "ok").run("pytest -q", "ok")
        session.write(folder)
    ClaudeSession("20261003_the-nexus", cwd="/srv/work/elsewhere", day=3).user("Look around.").write(folder)
    return folder


# The sampler: `--repo The-Nexus`, a file named …the-nexus.jsonl; `--output sample.json`.


def test_a_repo_is_chosen_in_any_case_and_by_the_name_of_the_file(hardwon: Run, sessions: Path) -> None:
    for name in ("The-Nexus", "the-nexus", "THE-NEXUS"):
        found = hardwon("sample", "--sessions-dir", sessions, "--repo", name, "--format", "paths").stdout.split()
        assert sorted(Path(path).stem for path in found) == ["20261003_the-nexus", "s-1"]
    none = hardwon("sample", "--sessions-dir", sessions, "--repo", "nowhere")
    assert "No session of nowhere was found." in none.stderr


def test_what_is_written_to_a_file_is_json(hardwon: Run, sessions: Path, tmp_path: Path) -> None:
    output = tmp_path / "sample.json"
    hardwon("sample", "--sessions-dir", sessions, "--count", "100", "--output", output)
    records = json.loads(output.read_text())
    assert {"path", "filename", "score", "breakdown", "message_count", "repos", "is_failure"} <= set(records[0])
    hardwon("sample", "--sessions-dir", sessions, "--format", "paths", "--output", output)
    assert output.read_text().splitlines()[0].endswith(".jsonl")


# A dry run stores nothing.


def test_a_dry_run_stores_nothing(hardwon: Run, sessions: Path, home: Path) -> None:
    told = hardwon("harvest", sessions, "--mine", "--llm", "--dry-run", "--json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["sessions"] == 3
    assert not (home / "hardwon.db").exists()
    hardwon("harvest", sessions / "s-1.jsonl", "--mine")
    rest = json.loads(hardwon("harvest", sessions, "--mine", "--dry-run", "--json").stdout)
    assert (rest["sessions"], rest["skipped"]) == (2, 1)
    with Hardwon(home) as memory:
        assert len(memory.sessions.list()) == 1


# The store: an item has `repo`; the tree has failures and fixes.


def test_an_export_has_the_repo_and_the_failures_with_their_fixes(hardwon: Run, sessions: Path, tmp_path: Path) -> None:
    hardwon("harvest", sessions, "--mine")
    hardwon("remember", "Ports are in the 7000s.", "--global")
    tree = tmp_path / "tree"
    assert hardwon("export", tree).returncode == 0
    index = json.loads((tree / "knowledge" / "index.json").read_text())
    repos = {(fact["fact"], fact["repo"].lower()) for fact in index["facts"]}
    assert ("Ports are in the 7000s.", "global") in repos
    assert {repo for _, repo in repos} == {"the-nexus", "kelp", "global"}
    (failure,) = [one for one in index["failures"] if "asyncpg" in one["error"]]
    assert (failure["occurrences"], sorted(failure["repos"])) == (2, ["The-Nexus", "kelp"])
    assert failure["fixes"] == ["run `uv sync --extra db`"]
    page = (tree / "knowledge" / "failures.md").read_text()
    assert "asyncpg" in page
    assert "Worked: run `uv sync --extra db`." in page
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert hardwon("import", tree).returncode == 0
    hardwon("export", tree)
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before


# The harvester's output, `index.json` alone, and what is vouched for.


def kinds(hardwon: Run) -> dict[str, tuple[str, str, str]]:
    found = json.loads(hardwon("lessons", "--json").stdout)
    return {one["text"]: (one["kind"], one["scope"], one["status"]) for one in found}


@pytest.mark.parametrize("shape", ["array", "index"])
def test_a_harvesters_array_and_an_index_alone_are_imported(hardwon: Run, tmp_path: Path, shape: str) -> None:
    path = tmp_path / f"{shape}.json"
    path.write_text(json.dumps(ITEMS if shape == "array" else {"version": 1, "facts": ITEMS}))
    for _ in range(2):
        done = hardwon("import", "--from", "knowledge", path)
        assert done.returncode == 0, done.stderr
    assert kinds(hardwon) == {
        "The harvester has 5 files.": ("fact", "project", "candidate"),
        "The token is at ~/.config/gitea/token, not in an env var.": ("pitfall", "project", "candidate"),
        "The URL of the repos API requires a trailing slash.": ("tool-quirk", "global", "candidate"),
        "Open question: who owns the deploy key?": ("question", "project", "candidate"),
    }
    assert "No session" not in hardwon("bootstrap", "--project", "the-nexus").stderr


def test_markdown_lines_that_are_vouched_for_are_told(hardwon: Run, tmp_path: Path) -> None:
    lines = {"repos/reef.md": "Reefs are slow.", "global/facts.md": "Ports are in the 7000s.",
             "agents/codex.md": "Codex forgets the lock."}  # fmt: skip
    pages = {file: f"# Notes\n\n## Facts\n\n- {line}\n" for file, line in lines.items()}
    tree = grown(tmp_path / "intelligence", FACT, pages=pages)
    hardwon("import", "--from", "knowledge", tree, "--trust")
    told = hardwon("bootstrap", "--project", "reef", "--agent", "codex").stdout
    assert all(line in told for line in lines.values())


def test_damaged_items_are_named_and_keep_no_other_out(hardwon: Run, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    damaged: list[Any] = [{"category": "fact"}, "text", None, {"fact": "  "}, {**ITEMS[0], "confidence": "very"}]
    path.write_text(json.dumps([*damaged, *ITEMS[1:]]))
    report = json.loads(hardwon("import", "--from", "knowledge", path, "--json").stdout)
    assert report["added"]["lessons"] == 4
    assert len(report["left_out"]) == 2
    path.write_text('[{"fact": "cut')
    assert "damaged" in hardwon("import", "--from", "knowledge", path).stderr


# The five categories of the system's own examples, read by a model out of sessions; see above for import.

OPEN = "Open question: who owns the deploy key of the-nexus?"
SAID = {
    "fact": "The harvester of the-nexus has 5 files.",
    "pitfall": "The token is at ~/.config/gitea/token, not in an env var.",
    "quirk": "The URL of the repos API requires a trailing slash.",
    "question": OPEN,
}


def nexus(folder: Path, day: int, *words: str) -> Path:
    session = ClaudeSession(f"n-{day}", cwd="/srv/work/the-nexus", day=day).user("Look around, please.")
    for said in words:
        session.says(said).user("go on")
    return session.says("That is all for today.").write(folder)


def claimed(kind: str, said: str, at: int, **more: str) -> dict[str, Any]:
    return {**GOOD, "claim": said, "kind": kind, "quotes": [{"at": f"S1:{at}", "text": said}], **more}


@pytest.mark.parametrize(("kind", "said"), SAID.items())
def test_each_category_is_found_by_a_model(
    home: Path, tmp_path: Path, serve: Callable[..., Server], kind: str, said: str
) -> None:
    serve(answering(claimed(kind, said, 1)))
    with Hardwon(home) as memory:
        for day in (1, 2):
            memory.harvest([nexus(tmp_path / str(day), day, said)])
            memory.sessions.distil()
            (found,) = [one for one in memory.lessons.list() if one.rule == "distilled"]
            assert (found.text, found.kind) == (said, {"quirk": "tool-quirk"}.get(kind, kind))
            assert found.status == ("candidate" if day == 1 else "active")  # an agent's word, then a second session's
        assert found.source_count == 2


def test_what_the_user_asks_to_remember_holds_at_once(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    words = "the deploy key of the-nexus is kept by the release team"
    session = ClaudeSession("n-1", cwd="/srv/work/the-nexus").user("go").says("Done.").user(f"Remember: {words}")
    serve(answering(claimed("fact", words.capitalize() + ".", 2, quotes=[{"at": "S1:2", "text": words}])))
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)])
        memory.sessions.distil()
        assert {(one.kind, one.status) for one in memory.lessons.list()} == {("fact", "active")}


# Questions that a later session answered close themselves.


ANSWER = "The deploy key of the-nexus is owned by the release team."


def asking_then(answer_at: int) -> Reply:
    """Of the first session the question; where that is known, the answer to it."""

    def reply(body: dict[str, Any]) -> Any:
        known = re.search(r"\[(\w{6})\] Open question", body["messages"][1]["content"])
        item = claimed("question", OPEN, 1)
        if known:
            item = {**claimed("fact", ANSWER, answer_at), "relation": "answers", "known": known[1]}
        return answering(item)

    return reply


def asked_in_a_session(memory: Hardwon, folder: Path) -> str:
    memory.harvest([nexus(folder / "1", 1, OPEN)])
    memory.sessions.distil()
    (question,) = memory.lessons.list(kind="question")
    assert question.status == "candidate"
    return question.id


@pytest.mark.parametrize("by_a_person", [True, False])
@pytest.mark.parametrize("typed", [True, False])
def test_a_question_that_a_later_session_answers_closes_itself(
    home: Path, tmp_path: Path, serve: Callable[..., Server], by_a_person: bool, typed: bool
) -> None:
    serve(asking_then(2 if typed else 1))
    with Hardwon(home) as memory:
        question = asked_in_a_session(memory, tmp_path)
        if by_a_person:
            memory.review.promote(question)
        session = ClaudeSession("n-2", cwd="/srv/work/the-nexus", day=2).user("Who has the key?")
        session.says("I look it up." if typed else ANSWER).user(ANSWER if typed else "fine").says("Good.")
        memory.harvest([session.write(tmp_path)])
        memory.sessions.distil()
        found = memory.lessons.get(question).lesson
        (answer,) = [one for one in memory.lessons.list() if one.text == ANSWER]
        if by_a_person and not typed:
            assert found.status == "active"  # a person's question is not closed by an agent's word alone
            return
        assert (found.status, found.superseded_by) == ("superseded", answer.id)
        event = memory.review.history(question)[-1]
        assert (event.action, event.why) == ("answer", "a later session answers it")
        memory.review.undo(event.number)
        assert memory.lessons.get(question).lesson.status == ("active" if by_a_person else "candidate")
        assert [check for check in memory.store.check() if not check.ok] == []


def test_an_answer_that_a_tool_printed_closes_nothing(home: Path, tmp_path: Path, serve: Callable[..., Server]) -> None:
    serve(asking_then(3))
    with Hardwon(home) as memory:
        question = asked_in_a_session(memory, tmp_path)
        session = ClaudeSession("n-2", cwd="/srv/work/the-nexus", day=2).user("Who has the key?")
        session.run("cat NOTES", f"{ANSWER}\nNothing else.").says(ANSWER).user("fine").says("Good.")
        memory.harvest([session.write(tmp_path)])
        memory.sessions.distil()
        assert memory.lessons.get(question).lesson.status == "candidate"


@pytest.mark.parametrize(
    ("prompt", "response", "closes"),
    [
        ("Who owns the deploy key of the-nexus?", "The release team.", True),
        ("Fix the build of the gauges, and tell me who owns the deploy key of the-nexus.",
         "Done. The release team owns the deploy key.", True),
        ("Fix the gauges, and tell me who owns the deploy key of the-nexus.", "The build is green.", False),
        ("Who owns the deploy key of the-nexus?", "I do not know.", False),
        ("Who owns the deploy key of the-nexus?", "Whom should I ask?", False),
        ("Who owns the deploy key of the-nexus?", "", False),
        ("Who owns the harbour?", "The release team.", False),
    ],
)  # fmt: skip
def test_an_interaction_that_answers_a_question_closes_it(home: Path, prompt: str, response: str, closes: bool) -> None:
    with Hardwon(home) as memory:
        question = memory.lessons.add(OPEN, kind="question", project="the-nexus")
        made = memory.interactions.record(Interaction(prompt=prompt, response=response, project="the-nexus"))
        assert (memory.lessons.get(question).lesson.status == "archived") == closes
        assert (OPEN in memory.bootstrap("the-nexus").text) != closes
        if closes:
            event = memory.review.history(question)[-1]
            assert (event.action, event.actor, event.why) == ("answer", "interaction", f"answered in {made}")
            memory.review.undo(event.number)
            assert OPEN in memory.bootstrap("the-nexus").text


# The guard: personal data.


def test_account_and_social_security_numbers_are_marked(hardwon: Run, tmp_path: Path) -> None:
    text = tmp_path / "note.txt"
    text.write_text(
        "My IBAN is DE89 3704 0044 0532 0130 00, the other iban: GB82WEST12345698765432.\n"
        "SSN 219-09-9999; her social security number is 219 09 9999.\nIBAN DE89 3704 0044 0532 0130 01 has a typo.\n"
        "The host is 10.0.0.5.\n"
    )
    clean = hardwon("scrub", text).stdout
    assert not any(part in clean for part in ("3704 0044 0532 0130 00", "WEST", "219-09", "219 09"))
    assert "0130 01" in clean
    assert "10.0.0.5" in clean
    assert "10.0.0.5" not in hardwon("scrub", "--personal", text).stdout
