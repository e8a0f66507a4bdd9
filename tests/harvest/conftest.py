"""What tests of models share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.harvest.chat import Reply, Server


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(*replies: Reply) -> Server:
        made.append(Server(*replies))
        monkeypatch.setenv("HARDWON_LLM_URL", made[-1].url)
        monkeypatch.setenv("HARDWON_LLM_MODEL", "small")
        return made[-1]

    yield start
    for server in made:
        server.close()
