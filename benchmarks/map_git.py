"""The map against what git and the code alone tell: `python -m benchmarks.map_git [REPOSITORY] [--write]`.

The shared histories come without their repositories. So the commits of a repository stand for sessions, this one's
unless another is named: the subject is the task, the changed files are what was edited. Two more ways to choose ten
files are compared there: co-change in git (files that changed together with those that the task names; where it names
none, with those of the newest commit), and a static map as aider draws it (PageRank over who uses whose names, started
from the files and the names that the task speaks of). The static map sees the code as it is today, which favours it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.map_replay import PAGE, table, write_between
from hardwon.map.draw import Trip
from hardwon.map.known import File, Known
from hardwon.map.signals import Asked
from hardwon.measure.map_replay import TOLD, WAYS, Recall, needed, scenes, share

REPOSITORY = Path(__file__).parent.parent
COMMITS = 300
MOST_FILES = 30
"""A commit that changes more is a renaming or a formatting, not a task."""
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_DAMPING = 0.85
_STEPS = 40
_SECOND = 1_000_000


def commits(repository: Path) -> list[Trip]:
    """The newest commits as sessions, the earliest first."""
    mark = "\x1e"
    line = ["log", "--no-merges", f"-{COMMITS}", "--name-only", f"--format={mark}%H%x1f%ct%x1f%s"]
    found = []
    for entry in _git(repository, *line).split(mark)[1:]:
        head, _, names = entry.partition("\n")
        id, at, subject = head.split("\x1f")
        files = frozenset(name for name in names.split("\n") if name)
        if files and len(files) <= MOST_FILES:
            began = int(at) * _SECOND
            nothing: frozenset[str] = frozenset()
            found.append(Trip(id, began, began, "", subject, "unknown", files, nothing, nothing, (), None))
    return sorted(found, key=lambda trip: trip.at)


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, text=True, check=True).stdout


def co_change(known: Known, task: str) -> list[File]:
    """Files that changed together with those that the task names, most often first."""
    asked = Asked(task)
    newest = len(known.visits) - 1
    named = [file for file in known.files if asked.names(file.path)]
    seeds = named or [file for file in known.files if newest in file.touched]
    together = {
        file.path: sum(len(file.touched & seed.touched) / len(seed.touched) for seed in seeds) for file in known.files
    }
    return sorted(known.files, key=lambda file: (-together[file.path], file.path))


class StaticMap:
    """Who uses whose names, in the Python files of a repository as it is now."""

    def __init__(self, repository: Path) -> None:
        self._paths = [path for path in _git(repository, "ls-files", "*.py").split("\n") if path]
        self._number = {path: at for at, path in enumerate(self._paths)}
        self._defines: dict[str, set[int]] = defaultdict(set)
        used: list[Counter[str]] = []
        for at, path in enumerate(self._paths):
            text = (repository / path).read_text(encoding="utf-8")
            used.append(Counter(_NAME.findall(text)))
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                    self._defines[node.name].add(at)
        self._links = np.zeros((len(self._paths), len(self._paths)))
        for at, names in enumerate(used):
            for name, times in names.items():
                for defined in self._defines.get(name, ()):
                    if defined != at:
                        self._links[defined, at] += np.sqrt(times) / len(self._defines[name])
        whole = self._links.sum(axis=0)
        self._links /= np.where(whole > 0, whole, 1.0)

    def order(self, known: Known, task: str) -> list[File]:
        asked = Asked(task)
        start = np.full(len(self._paths), 0.1)
        for path, at in self._number.items():
            start[at] += 10.0 * asked.hints(path)
        for name in set(_NAME.findall(task)):
            for at in self._defines.get(name, ()):
                start[at] += 10.0 / len(self._defines[name])
        start /= start.sum()
        rank = start.copy()
        for _ in range(_STEPS):
            rank = (1 - _DAMPING) * start + _DAMPING * (self._links @ rank + start * (1 - (self._links @ rank).sum()))
        found = [(float(rank[self._number[file.path]]), file) for file in known.files if file.path in self._number]
        return [file for _, file in sorted(found, key=lambda one: (-one[0], one[1].path))]


def compared(history: Sequence[Trip], static: StaticMap) -> str:
    ways = {
        **WAYS,
        "co-change in git": (co_change, True),
        "static map": (static.order, True),
    }
    found: dict[str, list[Recall]] = {way: [] for way in ways}
    unnamed: dict[str, list[Recall]] = {way: [] for way in ways}
    for trip, _, known, touched in scenes(history):
        wanted = needed(trip.edited, touched)
        asked = Asked(trip.words)
        apart = {path for path in wanted if not asked.hints(path)}
        for way, (order, prompted) in ways.items() if wanted else ():
            told = {file.path for file in order(known, trip.words if prompted else "")[:TOLD]}
            found[way].append(Recall(len(wanted), len(wanted & told)))
            unnamed[way].append(Recall(len(apart), len(apart & told)))
    rows = []
    for way in ways:
        whole, rest = share(found[way]), share(unnamed[way])
        rows.append((way, whole.n, f"{whole.value:.3f}", f"{whole.low:.3f} to {whole.high:.3f}", f"{rest.value:.3f}"))
    return table(("way to choose ten files", "commits", "recall@10", "95 %", "of files that are not named"), rows)


def main() -> None:
    named = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    repository = named[0] if named else REPOSITORY
    text = compared(commits(repository), StaticMap(repository))
    print(text)
    if "--write" in sys.argv:
        write_between(PAGE, "map commits", text)


if __name__ == "__main__":
    main()
