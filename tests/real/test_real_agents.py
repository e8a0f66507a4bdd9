"""Real agents with our hooks and a model on this machine: what one session learns, the next is told.

Not run by itself: `HARDWON_REAL_AGENTS` names the folders, as PATH does, in which agents are installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.hook.agents import module
from tests.conftest import Run
from tests.hook.test_session_end import is_idle, wait_for
from tests.real.agents import AGENTS, Agent
from tests.real.model import Model, listening

FOLDERS = os.environ.get("HARDWON_REAL_AGENTS", "")
PROMPT = "Always use poetry in this project. Run the tests and mend what fails."
FIX = "poetry install --with postgres"
# A check that fails until something was installed.
CHECK = """#!/bin/sh
if [ -e "$(dirname "$0")/../installed" ]; then echo "1 passed"; exit 0; fi
echo "Traceback (most recent call last):"
echo '  File "tide_gauge.py", line 3, in <module>'
echo "    import asyncpg"
echo "ModuleNotFoundError: No module named 'asyncpg'"
exit 1
"""
INSTALL = """#!/bin/sh
touch "$(dirname "$0")/../installed"
echo "Resolved 12 packages"
"""


class Machine:
    """A user who has one agent and nothing else."""

    def __init__(self, folder: Path, name: str, model: Model) -> None:
        self.user = Path(os.environ["HOME"])
        self.project = folder / "reef"
        self.programs = folder / "programs"
        self.agent: Agent = AGENTS[name]
        self._model = model
        self._marker = folder / "installed"
        for each in (self.user / self.agent.settings, self.project, self.programs):
            each.mkdir(parents=True, exist_ok=True)
        for program, text in (("pytest", CHECK), ("poetry", INSTALL)):
            (self.programs / program).write_text(text)
            (self.programs / program).chmod(0o755)
        (self.user / ".bash_profile").write_text(f"export PATH={self.programs}:$PATH\n")
        self._own = self.agent.prepare(self.user, model.address, self.project)

    def session(self) -> list[str]:
        """One session of the agent; what the model was asked, request by request."""
        self._marker.unlink(missing_ok=True)
        self._model.asked.clear()
        self._model.commands = ["pytest -q", FIX, "pytest -q"]
        path = os.pathsep.join((str(self.programs), FOLDERS, "/usr/local/bin", "/usr/bin", "/bin"))
        plain = {"HOME": str(self.user), "HARDWON_HOME": os.environ["HARDWON_HOME"], "HARDWON_EXPERIMENT": "off"}
        done = subprocess.run(
            [shutil.which(self.agent.program, path=FOLDERS) or "", *self.agent.line(PROMPT)],
            cwd=self.project,
            env={**plain, "PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", **self._own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return [asked.text for asked in self._model.conversation()]


@pytest.mark.parametrize("name", AGENTS)
def test_a_real_agent_is_briefed_told_the_fix_and_learned_from(
    tmp_path: Path, home: Path, hardwon: Run, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = AGENTS[name].program
    if not shutil.which(program, path=FOLDERS or " "):
        pytest.skip(f"no `{program}` in HARDWON_REAL_AGENTS")
    with listening() as model:
        machine = Machine(tmp_path, name, model)
        assert hardwon("install", name, "--yes").returncode == 0

        first = machine.session()
        assert len(first) == 4
        assert not any("hardwon-memory" in text for text in first), "nothing was known yet"
        wait_for(lambda: is_idle(home) and knows(home, 1))

        second = machine.session()
        assert len(second) == 4
        assert all("PAST FAILURES TO AVOID:" in text for text in second), "the briefing is in every request"
        assert all(f"Worked: run `{FIX}`" in text for text in second)
        aside = [asked.text for asked in model.asked if asked not in model.conversation()]
        assert not any("hardwon-memory" in text for text in aside), "a title needs no briefing"
        offered = ["Hardwon has seen this failure before" in text for text in second]
        assert offered == [False, True, True, True], "the fix comes with the failure, at once"
        wait_for(lambda: is_idle(home) and knows(home, 2))

    with Hardwon() as memory:
        (failure,) = memory.failures.list()
        fix = failure.fixes[0]
        assert (failure.occurrences, failure.sessions) == (2, 2)
        assert (fix.status, fix.confirmed) == ("active", 2)
        assert {session.agent for session in memory.sessions.list()} == {module(name).AGENT}
        assert any("poetry" in lesson.text for lesson in memory.lessons.list())
        runs = {str(run["event"]): run["error"] for run in memory.store.last_runs()[name]}
    assert not any(runs.values()), runs
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {version(program)}: ran {', '.join(sorted(runs))}\n")


def knows(home: Path, sessions: int) -> bool:
    with Hardwon(home) as memory:
        return bool(memory.exists) and memory.store.totals()["sessions"] >= sessions


def version(program: str) -> str:
    line = [shutil.which(program, path=FOLDERS) or program, "--version"]
    path = os.pathsep.join((FOLDERS, "/usr/local/bin", "/usr/bin", "/bin"))
    told = subprocess.run(
        line, env={"PATH": path, "HOME": os.environ["HOME"]}, capture_output=True, text=True, check=False
    )
    return (told.stdout.strip().splitlines() or ["?"])[-1 if program == "codex" else 0]
