"""Replay on real projects at several budgets, the tables of docs/tables.md: `python -m benchmarks.replay`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from hardwon import Hardwon
from hardwon.measure.report import Report, Way
from hardwon.sessions.discover import below

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared" / "data"
PAGE = REPOSITORY / "docs" / "tables.md"
BEGIN, END = "<!-- replay: written by `python -m benchmarks.replay` -->", "<!-- end of replay -->"
PROJECTS = {
    "one project, SpecStory histories of six months": SHARED / "replay" / "specstory-cli",
    "one project, an Aider history of months": SHARED / "transcripts" / "aider",
}
BUDGETS = (300, 2000)
HEADINGS = (
    "failure tokens", "chosen by", "foreseen", "lines that came true", "lines", "tokens (p50)",
    "Hardwon in as many: foreseen, came true", "with the whole budget: foreseen, came true, tokens",
)  # fmt: skip


def section(title: str, folder: Path) -> str:
    with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
        memory.harvest(below(folder), mine=True)
        began, worked = time.perf_counter(), time.process_time()
        reports = {budget: memory.replay(budget=4000, failure_budget=budget) for budget in BUDGETS}
        walked = reports[BUDGETS[0]].sessions * len(BUDGETS)
        pace = walked / (time.perf_counter() - began), walked / (time.process_time() - worked)
    one = reports[BUDGETS[0]]
    rows = [row for budget, report in reports.items() for row in _rows(budget, report)]
    lines = [HEADINGS, ("---:", "---", "---", "---", "---:", "---:", "---:", "---:"), *rows]
    table = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
    return (
        f"### {title[0].upper()}{title[1:]}\n\n"
        f"{one.sessions} sessions, {one.errors} errors, {one.foreseeable} foreseeable in the project. At the moment of "
        f"failure {one.recalled} of {one.foreseeable_anywhere} are recognised, {one.recalled_with_fix} with a fix (one "
        f"had been seen for {one.fix_existed}). {pace[0]:.0f} sessions/s in one process, {pace[1]:.0f} a second of "
        f"processor time.\n\n{table}\n"
    )


def _rows(budget: int, report: Report) -> list[tuple[object, ...]]:
    ways: dict[str, Report | Way] = {"**Hardwon**": report, "with the first prompt": report.with_prompt}
    ways |= {name.replace("_", " "): way for name, way in report.baselines.items() if name != "nothing"}
    return [
        (
            budget,
            name,
            _rate(way, "foreseen_rate", 0),
            _rate(way, "precision", 1),
            way.lines_shown,
            way.failure_tokens_p50,
            *_ours(way),
        )
        for name, way in ways.items()
    ]


def _ours(way: Report | Way) -> tuple[str, str]:
    """Our best lines in the tokens that a baseline took, and the baseline with all it could have had."""
    if not isinstance(way, Way) or way.ours is None or way.filling is None:
        return "", ""
    return _both(way.ours), f"{_both(way.filling)}, {way.filling.failure_tokens_p50}"


def _both(way: Way) -> str:
    return f"{way.foreseen_rate or 0:.0%}, {way.precision or 0:.1%}"


def _rate(way: Report | Way, name: str, digits: int) -> str:
    rate = way.intervals[name]
    if rate.value is None:
        return "-"
    return f"{rate.value:.{digits}%} ({rate.low:.{digits}%} to {rate.high:.{digits}%})"


def main() -> None:
    made = "\n".join(section(title, folder) for title, folder in PROJECTS.items())
    print(made)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
