"""The README and the docs, taken at their word: every command and Python block is run, every link leads somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from hardwon.cli.app import app
from tests.conftest import EXAMPLES, REPOSITORY
from tests.forked import COMMANDS
from tests.serve.service import Service, environment, served

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`(hardwon [^`]+)`(?!`)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
LANGUAGES = {"sh", "python", "text"}
"""`sh` and `python` are run here; `text` is output, or what only somebody else's machine can do."""
FOLLOWED_ELSEWHERE = {"moving-over.md"}
NOT_TO_BE_RUN = {
    "hardwon serve": "it waits for requests",
    "hardwon open": "it starts a service and a browser",
    "hardwon watch": "it waits for sessions",
    "hardwon distil --with": "it asks a model",
}
"""Of these it is only tried whether their options exist."""
ASKING = ("hardwon install", "hardwon uninstall")


class Block(NamedTuple):
    page: str
    language: str
    text: str


def blocks(language: str) -> list[Block]:
    found = [Block(path.name, *each) for path in PAGES for each in FENCE.findall(path.read_text(encoding="utf-8"))]
    return [block for block in found if block.language == language]


def named(some: list[Block]) -> list[Any]:
    return [pytest.param(block, id=f"{block.page}-{number}") for number, block in enumerate(some)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_says_what_it_is(path: Path) -> None:
    told = {language for language, _ in FENCE.findall(path.read_text(encoding="utf-8"))}
    assert told <= LANGUAGES, path


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which the examples were harvested."""
    home = tmp_path_factory.mktemp("learned") / "hardwon"
    variables = {**environment(home, home), "HARDWON_FUSION_WEIGHT": "0"}
    for command in (["harvest", str(EXAMPLES), "--mine"], ["remember", "Never name project nightjar.", "--global"]):
        assert COMMANDS.run(*command, env=variables).returncode == 0
    return home


@pytest.fixture
def folder(tmp_path: Path, home: Path, learned: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where somebody stands who follows a page: an agent, a repository, the examples, and `hardwon` on the path."""
    (tmp_path / "user" / ".claude").mkdir()
    shutil.copytree(learned, home)
    here = tmp_path / "here"
    shutil.copytree(EXAMPLES, here / "examples" / "sessions")
    (here / "src").mkdir()
    (here / "src" / "client.py").touch()
    (here / "Makefile").write_text("test:\n\t@echo '4 passed in 0.10s'\n")
    (here / "notes.txt").write_text("The tide tables are in UTC.\n")
    (here / "error.log").write_text("ModuleNotFoundError: No module named 'asyncpg'\n")
    (here / "out.txt").write_text("=== 1 failed, 3 passed in 0.2s ===\n")
    (here / "attempts.jsonl").write_text('{"task": "Add a lock"}\n')
    subprocess.run(["git", "init", "-q", str(here)], check=True)
    program = tmp_path / "bin" / "hardwon"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hardwon "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def service(folder: Path, home: Path) -> Iterator[Service]:
    with served({**environment(home, home), "HARDWON_FUSION_WEIGHT": "0"}) as running:
        yield running


def tried(line: str) -> str:
    """The line as it can be run here."""
    if line.startswith(ASKING):
        return f"{line} --yes"
    return f"{line} --help" if line.startswith(tuple(NOT_TO_BE_RUN)) else line


def without_remark(line: str) -> str:
    return re.split(r"\s{2,}#", line)[0].strip()


def answered_by(running: Service, text: str) -> str:
    return text.replace("http://127.0.0.1:8765", running.address)


@pytest.mark.parametrize("block", named([one for one in blocks("sh") if one.page not in FOLLOWED_ELSEWHERE]))
def test_every_command_does_what_it_should(block: Block, folder: Path, request: pytest.FixtureRequest) -> None:
    text, variables = block.text, dict(os.environ)
    if "curl" in text:
        if shutil.which("curl") is None:
            pytest.skip("there is no curl")
        running: Service = request.getfixturevalue("service")
        variables["TOKEN"] = running.token
        text = answered_by(running, text).replace("curl ", "curl --silent --show-error --fail ")
    lines = [tried(without_remark(line)) for line in text.splitlines() if without_remark(line)]
    script = "\n".join(lines)
    done = subprocess.run(["bash", "-euxc", script], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block.page}: {done.stderr[-2000:]}"


@pytest.mark.parametrize("block", named(blocks("python")))
def test_every_python_block_runs(block: Block, folder: Path, request: pytest.FixtureRequest) -> None:
    text = block.text
    if "connect(" in text:
        running: Service = request.getfixturevalue("service")
        text = f"token = {running.token!r}\n{answered_by(running, text)}"
    done = COMMANDS.run(program=text)
    assert done.returncode == 0, f"{block.page}: {done.stderr[-2000:]}"


def options_of(words: list[str]) -> tuple[str, set[str]]:
    """The command that the words name, and all that it takes."""
    command: Any = typer.main.get_command(app)
    name = "hardwon"
    for word in words[1:]:
        inner = getattr(command, "commands", {})
        if word not in inner:
            break
        command, name = inner[word], f"{name} {word}"
    taken = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    return name, taken | {"--help", "--json"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_that_is_spoken_of_exists(path: Path) -> None:
    for spoken in INLINE.findall(path.read_text(encoding="utf-8")):
        words = spoken.replace("|", " ").replace("[", " ").replace("]", " ").split()
        name, taken = options_of(words)
        assert name != "hardwon" or words[1].startswith("-") or words[1].isupper() or words[1] == "…", spoken
        wanted = {re.split(r"[=`,]", word)[0] for word in words if word.startswith("--") and word != "--"}
        assert wanted <= taken, f"{path.name}: {spoken}"


def anchors(path: Path) -> set[str]:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", one.lower()).strip().replace(" ", "-") for one in headings}
    return slugs | set(re.findall(r'<a id="([\w-]+)"', text))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file) if file else path
        assert target.exists(), f"{path.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{path.name}: {link}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_file_of_ours_that_is_named_is_there(path: Path) -> None:
    parts = ("src", "tests", "benchmarks", "tools")
    ours = [f"/{file.relative_to(REPOSITORY)}" for part in parts for file in (REPOSITORY / part).rglob("*.py")]
    for named in set(re.findall(r"`((?:\w+/)+\w+\.py)`", FENCE.sub("", path.read_text(encoding="utf-8")))):
        assert any(file.endswith(f"/{named}") for file in ours), f"{path.name}: {named}"


def test_the_site_has_every_page() -> None:
    site = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"([\w-]+\.md)", site)) == {path.name for path in DOCS.glob("*.md")}


def test_every_figure_of_the_readme_stands_on_the_page_it_names() -> None:
    told = (REPOSITORY / "README.md").read_text(encoding="utf-8").split("\n## Why trust it\n")[1].split("\n## ")[0]
    bullets = [line for line in told.splitlines() if line.startswith("- ")]
    assert len(bullets) == 5
    for bullet in bullets:
        pages = [REPOSITORY / link.partition("#")[0] for link in LINK.findall(bullet)]
        page = " ".join(path.read_text(encoding="utf-8") for path in pages)
        figures = re.findall(r"(?<![\w.])\d[\d,.]*(?:k|%)?(?!\w)", LINK.sub("", bullet))
        assert [one for one in figures if one.rstrip(",.") not in page] == [], bullet
