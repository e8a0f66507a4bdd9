"""What the author of the harvest–bootstrap–measure pipeline does, row by row: what was run, and what must happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from tests.conftest import ClaudeSession, Run
from tests.exchange.test_knowledge import FACT, grown

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
