"""A project that is split is read anew, and what is stored of it until then is as sound as before."""

from __future__ import annotations

from pathlib import Path

from hardwon import Hardwon
from hardwon.store import integrity, projects
from tests.conftest import ClaudeSession


def test_splitting_a_project_breaks_no_seal(home: Path, tmp_path: Path) -> None:
    path = ClaudeSession().user("go").says("Done.").write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path])
        (project,) = memory.store.projects()
        roots, aliases = projects.parts(memory.reading(), project.id)
        assert memory.store.split_project(project.id, (*roots, *aliases)[0]) == 1
        assert integrity.broken_seals(memory.reading(), "session") == []
