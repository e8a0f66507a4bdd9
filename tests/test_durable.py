"""Files that are written whole, whoever else writes them at the same time."""

from __future__ import annotations

import threading
from pathlib import Path

from hardwon.durable import write_whole


def test_threads_that_write_the_same_file_leave_one_of_their_contents_whole(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    target = folder / "lines.json"
    contents = [str(number) * 200_000 for number in range(8)]
    together = threading.Barrier(len(contents))
    failed: list[BaseException] = []

    def write(content: str) -> None:
        together.wait()
        try:
            for _ in range(5):
                write_whole(target, content)
        except OSError as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert failed == []
    assert target.read_text() in contents
    assert [path.name for path in folder.iterdir()] == ["lines.json"]
