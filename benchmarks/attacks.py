"""`python -m benchmarks.attacks`: the classes of attacks in the tests, how many cases each makes, and what got through.

A module of tests with a function `attacks()`, which gives class → cases from the generators that its tests run over,
has a row for each (`through()` gives those that are known to get through: they are marked in the tests); of
`tests/serve/attacks`, each case is a test. `--write` runs them all and puts the table into docs/tables.md.
Every case is counted and run, as in `make nightly`; `make test` has some of each class.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.timing import markdown

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "tables.md"
BEGIN, END = "<!-- attacks -->\n", "<!-- end of attacks -->\n"
SERVICE = "tests/serve/attacks"


def modules() -> Iterator[tuple[str, dict[str, int], dict[str, int]]]:
    """(file, class → cases, class → those known to get through) of every module of attacks."""
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        name = path.relative_to(REPOSITORY).as_posix()
        if "\ndef attacks() -> dict[str, int]:\n" in path.read_text(encoding="utf-8"):
            module = import_module(name.removesuffix(".py").replace("/", "."))
            yield name, module.attacks(), module.through() if hasattr(module, "through") else {}
        elif name.startswith(SERVICE):
            about = import_module(name.removesuffix(".py").replace("/", ".")).__doc__ or ""
            yield name, {f"the service: {about.splitlines()[0].rstrip('.')}": _collected(name)}, {}


def _collected(file: str) -> int:
    done = _pytest(file, "--collect-only")
    return sum("::" in line for line in done.stdout.splitlines())


def _pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(line, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def table(*, run: bool) -> str:
    rows: list[tuple[str, str, str]] = []
    for name, classes, known in modules():
        held = not run or _pytest(name).returncode == 0
        for about, cases in classes.items():
            through = str(known.get(about, 0)) if held else "some: run the tests"
            rows.append((f"{about} (`{name}`)", f"{cases:,}", through if run else "not run"))
    total = sum(int(cases.replace(",", "")) for _, cases, _ in rows)
    return markdown("", ("class", "cases", "got through"), rows, f"{total:,} cases. Written by `{__spec__.name}`.")


def main() -> None:
    os.environ["EVERY_PAYLOAD"] = "1"
    writing = "--write" in sys.argv[1:]
    found = table(run=writing)
    print(found)
    if writing:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        body = "\n".join(line for line in found.splitlines() if not line.startswith("#")).strip("\n")
        PAGE.write_text(f"{before}{BEGIN}{body}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
