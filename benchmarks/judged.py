"""The table of the independent judge in docs/tables.md, from the reports that it has written.

    python -m benchmarks.judged REPORT.json... [--write]

A report is what the judge, a replay with readers and a notion of "the same error" of its own, writes with `--json`
(budgets 150, 300 and 600, no task). Only projects in which at least a tenth of the errors come back have a row; the
best naive rule is the one with most lines that came true at that budget, judged by the same test.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

BUDGETS = ("150", "300", "600")
LEAST_SHARE = 0.1
_PAGE = Path(__file__).parent.parent / "docs" / "tables.md"
_TABLE = re.compile(r"(?<=<!-- judged: begin -->\n).*?(?=<!-- judged: end -->)", re.DOTALL)
_COLUMNS = (
    *("project", "sessions", "errors", "foreseeable", "tokens", "foreseen", "came true"),
    *("best naive rule came true", "ratio", "recognised", "claimed of never seen"),
)
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|---|{'---:|' * (len(_COLUMNS) - 1)}\n"


def rows(report: dict[str, Any]) -> list[str]:
    """A row for each budget; none where errors hardly come back."""
    totals, moment = report["totals"], report["moment"]
    errors, foreseeable = totals.get("errors", 0), totals.get("foreseeable", 0)
    if foreseeable < LEAST_SHARE * max(1, errors):
        return []
    name = Path(report["corpus"]).name.replace("__", "/")
    told: list[str] = []
    for budget in BUDGETS:
        ours = report["briefing"][f"{budget} failures only"]
        naive = max(rule[budget]["precision"] for rule in report["baselines"].values())
        ratio = f"{ours['precision'] / naive:.1f}" if naive else "-"
        cells = [
            *(name, str(totals["sessions"]), str(errors), str(foreseeable), budget),
            f"{ours['foreseen_rate']:.2f}",
            f"{ours['precision']:.0%} of {ours['lines']}",
            *(f"{naive:.0%}", ratio),
            f"{moment['recognised']} of {moment['recurring']}",
            f"{moment['claimed_known']} of {moment['never_seen']}",
        ]
        told.append(f"| {' | '.join(cells)} |\n")
    return told


def table(reports: list[dict[str, Any]]) -> str:
    return _HEAD + "".join(row for report in reports for row in rows(report))


def main() -> None:
    paths = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    made = table([json.loads(path.read_text()) for path in paths])
    if "--write" in sys.argv:
        _PAGE.write_text(_TABLE.sub(lambda _: made, _PAGE.read_text()))
    print(made, end="")


if __name__ == "__main__":
    main()
