"""The shape of the code in numbers, now and before it was made simpler.

`python -m benchmarks.house` prints the table; `--write` puts it between the marks in docs/architecture.md, `--list`
tells what was counted, `--json` prints the bare figures. `--package PATH` measures another checkout: run this file with
the interpreter of that checkout.

- *Imported by one other*: modules of the package that exactly one other module of it imports, for types or inside
  functions, too. A package's `__init__` and what is started by name (`__main__`) do not count.
- *Same name, other meaning*: file names that occur more than once, without those of SAME_MEANING.
- *Files a walk passes*: the files of the package in which a function runs while the command does its work on the
  bundled examples, from the command line or the hook's entry on, with all that lies below. What runs only because a
  module is being imported does not count, nor does `__init__`: the facade makes all its parts whichever is asked.
- *Files for a new lesson column* that is stored, upgraded to, sealed, dumped, mirrored, forgotten and told by the API:
  `COLUMN_FILES`, which a test holds to be enough (tests/store/test_schema.py adds a column to a copy of the package by
  changing these alone). Before, they were counted by reading: every file that listed the lesson's columns.
- *Entries of a table*: modules that one other lists beside their like, to be found by their name: formats of sessions,
  commands, resources of the service, agents, rules.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

REPOSITORY = Path(__file__).parent.parent
EXAMPLES = REPOSITORY / "examples" / "sessions"
PAGE = REPOSITORY / "docs" / "architecture.md"
MARKS = ("<!-- house: begin -->", "<!-- house: end -->")

# One thing at several surfaces (its rows, its facade, its command, its resource), or one agent at several doors.
SAME_MEANING = frozenset(
    """
    __init__ __main__ app
    claude_code cline codex cursor gemini hermes opencode
    attempts capture care conflicts documents exchange experiment failure failures forget interactions journal lessons
    metrics projects proof queue recall replay review scrub search sessions store team watch measure
    """.split()
)

COLUMN_FILES = ("store/schema.py", "store/migrations.py", "model/lesson.py")
TABLES_OF_MODULES = ("sessions.reader", "cli.app", "serve.app", "harvest.rules.catalogue")
"""Modules that list others of one kind."""

FOLDER = "/home/dev/src/tidepool"
PAYLOADS: dict[str, dict[str, object]] = {
    "session-start": {"hook_event_name": "SessionStart", "cwd": FOLDER, "source": "startup"},
    "tool-failed": {
        "hook_event_name": "PostToolUseFailure",
        "cwd": FOLDER,
        "tool_name": "Bash",
        "tool_input": {"command": "python -m tidepool.backfill"},
        "error": "Exit code 127\nbash: python: command not found",
    },
}
WALKS = {
    "harvest": ("harvest", "--mine", str(EXAMPLES)),
    "forget": ("forget", "--text", "asyncpg", "--yes"),
    "replay": ("replay", str(EXAMPLES)),
    "bootstrap": ("bootstrap", "--project", "tidepool"),
    "search": ("search", "asyncpg"),
    "tool failed": ("hook", "tool-failed"),
    "session start": ("hook", "session-start"),
}

SESSIONS_OF_WHICH_SOME_ARE_HELD_OUT = 20  # the experiment tells a few of them nothing

BEFORE_COMMIT = "7c403bc"
BEFORE: dict[str, float] = {
    "files": 487,
    "lines": 50779,
    "lines of a file, median": 87,
    "lines of a file, p90": 214,
    "lines of a function, median": 6,
    "lines of a function, p90": 17,
    "modules imported by one other": 174,
    "… of these, no entry of a table": 111,
    "same file name, other meaning": 26,
    "files passed: harvest": 160,
    "files passed: forget": 59,
    "files passed: replay": 168,
    "files passed: bootstrap": 34,
    "files passed: search": 23,
    "files passed: tool failed": 25,
    "files passed: session start": 17,
    "files for a new lesson column": 14,
}


def figures(package: Path) -> dict[str, float]:
    """Every figure of the table by its name."""
    files = sorted(package.rglob("*.py"))
    trees = {file: ast.parse(file.read_bytes()) for file in files}
    lines = [len(file.read_bytes().splitlines()) for file in files]
    functions = [
        node.end_lineno - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    single = imported_by_one(package)
    return {
        "files": len(files),
        "lines": sum(lines),
        "lines of a file, median": statistics.median(lines),
        "lines of a file, p90": _p90(lines),
        "lines of a function, median": statistics.median(functions),
        "lines of a function, p90": _p90(functions),
        "modules imported by one other": len(single),
        "… of these, no entry of a table": sum(by.partition(".")[2] not in TABLES_OF_MODULES for by in single.values()),
        "same file name, other meaning": len(names_of_several_meanings(package)),
        **{f"files passed: {walk}": len(passed) for walk, passed in walks(package).items()},
        "files for a new lesson column": len(COLUMN_FILES),
    }


def _p90(values: list[int]) -> int:
    return sorted(values)[len(values) * 9 // 10]


def imported_by_one(package: Path) -> dict[str, str]:
    """Modules that one other module imports, with that module."""
    modules = {_module(package, file): file for file in package.rglob("*.py")}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, file in modules.items():
        for node in ast.walk(ast.parse(file.read_bytes())):
            for imported in _imported(node) & modules.keys() - {name}:
                importers[imported].add(name)
    return {
        name: next(iter(importers[name]))
        for name, file in sorted(modules.items())
        if len(importers[name]) == 1 and file.stem not in ("__init__", "__main__")
    }


def _module(package: Path, file: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(node: ast.AST) -> set[str]:
    """All names that may be modules: of `from a import b`, both a and a.b."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()


