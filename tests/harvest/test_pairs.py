"""Pairs of sentences as people say them: opposites are conflicts, never merged; the same is never a conflict."""

from __future__ import annotations

import pytest

from hardwon.harvest.alike import gist, relation

OPPOSITE = """
Use pnpm for installs. | Do not use pnpm for installs.
Always run the linter before a commit. | Never run the linter before a commit.
Run the migrations before the tests. | Run the migrations after the tests.
Enable strict mode in tsconfig.json. | Disable strict mode in tsconfig.json.
Commit generated files. | Don't commit generated files.
Squash commits before merging to main. | Don't squash commits before merging to main.
The API must be synchronous. | The API must be asynchronous.
Mock the database in unit tests. | Never mock the database in unit tests.
Allow anonymous access to `/health`. | Deny anonymous access to `/health`.
Include vendor/ in the build. | Exclude vendor/ from the build.
Handlers should log errors. | Handlers should not log errors.
The cache is turned on in tests. | The cache is turned off in tests.
Put the newest entry first in CHANGELOG.md. | Put the newest entry last in CHANGELOG.md.
Keep old migrations. | Delete old migrations.
The tokens are public. | The tokens are private.
Use local timestamps in logs. | Use remote timestamps in logs.
Accept unsigned commits. | Reject unsigned commits.
The `--force` flag is required. | The `--force` flag is optional.
Sort the imports ascending. | Sort the imports descending.
Add type hints to tests. | Remove type hints from tests.
We push to main directly. | We never push to main directly.
You may edit files in gen/. | You must not edit files in gen/.
Deploy with docker compose. | Deploy without docker compose.
Use strict null checks. | Avoid strict null checks.
Wait for CI before merging. | Don't wait for CI before merging.
Run `make fmt` with every commit. | Do not run `make fmt` with every commit.
Start the server before the e2e tests. | Stop the server before the e2e tests.
Increase the timeout in CI. | Decrease the timeout in CI.
Use absolute imports in src/. | Use relative imports in src/.
Open the connection lazily. | Open the connection eagerly.
Write tests in the same folder. | Write tests in a different folder.
Upgrade dependencies every week. | Downgrade dependencies every week.
Show warnings in CI. | Hide warnings in CI.
The schema is mutable. | The schema is immutable.
Install packages globally. | Install packages locally.
Merge with a linear history, with rebase. | Merge with a linear history, without rebase.
Use uppercase for SQL keywords. | Use lowercase for SQL keywords.
Lock the versions in package.json. | Unlock the versions in package.json.
Nutze immer pnpm für die Installation in diesem Projekt. | Nutze nie pnpm für die Installation in diesem Projekt.
Utilise pnpm pour installer les paquets du projet. | N'utilise pas pnpm pour installer les paquets du projet.
Usar pnpm para instalar los paquetes del proyecto. | No usar pnpm para instalar los paquetes del proyecto.
"""

OTHER_VALUE = """
The API listens on port 8080. | The API listens on port 9090.
Use npm for installs. | Use yarn for installs.
Use tabs in Makefiles. | Use spaces in Makefiles.
Indent with 2 spaces. | Indent with 4 spaces.
We support Python 3.11 and up. | We support Python 3.12 and up.
The tests use jest. | The tests use vitest.
Deploy to staging from main. | Deploy to production from main.
Format with black. | Format with yapf.
Branch from main. | Branch from develop.
Merge with squash. | Merge with rebase.
Build images with docker. | Build images with podman.
The default timeout is 30 seconds. | The default timeout is 60 seconds.
Lines are at most 100 characters long. | Lines are at most 120 characters long.
Tests run against postgres. | Tests run against sqlite.
Install with pip. | Install with uv.
Check types with mypy. | Check types with pyright.
Keep 5 backups. | Keep 10 backups.
Node 18 is what CI runs. | Node 20 is what CI runs.
Bundle with webpack. | Bundle with vite.
Retry 3 times at most. | Retry 5 times at most.
"""

SAME = """
Use uv for all installs here. | use uv for all installs here
Always use uv, never pip install. | Always use uv, never pip install, in this project.
Never push to main directly. | never push directly to main
Run `make lint` before every commit. | Always run `make lint` before every commit.
Please run the tests before every commit. | Run the tests before every commit.
Put new migrations under db/migrate. | New migrations: put under db/migrate.
You must never edit files in gen/. | Never edit files in gen/.
The dev server runs on port 4321. | the dev server runs on port 4321
Don't commit generated files. | Do not commit generated files.
Remember: the tests need docker. | The tests need docker.
"""

PARAPHRASES = """
Use uv for installs. | Install everything with uv.
Never push to main. | Open a pull request for every change to main.
Run the linter before a commit. | Lint what you commit first.
Tests live in tests/unit. | You find the unit tests under tests/unit.
Don't use default exports. | Prefer named exports in TypeScript.
The API listens on port 8080. | Requests go to port 8080 of the API.
Write small commits. | Keep each commit to one change.
Use slog for logging. | Log with slog everywhere.
The staging database is read-only. | Nobody may write to the staging database.
Ask before installing packages. | New dependencies need the user's consent.
Run `make proto` after editing proto files. | Proto files need `make proto` after an edit.
Use `rg` and not grep. | Search with `rg`.
We support Python 3.11 and up. | Nothing newer than Python 3.11 may be needed.
CI runs on Node 18. | Node 18 is the version of CI.
Keep functions short. | Split long functions.
"""

UNRELATED = """
Run the tests with `make test`. | Run the linter with `make lint`.
Use uv. | Use vitest.
Never use npm for installs. | Never use yarn for installs.
Tests live in tests/unit. | Docs live in docs/.
The API listens on port 8080. | The database listens on port 5432.
Don't edit gen/. | Don't edit vendor/.
Use slog in the server. | Use zap in the client.
Update README.md for new commands. | Update CHANGELOG.md for new flags.
Commit often. | Push rarely.
Never mock the database. | Always seed the database.
Format Go code with gofmt. | Format Python code with ruff.
Ask before deleting files. | Ask before running migrations.
The tests need docker. | The build needs node.
Use tabs in Makefiles. | Use spaces in YAML files.
Retry 3 times on timeouts. | Wait 3 seconds for the server.
"""


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one.strip(), other.strip()) for one, other in (line.split(" | ") for line in text.strip().split("\n"))]


def between(one: str, other: str) -> str:
    found = relation(gist(one), gist(other))
    assert found == relation(gist(other), gist(one))
    return found


@pytest.mark.parametrize(("one", "other"), pairs(OPPOSITE))
def test_the_opposite_is_a_conflict(one: str, other: str) -> None:
    assert between(one, other) in ("opposite", "other value")


@pytest.mark.parametrize(("one", "other"), pairs(OTHER_VALUE))
def test_another_value_for_the_same_thing_is_a_conflict(one: str, other: str) -> None:
    assert between(one, other) == "other value"


@pytest.mark.parametrize(("one", "other"), pairs(SAME))
def test_the_same_is_merged(one: str, other: str) -> None:
    assert between(one, other) == "same"


@pytest.mark.parametrize(("one", "other"), pairs(PARAPHRASES))
def test_a_paraphrase_may_stay_two_lessons_but_is_no_conflict(one: str, other: str) -> None:
    assert between(one, other) in ("same", "unrelated")


@pytest.mark.parametrize(("one", "other"), pairs(UNRELATED))
def test_other_things_are_left_alone(one: str, other: str) -> None:
    assert between(one, other) == "unrelated"
