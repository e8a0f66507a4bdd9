"""Lists and answers as people read them: in a terminal, in a pager, in a pipe."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.cli.table import width
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.terminal import on_a_terminal

ANSWERS = (
    "failures", "failures --all --limit 1", "lessons --limit 1", "search asyncpg", "search zzqqx", "measure",
    "projects", "history", "bootstrap --left-out -p tidepool", "why F9b806165", "doctor", "config",
)  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("learned")
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.jsonl")), mine=True)
    return home


@pytest.fixture
def newcomer(learned: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HARDWON_EXPERIMENT")
    shutil.copytree(learned, home)
    shutil.copytree(EXAMPLES, tmp_path / "user" / ".claude" / "projects")
    return tmp_path


@pytest.mark.parametrize("command", ANSWERS)
def test_nothing_of_an_answer_is_painted_over_a_pager(newcomer: Path, hardwon: Run, command: str) -> None:
    """What is said to the terminal while a pager shows the answer lands in the midst of it."""
    piped = newcomer / "piped"
    assert on_a_terminal(*command.split(), into=piped).strip() == ""
    assert piped.read_text().strip()
    assert hardwon(*command.split()).stderr == ""


@pytest.mark.parametrize("command", [one for one in ANSWERS if not one.startswith("config")])
def test_json_is_nothing_but_json(newcomer: Path, hardwon: Run, command: str) -> None:
    done = hardwon(*command.split(), "--json")
    json.loads(done.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize("command", ANSWERS)
def test_a_sentence_in_a_pipe_is_as_wide_as_the_terminal_behind_it(newcomer: Path, command: str) -> None:
    piped = newcomer / "piped"
    on_a_terminal(*command.split(), into=piped)
    assert [line for line in piped.read_text().split("\n") if width(line) > 80] == []


def test_a_briefing_in_a_file_is_the_same_from_every_terminal(newcomer: Path, hardwon: Run) -> None:
    piped = newcomer / "piped"
    for form in ("plain", "markdown", "hook"):
        on_a_terminal("bootstrap", "-p", "tidepool", "--format", form, columns=40, into=piped)
        assert piped.read_text() == hardwon("bootstrap", "-p", "tidepool", "--format", form).stdout


def test_what_worked_is_green_what_failed_red_and_ids_dim_where_somebody_looks(newcomer: Path, hardwon: Run) -> None:
    coloured = {**os.environ, "FORCE_COLOR": "1"}
    listed = hardwon("failures", env=coloured).stdout
    assert "\x1b[32m→ " in listed
    assert re.search(r"\x1b\[2mF\w{8}\x1b\[0m", listed)
    assert "\x1b[32m→ " in hardwon("search", "asyncpg", "--type", "failure", env=coloured).stdout
    assert "\x1b[31m  ! " in hardwon("search", "asyncpg", "--type", "session", env=coloured).stdout
    assert "\x1b[31m    failed " in hardwon("why", "F9b806165", env=coloured).stdout
    assert "\x1b" not in hardwon("failures").stdout
    assert "\x1b" not in hardwon("failures", env={**coloured, "NO_COLOR": "1"}).stdout


def unformatted(folder: Path, files: int = 3) -> Path:
    """What a compiler said of several files, of one in two ways, once with a full stop; never mended."""
    for day in range(1, 7):
        name = f"{'abc'[day % files]}.cs"
        said = f"{'3>' * (day == 5)}/srv/reef/{name}(7,1): error IDE0005: Using directive is unnecessary"
        session = ClaudeSession(f"s{day}", day=day)
        session.run("dotnet build", f"{said}{'.' * (day % 2)} [/srv/reef/reef.csproj]", exit_code=1).write(folder)
    return folder


def test_one_failure_has_one_number_on_every_screen(
    hardwon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    hardwon("harvest", "--mine", unformatted(tmp_path / "logs"))
    (row,) = re.findall(r"^(F\w+) +(\d+) .*(error IDE0005: Using .*)$", hardwon("failures").stdout, re.MULTILINE)
    assert row[1:] == ("6", "error IDE0005: Using directive is unnecessary (3 files)"), "its last word, and no node"
    left_out = hardwon("bootstrap", "--left-out", "-p", "reef").stdout
    assert row in re.findall(r"^  (F\w+) +(\d+)  (error IDE0005.*?files\))", left_out, re.MULTILINE)
    said = hardwon("failures", "show", row[0]).stdout
    _, error, often, *_ = said.split("\n")
    assert error == f"  {row[2]}"
    assert often.startswith("  6 times in 6 sessions, 1 October – 6 October 2026")
    assert f"all 6 places: `hardwon why {row[0]} --all`" in said
    assert hardwon("why", row[0], "--all").stdout.count("claude-code, message ") == 6


def test_a_fix_takes_no_room_of_the_error_on_a_wide_screen(newcomer: Path) -> None:
    heading, first, *rest = on_a_terminal("failures", columns=200).split("\n")
    assert "TOKENS LOST" in heading
    assert "WORKED" not in heading
    at = heading.index("ERROR")
    assert any(line[:at].strip() == "" and line[at:].startswith("→ ") for line in (first, *rest))
    assert not any(line.rstrip().endswith("…") for line in (first, *rest)), "there is room for each of these errors"


def test_the_list_of_failures_fits_ten_rows_on_a_small_screen(hardwon: Run, tmp_path: Path) -> None:
    for at in range(30):
        one = "abcdefghij"[at % 10] * 3 + "klm"[at // 10] * 3
        session = ClaudeSession(f"s{at}", day=1 + at % 9)
        session.run(
            f"reef {one}",
            f"fatal: no {one} gauge in the northern reef could be read in time, and the tide "
            "table that it should have filled is therefore not there",
            exit_code=2,
        ).write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    seen = on_a_terminal("failures").rstrip().split("\n")
    assert sum(line.startswith("F") for line in seen) >= 9
    assert len(seen) < 24


def test_project_and_everywhere_are_not_both_taken(newcomer: Path, hardwon: Run) -> None:
    for command in (["failures"], ["lessons"], ["search", "x"], ["measure"]):
        done = hardwon(*command, "-p", "tidepool", "--everywhere")
        assert (done.returncode, done.stdout) == (1, "")
        assert "give one of them" in done.stderr


def test_who_searches_and_finds_nothing_is_told_what_was_looked_for_first(newcomer: Path, hardwon: Run) -> None:
    assert hardwon("search", "zzqqx").stdout.startswith("Nothing found for “zzqqx”.")


def test_lines_of_a_passage_that_say_nothing_of_the_question_are_left_out(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession("s1").user("mend the build").says("You are absolutely right, let me have a look.")
    session.run("make gauges", "fatal: no gauge of the northern reef", exit_code=2).write(tmp_path)
    hardwon("harvest", "--mine", tmp_path)
    said = hardwon("search", "northern reef", "--type", "session").stdout
    assert "! fatal: no gauge of the northern reef" in said
    assert "absolutely right" not in said


def test_harvest_tells_what_is_new_and_what_to_do_now(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 2):
        session = ClaudeSession(f"s{day}", day=day).run("pytest -q", "E   ImportError: no tide", exit_code=1)
        session.run("uv sync", "ok").run("pytest -q", "3 passed").write(tmp_path / f"logs{day}")
    assert "errors, each once a session" not in hardwon("harvest", "--mine", tmp_path / "logs1").stdout
    said = hardwon("harvest", "--mine", tmp_path / "logs2").stdout
    assert re.search(r"^New: 1 error.*\. What they teach: `hardwon up`$", said, re.MULTILINE)
    assert re.search(
        r"^In all: 2 sessions, \d+ messages; 2 errors, each once a session, of which 1 ", said, re.MULTILINE
    )
    assert re.search(r"; 1 fix, [01] of them told to agents; ", said)
    assert said.startswith("Read 1 new session of reef in "), "whose it is"
    again = hardwon("harvest", "--mine", tmp_path / "logs2").stdout
    assert "New:" not in again
    assert "In all: 2 sessions" in again


def test_measure_gives_no_range_for_what_happened_a_time_or_two(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession("s1").run("pytest -q", "E   ImportError: no tide", exit_code=1)
    session.write(tmp_path)
    hardwon("harvest", "--mine", tmp_path)
    for lines in (24, 50):
        said = on_a_terminal("measure", columns=200, lines=lines)
        assert re.search(r"errors seen before +too few +1 error, once a session", said)
        assert "%" not in said.partition("\n\n")[2].replace("95% RANGE", "")
        assert "Share of errors" not in said, "a week of one error is no trend"


def test_inspect_says_in_words_how_the_calls_ended(hardwon: Run, tmp_path: Path) -> None:
    session = (
        ClaudeSession("s1").user("mend it").run("make", "fatal: no tide", exit_code=2).run("ls", "a").run("ls b", "b")
    )
    said = hardwon("inspect", session.write(tmp_path)).stdout
    assert re.search(r"\n  tool calls +3: 2 worked, 1 failed\n", said)
    assert "_" not in said.partition("session ")[2].partition("A message of it")[0].replace(str(tmp_path), "")


def test_history_says_when_and_what_was_learned_at_every_width(newcomer: Path, hardwon: Run) -> None:
    long = "Gauges of the northern reef are read at noon, since the clock of the southern station is wrong before."
    hardwon("remember", long, "-p", "tidepool")
    for columns in (80, 200):
        seen = on_a_terminal("history", columns=columns)
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d  ", seen)
        assert set(long.split()) <= set(seen.split()), "all of it"
        assert "trust:" not in seen


def test_lessons_have_a_column_for_project_and_state_where_there_is_room(newcomer: Path, hardwon: Run) -> None:
    hardwon("remember", "Gauges are read at noon.", "--global", "--candidate")
    wide, narrow = (on_a_terminal("lessons", columns=columns, lines=50) for columns in (120, 80))
    assert wide.split("\n")[0].split()[-3:] == ["LESSON", "PROJECT", "STATE"]
    assert re.search(r"noon\. +everywhere +waits for review", wide)
    assert "(waits for review)" in narrow
    assert "No preference lessons of tidepool yet." not in wide
    assert re.match(
        r"No identity lessons of tidepool yet\.", hardwon("lessons", "-p", "tidepool", "--kind", "identity").stdout
    )


def test_sample_shows_a_screen_of_sessions_by_the_id_that_other_commands_take(hardwon: Run, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "user" / ".claude" / "projects")
    assert "not read yet" in on_a_terminal("sample")
    hardwon("harvest", "--all")
    seen = on_a_terminal("sample")
    assert sum(bool(re.match(r" +\d+ ", line)) for line in seen.split("\n")) <= 15
    (id, *_) = re.findall(r" (S\w{8}) ", seen)
    assert hardwon("inspect", id).returncode == 0
    assert "`hardwon inspect ID`" in seen


def test_settings_are_listed_by_what_they_are_about(hardwon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("HARDWON_") and name != "HARDWON_HOME"]:
        monkeypatch.delenv(name)
    said = hardwon("config").stdout
    assert "SET IN" not in said, "nothing is set"
    at = [said.index(f"\n{name}") for name in ("BRIEFING", "budget", "SEARCH", "fusion_weight", "TEAM", "team_url")]
    assert at == sorted(at)
    hardwon("config", "budget", "1200")
    assert re.search(r"\nbudget +1200 +config\.toml ", hardwon("config").stdout)
    names = json.loads(hardwon("config", "--json").stdout)
    assert all(f"\n{name} " in said for name in names)


def test_projects_say_how_many_failures_they_have_and_when_they_were_worked_on(newcomer: Path, hardwon: Run) -> None:
    heading, first, *_ = on_a_terminal("projects", columns=120).split("\n")
    assert heading.split() == ["SESSIONS", "FAILURES", "LAST", "NAME", "FOLDER", "OR", "REMOTE"]
    assert re.match(r" +\d+ +\d+  \d{4}-\d\d-\d\d  \S", first)


def test_doctor_counts_its_notes_and_says_what_was_not_read(newcomer: Path, hardwon: Run) -> None:
    wrong = newcomer / "logs" / "notes.jsonl"
    wrong.parent.mkdir()
    wrong.write_text("no session at all\n")
    hardwon("harvest", wrong.parent)
    seen = on_a_terminal("doctor", columns=200)
    notes = [line for line in seen.split("\n") if line.startswith("note ")]
    assert seen.startswith(f"Nothing is wrong. {len(notes)} notes:")
    assert any(re.match(r"note refused +not read: \S*notes\.jsonl: ", line) for line in notes)


def test_an_agent_that_is_not_known_is_not_taken_for_one_of_another_name(hardwon: Run) -> None:
    assert "do you mean" not in hardwon("install", "vscode").stderr
    assert "do you mean codex?" in hardwon("install", "codx").stderr


def test_errors_of_one_file_that_were_glued_are_shown_apart(hardwon: Run, tmp_path: Path) -> None:
    """Lines of one length look like those of a narrow screen."""
    lines = [f"cache\\file_map_windows.go:{at}:13: possible misuse of unsafe.Pointer" for at in (198, 253, 275)]
    ClaudeSession("s1").run("go vet ./... 2>&1 | tail -80", "\n".join(lines)).write(tmp_path)
    hardwon("harvest", "--mine", tmp_path)
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    shown = hardwon("why", known["id"]).stdout
    assert lines[0] in shown
    assert "Pointercache" not in shown


def test_why_cuts_no_command_that_one_may_want_to_type(hardwon: Run, tmp_path: Path) -> None:
    tests = " ".join(f"tests/gauges/test_{name}.py::test_reef" for name in "abcdef")
    session = ClaudeSession("s1").run(
        f"pytest -q {tests}", "E   ModuleNotFoundError: No module named 'tide'", exit_code=1
    )
    session.run("uv sync --extra tide", "ok").run(f"pytest -q {tests}", "6 passed").write(tmp_path)
    hardwon("harvest", "--mine", tmp_path)
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    for columns in (80, 200):
        seen = "".join(on_a_terminal("why", known["id"], columns=columns).split())
        assert seen.count(f"$pytest-q{tests}".replace(" ", "")) >= 2, "where it failed, and where it passed"
