"""What the MCP tools do, whoever asks and by whichever transport: plain text, everything stored fenced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus

from msgspec.structs import replace

from hardwon.api import Hardwon
from hardwon.api.journal import Journal
from hardwon.api.lessons import Lessons
from hardwon.errors import HardwonError, NotFound
from hardwon.model.attempt import Attempt
from hardwon.model.lesson import Kind
from hardwon.serve import browse
from hardwon.serve.permissions import Caller
from hardwon.serve.pool import Pool
from hardwon.serve.problems import Refused
from hardwon.store import meta
from hardwon.text.fence import one_line, render

NOTHING = "Nothing is known about that."
NOTHING_YET = "Nothing is known of the project of this folder yet."
FOUND = "WHAT IS KNOWN:"
UNCONFIRMED = "UNCONFIRMED: nobody vouches for these, they wait for review:"
TRIED = "WHAT WAS TRIED:"
CANDIDATES = "WHERE EARLIER SESSIONS WENT FOR SUCH TASKS (candidates to verify):"
_PLACES_TOLD = 5
_MAX_OUTPUT_CHARACTERS = 100_000
_MAX_LINE_CHARACTERS = 600
_MISSING = "missing project: give its name, git remote or id"


def fenced(memory: Hardwon, sections: Mapping[str, Iterable[str]]) -> str:
    """A block that says it is data, with a mark that its content cannot know; empty without lines."""
    if not memory.exists:
        return ""
    shown = {heading: [_cut(line) for line in map(one_line, lines) if line] for heading, lines in sections.items()}
    return render(shown, meta.fence_key(memory.reading()))


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_LINE_CHARACTERS else f"{line[: _MAX_LINE_CHARACTERS - 1]}…"


class Tools:
    """Serves one caller; `here` is the folder that an agent on this machine works in."""

    def __init__(self, pool: Pool, caller: Caller, here: str = "") -> None:
        self._pool = pool
        self._caller = caller
        self._here = here

    def recall(self, query: str, project: str, limit: int) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            if self._is_new_here(memory, project):
                return NOTHING_YET
            holder = self._project(memory, project)
            hits = memory.search(query, project=holder, limit=max(1, min(limit, 20))).hits
            worked = browse.what_worked(memory, hits, holder, only_here=self._caller.limited)
            doubted = browse.unconfirmed(memory, hits)
            lines = [(hit.id, f"[{hit.id}] {hit.type} {hit.status}, {hit.at:%Y-%m-%d}: {hit.text}") for hit in hits]
            told = {
                FOUND: [line + worked.get(id, "") for id, line in lines if id not in doubted],
                UNCONFIRMED: [f"unconfirmed: {line} ({doubted[id]})" for id, line in lines if id in doubted],
            }
            return fenced(memory, told) or NOTHING

    def bootstrap(self, project: str, agent: str, task: str, budget: int | None, session: str = "") -> str:
        """With the agent's own id of its session, what is shown goes on record."""
        self._caller.need("read")
        recorded = session if "write" in self._caller.scopes else ""
        with self._pool.writing() if recorded else self._pool.reading() as memory:
            if self._is_new_here(memory, project):
                return NOTHING_YET
            holder = self._project(memory, project)
            if holder is None:
                raise Refused(HTTPStatus.BAD_REQUEST, _MISSING)
            limited = self._caller.limited
            told = memory.bootstrap(holder, agent=agent, task=task, budget=budget, session=recorded, only_here=limited)
        return told.text or "Nothing that is known is worth telling a session of this project yet."

    def orient(self, task: str, project: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            if self._is_new_here(memory, project):
                return NOTHING_YET
            holder = self._project(memory, project)
            if holder is None:
                raise Refused(HTTPStatus.BAD_REQUEST, _MISSING)
            found = memory.map(holder, task=task, limit=_PLACES_TOLD)
            lines = [f"{one.path}: {one.why}" for one in found.files]
            lines += [f"{one.command}: {one.why}" for one in found.commands]
            return fenced(memory, {CANDIDATES: lines}) or NOTHING

    def known_failure(self, output: str, command: str, project: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            holder = self._project(memory, project)
            text = output[-_MAX_OUTPUT_CHARACTERS:]
            only = self._caller.limited
            found = memory.failures.recall(text, command=command, project=holder, only_here=only)
            if not found.known:
                return "This failure has not been seen before."
            return fenced(memory, {FOUND: [f"[{found.fingerprint}] {found.text}: {found.said}"]})

    def similar_attempts(self, task: str, project: str, limit: int) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            if self._is_new_here(memory, project):
                return NOTHING_YET
            holder = self._project(memory, project)
            found = [one.attempt for one in memory.journal.similar(task, project=holder, limit=limit)]
            lines = browse.attempts_told(memory, [one.key for one in found])
            numbers = {one.key: one.id for one in found}
            return (
                fenced(memory, {TRIED: [f"[{key}] attempt {numbers[key]}: {line}" for key, line in lines]}) or NOTHING
            )

    def verify_done(self, run: str, project: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            new = self._is_new_here(memory, project)
            found = memory.journal.verify(run, project=None if new else self._project(memory, project))
            return fenced(memory, {f"DONE: {found.verdict.upper()}": found.reasons}) or found.verdict

    def remember(self, text: str, kind: Kind, project: str, session: str) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            holder = self._home(memory, project)
            id = Lessons(memory, self._caller.actor).propose(text, kind=kind, project=holder, session=session)
        return f"Kept as candidate {id}. It is handed to nobody until a person, or a second session, agrees."

    def feedback(self, id: str, helped: bool, why: str) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            self._check(memory, id)
            Lessons(memory, self._caller.actor).feedback(id, helped=helped, why=why)
        return f"Noted that {id} {'helped' if helped else 'was wrong'}."

    def log_attempt(self, entry: Attempt) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            if entry.retry_of is not None:
                self._attempt(memory, entry.retry_of)
            kept = replace(entry, project=self._home(memory, entry.project))
            return f"Logged as attempt {Journal(memory, self._caller.actor).log(kept)}."

    def reflect_on_attempt(self, number: int, reflection: str) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            self._attempt(memory, number)
            Journal(memory, self._caller.actor).reflect(number, reflection)
        return f"Written down with attempt {number}, and proposed as a lesson."

    def sources(self, id: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            self._check(memory, id)
            page = memory.lessons.get(id)
            heading = f"LESSON {id} ({page.lesson.trust}, {page.lesson.status}) AND WHERE IT COMES FROM:"
            said = [f"{one.origin}, {one.agent or one.source}, {one.at:%Y-%m-%d}: {one.quote}" for one in page.sources]
            return fenced(memory, {heading: [page.lesson.text, *said]})

    def reflection(self, number: int) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            attempt = self._attempt(memory, number)
            parts = {
                "task": attempt.task_description,
                "approach": attempt.approach,
                "outcome": attempt.outcome.value,
                "files": ", ".join(attempt.files_modified),
                "test results": attempt.test_results[-400:],
                "analysis": attempt.failure_analysis,
                "reflection": attempt.reflection,
            }
            lines = [f"{name}: {value}" for name, value in parts.items() if value]
            return fenced(memory, {f"ATTEMPT {number}:": lines})

    def _attempt(self, memory: Hardwon, number: int) -> Attempt:
        found = memory.journal.get(number)
        if not self._caller.sees(found.project):
            raise NotFound(f"no attempt {number}")
        return found

    def _check(self, memory: Hardwon, id: str) -> None:
        """That it is something in the store which this caller may see."""
        if id.startswith("F"):
            seen = [browse.knows_failure(memory, id, project) for project in self._caller.projects or (None,)]
            if not any(seen):
                raise NotFound(f"no failure {id}")
            return
        owner = browse.owner_of(memory, id)
        if owner is None:
            raise NotFound(f"nothing is called {id}: take the id that a line begins with")
        if owner:
            self._caller.need_project(owner, "item")

    def _is_new_here(self, memory: Hardwon, name: str) -> bool:
        """Whether the folder's own project is meant, and nothing was ever written to it."""
        if name or not self._here:
            return False
        try:
            return memory.project(self._here) is None
        except HardwonError:
            return True

    def _project(self, memory: Hardwon, name: str) -> str | None:
        """The project that is named; else the folder's."""
        return memory.project(self._here) if self._here and not name else self._caller.project(memory, name)

    def _home(self, memory: Hardwon, name: str) -> str:
        """Where something new is kept: a project always; that of the folder is made when it is needed."""
        found = memory.project_to_keep(self._here) if self._here and not name else self._caller.home(memory, name)
        if not found:
            raise Refused(HTTPStatus.BAD_REQUEST, _MISSING)
        return found
