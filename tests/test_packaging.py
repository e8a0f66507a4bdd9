"""The project as a stranger gets it: the wheel, the docs, the lock files."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from tools import make_api_page, make_json_page, make_pictures, make_reference

import hardwon
from hardwon.config import MEANINGS
from tests.conftest import REPOSITORY
from tests.forked import COMMANDS

LIMITS = ("rate", "burst", "largest_body", "body_seconds", "head_seconds", "readers")


def test_the_wheel_runs_on_its_own(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(REPOSITORY)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("hardwon-*.whl")
    clean = tmp_path / "venv"
    venv.create(clean, with_pip=False)
    target = clean / "alone"
    with_deps = [sys.executable, "-m", "zipfile", "-e", str(wheel), str(target)]
    subprocess.run(with_deps, check=True)
    program = f"import sys; sys.path[:0] = [{str(target)!r}]; from hardwon.cli.app import main; main()"
    libraries = sysconfig.get_path("purelib")
    done = subprocess.run(
        [clean / "bin" / "python", "-c", f"import sys; sys.path.append({libraries!r}); {program}", "up"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "these are the bundled examples" in done.stdout
    assert "WHAT KEEPS FAILING" in done.stdout


def test_the_public_names_are_these() -> None:
    assert all(hasattr(hardwon, name) for name in hardwon.__all__)


def test_the_architecture_page_names_every_layer_in_the_order_that_is_enforced() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    told = re.findall(r"`([a-z_]+)(?:/|\.py)`", page.split("## What happens when")[0].split("|---|---|")[1])
    contract = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    enforced = re.findall(r"hardwon\.(\w+)", " ".join(contract["layers"]))
    source = REPOSITORY / "src" / "hardwon"
    there = {path.stem for path in source.iterdir() if path.name not in ("__pycache__", "py.typed")} - {
        "__init__",
        "__main__",
    }
    layers = [name for name in told if name in enforced]
    assert set(layers) == set(enforced) == there
    lowest = {"home", "errors"}
    assert [name for name in layers if name not in lowest] == [n for n in reversed(enforced) if n not in lowest]


def test_every_dependency_is_locked_with_hashes_and_without_hosts() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    locked = (REPOSITORY / "requirements" / "run.txt").read_text()
    for dependency in project["dependencies"]:
        name = re.split(r"[<>=]", dependency)[0]
        assert re.search(rf"^{name}==\S+ .*\n +--hash=sha256:", locked, re.MULTILINE), name
    for path in (REPOSITORY / "requirements").glob("*.txt"):
        assert "://" not in path.read_text()


def test_the_picture_of_the_terminal_shows_what_a_new_user_sees() -> None:
    picture = (make_pictures.PICTURES / "up.svg").read_text(encoding="utf-8")
    assert picture == make_pictures.terminal(), "the output has changed: run `make pictures`"
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_the_page_of_the_api_is_what_the_docstrings_say() -> None:
    assert make_api_page.TARGET.read_text() == make_api_page.generated(), "the API has changed: run `make generated`"


def test_the_page_of_json_has_what_commands_print(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(arguments: list[str], folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        return COMMANDS.run(*arguments, env=variables)

    made = make_json_page.generated(call)
    monkeypatch.undo()
    assert make_json_page.TARGET.read_text(encoding="utf-8") == made, "it has changed: run `make generated`"


@pytest.mark.parametrize("page", sorted({*make_reference.PAGES, *(page for page, _ in make_reference.BLOCKS)}))
def test_the_pages_of_reference_are_what_the_program_says(page: str) -> None:
    made = make_reference.generated()[page]
    assert (make_reference.DOCS / page).read_text(encoding="utf-8") == made, "it has changed: run `make generated`"


def test_the_page_of_settings_names_every_variable_that_is_read() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "src").rglob("*.py"))
    page = (make_reference.DOCS / "settings.md").read_text(encoding="utf-8")
    settings = {f"HARDWON_{name.upper()}" for name in MEANINGS}
    assert {name for name in re.findall(r"\bHARDWON_[A-Z_]*[A-Z]\b", source) if name not in page} <= settings
    assert {f"HARDWON_SERVE_{name.upper()}" for name in LIMITS} <= set(re.findall(r"HARDWON_SERVE_\w+", page))
