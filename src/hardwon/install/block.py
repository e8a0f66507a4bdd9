"""The briefing in a block of AGENTS.md, for an agent that reads that file and has no hooks for us."""

from __future__ import annotations

from pathlib import Path

from hardwon.bootstrap.managed import BEGIN, updated
from hardwon.errors import NotFound


class Block:
    def __init__(self, path: Path, briefing: str) -> None:
        self.path = path
        self._briefing = briefing

    def installed(self, old: str | None) -> tuple[str, list[str]]:
        if not self._briefing:
            raise NotFound("there is nothing to put into it yet, for nothing is known of this project: `hardwon up`")
        return updated(old or "", self._briefing), ["."] if old is None else []

    def removed(self, old: str, made: list[str]) -> str | None:
        return updated(old, "") or (None if "." in made else "")

    def ours(self, old: str) -> list[tuple[str, str]]:
        return [("AGENTS.md", "")] if BEGIN in old else []
