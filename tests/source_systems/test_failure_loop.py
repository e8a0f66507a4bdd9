"""What the author of the failure-memory loop (loki-mode) does, row by row: what was run, and what must come of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardwon import Attempt, Hardwon, Outcome
from hardwon.capture.run import Ran
from tests.conftest import Run
from tests.serve.service import environment, served

FAILED = "=== FAILURES ===\nE   KeyError: 'tide'\n=== 1 failed in 0.1s ===\n"
PASSED = "=== 4 passed in 0.1s ===\n"


def ran(exit_code: int, errors: str = "", at: int = 0) -> Ran:
    return Ran(exit_code=exit_code, output="", errors=errors, began=1_790_000_000.0 + at, seconds=1.0)


# `PAST FAILURES TO AVOID:` and its (prior) lines.


def test_prior_is_only_what_an_earlier_run_met(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        for at, name in enumerate("abcde"):
            error = f"ModuleNotFoundError: No module named 'tide_{name}'"
            memory.journal.capture_command(["make", name], ran(2, error, at), run="r1", project=str(tmp_path))
        before = "ModuleNotFoundError: No module named 'ebb'"
        memory.journal.capture_command(["make", "x"], ran(2, before, -9), run="r0", project=str(tmp_path))
        lines = memory.journal.past_failures(run="r1", project=str(tmp_path)).lines
    assert [line.lane for line in lines].count("run") == 3
    assert not any("tide_" in line.text for line in lines if line.lane == "prior")


@pytest.mark.parametrize(
    ("said", "hidden"),
    [
        ("cannot clone github.com/acme-corp/secret-repo: not found", "acme-corp"),
        ("cannot clone gitlab.com/acme-corp/group/secret-repo: not found", "acme-corp"),
        ("cannot clone git.internal.example/acme-corp/secret-repo", "acme-corp"),
        ("cannot push to git@github.com:acme-corp/secret-repo.git", "acme-corp"),
        ("cannot reach 2001:db8:85a3:8d3:1319:8a2e:370:7348", "8a2e"),
        ("cannot reach 198.51.100.7 from here", "198.51"),
        ("cannot mail ada@reef.example about it", "ada@"),
        ("cannot open /home/ada/reef/tides.txt", "/home/ada"),
    ],
)
def test_no_line_names_who_where_or_whose(home: Path, tmp_path: Path, said: str, hidden: str) -> None:
    with Hardwon(home) as memory:
        for run in ("r1", "r2"):
            memory.journal.capture_command(["make", "it"], ran(2, f"error: {said}\n"), run=run, project=str(tmp_path))
        block = memory.journal.past_failures(run="r1", project=str(tmp_path))
        memory.refresh_standing()
        told = memory.bootstrap(str(tmp_path)).text
    assert "cannot" in block.text
    assert hidden not in block.text
    assert all(len(line.text) <= 240 for line in block.lines)
    assert "cannot" in told
    assert hidden not in told or "git.internal.example" in said  # a host that is no forge which everybody knows


# "What failed" → "how to fix": `run` fails twice, something is done, `run` succeeds.


def test_a_loop_that_mended_it_is_told_how_and_not_warned(hardwon: Run, tmp_path: Path) -> None:
    script = tmp_path / "serve.sh"
    script.write_text('[ -n "$TIDE_PORT" ] || { echo "error: the variable TIDE_PORT is not set" >&2; exit 2; }\n')
    for _ in range(2):
        assert hardwon("run", "--run", "r1", "--", "sh", script).returncode == 2
    assert "(2x in this run" in hardwon("journal", "failures", "--block", "--run", "r1").stdout
    assert hardwon("run", "--run", "r1", "--", "sh", "-c", f"TIDE_PORT=7 sh {script}").returncode == 0
    assert "2x in this run" not in hardwon("journal", "failures", "--block", "--run", "r1").stdout
    (failure,) = json.loads(hardwon("failures", "--json").stdout)
    assert "TIDE_PORT=7" in failure["fixes"][0]["text"]


def test_what_the_loop_ran_in_between_is_told_as_the_fix(hardwon: Run, tmp_path: Path) -> None:
    tides = tmp_path / "tides.txt"
    for command in (["cat", tides], ["cat", tides], ["true"], ["touch", tides], ["cat", tides]):
        hardwon("run", "--run", "r1", "--", *command)
    (failure,) = json.loads(hardwon("failures", "--json").stdout)
    (fix,) = failure["fixes"]
    assert [step["action"] for step in fix["steps"]] == ["run"]
    assert fix["steps"][0]["what"].startswith("touch ")
    assert fix["status"] == "active"
    assert "tides.txt" not in hardwon("journal", "failures", "--block", "--run", "r1").stdout


# `import --from loki`: episodes, patterns, skills, the crash folder, what the gate decided.


def episode(**more: Any) -> dict[str, Any]:
    return {
        "id": "ep-2026-08-01-a1b2c3d4", "task_id": "task-7", "timestamp": "2026-08-01T10:00:00Z",
        "duration_seconds": 61, "agent": "eng-backend",
        "context": {"phase": "ACT", "goal": "Build a todo REST API", "files_involved": ["src/app.ts"]},
        "action_log": [{"t": 1, "action": "write_file", "target": "src/app.ts", "result": "ok"}],
        "outcome": "failure",
        "errors_encountered": [
            {"type": "ModuleNotFoundError", "message": "No module named 'asyncpg'",
             "resolution": "Install the extra db."}
        ],
        "artifacts_produced": ["src/new.ts"], "git_commit": "abc1234", "tokens_used": 900, "files_read": ["README.md"],
        "files_modified": ["src/app.ts"], "importance": 0.5, "access_count": 0, "_namespace": "default", **more,
    }  # fmt: skip


@pytest.fixture
def loki(tmp_path: Path) -> Path:
    folder = tmp_path / "old" / ".loki"
    patterns = [
        {"id": "sem-001", "pattern": "Validate input at the edge", "category": "api", "conditions": ["handlers"],
         "correct_approach": "parse with a schema", "incorrect_approach": "check fields by hand", "confidence": 0.9,
         "source_episodes": ["ep-2026-08-01-a1b2c3d4"], "usage_count": 3, "created_at": "2026-08-02T00:00:00Z",
         "links": [{"to": "sem-002", "relation": "supports", "strength": 1.0}]},
        {"id": "sem-002", "pattern": "Handlers stay thin", "category": "api", "confidence": 0.8},
        "damaged", {"id": "sem-003"},
    ]  # fmt: skip
    files: dict[str, Any] = {
        "memory/episodic/2026-08-01/task-ep-2026-08-01-a1b2c3d4.json": episode(),
        "memory/episodic/2026-08-01/task-ep-2.json": episode(id="ep-2", outcome="success", errors_encountered=[]),
        "memory/episodic/2026-08-01/task-ep-3.json": {"id": "ep-3", "timestamp": 17, "context": "none"},
        "memory/semantic/patterns.json": {"version": "1", "patterns": patterns},
        "memory/semantic/anti-patterns.json": {
            "anti_patterns": [{"id": "anti-1", "what_fails": "Retrying POST", "why": "it writes twice",
                               "prevention": "retry GET only"}]
        },
        "memory/skills/api.json": {"id": "skill-api", "name": "Add an endpoint", "description": "d",
                                   "steps": ["write the schema", "write the handler"],
                                   "common_errors": [{"error": "422 for every body", "fix": "send JSON"}]},
        "crash/20260801T100100.json": {"error_class": "TypeError", "rarv_phase": "ACT", "exit_code": 1,
                                       "stack_signature": ["handler", "parse"], "fingerprint": "abc123def456",
                                       "captured_at": "2026-08-01T10:01:00Z", "home": "/home/ada"},
        "state/evidence-gate.json": {"blocked": True, "reasons": ["tests_red"], "timestamp": "2026-08-01T10:05:00Z"},
        "state/orchestrator.json": {"phase": "ACT"},
    }  # fmt: skip
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    (folder / "memory" / "episodic" / "2026-08-01" / "task-cut.json").write_text('{"id": "ep-')
    (folder / "crash" / "note.json").write_text("[]")
    return folder.parent


def test_a_loki_folder_comes_in_whole_and_once(hardwon: Run, loki: Path) -> None:
    for where in (loki, loki / ".loki"):
        report = json.loads(hardwon("import", "--from", "loki", where, "--project", "todo", "--json").stdout)
    assert report["added"] == {}
    tried = json.loads(hardwon("journal", "file", "src/app.ts", "--json").stdout)
    assert {one["outcome"] for one in tried} == {"failure", "success"}
    one = next(one for one in tried if one["outcome"] == "failure")
    assert (one["task"], one["phase"], one["agent"]) == ("Build a todo REST API", "ACT", "eng-backend")
    assert (one["at"], one["duration"], one["tokens"]) == ("2026-08-01T10:00:00Z", 61.0, 900)
    assert one["approach"] == "write_file src/app.ts"
    assert one["evidence"] == "episode ep-2026-08-01-a1b2c3d4 of loki"
    lessons = {one["text"]: one for one in json.loads(hardwon("lessons", "--project", "todo", "--json").stdout)}
    assert {one["status"] for one in lessons.values()} == {"candidate"}
    pattern = lessons["Validate input at the edge; do parse with a schema; not check fields by hand"]
    assert (pattern["kind"], pattern["confidence"], pattern["reference_count"]) == ("pattern", 0.9, 3)
    assert one["key"] in {source["session"] for source in pattern["sources"]}
    assert lessons["Retrying POST; because it writes twice; do retry GET only"]["kind"] == "pitfall"
    assert "Add an endpoint: write the schema, then write the handler" in lessons
    assert lessons["422 for every body: send JSON"]["kind"] == "pitfall"
    failures = json.loads(hardwon("failures", "--project", "todo", "--json").stdout)
    assert any("TypeError: phase=ACT; signature: handler > parse" in row["error"] for row in failures)
    met = next(row for row in failures if "asyncpg" in row["error"])
    assert [(fix["text"], fix["status"]) for fix in met["fixes"]] == [("Install the extra db.", "candidate")]
    gate = json.loads(hardwon("journal", "similar", "be done", "--json").stdout)[0]
    assert (gate["outcome"], gate["analysis"], gate["phase"]) == ("failure", "tests_red", "VERIFY")
    assert hardwon("doctor").returncode == 0


def test_what_is_damaged_in_it_is_named(hardwon: Run, loki: Path) -> None:
    report = json.loads(hardwon("import", "--from", "loki", loki, "--json").stdout)
    assert report["added"]["attempts"] == 3  # two episodes and the gate
    assert report["added"]["crashes"] == 1
    told = "\n".join(report["left_out"])
    for part in ("task-cut.json: cannot be read", "task-ep-3.json: an episode without a goal", "sem-003 says nothing",
                 "patterns.json: an entry that is no object", "note.json: not a crash file"):  # fmt: skip
        assert part in told
    assert "no .loki folder" in hardwon("import", "--from", "loki", loki / ".loki" / "state").stderr


def test_what_is_vouched_for_is_told(hardwon: Run, loki: Path) -> None:
    hardwon("import", "--from", "loki", loki, "--project", "todo", "--trust")
    told = hardwon("bootstrap", "--project", "todo").stdout
    assert "Validate input at the edge" in told
    assert "Install the extra db." in told


def test_who_vouches_for_it_later_is_believed_too(hardwon: Run, loki: Path) -> None:
    for more in ([], ["--trust"], ["--trust"]):
        hardwon("import", "--from", "loki", loki, "--project", "todo", *more)
    told = hardwon("bootstrap", "--project", "todo").stdout
    assert "Validate input at the edge" in told
    assert "Install the extra db." in told
    lesson = next(one for one in json.loads(hardwon("lessons", "--json").stdout) if "at the edge" in one["text"])
    assert (lesson["status"], lesson["trust"], lesson["confidence"]) == ("active", "human", 0.9)
    assert hardwon("review", "--reject", lesson["id"]).returncode == 0
    hardwon("import", "--from", "loki", loki, "--project", "todo", "--trust")
    assert "Validate input at the edge" not in hardwon("bootstrap", "--project", "todo").stdout
    assert hardwon("doctor").returncode == 0


def test_failures_of_one_project_are_listed_though_another_met_them_earlier(hardwon: Run, loki: Path) -> None:
    hardwon("import", "--from", "loki", loki, "--project", "todo")
    old = loki.parent / "older" / ".loki" / "memory" / "episodic" / "2026-01-01"
    old.mkdir(parents=True)
    (old / "task-old.json").write_text(json.dumps(episode(id="ep-old", timestamp="2026-01-01T10:00:00Z")))
    hardwon("import", "--from", "loki", loki.parent / "older", "--project", "older")
    shown = hardwon("failures", "--project", "todo")
    assert shown.returncode == 0, shown.stderr
    assert "asyncpg" in shown.stdout


def test_a_crash_that_is_on_record_is_no_crash_of_a_later_run(hardwon: Run, loki: Path) -> None:
    hardwon("import", "--from", "loki", loki, "--project", "todo")
    assert hardwon("run", "--run", "r9", "--project", "todo", "--", "true").returncode == 0
    hardwon("capture", "crash", loki / ".loki" / "crash", "--run", "r9", "--project", "todo")
    assert verified(hardwon, "r9")[1] == "backed"
    failures = json.loads(hardwon("failures", "--project", "todo", "--json").stdout)
    assert [row["occurrences"] for row in failures if "TypeError" in row["error"]] == [1]


def test_a_crash_folder_is_captured_in_bulk(hardwon: Run, loki: Path) -> None:
    done = hardwon("capture", "crash", loki / ".loki" / "crash", "--run", "r1", "--project", "todo")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "note.json: not a crash file" in done.stderr
    assert "handler > parse" in hardwon("journal", "failures", "--block", "--run", "r1").stdout


# Verified completion: `journal log --outcome success` with "1 failed"; a gate that blocks "done".


def verified(hardwon: Run, run: str = "r1") -> tuple[int, str, str]:
    done = hardwon("verify", "--run", run, "--json")
    told = json.loads(done.stdout)
    assert told["done"] == (done.returncode == 0)
    return done.returncode, told["verdict"], " ".join(told["reasons"])


def test_a_stated_success_against_a_failed_report_is_none(hardwon: Run, tmp_path: Path) -> None:
    report = tmp_path / "out.txt"
    report.write_text(FAILED)
    hardwon("journal", "log", "--task", "Add a lock", "--outcome", "success", "--test-results", report, "--run", "r1")
    shown = json.loads(hardwon("journal", "show", "1", "--json").stdout)
    assert (shown["outcome"], shown["evidence"]) == ("failure", "test-report, against a stated success")
    stats = json.loads(hardwon("journal", "stats", "--json").stdout)["overall"]
    assert (stats["outcomes"]["success"], stats["outcomes"]["failure"], stats["measured"]) == (0, 1, 1)
    code, verdict, why = verified(hardwon)
    assert (code, verdict) == (1, "contradicted")
    assert "which was called a success" in why


def test_the_gate_asks_for_evidence(hardwon: Run, tmp_path: Path) -> None:
    assert verified(hardwon)[:2] == (1, "unproven")
    hardwon("journal", "log", "--task", "Add a lock", "--outcome", "success", "--run", "r1")
    assert verified(hardwon)[:2] == (1, "unproven")
    assert hardwon("run", "--run", "r1", "--", "sh", "-c", "exit 3").returncode == 3
    code, verdict, why = verified(hardwon)
    assert (code, verdict) == (1, "contradicted")
    assert "the last exit-code" in why
    assert hardwon("run", "--run", "r1", "--", "true").returncode == 0
    assert verified(hardwon)[1] == "contradicted"  # something else passed; that still fails
    report = tmp_path / "out.txt"
    report.write_text(PASSED)
    hardwon("journal", "log", "--task", "sh -c 'exit 3'", "--retry-of", "2", "--test-results", report, "--run", "r1")
    code, verdict, why = verified(hardwon)
    assert (code, verdict) == (0, "backed"), why
    assert "the last test-report" in why
    assert hardwon("verify", "--run", "r1").stdout.startswith("backed\n")


def test_the_same_command_passing_again_mends_a_run(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        for at, code in enumerate((2, 2, 0)):
            memory.journal.capture_command(["make", "test"], ran(code, "error: x y z" if code else "", at), run="r1",
                                           project=str(tmp_path))  # fmt: skip
        found = memory.journal.verify("r1")
        assert (found.verdict, found.open, found.attempts, found.last) == ("backed", (), 3, 3)
        memory.journal.log(Attempt("Write the docs", outcome=Outcome.FAILURE, run="r1", project=str(tmp_path)))
        assert memory.journal.verify("r1").open == (4,)


# Crash capture is for non-signal exits: `hardwon run` records signals apart.


def test_a_signal_is_no_failure(hardwon: Run) -> None:
    assert hardwon("run", "--run", "r1", "--", "sh", "-c", "kill -KILL $$").returncode == 137
    shown = json.loads(hardwon("journal", "show", "1", "--json").stdout)
    assert (shown["outcome"], shown["evidence"], shown["exit_code"]) == ("unknown", "signal SIGKILL", 137)
    assert "No failures found." in hardwon("failures").stdout
    assert hardwon("journal", "failures", "--block", "--run", "r1").stdout == ""
    assert verified(hardwon)[1] == "contradicted"


# The dashboard: a browser at `/`, let in by the link that `hardwon open` prints.


def test_a_browser_is_shown_what_the_loop_met(hardwon: Run, home: Path, loki: Path) -> None:
    hardwon("import", "--from", "loki", loki, "--project", "todo")
    browser = {"Accept": "text/html"}
    with served(environment(home, Path())) as service:
        stranger = service.call("GET", "/", token="", headers=browser)
        assert stranger.status == 401
        assert "hardwon open" in stranger.body.decode()
        let_in = service.call("GET", f"/login?token={service.hardwon_link()}", token="", headers=browser)
        browser["Cookie"] = let_in.headers["set-cookie"].partition(";")[0]
        pages = {path: service.call("GET", path, token="", headers=browser) for path in ("/", "/failures", "/lessons")}
    assert {page.headers["content-type"] for page in pages.values()} == {"text/html; charset=utf-8"}
    assert "2 kinds of failures" in pages["/"].body.decode()
    assert "asyncpg" in pages["/failures"].body.decode()
    assert "Validate input at the edge" in pages["/lessons"].body.decode()
