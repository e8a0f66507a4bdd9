"""`docs/moving-over.md`, followed literally: every command of every part, with the old system's files alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, REPOSITORY, Run
from tests.exchange.test_atocore import whole
from tests.exchange.test_knowledge import FACT, QUIRK, grown
from tests.source_systems.test_failure_loop import loki
from tests.source_systems.test_knowledge_pipeline import ITEMS
from tests.source_systems.test_modification_journal import FAILED, TASK, entry, old_database

__all__ = ["loki"]
PAGE = REPOSITORY / "docs" / "moving-over.md"


def part(heading: str) -> str:
    return PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def commands(heading: str) -> list[str]:
    """What stands in the blocks for a shell, without what follows a `#`."""
    blocks = re.findall(r"```sh\n(.*?)```", part(heading), re.DOTALL)
    return [line for block in blocks for line in (one.split(" #")[0].strip() for one in block.splitlines()) if line]


def follow(hardwon: Run, heading: str, **instead: str) -> dict[str, str]:
    """Run them in order; what each said."""
    said: dict[str, str] = {}
    for line in commands(heading):
        words = shlex.split(line.partition("||")[0])
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            os.environ[name] = value
        elif words[0] == "cd":
            os.chdir(instead["cd"])
        else:
            assert words[0] == "hardwon", line
            done = hardwon(*(instead.get(word, word) for word in words[1:]))
            assert done.returncode == 0 or "||" in line, f"{line}: {done.stderr}"
            said[line] = done.stdout
    return said


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where somebody stands who has nothing but the old files."""
    made = tmp_path / "here"
    made.mkdir()
    monkeypatch.chdir(made)
    monkeypatch.setenv("HARDWON_RUN", "")
    return made


def test_the_modification_journal(hardwon: Run, folder: Path) -> None:
    old_database(
        folder / "data" / "self_coding.db",
        entry(test_results=FAILED, reflection="Install the driver first."),
        entry(outcome="success", approach="HTTPAdapter(max_retries)"),
    )
    said = follow(hardwon, "The modification journal")
    assert "2" in said["hardwon journal stats --project timmy"]
    assert TASK in said["hardwon journal show 1"]
    assert "asyncpg" in said["hardwon failures --project timmy"]
    assert "Install the driver first." in said["hardwon review --list --project timmy"]
    assert "HTTPAdapter(max_retries)" in said['hardwon bootstrap --project timmy --task "add retry to the HTTP client"']


def test_the_memory_database(hardwon: Run, folder: Path) -> None:
    whole(folder / "atocore.db")
    hardwon("import", "--from", "atocore", "atocore.db")
    (lesson,) = json.loads(hardwon("lessons", "--json").stdout)
    said = follow(hardwon, "The memory database (ATOCore)", L1234=lesson["id"], **{"p04-gigabit": "reef"})
    assert "reef" in said["hardwon projects"]
    assert "Ports are in the 7000s." in said["hardwon lessons --project p04-gigabit"]
    assert "import:atocore:m-1" in said["hardwon why L1234"]
    assert "README.md" in said["hardwon ingest --list"]
    assert "Which port?" in said["hardwon interactions list --project p04-gigabit"]


@pytest.mark.parametrize("what", ["knowledge/", "index.json", "items.json"])
def test_the_knowledge_pipeline(hardwon: Run, folder: Path, what: str) -> None:
    grown(folder, FACT, {**QUIRK, "domain": "the-nexus"})
    (folder / "index.json").write_text((folder / "knowledge" / "index.json").read_text())
    (folder / "items.json").write_text(json.dumps(ITEMS))
    sessions = Path.home() / ".hermes" / "sessions"
    shutil.copytree(EXAMPLES / "hermes", sessions)
    export = folder / "exported"
    said = follow(hardwon, "The knowledge pipeline", **{"knowledge/": what, "~/.hermes/sessions": str(sessions)})
    assert json.loads((folder / "sample.json").read_text())
    told = said["hardwon lessons --project the-nexus"]
    fact = "The harvester has 5 files." if what == "items.json" else QUIRK["fact"]
    assert fact in told
    assert fact in said["hardwon bootstrap --project the-nexus --agent hermes"]  # vouched for in the second import
    assert "Nothing is waiting" not in said["hardwon review --list"]
    index = json.loads((export / "knowledge" / "index.json").read_text())
    assert {"repo", "fact", "category", "confidence"} <= set(index["facts"][0])
    assert "failures" in index


def test_the_failure_loop(hardwon: Run, loki: Path) -> None:
    (loki / "Makefile").write_text("test:\n\t@echo '4 passed in 0.10s'\n")
    said = follow(hardwon, "The failure loop (loki-mode)", cd=str(loki), **{"$GOAL": "Build a todo REST API"})
    assert "3" in said["hardwon journal stats --project ."]
    assert "asyncpg" in said["hardwon failures --project ."]
    assert "Validate input at the edge" in said["hardwon review --list --project ."]
    assert "4 passed" in said["hardwon run --phase VERIFY -- make test"]
    block = next(text for line, text in said.items() if "--block" in line)
    assert "PAST FAILURES TO AVOID" in block or block == ""
    verdict = next(text for line, text in said.items() if line.startswith("hardwon verify"))
    assert verdict.startswith("backed")  # the crash in the folder is that of the import, of no iteration of this run


def test_the_page_has_a_part_for_each_system() -> None:
    text = PAGE.read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "The modification journal", "The memory database (ATOCore)", "The knowledge pipeline",
        "The failure loop (loki-mode)",
    ]  # fmt: skip
    for name in re.findall(r"\(#([\w-]+)\)", text):
        headings = {
            re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in re.findall(r"^## (.*)$", text, re.M)
        }
        assert name in headings
