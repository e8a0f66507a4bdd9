"""Every error-to-fix pair in the real sessions beside the checkout, with its context, to be judged by hand.

`python -m benchmarks.fix_pairs` prints the pairs; `--unfixed` prints the failures for which no fix was found.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hardwon import NotASession, Session
from hardwon.failures import tools
from hardwon.failures.ledger import Findings, Turn, examine, read, turns
from hardwon.harvest.rules import pitfalls as fix_rule
from hardwon.model.failure import Fix, Occurrence
from hardwon.scrub.scrubber import Scrubber, scrubbed
from hardwon.sessions.discover import below
from hardwon.text import shown

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"
FOLDERS = (
    "transcripts/claude-code",
    "replay/specstory-cli",
    "transcripts/opencode",
    "transcripts/specstory",
    "transcripts/pi",
    "transcripts/openhands",
    "transcripts/swe-agent",
    "transcripts/codex",
    "transcripts/aider",
)
_WIDTH = 400


class Examined(NamedTuple):
    file: str
    session: Session
    calls: list[Turn]
    findings: Findings


class Pair(NamedTuple):
    key: str
    fix: Fix
    place: Examined


def examined(shared: Path = SHARED) -> Iterator[Examined]:
    """Every session once, scrubbed, in the order of the files."""
    seen: set[tuple[str, str, int]] = set()
    for folder in FOLDERS:
        for path in sorted(below(shared / folder)):
            try:
                transcript = read(path)
            except NotASession:
                continue
            for raw in transcript.sessions:
                identity = (raw.external_id, raw.subagent, raw.tool_calls)
                if identity in seen:
                    continue
                seen.add(identity)
                session = scrubbed(raw, Scrubber())
                yield Examined(str(path.relative_to(shared)), session, turns(session), examine(session))


def pairs(shared: Path = SHARED) -> list[Pair]:
    return [Pair(key(place, fix), fix, place) for place in examined(shared) for fix in place.findings.fixes]


def key(place: Examined, fix: Fix) -> str:
    """Where the failure stands and what is claimed: another claim for the same failure is another pair."""
    claim = repr((fix.steps, fix.succeeded_as, fix.avoid))
    digest = hashlib.blake2b(claim.encode(), digest_size=4).hexdigest()
    session = place.session.external_id + (f"/{place.session.subagent}" if place.session.subagent else "")
    return f"{place.file}#{session}#{fix.occurrence.call_index}#{digest}"


def _call(turn: Turn, width: int) -> str:
    call, result = turn.call, turn.result
    outcome = result.outcome if result else "none"
    about = call.command or f"{call.target} {call.detail}"
    return f"   {turn.position:4} {outcome:7} {call.name:8} {' '.join(about.split())[:width]}"


def _show_failure(place: Examined, found: Occurrence) -> None:
    failed = place.calls[found.call_index]
    print(f"   FAILED {found.family}/{found.error_type}: {found.signature}")
    print(_call(failed, 3 * _WIDTH))
    text = failed.result.text if failed.result else ""
    for line in (text if len(text) < 1500 else text[:700] + "\n[…]\n" + text[-800:]).splitlines():
        print(f"        | {line[:220]}")


def _show_after(place: Examined, at: int, until: int) -> None:
    for turn in place.calls[at + 1 : until]:
        print(_call(turn, _WIDTH))
        if turn.failed and turn.result is not None:
            print("            " + " ".join(turn.result.text.split())[-300:])


def show(number: int, pair: Pair) -> None:
    place, fix = pair.place, pair.fix
    print(f"\n===== {number} {pair.key}")
    _show_failure(place, fix.occurrence)
    _show_after(place, fix.occurrence.call_index, fix.succeeded_at + 1)
    print(f"   STEPS {list(map(tuple, fix.steps))}")
    print(f"   AS    {fix.succeeded_as}")
    print(f"   AVOID {list(map(tuple, fix.avoid))}  UNTRUSTED {fix.untrusted}")
    line = shown.failure_line(
        command=tools.gist(fix.occurrence.command),
        error=fix.occurrence.words,
        occurrences=1,
        sessions=1,
        last_seen=fix.occurrence.at or 0,
        worked=shown.remedy(fix.steps, fix.succeeded_as),
        avoid=fix.avoid,
    )
    print(f"   LINE  {line}")
    for draft in fix_rule.fix_drafts([fix]):
        print(f"   LESSON {draft.text}")


def unfixed(ahead: int) -> None:
    number = 0
    for place in examined():
        mended = {fix.occurrence.fingerprint for fix in place.findings.fixes}
        for found in place.findings.occurrences:
            if found.fingerprint in mended:
                continue
            number += 1
            print(f"\n===== {number} {place.file}#{place.session.external_id}#{found.call_index}")
            _show_failure(place, found)
            _show_after(place, found.call_index, found.call_index + 1 + ahead)


def main() -> None:
    if "--unfixed" in sys.argv:
        unfixed(ahead=14)
        return
    found = pairs()
    for number, pair in enumerate(found, start=1):
        show(number, pair)
    print(f"\n{len(found)} pairs")


if __name__ == "__main__":
    main()
