"""Writes `docs/json.md`: the shape of what each command prints with `--json`, seen by running it on the examples."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
TARGET = REPOSITORY / "docs" / "json.md"
HEAD = """# JSON of the commands

<!-- Written by `make generated`; do not change it by hand. -->

Every command takes `--json`. These are the names of fields, seen on the bundled examples; `{…}` has names that are data
(a table, a kind), `[[…]]` is a list of lists. Times are ISO-8601 in UTC.

"""
REMARKS = {
    "review --list": "Fixes that wait come last, of the kind `fix`; they alone have `failure` and `untrusted`.",
    "harvest": "`foreign`: other people's sessions; `unsure`: messages not certain to be typed; `left_for_later`, "
    "`waiting`: not read yet; `copies`: what another file has, too; `moved`: sessions that went to the project of a "
    "fuller copy; `empty`: files without a session; `lessons`, `failures`, `fixes`: what the store has more than "
    "before. With `--explain`: `dropped`, a list of `rule`, `text`, `reason`.",
    "bootstrap": "`tokens` never exceeds `budget`; `left_out` says what was not taken and why.",
    "search": "`parts` of a score are between 0 and 1; `vector` and its `weight` are absent where there is none.",
    "measure --experiment": "`verdict` is `helps`, `harms`, `no difference worth having`, `too early` or `broken`.",
    "measure": "`label` is `causal` or `observational`; `week` and `month` are changes since those snapshots.",
    "forget": "Also of `purge`. `transcripts`: the agents' own files that still have it, of the `looked_at` that were "
    "searched for a text; `left`: what else does.",
    "import": "Of an exported tree; `what` is `edit`, `archive`, `add`, `conflict` or `refused`. Of anything else: "
    "`added` and `known` count rows, `left_out` says what has no place in the store.",
    "doctor": "With `--fix` also `repaired`: `done`, `damaged`, `quarantine`, `rows`; null without need.",
}
PREPARED = (
    "remember 'Tides are told in UTC.' --project tidepool --candidate",
    "journal log --task 'Add a lock' --outcome failure --project tidepool --run r",
    "interactions record --prompt 'Which port?' --response 7000 --project tidepool",
    "ingest notes.md --project tidepool",
    "export tree",
    "token make ci",
)
SHOWN = {
    "inspect": "inspect {session}",
    "harvest": "harvest {examples} --mine",
    "sample": "sample --sessions-dir {examples} --count 1",
    "failures": "failures --limit 1",
    "failures show": "failures show F9b806165",
    "lessons": "lessons",
    "why": "why L7ac48394",
    "bootstrap": "bootstrap --project tidepool",
    "search": "search asyncpg --type failure",
    "map": "map tidepool --task migration",
    "blame": "blame src/tidepool/store/postgres.py --project tidepool",
    "how": "how test --project tidepool",
    "projects": "projects",
    "review --list": "review --list",
    "rules": "rules",
    "history": "history",
    "replay": "replay --project tidepool",
    "verify": "verify --run r --project tidepool",
    "measure": "measure",
    "measure --experiment": "measure --experiment",
    "distil --dry-run": "distil --dry-run",
    "journal similar": "journal similar lock --project tidepool",
    "journal stats": "journal stats",
    "interactions list": "interactions list",
    "ingest --list": "ingest --list",
    "export": "export tree",
    "import": "import tree --dry-run",
    "forget": "forget F9b806165 --dry-run",
    "scrub": "scrub secret.txt",
    "token list": "token list",
    "install --dry-run": "install claude-code --dry-run",
    "status": "status",
    "config": "config budget",
    "backup": "backup",
    "doctor": "doctor",
}
_DATA = {"rows", "lessons_by_kind", "by_status", "dropped_by_reason", "lanes", "added", "known", "baselines", "uses"}
"""Whose names are data."""


Called = Callable[[list[str], Path, dict[str, str]], "subprocess.CompletedProcess[str]"]


def called(arguments: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What the command did in a process of its own."""
    command = [sys.executable, "-m", "hardwon", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def generated(call: Called = called) -> str:
    with tempfile.TemporaryDirectory() as folder:
        run = _Run(Path(folder), call)
        harvested = run(f"harvest {run.examples} --mine --json")
        for line in PREPARED:
            run(line)
        parts = [HEAD]
        for title, line in SHOWN.items():
            asked = line.format(examples=run.examples, session=run.session)
            told = json.loads(harvested if title == "harvest" else run(f"{asked} --json"))
            remark = f"{REMARKS[title]}\n\n" if title in REMARKS else ""
            parts.append(f"## hardwon {title}\n\n{remark}```text\n{_folded(_shape(told))}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


class _Run:
    """Commands in an empty home, in a folder with what they speak of."""

    def __init__(self, folder: Path, call: Called) -> None:
        self._call = call
        (folder / ".claude").mkdir()
        (folder / "notes.md").write_text("# Tides\nLow water at dawn.\n")
        (folder / "secret.txt").write_text("mail ann@example.org\n")
        self.examples = REPOSITORY / "examples" / "sessions"
        self.session = next((self.examples / "claude-code").rglob("*.jsonl"))
        self._folder = folder
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {"HOME": str(folder), "HARDWON_HOME": str(folder / "hardwon"), "HARDWON_FUSION_WEIGHT": "0"}
        self._environment = {**kept, **own, "HARDWON_EXPERIMENT": "off"}

    def __call__(self, line: str) -> str:
        done = self._call(shlex.split(line), self._folder, self._environment)
        assert done.stdout or not done.returncode, f"{line}: {done.stderr}"
        return done.stdout


def _shape(value: Any, name: str = "") -> str:
    """Names alone: whether a value is there may depend on the day."""
    if isinstance(value, dict):
        if name in _DATA:
            return "{…}"
        return "{" + ", ".join(f'"{key}"{_inside(each, key)}' for key, each in value.items()) + "}"
    if isinstance(value, list) and value:
        return f"[{_shape(max(value, key=lambda one: len(json.dumps(one))))}]"
    return "…"


def _inside(value: Any, name: str) -> str:
    holds = isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict | list))
    return f": {_shape(value, name)}" if holds else ""


def _folded(text: str, width: int = 110) -> str:
    lines, rest = [], text
    while len(rest) > width:
        cut = rest.rfind(", ", 0, width) + 1
        if cut <= 1:
            break
        lines.append(rest[:cut])
        rest = " " + rest[cut:].lstrip()
    return "\n".join([*lines, rest])


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
