"""A session starts: hand it the standing lines of its project."""

from __future__ import annotations

import os

from oldhand.hook.experiment import lines_for
from oldhand.sessions.project import identify
from oldhand.store import read
from oldhand.text.briefing import render
from oldhand.text.paths import tilde


def briefing(database: str, payload: dict[str, object]) -> str:
    cwd = payload.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        return ""
    project = identify(cwd)
    db = read.connect(database)
    id = read.project_of(db, project.key if project else "", _folders(cwd))
    if not id:
        return ""
    named = payload.get("agent")
    agent = named if isinstance(named, str) else "claude-code"
    key = read.fence_key(db)
    sections: dict[str, list[str]] = {}
    for section, text in lines_for(payload, agent, id, read.standing_lines(db, id, agent), key):
        sections.setdefault(section, []).append(text)
    return render(sections, key)


def _folders(cwd: str) -> list[str]:
    """The folder and those above it, nearest first, as the store writes them."""
    folders = [cwd]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    return [tilde(folder) for folder in folders if tilde(folder) != "~"]
