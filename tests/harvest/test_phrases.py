"""How people really say what they want kept, and what only sounds like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ClaudeSession
from tests.harvest.test_user_rule import kept

AT_ONCE = """
Always run `make fmt` before you commit.
never commit directly to main, open a pull request
Please always use pnpm in this repo.
From now on, put new migrations under db/migrate.
In future use `rg`, not grep.
Going forward, all new components go in src/components.
next time run `npm run lint` before you say you are done
Do not ever edit the generated files in gen/.
do not use npm here again
Make sure you never log secrets.
You must never touch the production database.
We should always use parameterised SQL.
Don't commit without asking me.
Never push unless I tell you to.
do not create new files unless explicitly asked
Don't run migrations until I say so.
always ask me first before deleting files
Before committing, run `make lint`.
Before you push, always run the tests.
After changing schema.prisma, run `npx prisma generate`.
When you add a provider, also update README.md.
If you change Go code, run gofmt.
Run `cargo fmt` before every commit.
Run the tests after every change.
Every new endpoint needs an integration test.
Any new dependency must be added to requirements.in.
Remember that the staging API is behind a VPN.
keep in mind that CI runs on Node 18
Don't forget: the e2e tests need docker running.
don't forget to update CHANGELOG.md when you change anything user-visible
I really don't like default exports.
I hate magic numbers in tests.
This project uses poetry, never pip.
We never commit generated code.
call the `Clock` class as we do in all other jobs
Use the same logger setup as we do in all other services, `log.New()`.
The integration tests are in tests/integration.
Our shared types live in packages/types/src.
The design docs are under docs/design/.
The auth library is at ../auth-lib.
All SQL migrations go in `db/migrations`.
This is a monorepo.
this repo is open source
I asked you to never touch package-lock.json
We decided to keep SQLite for tests.
We agreed on REST instead of GraphQL.
we've settled on zod for validation
This is a Laravel project.
I'm on Fedora.
The sample invoices are available in the folder fixtures.
Do not push to master, please.
When the nightly import breaks, always look at `import.log` first.
Let's always pin versions in requirements.in.
If you need a new tool, ask me first.
We have two databases that are synced every night.
"""

LATER = """
Don't add comments that restate the code.
don't use emojis in commit messages
Do not add new dependencies.
Don't mock the database in tests.
Avoid global variables.
Don't edit the generated files.
don't touch anything in vendor/
Don't write markdown files for every change.
Stop adding comments everywhere.
Do not hardcode ports, read them from config.ts.
no need to run the full build, `tsc --noEmit` is enough
no, use `uv run pytest`, not plain pytest
No, don't run the whole suite - use `make test-fast`.
use the `logger` module instead of print
Use `make dev` rather than running uvicorn directly.
Put helpers in lib/ not in utils/
The config should be in config/, not in src/.
Public functions in api/ must not raise.
Handlers must never call the database directly.
`core/` must not import from `ui/`.
The CLI has to work offline.
The API needs to stay compatible with v1 clients.
Invoices should use the SKU, not the title.
we don't want floating versions in requirements.txt
Let's stick with argparse instead of click.
we only want Postgres and SQLite
Tables should be called by their plural in schema.sql.
we should be using the retry helper for all calls to S3
When adding a table, we want to use the AuditColumns mixin.
Let's skip the whole legacy folder, since nobody runs `jobs.sh` any more.
Commit after you finish each ticket so that I can review them.
please dont commit the .psd files
We have to keep Node 18 because the runners cannot be upgraded.
You are supposed to use the review agent before every pull request.
"""

NOTHING = """
never mind
I never got this to work with docker
it always fails on CI
the tests always take 10 minutes
Why does eslint never finish?
should we always use uv here?
Do you always need to run `make`?
Always restart the docker daemon for now.
When I run `npm test`, it fails with a type error.
When I click the button, update the label.
After adding the flag, update the docs.
When you're done, run the tests.
Once finished, commit it.
Before we start, read README.md.
If the test fails, fix it.
Run the tests after the change.
The error is in src/main.ts.
The bug is at line 20.
The output is in /tmp/out.txt
The log is in logs/debug.log.
The fix is in pkg/a/b.go
Fix the login page and add a test.
Remember the bug from yesterday?
Remember to commit.
do you remember that file?
I prefer that one.
I prefer option B.
We don't use it.
we use it in three places
we never call this function, remove it
I don't like this.
I hate this error.
The tests are failing in tests/unit.
The import is wrong in src/app.ts
Our users are on vacation.
This is a bug.
this is still broken
To run this I had to install node.
To test this, click on the button.
To fix it, use a lock.
I told you it was broken.
I asked you a question about main.py.
Use a set here.
Add a flag --verbose.
Rename foo to bar.
Ask me anything.
ask me when you are ready
Don't worry about the tests.
Make sure it works.
Everything works, thanks!
We decided.
Let's use 7 columns instead of 5.
We're moving on.
We are not there yet.
The app needs a login page.
The server needs to be fixed.
I did that myself.
Ask me if you need the key.
we deployed to staging yesterday
Write a summary in the README.
keep it short
"""

NOT_EVEN_LATER = """
don't do that
Don't change `load_page_twice`.
don't call refresh(), just reload()
don't change it
Stop.
stop it
stop changing the test
No remark about that is needed.
no need to apologise
do not commit this
use it instead
Use that function instead of this one.
Avoid that.
it should not do that
The result must not be sorted.
that should be in the other file, not here
Undo the last change.
no, that is wrong
try again
run it again
don't run it again
Write a test for empty folders.
Let's sort the keys of report.json
Let's drop those two.
Now use the helper in main.go instead.
`parse_row` should take a limit.
We want the button on every screen to be blue.
You should also be able to pass a list without --flag.
we need a section on setup in README.md
Use the provided template when rendering index.html.
ReferenceError: Can't find variable: loadAll
Let's use Parser for (2).
Do not touch other files like notes.txt.
we don't want to rename the variable
don't change layout.html itself
Do not touch other pages like home, contact, imprint.
ok - I like it, but we need to add two fields as well
don't we NOT want go.sum at all
Verify old rows are listed but not counted in report.csv.
we have three errors left to fix here
this is the current folder
it will always be slow
don't change anything else in config/
Only way out is to wipe `cache.db` and start over.
"""


def lines(text: str) -> list[str]:
    return text.strip().split("\n")


def learned(text: str, folder: Path) -> list[str]:
    return [draft.text for draft in kept(ClaudeSession().user(text).says("I see."), folder)]


def learned_later(text: str, folder: Path) -> list[str]:
    return [
        draft.text for draft in kept(ClaudeSession().user("hello there").says("Hi.").user(text).says("Yes."), folder)
    ]


@pytest.mark.parametrize("text", lines(AT_ONCE))
def test_what_is_laid_down_is_kept_wherever_it_is_said(text: str, tmp_path: Path) -> None:
    assert len(learned(text, tmp_path)) == len(learned_later(text, tmp_path)) == 1


@pytest.mark.parametrize("text", lines(LATER))
def test_a_reaction_is_kept_and_the_same_in_a_request_is_part_of_it(text: str, tmp_path: Path) -> None:
    assert len(learned_later(text, tmp_path)) == 1


@pytest.mark.parametrize("text", lines(NOTHING))
def test_what_is_about_the_moment_or_tells_what_is_teaches_nothing(text: str, tmp_path: Path) -> None:
    assert learned(text, tmp_path) == []
    assert learned_later(text, tmp_path) == []


@pytest.mark.parametrize("text", lines(NOT_EVEN_LATER))
def test_neither_does_a_reaction_to_what_is_at_hand(text: str, tmp_path: Path) -> None:
    assert learned_later(text, tmp_path) == []


def test_an_order_to_answer_in_the_users_language_is_kept(tmp_path: Path) -> None:
    assert learned("请用中文回答", tmp_path) == ["请用中文回答."]
