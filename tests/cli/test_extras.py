"""One command adds what an extra needs, however Hardwon was installed."""

from __future__ import annotations

import json
import sys
import tomllib

from hardwon.cli.extras import EXTRAS, packages_of
from tests.conftest import REPOSITORY, Run

DECLARED = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def wanted(extra: str) -> set[str]:
    """What the project file asks for, extras of ours taken apart."""
    found: set[str] = set()
    for line in DECLARED[extra]:
        if line.startswith("hardwon["):
            found = found.union(*(wanted(inner) for inner in line[len("hardwon[") : -1].split(",")))
        else:
            found.add(line.partition(";")[0].strip())
    return found


def test_every_extra_is_listed_with_what_it_asks_for() -> None:
    assert {*EXTRAS, "all"} == set(DECLARED)
    for extra in DECLARED:
        assert {line.partition(";")[0] for line in packages_of(extra)} == wanted(extra)


def test_the_command_installs_into_this_python(hardwon: Run) -> None:
    told = hardwon("extras", "add", "serve", "--dry-run").stdout
    assert f"{sys.executable} -m pip install " in told or f"uv pip install --python {sys.executable} " in told
    assert "litestar" in told
    assert {one["name"]: one["here"] for one in json.loads(hardwon("extras", "--json").stdout)}["serve"] is True
    assert "unknown extra 'sreve'" in hardwon("extras", "add", "sreve").stderr
