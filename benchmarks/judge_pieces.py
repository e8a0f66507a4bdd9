"""Short histories for the independent judge, cut from the long ones: `python -m benchmarks.judge_pieces OUT FOLDER...`

The judge reads no errors from most SpecStory layouts. Each folder's sessions are read as a harvest reads them and
written as Claude Code logs, without what a terminal shows beside a command's own words: whole, and in pieces of 9 and
of 16 sessions, each as if it were a project of its own, in OUT/<project>-<whole, 9 or 16>-<first session>. Replay the
judge on each; docs/tables.md has what it found.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardwon.clock import moment
from hardwon.errors import NotASession
from hardwon.failures.ledger import printed, read
from hardwon.model.session import Session, ToolResult

SIZES = (9, 16)
_STEP = 1_000
"""Microseconds between a call and what came of it, where the transcript has one time for both."""


def sessions(folder: Path) -> list[Session]:
    found: list[Session] = []
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        try:
            found.extend(read(path).sessions)
        except NotASession:
            continue
    return sorted((one for one in found if one.started_at), key=lambda one: (one.started_at or 0, one.external_id))


def records(session: Session, project: str) -> Iterator[dict[str, Any]]:
    results = {result.call_id: result for result in session.results()}
    at = session.started_at or 0
    for message in session.messages:
        at = max(at, message.at or at)
        if message.role in ("user", "assistant") and message.text:
            yield _record(session, project, at, message.role, [{"type": "text", "text": message.text}])
        for call in message.calls:
            result = results.get(call.id)
            if not call.command or result is None or result.outcome == "unknown":
                continue
            asked = {"type": "tool_use", "id": call.id, "name": "Bash", "input": {"command": call.command}}
            answer = {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": _said(call.command, result),
                "is_error": result.outcome == "error",
            }
            yield _record(session, project, at := at + _STEP, "assistant", [asked])
            yield _record(session, project, at := at + _STEP, "user", [answer])


def _said(command: str, result: ToolResult) -> str:
    text = "\n".join(printed(command, result.text)) or result.text
    return f"Exit code {result.exit_code or 1}\n{text}" if result.outcome == "error" else text


def _record(session: Session, project: str, at: int, role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": role,
        "sessionId": session.external_id,
        "timestamp": moment(at).isoformat(),
        "cwd": f"/home/dev/{project}",
        "isSidechain": False,
        "message": {"role": role, "content": content},
    }


def write(folder: Path, project: str, piece: list[Session]) -> None:
    folder.mkdir(parents=True)
    for session in piece:
        lines = "".join(json.dumps(record) + "\n" for record in records(session, project))
        name = "".join(sign if sign.isalnum() else "-" for sign in session.external_id)
        (folder / f"{name}.jsonl").write_text(lines)


def main(out: Path, folders: list[Path]) -> None:
    for folder in folders:
        history = sessions(folder)
        write(out / f"{folder.name}-whole-0", folder.name, history)
        for size in SIZES:
            for first in range(0, len(history) - size // 2, size) if len(history) >= size * 1.5 else ():
                write(out / f"{folder.name}-{size}-{first}", folder.name, history[first : first + size])
        print(f"{folder.name}: {len(history)} sessions")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
