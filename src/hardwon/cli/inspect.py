"""Looking at a file without storing anything: `inspect`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.output import Json, print_json, shown

if TYPE_CHECKING:
    from hardwon.model.session import Session, Transcript


def inspect(
    file: Annotated[Path, typer.Argument(help="A session file of any agent.", show_default=False)],
    json: Json = False,
) -> None:
    """Tell what a file is and what was read from it.

    Example: hardwon inspect ~/.codex/sessions/2026/11/02/rollout-….jsonl
    """
    from hardwon.sessions.reader import read

    transcript = read(file)
    described = [_described(session) for session in transcript.sessions]
    if json:
        print_json(
            {
                "format": transcript.format,
                "version": _version(transcript),
                "sessions": described,
                "damaged": transcript.damaged,
            }
        )
        return
    typer.echo(f"{transcript.format} {shown(_version(transcript))}".rstrip())
    for entry in described:
        typer.echo(f"\nsession {shown(str(entry['id']))}")
        for name in ("project", "cwd", "started_at", "ended_at"):
            typer.echo(f"  {name:<16}{shown(str(entry[name] or '-'))}")
        for name, value in list(entry.items())[6:]:
            typer.echo(f"  {name:<16}{value:>8,}")
    for damage in transcript.damaged:
        typer.echo(f"\ndamaged at byte {damage.offset:,}: {damage.reason}")


def _version(transcript: Transcript) -> str:
    return next((session.version for session in transcript.sessions if session.version), "")


def _described(session: Session) -> dict[str, object]:
    from hardwon.clock import iso
    from hardwon.sessions.project import identify

    project = identify(session.cwd, session.remote)
    outcomes = Counter(result.outcome for result in session.results())
    return {
        "id": session.external_id + (f"/{session.subagent}" if session.subagent else ""),
        "agent": session.agent,
        "project": project.name if project else None,
        "cwd": session.cwd or None,
        "started_at": iso(session.started_at),
        "ended_at": iso(session.ended_at),
        "messages": len(session.messages),
        "user_messages": session.user_messages,
        "tool_calls": session.tool_calls,
        "results_ok": outcomes["ok"],
        "results_error": outcomes["error"],
        "results_unknown": outcomes["unknown"],
        "unpaired_calls": session.unpaired_calls,
        "unknown_records": session.unknown_records,
    }
