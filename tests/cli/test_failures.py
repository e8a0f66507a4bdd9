"""`hardwon failures`: what keeps happening, what it cost, what fixed it, and is this one known?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ClaudeSession, Run

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"
KEYS = {"known", "fingerprint", "family", "occurrences", "sessions", "last_seen", "fixes", "avoid"}


@pytest.fixture
def harvested(hardwon: Run, tmp_path: Path) -> Run:
    for day in (1, 5, 9):
        (
            ClaudeSession(f"s{day}", day=day)
            .run("pytest -q", MISSING, exit_code=1)
            .run("uv sync", "ok")
            .run("pytest -q", MISSING, exit_code=1)
            .run("uv sync --extra postgres", "ok")
            .run("pytest -q", "3 passed")
            .write(tmp_path / "logs")
        )
    ClaudeSession("other", day=3).run("make release", "fatal: no tag v9 found", exit_code=2).write(tmp_path / "logs")
    assert hardwon("harvest", tmp_path / "logs").returncode == 0
    return hardwon


def test_the_list_tells_how_often_where_what_it_cost_and_what_worked(harvested: Run) -> None:
    first, second = json.loads(harvested("failures", "--json").stdout)
    assert (first["occurrences"], first["sessions"], first["wasted_calls"]) == (6, 3, 6)
    assert first["wasted_tokens"] > 60
    assert first["fixes"][0]["text"] == "run `uv sync --extra postgres`"
    assert second["sessions"] == 1
    shown = harvested("failures").stdout
    assert "█" in shown
    assert "uv sync --extra postgres" in shown


def test_open_leaves_out_what_a_fix_is_known_for(harvested: Run) -> None:
    (only,) = json.loads(harvested("failures", "--open", "--json").stdout)
    assert only["fixes"] == []


def test_since_leaves_out_what_is_older(harvested: Run) -> None:
    (only,) = json.loads(harvested("failures", "--since", "2026-10-08", "--json").stdout)
    assert (only["occurrences"], only["wasted_calls"]) == (2, 2)


def test_show_tells_it_whole(harvested: Run) -> None:
    id = json.loads(harvested("failures", "--json").stdout)[0]["id"]
    told = json.loads(harvested("failures", "show", id[:8], "--json").stdout)
    assert len(told["seen"]) == 6
    shown = harvested("failures", "show", id[:8]).stdout
    assert "worked 3x: run `uv sync --extra postgres`" in shown
    assert "3 of 3 sessions found this fix anew; none had been told" in shown
    assert "$ pytest -q" in shown
    missing = harvested("failures", "show", "F000")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "hardwon failures" in missing.stderr


def test_match_knows_a_failure_by_its_output_whoever_ran_it(harvested: Run) -> None:
    found = json.loads(harvested("failures", "match", "--json", input=MISSING).stdout)
    assert set(found) >= KEYS
    assert (found["known"], found["occurrences"], found["sessions"]) == (True, 6, 3)
    assert found["fixes"][0]["steps"] == ["run `uv sync --extra postgres`"]
    assert found["avoid"] == ["run `uv sync`"]
    assert found["last_seen"] == "2026-10-09T10:00:04Z"
    said = harvested("failures", "match", input=MISSING).stdout
    assert "6 times in 3 sessions" in said
    assert "this fixed it: run `uv sync --extra postgres`" in said


def test_match_says_in_a_line_that_it_does_not_know(harvested: Run) -> None:
    for text in ("KeyError: 'tide'", "", "all fine"):
        done = harvested("failures", "match", input=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "No failure like this is known.\n")
    unknown = json.loads(harvested("failures", "match", "--json", input="KeyError: 'tide'").stdout)
    assert (unknown["known"], unknown["fixes"]) == (False, [])


def test_match_knows_the_line_that_why_quotes_where_one_failure_alone_has_it(hardwon: Run, tmp_path: Path) -> None:
    line = "error: unrecognized subcommand 'gauge'"
    for day, program in ((1, "reef"), (2, "reef"), (3, "tide")):
        said = f"{line}\n\nUsage: {program} <COMMAND>"
        ClaudeSession(f"s{day}", day=day).run(f"{program} gauge", said, exit_code=2).write(tmp_path / f"of-{program}")
    hardwon("harvest", tmp_path / "of-reef")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert hardwon("why", known["id"][:9]).stdout.rstrip().endswith(line)
    for quoted in (line, f"  {line}\n"):
        found = json.loads(hardwon("failures", "match", "--json", input=quoted).stdout)
        assert (found["known"], found["fingerprint"], found["sessions"]) == (True, known["id"], 2)
    assert "known" in hardwon("failures", "match", input=line[:-8]).stderr, "half a line is none"
    hardwon("harvest", tmp_path / "of-tide")
    assert len(json.loads(hardwon("failures", "--json").stdout)) == 2
    assert not json.loads(hardwon("failures", "match", "--json", input=line).stdout)["known"], "it may be either"


def test_why_says_how_many_places_are_left_and_shows_them(hardwon: Run, tmp_path: Path) -> None:
    for day in range(1, 24):
        ClaudeSession(f"s{day}", day=day).run("pytest -q", MISSING, exit_code=1).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    id = json.loads(hardwon("failures", "--json").stdout)[0]["id"][:9]
    said = hardwon("why", id).stdout
    assert "23 times in 23 sessions" in said
    assert said.count(", message ") == 5
    assert f"and 18 more: `hardwon why {id} --all`" in said
    whole = hardwon("why", id, "--all").stdout
    assert whole.count(", message ") == 23
    assert " more: " not in whole
    assert f"and 3 more: `hardwon why {id} --all`" in hardwon("failures", "show", id).stdout


def test_a_linter_or_a_runner_is_not_called_by_the_name_of_another(hardwon: Run, tmp_path: Path) -> None:
    biome = (
        "src/tide.ts:3:7 lint/style/useConst ━━━━━━━━━━\n\n  × This let declares a variable that is never reassigned."
    )
    ClaudeSession().run("bunx biome check", biome, exit_code=1).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert known["family"] == "eslint", "as programs know it"
    for said in (hardwon("why", known["id"]), hardwon("failures", "show", known["id"]), hardwon("search", "useConst")):
        assert "js-lint" in said.stdout
        assert "eslint" not in said.stdout
    assert known["id"][:9] in hardwon("search", "useConst", "--kind", "js-lint").stdout


def test_match_without_a_store_says_nothing(hardwon: Run) -> None:
    done = hardwon("failures", "match", input=MISSING)
    assert (done.returncode, done.stdout) == (0, "")
