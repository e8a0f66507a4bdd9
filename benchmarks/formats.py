"""The table of formats in docs/formats.md, with what is read of the real files beside the checkout."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hardwon import NotASession
from hardwon.sessions.discover import below
from hardwon.sessions.reader import FORMATS, read

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "formats.md"
BEGIN, END = "<!-- formats: written by `python -m benchmarks.formats` -->", "<!-- end of formats -->"
HEADINGS = ("format", "versions seen", "what is read", "files", "sessions", "messages", "calls", "errors")


def table() -> str:
    counts: dict[str, Counter[str]] = {entry.NAME: Counter() for entry in FORMATS}
    shared = REPOSITORY.parent / "shared" / "data"
    for path in [*below(shared / "transcripts"), *below(shared / "replay")] if shared.is_dir() else []:
        try:
            transcript = read(path)
        except NotASession:
            continue
        count = counts[transcript.format]
        count["files"] += 1
        for session in transcript.sessions:
            count["sessions"] += 1
            count["messages"] += len(session.messages)
            count["calls"] += session.tool_calls
            count["errors"] += sum(result.outcome == "error" for result in session.results())
    rows = [
        (entry.NAME, entry.VERSIONS, entry.READS, *(f"{counts[entry.NAME][name]:,}" for name in HEADINGS[3:]))
        for entry in FORMATS
    ]
    lines = [HEADINGS, ("---",) * 3 + ("---:",) * 5, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
