"""On a terminal of any usual size no line is longer than it, and no word is cut that a line could hold."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.cli.table import width
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.terminal import on_a_terminal

MEASURED = re.compile(r"[\d█░▁▂▃▄▅▆▇·…]")
"""What is measured anew differs, and graphs take the room that there is."""
LONGEST_WORD_OF_A_COLUMN = 20
WAITING = "Use `postgres` for the cache of the gauges in the northern reef, because other stations read it as well."
SCREENS = (
    "failures", "failures show F9b806165", "lessons", "why F9b806165", "search migration", "replay", "measure",
    "status", "map tidepool", "how test -p tidepool", "blame CHANGELOG.md -p tidepool", "projects --all",
    "distil --dry-run", "install claude-code --dry-run", "rules", "doctor --all", "config", "sample", "extras",
    "bootstrap -p tidepool", "review --list",
)  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("learned")
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.jsonl")), mine=True)
        said = ClaudeSession("claims", day=9).user("plan").says(f"## Decisions\n- {WAITING}")
        memory.harvest([said.write(tmp_path_factory.mktemp("claims"))])
    return home


@pytest.fixture
def newcomer(learned: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose agent kept the examples, which were read."""
    monkeypatch.delenv("HARDWON_EXPERIMENT")
    shutil.copytree(learned, home)
    user = tmp_path / "user"
    shutil.copytree(EXAMPLES, user / ".claude" / "projects")
    return user


@pytest.mark.parametrize("columns", [80, 100, 200])
@pytest.mark.parametrize("command", SCREENS)
def test_it_fits_and_cuts_no_word(newcomer: Path, hardwon: Run, command: str, columns: int) -> None:
    seen = on_a_terminal(*command.split(), columns=columns)
    assert seen.strip()
    assert [line for line in seen.split("\n") if width(line) > columns] == []
    wide = {**os.environ, "COLUMNS": "1000"}
    whole = {word.lower() for word in hardwon(*command.split(), env=wide).stdout.split()}
    words = {
        word.lower().strip("(),") for line in seen.split("\n") for word in line.split() if not MEASURED.search(word)
    }
    words -= {
        *"worked in once, once: files, sessions, sessions: last met days month months ago ago:".split(),
        *"helped: because: more: `--limit --limit lessons".split(),
        *(word.strip("(),") for word in whole),
    }
    assert [word for word in words if not is_part_of_a_long_one(word, whole)] == []


def is_part_of_a_long_one(word: str, whole: set[str]) -> bool:
    return any(word in other for other in whole if len(other) > LONGEST_WORD_OF_A_COLUMN)


