"""One running service a module: what is attacked, and the tokens that attackers have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.service import Service, environment, fill, served


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("attacked")
    fill(folder / "hardwon", folder / "hardwon" / "hardwon.db", folder / "sessions")
    quick = {"HARDWON_SERVE_HEAD_SECONDS": "1", "HARDWON_SERVE_BODY_SECONDS": "1"}
    quick |= getattr(request.module, "UNHURRIED", {})
    with served({**environment(folder / "hardwon", Path()), **quick}) as running:
        yield running
        assert running.get("/health", token="") == {"status": "ok"}, "it lives on after every attack"


@pytest.fixture(scope="module")
def reader(service: Service) -> str:
    return service.make_token("reader", "read")


@pytest.fixture(scope="module")
def reef(service: Service) -> str:
    """Everything a token of one project can have."""
    return service.make_token("reef only", "read", "write", "review", project="reef")


@pytest.fixture(scope="module")
def kelp(service: Service) -> dict[str, Any]:
    """Rows of the project that the token of reef must not see."""
    return {
        "lesson": next(row["id"] for row in service.get("/api/lessons", project="kelp")["items"] if row["project"]),
        "failure": next(
            row["id"] for row in service.get("/api/failures", project="kelp")["items"] if "kelp" in row["error"]
        ),
        "document": next(row["id"] for row in service.get("/api/documents", project="kelp")["items"] if row["project"]),
        "session": service.get("/api/sessions", project="kelp")["items"][0]["id"],
        "attempt": service.get("/api/attempts", project="kelp")["items"][0]["id"],
        "project": service.get("/api/projects/kelp")["id"],
        "interaction": service.post("/api/interactions", {"prompt": "Where is kelp?", "project": "kelp"})["id"],
    }
