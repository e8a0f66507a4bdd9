"""The service keeps to its own schema: no answer that it does not document, and never a 5xx."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.serve.service import Service

EXAMPLES = os.environ.get("SCHEMA_EXAMPLES", "3")
"""Of each operation; `make nightly` takes many more."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
)


def test_no_request_gets_an_answer_that_is_not_in_the_schema(service: Service, tmp_path: Path) -> None:
    quick = EXAMPLES == "3"
    phases = "fuzzing" if quick else "coverage,fuzzing,stateful"
    workers = "2" if quick else "1"  # with more, CPython 3.11 may fail to parse what the coverage phase reads
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.address}/schema"),
            *("--header", f"Authorization: Bearer {service.token}", "--max-examples", EXAMPLES),
            *("--checks", ",".join(CHECKS), "--phases", phases, "--seed", "7", "--workers", workers),
            *("--request-timeout", "60"),
        ],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]


def test_the_schema_names_every_resource(service: Service) -> None:
    paths = service.get("/schema")["paths"]
    roots = {path.split("/")[2] for path in paths if path.startswith("/api/")}
    nouns = "lessons failures attempts interactions sessions documents projects"
    assert roots >= {*nouns.split(), "search", "bootstrap", "replay", "metrics", "export"}
    described = [verb.get("description") for verbs in paths.values() for verb in verbs.values()]
    assert all(described)
