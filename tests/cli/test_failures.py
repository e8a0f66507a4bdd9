"""`hardwon failures`: what keeps happening, what it cost, what fixed it, and is this one known?"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import ClaudeSession, Run
from tests.terminal import on_a_terminal

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
    shown = harvested("failures", env={**os.environ, "COLUMNS": "200"}).stdout
    assert "█" in shown
    assert "uv sync --extra postgres" in shown


def test_a_pipe_and_json_hold_every_failure(hardwon: Run, tmp_path: Path) -> None:
    """As the help says of a pipe: whoever counts in a script is not shown the first few."""
    session = ClaudeSession("many")
    for at in range(14):
        session.run(f"tool{chr(97 + at) * 3} build", f"fatal: no {chr(97 + at) * 5} found", exit_code=2)
    session.write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    assert len(json.loads(hardwon("failures", "--json").stdout)) == 14
    assert hardwon("failures").stdout.count("fatal: no") == 14
    assert len(json.loads(hardwon("failures", "--json", "--limit", "3").stdout)) == 3


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
    assert "worked in 3 sessions: run `uv sync --extra postgres`" in shown
    assert "$ pytest -q" in shown
    told = [line.split()[0] for line in shown.splitlines() if line.startswith("    ") and "uv sync" in line]
    assert "between:" in told, "the step that fixed it stands between the two calls"
    missing = harvested("failures", "show", "F000")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "hardwon failures" in missing.stderr


@pytest.mark.parametrize(
    ("failing", "step", "shown"),
    [
        ("tide post --fill", "", False),
        ("tide post --fill", "ebb --now", False),
        ("tide post --fill", "git push --force-with-lease origin main", False),
        ("tide post --fill", "docker start tides", True),
        ("tide post --fill", "tide login north", True),
    ],
)
def test_what_may_have_helped_is_no_lucky_second_try_no_force_and_no_other_program(
    failing: str, step: str, shown: bool, hardwon: Run, tmp_path: Path
) -> None:
    session = ClaudeSession().run(failing, "Error: the gauge is dry", exit_code=1)
    (session.run(step, "ok") if step else session).run(failing, "ok").write(tmp_path / "logs")
    assert hardwon("harvest", tmp_path / "logs").returncode == 0
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert known["fixes"][0]["status"] == "candidate", "it is kept: a second session may do the same"
    assert ("may have helped" in hardwon("why", known["id"]).stdout) == shown


def test_review_asks_of_what_came_once_only_about_changed_calls_and_what_provides(hardwon: Run, tmp_path: Path) -> None:
    for name, step in (("north", "bun run lint:fix"), ("south", "docker start tides")):
        session = ClaudeSession(name).run(f"bun run {name}", f"Error: the gauge {name} is dry", exit_code=1)
        session.run(step, "ok").run(f"bun run {name}", "ok").write(tmp_path / "logs")
    assert hardwon("harvest", tmp_path / "logs", "--mine").returncode == 0
    asked = hardwon("review", "--list").stdout
    assert ("docker start tides" in asked, "lint:fix" in asked) == (True, False)
    north = next(one["id"] for one in json.loads(hardwon("failures", "--json").stdout) if "north" in one["error"])
    assert "may have helped once: run `bun run lint:fix`" in hardwon("why", north).stdout, "who looks at it may want it"


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
    for text in ("KeyError: 'tide'", "all fine"):
        done = harvested("failures", "match", input=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "No failure like this is known.\n")
    for text in ("", " \n"):
        done = harvested("failures", "match", input=text)
        assert (done.returncode, done.stdout, done.stderr[:18]) == (0, "", "Nothing was given:")
    unknown = json.loads(harvested("failures", "match", "--json", input="KeyError: 'tide'").stdout)
    assert (unknown["known"], unknown["fixes"]) == (False, [])


def test_match_knows_the_line_that_why_quotes_where_one_failure_alone_has_it(hardwon: Run, tmp_path: Path) -> None:
    line = "error: unrecognized subcommand 'gauge'"
    for day, program in ((1, "reef"), (2, "reef"), (3, "tide")):
        said = f"{line}\n\nUsage: {program} <COMMAND>"
        ClaudeSession(f"s{day}", day=day).run(f"{program} gauge", said, exit_code=2).write(tmp_path / f"of-{program}")
    hardwon("harvest", tmp_path / "of-reef")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert f"    {line}\n" in hardwon("why", known["id"][:9]).stdout
    for quoted in (line, f"  {line}\n"):
        found = json.loads(hardwon("failures", "match", "--json", input=quoted).stdout)
        assert (found["known"], found["fingerprint"], found["sessions"]) == (True, known["id"], 2)
    half = hardwon("failures", "match", input=line[:-8])
    assert (half.stdout, half.stderr.count(known["id"][:9])) == ("", 1), "half a line is none, but like it"
    assert hardwon("failures", "match", input="error: another subcommand 'buoy'").stderr.startswith("No failure like")
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
    assert said.count(", message ") == 2
    assert f"all 23 places: `hardwon why {id} --all`" in said
    whole = hardwon("why", id, "--all").stdout
    assert whole.count(", message ") == 23
    assert " places: " not in whole
    assert hardwon("failures", "show", id).stdout == said


def test_a_linter_or_a_runner_is_not_called_by_the_name_of_another(hardwon: Run, tmp_path: Path) -> None:
    biome = (
        "src/tide.ts:3:7 lint/style/useConst ━━━━━━━━━━\n\n  × This let declares a variable that is never reassigned."
    )
    ClaudeSession().run("bunx biome check", biome, exit_code=1).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert known["family"] == "eslint", "as programs know it"
    assert "eslint" not in hardwon("search", "useConst").stdout
    for said in (hardwon("why", known["id"]), hardwon("failures", "show", known["id"])):
        assert "js-lint" in said.stdout
        assert "eslint" not in said.stdout
    assert known["id"][:9] in hardwon("search", "useConst", "--kind", "js-lint").stdout


def test_match_without_a_store_says_nothing(hardwon: Run) -> None:
    done = hardwon("failures", "match", input=MISSING)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture
def unformatted(hardwon: Run, tmp_path: Path) -> Run:
    """What a formatter said of two files in three sessions; a command mended one of them."""
    for day, name in ((1, "tide"), (2, "reef"), (3, "tide")):
        said = f"Would reformat: src/{name}.py\n1 file would be reformatted"
        session = ClaudeSession(f"s{day}", day=day).run("ruff format --check", said, exit_code=1)
        if name == "tide":
            session.run("ruff format", "1 file reformatted").run("ruff format --check", "1 file already formatted")
        session.write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    return hardwon


def test_the_same_in_several_files_is_one_row_and_has_one_number_wherever_it_is_shown(unformatted: Run) -> None:
    _, row, *_ = unformatted("failures").stdout.split("\n")
    assert row.split()[1] == "3"
    assert row.endswith("Would reformat: … (2 files)")
    fixed, other = json.loads(unformatted("failures", "--json").stdout)
    for one in (fixed, other):
        head, kind, together, this, others, *_ = unformatted("why", one["id"]).stdout.split("\n")
        assert head.startswith(one["id"][:9])
        assert kind == "  Would reformat: … (2 files)", "as the list has it"
        assert together.startswith("  3 times in 3 sessions, ")
        often = "2 times in 2 sessions" if one is fixed else "1 time in 1 session"
        assert this.startswith(f"  this one {often}, last met ")
        assert others.startswith("  1 like it: F")
        whole = unformatted("why", one["id"], "--all").stdout
        assert whole.count("claude-code, message ") == 3, "each place of all that the number counts"
    assert f"    {other['id'][:9]}  1 time in 1 session: " in unformatted("why", fixed["id"], "--all").stdout
    left_out = re.findall(r"^(F\w+) +(\d+)  (.*)", unformatted("bootstrap", "-p", "reef", "--left-out").stdout, re.M)
    assert left_out in ([], [(row.split()[0], "3", "Would reformat: … (2 files)")])
    assert "worked in 2 sessions for others of its kind: use `ruff format`" in unformatted("why", other["id"]).stdout


def test_a_group_counts_the_sessions_in_which_its_fix_worked_whichever_file_it_was(
    hardwon: Run, tmp_path: Path
) -> None:
    for day in range(1, 7):
        said = f"Would reformat: src/tide{day % 2}.py\n1 file would be reformatted"
        session = ClaudeSession(f"s{day}", day=day).run("ruff format --check", said, exit_code=1)
        session.run("ruff format", "1 file reformatted").run("ruff format --check", "1 file already formatted")
        session.write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    listed = hardwon("failures").stdout
    assert "(2 files)" in listed
    assert "→ use `ruff format` (6 sessions)" in listed
    (first, *_) = json.loads(hardwon("failures", "--json").stdout)
    said = hardwon("why", first["id"]).stdout
    assert "\n  6 times in 6 sessions, " in said
    assert "worked in 6 sessions, 3 of them with this one: use `ruff format`" in said
    assert "worked in 6 sessions" in hardwon("up").stdout


def test_match_tells_from_anywhere_what_mended_the_same_in_other_files(unformatted: Run) -> None:
    output = "Would reformat: src/shoal.py\n1 file would be reformatted"
    here = unformatted("failures", "match", "-p", "reef", input=output)
    assert "the same in another file was fixed by: use `ruff format`." in here.stdout
    anywhere = unformatted("failures", "match", input=output)
    assert "the same in another file of reef was fixed by: use `ruff format`." in anywhere.stdout
    assert "…" not in anywhere.stdout.partition("\n")[0], "in the words of the error, not masked"
    id = re.search(r"Where this comes from: `hardwon why (\w+)`", anywhere.stderr)
    assert id
    assert "worked" in unformatted("why", id[1]).stdout


def test_match_names_each_failure_that_has_the_same_words(hardwon: Run, tmp_path: Path) -> None:
    said = "error: unknown option '--moorings'"
    for day in (1, 2, 3):
        ClaudeSession(f"s{day}", day=day).run("harbour list --moorings", said, exit_code=1).write(tmp_path / "logs")
    ClaudeSession("other", day=4).run("buoys list --moorings", said, exit_code=1).write(tmp_path / "logs")
    ClaudeSession("bare", day=5).run("./run.sh && true", said, exit_code=1).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    ids = {one["id"][:9]: one["sessions"] for one in json.loads(hardwon("failures", "--json").stdout)}
    found = hardwon("failures", "match", input=said)
    named = re.findall(r"F[0-9a-f]{8}", found.stderr)
    assert "unknown option '--moorings'" in found.stdout
    assert len(ids) > 1
    assert set(named) == set(ids)
    assert "3 times in 3 sessions" in found.stdout + found.stderr


def test_a_search_shows_failures_of_a_kind_as_one_row_with_what_worked(
    unformatted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")  # a row a line
    found = unformatted("search", "reformat", "--type", "failure")
    _, row, fix = found.stdout.rstrip().split("\n")
    assert re.search(r"Would reformat: src/\w+\.py \(and 1 like it\) \(reef\)$", row), "the one that was found"
    assert fix.strip() == "→ worked in 2 sessions: use `ruff format`"
    parts = json.loads(unformatted("search", "reformat", "--type", "failure", "--json").stdout)
    assert len(parts) == 2, "programs get each"


def test_why_shows_what_worked_before_where_it_failed_and_fits_a_screen(hardwon: Run, tmp_path: Path) -> None:
    for day in range(1, 20):
        session = ClaudeSession(f"s{day}", day=day).run("pytest -q", MISSING, exit_code=1)
        session.run("uv sync --extra postgres", "ok").run("pytest -q", "3 passed").write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    seen = on_a_terminal("why", known["id"], lines=24).rstrip()
    assert len(seen.split("\n")) < 24
    assert 0 < seen.index("worked in 19 sessions: run `uv sync --extra postgres`") < seen.index("claude-code, message")
    assert seen.count("message ") - seen.count("--message") == 3, "one that was fixed, at both ends, and another"
    assert "all 19 places: `hardwon why" in seen
    assert hardwon("why", known["id"], "--all").stdout.count("claude-code, message ") == 19


def test_hints_say_what_to_add_to_what_was_typed(hardwon: Run, tmp_path: Path) -> None:
    for number in range(3):
        session = ClaudeSession(f"s{number}", day=number + 1)
        session.run("make x", f"fatal: no tag of {'abc'[number]}-reef found", exit_code=2).write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    asked = ("failures", "-p", "reef", "--since", "2020-01-01")
    assert "1 of 3; more: `--limit 3`; without a fix: `--open`\n" in hardwon(*asked, "--limit", "1").stdout
    assert "--open" not in hardwon(*asked, "--open", "--limit", "1").stdout, "nothing that was asked for"


def test_failures_of_several_projects_say_which(hardwon: Run, tmp_path: Path) -> None:
    for day, project in ((1, "reef"), (2, "tide")):
        session = ClaudeSession(project, day=day, cwd=f"/srv/work/{project}")
        session.run("make release", f"fatal: no tag v{day} of {project} found", exit_code=2).write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    for columns in (80, 100, 200):
        heading, *rows = on_a_terminal("failures", columns=columns).rstrip().split("\n")
        wide = columns > 120
        assert heading.endswith("PROJECT") == wide, "a column would take the room of the error"
        assert any(row.rstrip().endswith("  tide") if wide else "(tide" in row for row in rows)
    assert "PROJECT" not in on_a_terminal("failures", "-p", "tide", columns=200)


def test_what_a_formatter_says_of_each_file_is_one_row_and_tells_its_parts(
    unformatted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")  # a row a line
    hardwon = unformatted
    parts = json.loads(hardwon("failures", "--json").stdout)
    assert [one["sessions"] for one in parts] == [2, 1]
    _, row, fix = hardwon("failures").stdout.rstrip().split("\n")
    assert "(2 files)" in row
    assert fix.strip() == "→ use `ruff format` (2 sessions)", "in the room of the error, at every width"
    assert row.split()[:3] == [parts[0]["id"][:9], "3", "3"]
    assert parts[1]["id"][:9] in hardwon("why", parts[0]["id"]).stdout


def test_an_error_takes_two_lines_of_the_list_at_most(hardwon: Run, tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(40))
    ClaudeSession().run("make release", f"fatal: {long}", exit_code=2).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    listed = on_a_terminal("failures").rstrip()
    assert len(listed.split("\n")) == 3
    assert "word20" not in listed
    assert "word20" in on_a_terminal("failures", "--limit", "5"), "there all of it is shown"


@pytest.mark.parametrize(("days", "age"), [(100, "3 mo"), (3, "[23] d")])
def test_the_list_says_how_old_each_failure_is(hardwon: Run, tmp_path: Path, days: int, age: str) -> None:
    then = datetime.now(UTC) - timedelta(days=days)
    session = ClaudeSession(day=then.day, month=then.month).run("pytest -q", MISSING, exit_code=1)
    session.run("uv sync --extra postgres", "ok").run("pytest -q", "3 passed")
    for record in session.records:
        record["timestamp"] = record["timestamp"].replace("2026-", f"{then.year}-")
    session.write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    for columns in (80, 100):
        heading, row, *_ = on_a_terminal("failures", columns=columns).split("\n")
        assert re.match(f"{age}  ", row[heading.index("LAST") :])
    assert "last met" not in hardwon("bootstrap", "--project", "reef").stdout


def test_a_hook_that_fails_for_many_reasons_says_why_it_has_no_fix(hardwon: Run, tmp_path: Path) -> None:
    for day, error in ((1, "error TS2322: Type 'a' is not assignable"), (2, "error TS2739: it is missing 'b'")):
        said = f"$ tsc --noEmit\na.ts(1,2): {error}\nhusky - pre-commit script failed (code 1)"
        ClaudeSession(f"s{day}", day=day).run("git commit -m x", said, exit_code=1).write(tmp_path / "logs")
    hardwon("harvest", tmp_path / "logs")
    (known,) = json.loads(hardwon("failures", "--json").stdout)
    assert known["family"] == "hook"
    assert "a hook fails for many reasons" in hardwon("why", known["id"]).stdout


def test_a_fix_that_waits_for_a_person_is_told_once_one_says_so(hardwon: Run, tmp_path: Path) -> None:
    for day in (1, 5):
        (
            ClaudeSession(f"s{day}", day=day)
            .run("npm run build", "Error: reef-index already exists", exit_code=1)
            .run("rm -rf reef-index", "")
            .run("npm run build", "built")
            .write(tmp_path / "logs")
        )
    hardwon("harvest", tmp_path / "logs")
    (failure,) = json.loads(hardwon("failures", "--json").stdout)
    (fix,) = failure["fixes"]
    assert (fix["status"], "Worked" in hardwon("bootstrap", "--project", "reef").stdout) == ("candidate", False)
    told = hardwon("why", failure["id"][:9]).stdout
    assert f"hardwon review --approve {fix['id'][:9]}" in " ".join(told.split())
    done = hardwon("review", "--promote", fix["id"][:9]).stdout
    assert "rm -rf reef-index" in hardwon("bootstrap", "--project", "reef").stdout
    hardwon("undo", done.rpartition("hardwon undo ")[2].strip("`\n"))
    assert "rm -rf reef-index" not in hardwon("bootstrap", "--project", "reef").stdout
    hardwon("review", "--reject", fix["id"][:9])
    assert json.loads(hardwon("failures", "--json").stdout)[0]["fixes"] == []


def test_the_list_fills_the_screen_and_no_more(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession("many")
    for at in range(60):
        name = f"{'abcdefghij'[at % 10]}{'klmnop'[at // 10]}" * 2
        session.run(f"tool{name} build", f"fatal: no {name} found", exit_code=2)
    session.write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    for columns, lines in ((80, 24), (200, 50)):
        seen = on_a_terminal("failures", columns=columns, lines=lines).rstrip().split("\n")
        assert lines - 6 <= len(seen) < lines


def test_a_fix_is_not_broken_within_its_command(hardwon: Run, tmp_path: Path) -> None:
    session = ClaudeSession().run("pytest -q tests/unit/gauges", MISSING, exit_code=1)
    session.run("uv sync --extra postgres --extra gauges", "ok").run("pytest -q tests/unit/gauges", "3 passed")
    session.write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    for columns in (70, 75, 80, 100):
        assert "`uv sync --extra postgres --extra gauges`" in on_a_terminal("failures", columns=columns)