def names_of_several_meanings(package: Path) -> dict[str, list[str]]:
    """File names that occur more than once, with their folders, but for those that mean the same everywhere."""
    count = Counter(file.stem for file in package.rglob("*.py"))
    several = sorted(name for name, times in count.items() if times > 1 and name not in SAME_MEANING)
    return {
        name: sorted(file.parent.relative_to(package).as_posix() for file in package.rglob(f"{name}.py"))
        for name in several
    }


def walks(package: Path) -> dict[str, list[str]]:
    """The files that each walk passes, from real runs in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        harvested = Path(folder) / "harvested"
        found = {"harvest": _passed(package, "harvest", harvested)}
        for walk in WALKS.keys() - found.keys():
            home = Path(folder) / walk
            shutil.copytree(harvested, home)
            found[walk] = _passed(package, walk, home)
    return {walk: found[walk] for walk in WALKS}


def _passed(package: Path, walk: str, home: Path) -> list[str]:
    prefix = package.name.upper()
    home.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(prefix)}
    environment |= {
        "HOME": str(home),
        f"{prefix}_HOME": str(home / "store"),
        f"{prefix}_FUSION_WEIGHT": "0",  # the same walk, whether or not the model is installed
        "PYTHONPATH": str(package.parent),
    }
    line = [sys.executable, __file__, "--package", str(package), "--walk", walk]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, cwd=home)
    if done.returncode:
        raise SystemExit(f"the walk {walk!r} failed:\n{done.stdout}{done.stderr}")
    files: list[str] = json.loads(done.stdout.splitlines()[-1])
    return files


def _walk(package: Path, walk: str) -> None:
    """Run one walk in this process and print the files it passed."""
    command, *arguments = WALKS[walk]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), _passing(package) as passed:
        if command == "hook":
            os._exit = sys.exit  # type: ignore[assignment]  # it leaves without a goodbye, and without our answer
            main = __import__(f"{package.name}.hook.main", fromlist=["main"]).main
            for number in range(SESSIONS_OF_WHICH_SOME_ARE_HELD_OUT):
                if not said.getvalue():
                    payload = PAYLOADS[arguments[0]] | {"session_id": f"session-{number}"}
                    sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode()))
                    _run(main, "hook", *arguments)
        else:
            main = __import__(f"{package.name}.cli.app", fromlist=["main"]).main
            _run(main, package.name, command, *arguments)
    if not said.getvalue().strip():
        raise SystemExit("it said nothing")
    print(json.dumps(sorted(passed)))


def _run(main: Callable[[], None], *argv: str) -> None:
    sys.argv = [*argv]
    with contextlib.suppress(SystemExit):
        main()


@contextlib.contextmanager
def _passing(package: Path) -> Iterator[set[str]]:
    """The files of the package in which functions are called from here on, but for what importing calls."""
    inside = str(package.resolve()) + os.sep
    importing: Counter[int] = Counter()
    passed: set[str] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            importing[threading.get_ident()] += {"call": 1, "return": -1}.get(event, 0)
        elif event != "call" or code.co_name == "__init__" or importing[threading.get_ident()]:
            return
        elif code.co_filename.startswith(inside):
            passed.add(code.co_filename.removeprefix(inside))

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        yield passed
    finally:
        sys.setprofile(None)


def table(now: dict[str, float]) -> str:
    rows = [f"| {name} | {BEFORE[name]:,g} | {value:,g} |" for name, value in now.items()]
    return "\n".join([f"| what | before (`{BEFORE_COMMIT}`) | now |", "|---|---|---|", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description="The shape of the code in numbers.")
    parser.add_argument("--package", type=Path, default=REPOSITORY / "src" / "hardwon")
    parser.add_argument("--write", action="store_true", help="put the table into docs/architecture.md")
    parser.add_argument("--json", action="store_true", help="print the bare figures")
    parser.add_argument("--list", action="store_true", help="print what was counted, too")
    parser.add_argument("--walk", choices=WALKS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    package = asked.package.resolve()
    if asked.walk:
        _walk(package, asked.walk)
        return
    now = figures(package)
    print(json.dumps(now, indent=4) if asked.json else table(now))
    if asked.list:
        counted = {
            "imported by one": imported_by_one(package),
            "same name, other meaning": names_of_several_meanings(package),
            "lesson column": list(COLUMN_FILES),
            **walks(package),
        }
        print(json.dumps(counted, indent=2))
    if asked.write:
        begin, end = MARKS
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        _, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{begin}\n{table(now)}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
