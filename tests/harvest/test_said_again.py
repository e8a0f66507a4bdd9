"""What people say in several sessions is counted and told; what was merely pasted, sent again or copied is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.harvest.rules.said import Habit, habits
from tests.conftest import ClaudeSession, Run

RULE = "Make sure to run `make lint` on every change of the schema"


def talk(number: int, *said: str) -> ClaudeSession:
    session = ClaudeSession(f"s{number}", day=number).user(f"look at part {number}").says(f"Part {number} is done.")
    for text in said:
        session = session.user(text).says(f"Done as you said in session {number}.")
    return session


def harvested(home: Path, folder: Path, *sessions: ClaudeSession) -> Hardwon:
    memory = Hardwon(home)
    memory.harvest([session.write(folder) for session in sessions])
    return memory


def test_said_once_it_waits_and_said_in_two_sessions_it_is_told(home: Path, tmp_path: Path) -> None:
    with harvested(home, tmp_path, talk(1, f"{RULE}. Then go on with the tables.")) as memory:
        assert memory.lessons.list() == []
        assert [one.text for one in memory.review.said()][:1] == [f"{RULE}."]
        memory.harvest([talk(2, f"please {RULE.lower()}").write(tmp_path)])
        (lesson,) = memory.lessons.list()
        assert (lesson.rule, lesson.source_count, lesson.status) == ("said-again", 2, "active")
        (line,) = memory.bootstrap(lesson.project).lines
        assert line.text.endswith("(said in 2 sessions)")


def test_an_order_put_to_two_agents_within_the_hour_was_given_once(home: Path, tmp_path: Path) -> None:
    """As prompts of two sessions that were started one after the other: it is no rule before it is said another day."""
    first, second = (ClaudeSession(name, day=3).user(f"{part}. {RULE}").says("ok") for name, part in ("ab", "cd"))
    with harvested(home, tmp_path, first, second) as memory:
        assert memory.lessons.list() == []
        assert RULE in memory.review.said()[0].quote, "it waits for a person's yes"
        memory.harvest([talk(5, RULE).write(tmp_path)])
        assert [(one.rule, one.source_count) for one in memory.lessons.list()] == [("said-again", 3)]


@pytest.mark.parametrize(
    "said",
    [
        "continue with the next part of the work",
        "commit and push",
        "For the code present, we get this error:\nIf you propose a fix, you must make it concise and short.",
        "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.",
        "Implement the following to-dos from the plan (the plan is attached for your reference). Do NOT edit the plan.",
        "---\nname: review\n---\nAlways read the whole file before you answer.",
        "Add a button to the page and test it well in a browser.",
    ],
)
def test_what_is_no_rule_is_none_however_often_it_is_said(said: str, home: Path, tmp_path: Path) -> None:
    with harvested(home, tmp_path, *(talk(number, said) for number in range(1, 5))) as memory:
        assert memory.lessons.list() == []


def test_short_requests_are_counted_as_habits_and_are_no_lessons(home: Path, tmp_path: Path) -> None:
    asked = (
        "tag the release",
        "Tag this release",
        "tag the release and update changelog.md",
        "update the changelog",
        "please tag the release, then push",
    )
    talks = [talk(number, text).edit("/srv/work/reef/a.py", "x") for number, text in enumerate(asked, 1)]
    talks.append(talk(6, "don't tag the release").edit("/srv/work/reef/a.py", "x"))
    talks.append(talk(7, "shall we tag the release?").edit("/srv/work/reef/a.py", "x"))
    talks += [
        talk(number, "continue working on this application").edit("/srv/work/reef/a.py", "x") for number in (12, 13, 14)
    ]
    talks += [talk(number, "/commit", "commit", "ok, go on").edit("/srv/work/reef/a.py", "x") for number in (8, 9, 10)]
    with harvested(home, tmp_path, *talks) as memory:
        assert memory.lessons.list() == []
        (project,) = memory.store.projects()
        assert habits(memory.reading(), project.id, 5) == [Habit("tag the release", 4)]
        memory.harvest([talk(11, "update changelog").edit("/srv/work/reef/a.py", "x").write(tmp_path)])
        assert habits(memory.reading(), None, 5) == [Habit("tag the release", 4), Habit("update changelog", 3)]
        assert habits(memory.reading(), "another", 5) == []


def test_a_conversation_that_was_copied_counts_once(home: Path, tmp_path: Path) -> None:
    said = [
        f"Make sure that part {word} should stay below `src/{word}`" for word in ("one", "two", "six", "ten", "red")
    ]
    with harvested(home, tmp_path, talk(1, *said), talk(2, *said)) as memory:
        assert [one for one in memory.lessons.list() if one.rule == "said-again"] == []


def test_what_a_tool_printed_before_was_pasted_and_not_said(home: Path, tmp_path: Path) -> None:
    sessions = [
        ClaudeSession(f"p{number}", day=number).user("go").run("make info", f"{RULE}.").user(RULE).says("ok")
        for number in (1, 2, 3)
    ]
    with harvested(home, tmp_path, *sessions) as memory:
        assert [one for one in memory.lessons.list() if one.status == "active"] == []
        assert memory.review.said() == []


def test_what_waits_becomes_a_lesson_when_a_person_says_so(hardwon: Run, tmp_path: Path) -> None:
    hardwon("harvest", talk(1, RULE).write(tmp_path))
    (waiting,) = json.loads(hardwon("review", "--said", "--json").stdout)
    source, _, place = waiting["id"].partition("/")
    hardwon("review", "--keep-said", f"{source[:9]}/{place}")
    (lesson,) = json.loads(hardwon("lessons", "--json").stdout)
    assert (lesson["trust"], lesson["status"], lesson["told"]) == ("human", "active", True)
    (cited,) = lesson["sources"]
    assert (cited["session"], cited["quote"]) == (source, waiting["quote"])


def test_what_stands_in_the_repositorys_own_file_is_not_told_again(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "reef"
    root.mkdir()
    session = ClaudeSession("a", cwd=str(root)).user("Always run `make lint` before a commit.").says("ok")
    with harvested(home, tmp_path, session) as memory:
        (lesson,) = memory.lessons.list()
        assert [line.id for line in memory.bootstrap(lesson.project).lines] == [lesson.id]
        (root / "AGENTS.md").write_text("# Rules\n\n- Run `make lint` before every commit, always.\n")
        told = memory.bootstrap(lesson.project)
        assert told.lines == ()
        assert "stands in AGENTS.md" in {left.reason for left in told.left_out}


def test_a_section_for_a_team_is_shown_first_and_written_when_somebody_has_read_it(
    hardwon: Run, tmp_path: Path
) -> None:
    hardwon("harvest", talk(1, "Always use uv, never pip.").write(tmp_path))
    file = tmp_path / "AGENTS.md"
    shown = hardwon("export", "--agents-md", file, "--project", "reef").stdout
    assert "+- Always use uv, never pip." in shown
    assert not file.exists()
    hardwon("export", "--agents-md", file, "--project", "reef", "--yes")
    assert "- Always use uv, never pip." in file.read_text()
