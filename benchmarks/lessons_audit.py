"""What projects teach, line by line, for somebody else to judge; and how much of what people repeat was told by then.

`python -m benchmarks.lessons_audit [FOLDER…]` harvests each folder as one project of one's own into a new store and
prints every lesson with its sources' words, whether it is told, and the briefing. Without folders, the projects
beside the checkout that rules may be tuned on. `--repeats` prints only the replay of what was said again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from hardwon import Hardwon
from hardwon.harvest.rules import said
from hardwon.sessions.discover import below
from hardwon.store import sessions
from hardwon.store.database import Database

SHARED = Path(__file__).parent.parent.parent / "shared"


class Repeats(NamedTuple):
    """Of the sentences of a project that sound like a rule, in the order of time."""

    typed: int
    again: int
    """Those that an earlier session had."""
    told: int
    """Those of them that were a lesson by then."""


def tuned_on(shared: Path = SHARED) -> list[Path]:
    lines = (shared / "judge" / "split.txt").read_text().splitlines()
    names = {line.split()[1] for line in lines if line.startswith("tune")}
    return [folder for folder in sorted((shared / "data" / "projects").glob("*/*")) if folder.name in names]


def repeats(db: Database, project: str) -> Repeats:
    """A sentence would have been told if an earlier one of its group was a lesson of its own, or two were there."""
    rows = sessions.statements_of_project(db, project)
    kept = {(source, quote) for source, quote in db.query("SELECT source, quote FROM lesson_source")}
    again = told = 0
    for group in said.groups(rows):
        roots: set[str] = set()
        known = False
        for row in group:
            if roots - {row.root}:
                again += 1
                told += known
            roots.add(row.root)
            known = known or ((row.source, row.quote) in kept and (said.lays_down(row.quote) or len(roots) > 1))
    return Repeats(len(rows), again, told)


def _counted(one: Repeats) -> str:
    return f"{one.typed} sentences that sound like a rule, {one.again} said before, {one.told} of these told by then"


def main() -> None:
    folders = [Path(name) for name in sys.argv[1:] if not name.startswith("--")] or tuned_on()
    whole = Repeats(0, 0, 0)
    for folder in folders:
        with tempfile.TemporaryDirectory() as home, Hardwon(home) as memory:
            report = memory.harvest(below(folder), mine=True)
            found = [repeats(memory.reading(), project.id) for project in memory.store.projects()]
            mine = Repeats(*(sum(column) for column in zip(*found, strict=True))) if found else Repeats(0, 0, 0)
            whole = Repeats(*(one + other for one, other in zip(whole, mine, strict=True)))
            print(f"\n{folder.name}: {report.sessions} sessions; {_counted(mine)}")
            if "--repeats" in sys.argv:
                continue
            briefings = [memory.bootstrap(project.id) for project in memory.store.projects()]
            told = {line.id for briefing in briefings for line in briefing.lines}
            for lesson in memory.lessons.list():
                mark = "told" if lesson.id in told else lesson.status
                print(f"  {mark:<9} {lesson.kind:<10} {lesson.rule:<16} {lesson.source_count:>3}  {lesson.text}")
                for source in memory.lessons.get(lesson.id).sources[:3]:
                    print(f"      {source.origin}: {source.quote[:200]}")
            print("\n".join(briefing.text for briefing in briefings))
    print(f"\nall: {_counted(whole)}")


if __name__ == "__main__":
    main()
