"""Tables in docs/formats.md and docs/tables.md: what is read of the real files at hand, and what may be lost."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path

from hardwon import NotASession
from hardwon.failures.ledger import inspected, is_cut_off, printed
from hardwon.sessions.discover import below
from hardwon.sessions.loss import census
from hardwon.sessions.origin import CLIENTS
from hardwon.sessions.reader import Source, formats

REPOSITORY = Path(__file__).parent.parent
SHARED = REPOSITORY.parent / "shared" / "data"
PAGE, TABLES = REPOSITORY / "docs" / "formats.md", REPOSITORY / "docs" / "tables.md"
BEFORE = Path(__file__).parent / "data" / "formats_before.json"
"""What the readers of f1b7a36 gave for each project; `--before` wrote it, with `sessions/loss.py` beside them."""
FOLDERS = ("transcripts", "replay", "projects")
BEGIN, END = "<!-- formats: written by `python -m benchmarks.formats` -->", "<!-- end of formats -->"

COUNTED = ("files", "sessions", "messages", "user messages", "calls", "ok", "error", "unknown")
COMPARED = ("refused sessions", "user messages", "calls", "ok", "error", "unknown", "suspected loss")
_FILES_AT_A_TIME = 8

Counted = tuple[str, str, str, Counter[str]]
"""(project or folder, format, why it was refused, counts) of a file."""


def counted(path: Path) -> Counted:
    try:
        transcript = inspected(path)
    except NotASession as error:
        seems_whole = census(Source(path)).holds_a_session
        reason = str(error).partition(": ")[2].partition(" (keys")[0]
        return _project(path), "", reason, Counter({"refused": 1, "refused sessions": int(seems_whole)})
    counts = Counter({"files": 1, "sessions": len(transcript.sessions)})
    for session in transcript.sessions:
        counts["messages"] += len(session.messages)
        counts["user messages"] += session.user_messages
        counts["calls"] += session.tool_calls
        counts.update(result.outcome for result in session.results())
        calls = {call.id: call for message in session.messages for call in message.calls}
        for result in session.results():
            call = calls.get(result.call_id)
            shown = printed(call.command, result.text) if call and call.action == "run" else result.text.strip()
            counts["with output"] += bool(shown)
            if shown and result.outcome == "unknown":
                counts["with output, unknown"] += 1
                counts["cut off"] += bool(call and call.action == "run" and is_cut_off(call.command, result.text))
        counts["without result"] += session.unpaired_calls
    counts["suspected loss"] = sum(loss.seen - loss.read for loss in transcript.suspected_loss)
    counts["losing files"] = bool(transcript.suspected_loss)
    return _project(path), transcript.format, "", counts


def _project(path: Path) -> str:
    parts = path.relative_to(SHARED).parts
    return parts[2] if parts[0] == "projects" and len(parts) > 3 else ""


def all_counted() -> list[Counted]:
    """Of every file, on all cores."""
    paths = [path for folder in FOLDERS if (SHARED / folder).is_dir() for path in below(SHARED / folder)]
    found = []
    with ProcessPoolExecutor() as workers:
        for done, each in enumerate(workers.map(counted, paths, chunksize=_FILES_AT_A_TIME), 1):
            found.append(each)
            print(f"\r{done:,} of {len(paths):,} files", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def _summed(found: Iterable[Counted], key: int) -> dict[str, Counter[str]]:
    ordered = sorted(found, key=lambda each: each[key])
    return {
        name: sum((each[3] for each in group), Counter()) for name, group in groupby(ordered, lambda each: each[key])
    }


def each_format() -> Iterator[tuple[str, ...]]:
    yield ("format", "versions seen", "what is read")
    yield ("---",) * 3
    for entry in formats():
        yield (entry.NAME, entry.VERSIONS, entry.READS)


def by_format(found: list[Counted]) -> Iterator[tuple[str, ...]]:
    yield ("format", *COUNTED, "suspected loss")
    yield ("---",) + ("---:",) * 9
    counts = _summed(found, 1)
    for entry in formats():
        count = counts.get(entry.NAME, Counter())
        lost = f"{count['suspected loss']:,}" + (f" in {files:,}" if (files := count["losing files"]) else "")
        if count:
            yield (entry.NAME, *(f"{count[name]:,}" for name in COUNTED), lost)


def by_reason(found: list[Counted]) -> Iterator[tuple[str, ...]]:
    yield ("refused, because", "files", "that seem to hold a session")
    yield ("---", "---:", "---:")
    for reason, count in _summed((each for each in found if each[2]), 2).items():
        yield (reason, f"{count['refused']:,}", f"{count['refused sessions']:,}")


def by_project(found: list[Counted]) -> Iterator[tuple[str, ...]]:
    yield ("project", *COMPARED)
    yield ("---",) + ("---:",) * len(COMPARED)
    before = {name: Counter(counts) for name, counts in json.loads(BEFORE.read_text()).items()}
    after = _of_projects(found)
    rows = [(name, before[name], after.get(name, Counter[str]())) for name in sorted(before, key=str.lower)]
    rows.append(("**all**", sum(before.values(), Counter()), sum(after.values(), Counter())))
    for name, was, now in rows:
        changes = [f"{was[each]:,}" + (f" → {now[each]:,}" if was[each] != now[each] else "") for each in COMPARED]
        yield (f"`{name}`" if "__" in name else name, *changes)


def untold(found: list[Counted]) -> str:
    """How many results are unknown although something was printed, and where that is more than a tenth."""
    projects = _of_projects(found)
    every = sum(projects.values(), Counter())
    often = [
        f"`{name}` ({count['with output, unknown']} of {count['with output']}, {count['cut off']} of them cut off)"
        for name, count in projects.items()
        if count["with output, unknown"] > count["with output"] / 10
    ]
    told = [
        f"`{name}` ({count['with output, unknown'] - count['cut off']} of {count['with output'] - count['cut off']})"
        for name, count in projects.items()
        if count["with output, unknown"] - count["cut off"] > (count["with output"] - count["cut off"]) / 10
    ]
    return (
        f"Of {every['with output']:,} results with output {every['with output, unknown']:,} are unknown"
        f" ({every['with output, unknown'] / every['with output']:.1%}), {every['cut off']:,} of them cut off: the"
        " screen was kept while the command was at work. More than a tenth in"
        f" {', '.join(often) or 'no project'}; without those that were cut off in {', '.join(told) or 'no project'}."
        f" {every['without result']:,} calls have no result in these files:"
        " SpecStory writes what was read and edited as a line, without what came back."
    )


def by_client() -> Iterator[tuple[str, ...]]:
    yield ("client", "seen in", "tags", "headings")
    yield ("---",) * 4
    for client in CLIENTS:
        tags = ", ".join(f"`<{tag}>`" for tag in client.tags)
        yield (client.name, client.seen, tags, ", ".join(f"`{heading}`" for heading in client.headings))


def _of_projects(found: list[Counted]) -> dict[str, Counter[str]]:
    return {name: count for name, count in _summed(found, 0).items() if name}


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def details(found: list[Counted]) -> str:
    return f"""{_table(by_format(found))}

*ok*, *error* and *unknown* are results. *Suspected loss* ([more](formats.md#what-may-be-lost)): messages, calls and
results that were seen and not read, and in how many files.

{_table(by_reason(found))}

The {len(_of_projects(found))} projects of strangers, before (`f1b7a36`) and, where it differs, now:

{_table(by_project(found))}

{untold(found)}

What clients put into the user's role, which is not the user's (`sessions/origin.py`); *published* means that it is
known from the client's source or from programs that read its logs, and stood in none of these files in that role:

{_table(by_client())}"""


def main() -> None:
    found = all_counted()
    if "--before" in sys.argv:
        counts = {name: {each: count[each] for each in COMPARED} for name, count in _of_projects(found).items()}
        BEFORE.write_text(json.dumps(counts, indent=1) + "\n")
        return
    for page, made in ((PAGE, _table(each_format())), (TABLES, details(found))):
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        page.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
