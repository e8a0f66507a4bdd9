"""`hardwon measure`: for people, for machines, as a page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hardwon import Hardwon
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.measure.test_experiment import lived


@pytest.fixture
def harvested(home: Path) -> Path:
    with Hardwon(home) as memory:
        memory.harvest(sorted(EXAMPLES.rglob("*.jsonl")))
    return home


def test_every_number_comes_with_its_count_and_its_label(harvested: Path, hardwon: Run) -> None:
    found = json.loads(hardwon("measure", "--json").stdout)
    assert found["sessions"] > 0
    for metric in found["metrics"]:
        assert metric["n"] >= 0
        assert metric["label"] in ("causal", "observational")
    by_name = {metric["name"]: metric for metric in found["metrics"]}
    assert by_name["recurrence"]["low"] <= by_name["recurrence"]["value"] <= by_name["recurrence"]["high"]
    assert by_name["lessons_a_million_tokens"]["value"] > 0


def test_people_get_a_table_and_are_told_what_is_missing(harvested: Path, hardwon: Run) -> None:
    assert re.search(r"errors seen before[^§]+\d+ more numbers: `hardwon measure --all`", hardwon("measure").stdout)
    done = hardwon("measure", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    assert "errors seen before" in done.stdout
    assert "No data yet" in done.stdout
    told = [line for line in done.stdout.splitlines() if not line.startswith("No data yet")]
    assert max(map(len, told)) < 120


def test_the_page_and_its_charts_are_written(harvested: Path, hardwon: Run, tmp_path: Path) -> None:
    page = tmp_path / "metrics" / "dashboard.md"
    done = hardwon("measure", "--write", page, "--snapshot")
    assert (done.returncode, done.stdout) == (0, "")
    text = page.read_text()
    charts = sorted(path.name for path in page.parent.glob("*.svg"))
    assert charts == ["dashboard-calibration.svg", "dashboard-errors.svg", "dashboard-lessons.svg"]
    assert all(f"]({name})" in text for name in charts)
    for name in charts:
        ElementTree.parse(page.with_name(name))
    with Hardwon(harvested) as memory:
        assert memory.reading().query("SELECT count(*) FROM metric_snapshot")[0][0] > 10
        project = memory.store.projects()[0].name
    hardwon("measure", "--project", project, "--write", tmp_path / "one.md")
    assert "![Where sessions went](one-map.svg)" in (tmp_path / "one.md").read_text()
    ElementTree.parse(tmp_path / "one-map.svg")


def test_the_experiment_is_told_in_words_and_numbers(home: Path, hardwon: Run) -> None:
    with Hardwon(home) as memory:
        lived(memory, 200, base=0.15, ratio=0.2)
    said = hardwon("measure", "--experiment").stdout
    assert said.startswith("Showing lines helps.")
    assert "Randomisation is sound" in said
    found = json.loads(hardwon("measure", "--experiment", "--json").stdout)
    assert (found["verdict"], found["label"], found["sessions"]) == ("helps", "causal", 200)


def test_before_there_is_data_it_says_so(harvested: Path, hardwon: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hardwon("measure", "--experiment").stdout.startswith("The experiment is off and nothing is withheld")
    monkeypatch.setenv("HARDWON_EXPERIMENT", "on")
    said = hardwon("measure", "--experiment").stdout
    assert said.startswith("It is too early to tell.")
    assert "No session of the experiment has been read yet" in said


def test_bad_input_is_one_line(harvested: Path, hardwon: Run) -> None:
    for arguments in (("--since", "yesterday"), ("--project", "nowhere")):
        done = hardwon("measure", *arguments)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1


def test_without_scipy_metrics_work_and_the_experiment_says_what_is_missing(harvested: Path) -> None:
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "from hardwon import Hardwon, errors\n"
        "memory = Hardwon()\n"
        "assert memory.measure().sessions\n"
        "assert 'numpy' not in sys.modules\n"
        "try: memory.experiment()\n"
        "except errors.HardwonError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "the experiment needs scipy: `hardwon extras add measure`\n"


def test_every_command_counts_the_same_sessions_and_failures(hardwon: Run, tmp_path: Path) -> None:
    refusal = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    for day, name in ((1, "tide"), (2, "reef"), (3, "tide")):
        session = ClaudeSession(f"s{day}", day=day)
        session.run("ruff format --check", f"Would reformat: src/{name}.py\n1 file would be reformatted", exit_code=1)
        session.edit("a.py", "b", output=refusal, error=True)
        session.run("make chart", "fatal: no soundings of the reef", exit_code=2).write(tmp_path / "logs")
    alone = ClaudeSession("gone", day=4).user("Look at it.").run("make x", "fatal: no rule", exit_code=2)
    for record in alone.records:
        record |= {"isSidechain": True, "agentId": "a1"}
    alone.write(tmp_path / "logs")
    hardwon("harvest", "--mine", tmp_path / "logs")
    sessions = json.loads(hardwon("up", "--json").stdout)["totals"]["sessions"]
    measured = json.loads(hardwon("measure", "--json").stdout)
    replayed = json.loads(hardwon("replay", "--json").stdout)
    projects = json.loads(hardwon("projects", "--json").stdout)
    assert {3} == {sessions, measured["sessions"], replayed["sessions"], *(one["sessions"] for one in projects)}
    (coverage,) = [one for one in measured["metrics"] if one["name"] == "coverage"]
    rows = [line for line in hardwon("failures").stdout.splitlines() if line.startswith("F")]
    assert coverage["n"] == len(rows) == 3, "files that one formatter complains of are one; the agent's tool is none"
