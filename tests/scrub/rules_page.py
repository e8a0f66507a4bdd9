"""The table of rules in docs/scrubbing.md; `python -m tests.scrub.rules_page` renews it."""

from __future__ import annotations

from pathlib import Path

from hardwon.scrub.scrubber import listed

PAGE = Path(__file__).parents[2] / "docs" / "scrubbing.md"
MARKER = "<!-- rules -->\n"


def table() -> str:
    rows = [f"| `{mark}` | {about.replace('|', chr(92) + '|')} | {where} |" for mark, about, where in listed()]
    return "\n".join(["| mark | what | where |", "|---|---|---|", *rows]) + "\n"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    PAGE.write_text(text + MARKER + table(), encoding="utf-8")


if __name__ == "__main__":
    main()
