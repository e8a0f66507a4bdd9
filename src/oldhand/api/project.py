"""The project that something is to be kept under."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from oldhand.errors import NotFound
from oldhand.scrub.scrubber import Scrubber
from oldhand.sessions.project import Project, identify, remote_key
from oldhand.store import projects

if TYPE_CHECKING:
    from oldhand.api.oldhand import Oldhand


def kept(memory: Oldhand, name: str) -> str | None:
    """The id of the project with this name, remote or folder, made known if it is new. Inside a transaction."""
    if not name.strip():
        return None
    db = memory.writing()
    try:
        return memory.project(name)
    except NotFound:
        if len(projects.find(db, name)) > 1:
            raise
    new = identify(os.path.abspath(name)) if os.path.isdir(name) else _named(name)
    if new is not None:
        projects.save(db, new)
    return new.id if new else None


def _named(name: str) -> Project:
    return Project(remote_key(name) or Scrubber().scrub(name.strip()), "")
