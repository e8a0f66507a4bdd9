"""What the map is compared with where a repository is at hand: co-change in git, and a static map of the code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from benchmarks.map_git import StaticMap, co_change, commits, compared

from hardwon.map.draw import draw
from tests.git_repository import PERSON

FILES = {
    "tide/table.py": "def tide_table():\n    return 1\n",
    "tide/page.py": "from tide.table import tide_table\n\n\ndef show_page():\n    return tide_table()\n",
    "reef/photo.py": "def reef_photo():\n    return 2\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q")
    for number in range(8):
        for path in ("tide/table.py", "tide/page.py") if number % 2 else ("reef/photo.py",):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(f"{FILES[path]}\n# {number}\n")
        _git(tmp_path, "add", ".")
        _git(tmp_path, "commit", "-qm", "Mend the tide" if number % 2 else "Mend the photo", at=number)
    return tmp_path


def _git(folder: Path, *arguments: str, at: int = 0) -> None:
    when = f"2026-01-01T{at:02}:00:00Z"
    environment = {**os.environ, **PERSON, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, env=environment)


def test_commits_are_read_as_sessions(repository: Path) -> None:
    history = commits(repository)
    assert [trip.words for trip in history[:2]] == ["Mend the photo", "Mend the tide"]
    assert history[1].edited == {"tide/table.py", "tide/page.py"}


def test_co_change_tells_what_changed_with_a_named_file(repository: Path) -> None:
    known = draw(commits(repository))
    assert {file.path for file in co_change(known, "see to table.py")[:2]} == {"tide/table.py", "tide/page.py"}
    assert co_change(known, "see to photo.py")[0].path == "reef/photo.py"


def test_a_static_map_leads_to_where_a_name_comes_from(repository: Path) -> None:
    told = [file.path for file in StaticMap(repository).order(draw(commits(repository)), "show_page fails")]
    assert told[:2] == ["tide/page.py", "tide/table.py"]
    assert told[-1] == "reef/photo.py"


def test_all_ways_are_counted_over_the_same_commits(repository: Path) -> None:
    rows = [line.split(" | ") for line in compared(commits(repository), StaticMap(repository)).split("\n")[2:]]
    assert {row[1] for row in rows} == {"6"}, "the first of each kind knows nothing of its files"
    assert {row[0].strip("| ") for row in rows} >= {"the map", "co-change in git", "static map"}