@pytest.mark.parametrize("columns", [0, 80, 200])
@pytest.mark.parametrize("command", ["failures", "lessons", "config", "sample"])
def test_a_table_in_a_pipe_is_as_wide_as_columns_says_or_120_and_cuts_nothing(
    newcomer: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch, command: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    whole = hardwon(command).stdout
    monkeypatch.setenv("COLUMNS", str(columns or ""))
    told = hardwon(command).stdout
    assert [line for line in told.split("\n") if width(line) > (columns or 120)] == []
    assert told.count("…") <= whole.count("…")


@pytest.mark.parametrize("command", ["failures", "lessons", "up"])
def test_what_is_piped_into_a_program_on_a_terminal_is_no_wider_than_that(
    newcomer: Path, tmp_path: Path, command: str
) -> None:
    """As `hardwon failures | head` is read."""
    piped = tmp_path / "piped"
    on_a_terminal(command, columns=80, into=piped)
    told = piped.read_text().split("\n")
    assert len(told) > 3
    assert [line for line in told if width(line) > 80] == []


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_what_waits_is_reviewed_within_the_screen(newcomer: Path, columns: int) -> None:
    echoed = on_a_terminal("review", columns=columns, typed="q")
    seen = re.sub(r"\x1b\[[\d;]*m", "", echoed.removeprefix("q"))
    assert "1 of " in seen
    assert "y approve" in seen
    assert [line for line in seen.split("\n") if width(line) > columns] == []
    assert set(WAITING.split()) <= set(seen.split())


@pytest.mark.parametrize(("columns", "lines"), [(80, 20), (80, 24), (100, 30), (200, 50)])
def test_up_is_one_screen_of_one_project(newcomer: Path, columns: int, lines: int) -> None:
    told = on_a_terminal("up", columns=columns, lines=lines).rstrip("\n")
    seen = told.split("\n")
    assert len(seen) < lines, "and a line for the prompt"
    assert all(width(line) <= columns for line in seen)
    assert len(re.findall(r"^[\w-]+: \d+ sessions", told, re.MULTILINE)) == 1
    assert len([line for line in told.partition("Next:")[2].split("\n") if line.startswith("  hardwon ")]) >= 3
    assert all(line.count("`") % 2 == 0 for line in seen if "…" in line and "hardwon" not in line)
    assert "No module named 'asyncpg'" in told, "what an error is about is not cut off"
    assert all(heading in told for heading in ("KEEPS FAILING", "KEEP TELLING", "NEXT SESSION", "hardwon install"))


def test_installing_again_says_that_lines_are_still_withheld(newcomer: Path, hardwon: Run) -> None:
    hardwon("config", "experiment", "on")
    assert "Experiment: on, some lines are withheld" in hardwon("install", "claude-code", "--yes").stdout
    hardwon("uninstall", "claude-code", "--yes")
    hardwon("config", "experiment", "off")
    assert "withheld" not in hardwon("install", "claude-code", "--yes").stdout


def test_installing_asks_whether_to_measure_and_to_distil(newcomer: Path, home: Path, tmp_path: Path) -> None:
    path = with_claude(tmp_path)
    seen = on_a_terminal("install", "claude-code", typed="y\ny\ny\n", path=path)
    assert "one session in ten without a briefing" in " ".join(seen.split())
    assert "tokens" in seen
    kept = (home / "config.toml").read_text()
    assert 'experiment = "on"' in kept
    assert 'distil = "claude"' in kept
    (newcomer / ".codex").mkdir()
    assert "Measure whether" not in on_a_terminal("install", "codex", typed="y\n", path=path)


@pytest.mark.parametrize("typed", ["y\n\n\n", "y\nn\nn\n"])
def test_without_a_yes_nothing_is_switched_on(newcomer: Path, home: Path, tmp_path: Path, typed: str) -> None:
    on_a_terminal("install", "claude-code", typed=typed, path=with_claude(tmp_path))
    assert (home / "config.toml").read_text() == 'experiment = "off"\ndistil = "off"\n'


def test_who_is_not_asked_gets_nothing_that_costs(newcomer: Path, home: Path, hardwon: Run) -> None:
    assert hardwon("install", "claude-code", "--yes").returncode == 0
    assert not (home / "config.toml").exists()
    assert "nothing is withheld" in hardwon("status").stdout


def with_claude(tmp_path: Path) -> str:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("command", ["replay", "measure"])
def test_what_is_proved_fits_a_screen_unless_all_of_it_is_asked_for(newcomer: Path, command: str) -> None:
    assert len(on_a_terminal(command, columns=80, lines=24).rstrip("\n").split("\n")) < 24
    assert len(on_a_terminal(command, "--all", columns=80, lines=24).rstrip("\n").split("\n")) >= 24


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_how_often_a_command_passed_and_how_long_ago_stand_in_columns(newcomer: Path, columns: int) -> None:
    for command in (("how", "-p", "tidepool"), ("map", "tidepool")):
        heading, *rows = on_a_terminal(*command, columns=columns).split("COMMAND", 1)[1].split("\n")
        assert heading.split()[-1] == "LAST"
        assert re.search(r"  \d+ +\d+ +\d+  \d{4}-\d\d-\d\d$", rows[1].rstrip())


def test_status_says_what_to_type_for_each_agent_that_is_here(newcomer: Path) -> None:
    (newcomer / ".codex").mkdir()
    seen = on_a_terminal("status")
    assert re.search(r"\nclaude-code +no +hardwon install claude-code", seen)
    assert re.search(r"\nNot found here: .*gemini", seen)
    assert re.search(r"\nKnown: \d+ sessions", seen)


def test_doctor_shows_a_screen_what_is_to_be_known_and_all_on_request(newcomer: Path, hardwon: Run) -> None:
    seen = on_a_terminal("doctor")
    assert seen.startswith("Nothing is wrong. ")
    assert re.search(r"\n\d+ checks passed: `hardwon doctor --all`", seen)
    assert "integrity" not in seen
    assert "integrity" in on_a_terminal("doctor", "--all")
    assert "integrity" in hardwon("doctor").stdout, "in a pipe, all"


def test_a_lesson_has_the_room_that_its_kind_and_project_took(newcomer: Path) -> None:
    assert on_a_terminal("lessons", columns=80).split("\n")[0].split() == ["ID", "SESSIONS", "LESSON"]
    assert "KIND" in on_a_terminal("lessons", columns=200).split("\n")[0]


def test_harvest_alone_says_what_it_can_read(newcomer: Path, hardwon: Run) -> None:
    done = hardwon("harvest")
    assert done.returncode == 2
    assert done.stderr.startswith("hardwon: say what to read: `hardwon harvest --all` reads ")


def test_a_large_screen_has_the_notes_of_all(newcomer: Path) -> None:
    assert "TOKENS: of these lines" in on_a_terminal("replay", columns=200, lines=50)
    assert "TOKENS: of these lines" not in on_a_terminal("replay", columns=80, lines=24)


def test_the_help_of_a_command_names_values_by_what_they_are(hardwon: Run) -> None:
    said = hardwon("failures", "--help").stdout
    assert "--since SINCE" in said
    assert "<" not in said
    assert "failures [OPTIONS] [COMMAND]\n" in said
