"""The tables of the independent judge in docs/tables.md, from the reports that it has written.

    python -m benchmarks.judged REPORT.json... [--write]

A report is what the judge, a replay with readers and a notion of "the same error" of its own, writes with `--json`
(budgets 150, 300 and 600, no task); `-checkout` at the end of its name says that it replayed in one repository. The
projects to tune on stand apart from those that are looked at once, as `judge/split.txt` beside the checkout says. The
best naive rule is the one with most lines that came true at that budget, judged by the same test.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BUDGETS = ("150", "300", "600")
LEAST_SHARE = 0.1
_REPOSITORY = Path(__file__).parent.parent
_PAGE = _REPOSITORY / "docs" / "tables.md"
_SPLIT = _REPOSITORY.parent / "shared" / "judge" / "split.txt"
TUNE, LOOK_ONCE = "tune", "look-once"
_COLUMNS = (
    *("project", "sessions", "errors", "foreseeable", "tokens", "foreseen", "came true", "lines a session"),
    *("best naive rule: foreseen, came true", "ratio", "recognised", "claimed of never seen"),
)
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|---|{'---:|' * (len(_COLUMNS) - 1)}\n"

Report = dict[str, Any]


def rows(name: str, report: Report) -> list[str]:
    """A row for each budget; where errors hardly come back one, of the largest."""
    totals, moment = report["totals"], report["moment"]
    errors, foreseeable = totals.get("errors", 0), totals.get("foreseeable", 0)
    if not errors:
        return []
    told: list[str] = []
    for budget in BUDGETS if foreseeable >= LEAST_SHARE * errors else BUDGETS[-1:]:
        ours = report["briefing"][f"{budget} failures only"]
        naive = max((rule[budget] for rule in report["baselines"].values()), key=lambda rule: rule["precision"])
        ratio = f"{ours['precision'] / naive['precision']:.1f}" if naive["precision"] else "-"
        cells = [
            *(name, str(totals["sessions"]), str(errors), str(foreseeable), budget),
            f"{ours['foreseen_rate']:.2f}" if foreseeable else "-",
            f"{ours['precision']:.0%} of {ours['lines']}",
            f"{ours['lines'] / totals['sessions']:.1f}",
            f"{naive['foreseen_rate']:.2f}, {naive['precision']:.0%}",
            ratio,
            f"{moment['recognised']} of {moment['recurring']}",
            f"{moment['claimed_known']} of {moment['never_seen']}",
        ]
        told.append(f"| {' | '.join(cells)} |\n")
    return told


def together(reports: list[Report]) -> str:
    """One sentence of all of them."""
    sessions, errors, foreseeable = (_sum(reports, "totals", key) for key in ("sessions", "errors", "foreseeable"))
    foreseen = []
    for budget in BUDGETS:
        rows = [(report["briefing"][f"{budget} failures only"], report["totals"]) for report in reports]
        found = sum(round(row["foreseen_rate"] * totals.get("foreseeable", 0)) for row, totals in rows)
        true, lines = (
            sum(round(row["precision"] * row["lines"]) for row, _ in rows),
            sum(row["lines"] for row, _ in rows),
        )
        foreseen.append(f"{found} ({true} of {lines} lines came true)")
    return (
        f"\nTogether {sessions} sessions, {errors} errors, {foreseeable} foreseeable: foreseen "
        f"{', '.join(foreseen)} in 150, 300 and 600 tokens; recognised {_sum(reports, 'moment', 'recognised')} of "
        f"{_sum(reports, 'moment', 'recurring')}, claimed of never seen "
        f"{_sum(reports, 'moment', 'claimed_known')} of {_sum(reports, 'moment', 'never_seen')}.\n"
    )


def _sum(reports: list[Report], part: str, key: str) -> int:
    return sum(report[part].get(key, 0) for report in reports)


def table(reports: Iterable[tuple[str, Report]]) -> str:
    known = list(reports)
    once = [report for name, report in known if not name.endswith(_IN_ONE)]
    return _HEAD + "".join(row for name, report in known for row in rows(name, report)) + together(once)


_IN_ONE = ", in one repository"


def _name(path: Path, report: Report) -> str:
    corpus = Path(report["corpus"])
    agent = f" ({corpus.parent.name})" if corpus.parent.parent.name == "projects" else ""
    return corpus.name.replace("__", "/") + agent + (_IN_ONE if path.stem.endswith("-checkout") else "")


def main() -> None:
    paths = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    lines = [line.split() for line in _SPLIT.read_text().splitlines() if line and line[0] != "#"]
    splits = {name: split for split, name in lines}
    found: dict[str, list[tuple[str, Report]]] = {TUNE: [], LOOK_ONCE: []}
    for path in paths:
        report = json.loads(path.read_text())
        found[splits.get(Path(report["corpus"]).name, TUNE)].append((_name(path, report), report))
    page = _PAGE.read_text()
    for split, reports in found.items():
        if reports:
            made = table(reports)
            print(f"{split}\n{made}")
            begin, end = f"<!-- judged {split}: begin -->\n", f"<!-- judged {split}: end -->"
            before, _, rest = page.partition(begin)
            page = before + begin + made + end + rest.partition(end)[2]
    if "--write" in sys.argv:
        _PAGE.write_text(page)


if __name__ == "__main__":
    main()
