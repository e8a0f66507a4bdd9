"""A prompt brings up what is known of the very thing it speaks of, once, briefly; most prompts bring up nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.hook.prompt import _quotes
from hardwon.sessions.project import Project
from hardwon.store import lessons, projects
from hardwon.store.lessons import LessonRow
from hardwon.text.shown import estimate
from hardwon.text.words import unique_terms
from tests.conftest import ClaudeSession
from tests.hook.conftest import example, hook

REEF = Project("/srv/work/reef", "/srv/work/reef")
LESSON = "The tide_gauge.py importer must never run while the harbour ledger is being compacted."


def lesson(text: str, **more: object) -> LessonRow:
    fields: dict[str, object] = {
        "id": lessons.harvested_id("fact", "project", REEF.id, "", text),
        "kind": "fact",
        "text": text,
        "scope": "project",
        "project": REEF.id,
        "agent": "",
        "base_confidence": 0.9,
        "confidence": 0.9,
        "status": "active",
        "trust": "human",
        "rule": "user-directive",
        "failure": "",
        "first_seen": 1_760_000_000_000_000,
        "last_confirmed": 1_760_000_000_000_000,
        "source_count": 1,
        "harvester_version": 1,
    }
    return LessonRow(**(fields | more))  # type: ignore[arg-type]


def store(home: Path, *rows: LessonRow) -> None:
    """The lessons, none of which stands in the briefing."""
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            projects.save(db, REEF)
            lessons.add(db, rows, [])


def asked(prompt: str, session: str = "s") -> str:
    done = hook("prompt", {**example("claude-code", "prompt", prompt=prompt), "session_id": session})
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


ABOUT_IT = "Run the tide_gauge.py importer while the harbour ledger gets compacted"


def test_a_prompt_about_the_very_thing_is_told_what_is_known_once_a_session(home: Path) -> None:
    store(home, lesson(LESSON))
    assert LESSON in asked(ABOUT_IT)
    assert asked(ABOUT_IT + " please") == ""
    assert LESSON in asked(ABOUT_IT, session="another")


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the tests please, they fail",
        "What does the importer do, and where is the ledger written?",
        "never run anything in the harbour",
        "/compact tide_gauge.py importer harbour ledger",
        "continue",
        "",
        "x" * 100_000,
        "tide_gauge.py",
    ],
)
def test_other_prompts_are_left_alone(home: Path, prompt: str) -> None:
    store(home, lesson(LESSON))
    assert asked(prompt) == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "candidate"},
        {"status": "archived"},
        {"confidence": 0.6},
        {"scope": "agent", "agent": "codex"},
    ],
)
def test_what_may_not_be_told_is_not_brought_up(home: Path, fields: dict[str, object]) -> None:
    store(home, lesson(LESSON, **fields))
    assert asked(ABOUT_IT) == ""


def test_what_the_briefing_has_told_is_not_told_again(home: Path) -> None:
    store(home, lesson(LESSON))
    with Hardwon(home) as memory:
        db = memory.writing()
        with db.transaction():
            db.execute(
                "INSERT INTO standing (project, agent, rank, section, item, text) VALUES (?, '', 0, 'X', ?, ?)",
                (REEF.id, lesson(LESSON).id, LESSON),
            )
    assert asked(ABOUT_IT) == ""


def test_a_reminder_stays_within_three_hundred_tokens_and_three_lines(home: Path) -> None:
    words = "the tide_gauge.py importer must never run while the harbour ledger is being compacted"
    store(home, *(lesson(f"{words}, case {chr(97 + at)} " + "harbour ledger compacted " * 12) for at in range(8)))
    text = asked(ABOUT_IT + " case")
    assert text
    assert estimate(text) <= 300
    assert 1 <= text.count("\n- ") <= 3


ABOUT_THE_FAILURE = "pytest says ModuleNotFoundError: No module named 'asyncpg', please look at it"


def test_a_failure_that_keeps_coming_back_is_brought_up_with_what_worked(harvested: Path) -> None:
    assert asked(ABOUT_THE_FAILURE) == "", "the briefing has told it"
    with Hardwon(harvested) as memory, memory.writing().transaction():
        memory.writing().execute("DELETE FROM standing")
    told = asked(ABOUT_THE_FAILURE, session="after")
    assert told.count("uv sync --extra postgres") == 1, "a lesson and its failure say the same"
    with Hardwon(harvested) as memory, memory.writing().transaction():
        memory.writing().execute("UPDATE lesson SET status = 'archived'")
    assert "2x in 2 sessions" in asked(ABOUT_THE_FAILURE, session="of the failure")
    with Hardwon(harvested) as memory, memory.writing().transaction():
        memory.writing().execute("UPDATE failure_in_project SET sessions = 1")
    assert asked(ABOUT_THE_FAILURE, session="once only") == ""


@pytest.mark.parametrize(
    ("prompt", "spoken"),
    [
        ("The check says File is not properly formatted in gauge.go, mend it", True),
        ("Please add to gauge.go a file is opened and a formatted table", False),
    ],
)
def test_a_failure_is_brought_up_where_the_prompt_speaks_of_it_and_not_of_its_file_alone(
    prompt: str, spoken: bool
) -> None:
    said = set(unique_terms(prompt))
    assert _quotes(said, "`make lint`: File is not properly formatted (gauge.go)") is spoken


def test_a_prompt_that_is_a_known_error_is_told_what_worked(home: Path, tmp_path: Path) -> None:
    rejected = "! [rejected]        main -> main (fetch first)"
    session = ClaudeSession("pushed").user("Push it.").run("git push origin main", rejected, exit_code=1)
    session.run("git pull --rebase origin main", "ok").run("git push origin main", "ok")
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path)], mine=True)
        with memory.writing().transaction():
            memory.writing().execute("DELETE FROM standing")
    prompt = "git push origin main fails with: ! [rejected] main -> main (fetch first)"
    assert "git pull --rebase" in asked(prompt)
    assert asked(prompt) == "", "a session is told a thing once"
    assert "git pull --rebase" in asked(rejected, session="pasted")
    assert asked("git push fails with: some other error of the tide gauge", session="another") == ""
