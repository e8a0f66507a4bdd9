"""The project that something is kept under."""

from __future__ import annotations

import os

from hardwon.errors import NotFound
from hardwon.scrub.scrubber import Scrubber
from hardwon.sessions.project import Project, identify, remote_key
from hardwon.store import projects
from hardwon.store.database import Database
from hardwon.text.paths import tilde


def kept(db: Database, name: str) -> str | None:
    """The id of the project with this name, remote or folder, made known if it is new. Inside a transaction."""
    if not name.strip():
        return None
    found = projects.find(db, name) or projects.find(db, tilde(name))
    if len(found) > 1:
        raise NotFound(f"several projects are called '{name}': say which of {', '.join(row[1] for row in found)}")
    if found:
        return found[0][0]
    if name == "." and not os.path.isdir(name):
        return None  # the current folder was deleted
    if os.path.isdir(name):
        new = identify(os.path.abspath(name), known_roots=projects.known_roots(db))
    else:
        new = Project(remote_key(name) or Scrubber().scrub(name.strip()), "")
    if new is not None:
        projects.save(db, new)
    return new.id if new else None
