"""What the tools do, whoever asks and by whichever transport: plain text, everything stored fenced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus

from hardwon.api import Hardwon
from hardwon.api.journal import Journal
from hardwon.api.lessons import Lessons
from hardwon.errors import HardwonError, NotFound
from hardwon.model.attempt import Attempt, Outcome
from hardwon.model.lesson import Kind
from hardwon.serve import browse
from hardwon.serve.caller import Caller
from hardwon.serve.pool import Pool
from hardwon.serve.problems import Refused
from hardwon.store import meta
from hardwon.text.fence import one_line, render

NOTHING = "Nothing is known about that."
FOUND = "WHAT IS KNOWN:"
_LONGEST_OUTPUT = 100_000
_LONGEST_LINE = 600


def fenced(memory: Hardwon, heading: str, lines: Iterable[str]) -> str:
    """A block that says it is data, with a mark that its content cannot know; empty without lines."""
    if not memory.exists:
        return ""
    flat = [line for line in map(one_line, lines) if line]
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…" for line in flat]
    return render({heading: shown}, meta.fence_key(memory.reading()))


class Tools:
    """Serves one caller; `here` is the folder that an agent on this machine works in."""

    def __init__(self, pool: Pool, caller: Caller, here: str = "") -> None:
        self._pool = pool
        self._caller = caller
        self._here = here

    def recall(self, query: str, project: str, limit: int) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            holder = self._project(memory, project)
            found = memory.search(query, project=holder, limit=max(1, min(limit, 20)))
            lines = [f"[{hit.id}] {hit.type} {hit.status}, {hit.at:%Y-%m-%d}: {hit.text}" for hit in found.hits]
            return fenced(memory, FOUND, lines) or NOTHING

    def bootstrap(self, project: str, agent: str, task: str, budget: int | None, session: str = "") -> str:
        """With the agent's own id of its session, what is shown goes on record."""
        self._caller.need("read")
        recorded = session if "write" in self._caller.scopes else ""
        with self._pool.writing() if recorded else self._pool.reading() as memory:
            holder = self._project(memory, project)
            if holder is None:
                raise Refused(HTTPStatus.BAD_REQUEST, "missing project: give its name, git remote or id")
            limited = self._caller.limited
            told = memory.bootstrap(holder, agent=agent, task=task, budget=budget, session=recorded, only_here=limited)
        return told.text or "Nothing that is known is worth telling a session of this project yet."

    def known_failure(self, output: str, command: str, project: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            holder = self._project(memory, project)
            text = output[-_LONGEST_OUTPUT:]
            only = self._caller.limited
            found = memory.failures.recall(text, command=command, project=holder, only_here=only)
            if not found.known:
                return "This failure has not been seen before."
            return fenced(memory, FOUND, [f"[{found.fingerprint}] {found.text}: {found.said}"])

    def remember(self, text: str, kind: Kind, project: str, session: str) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            holder = self._project(memory, project) or ""
            id = Lessons(memory, self._caller.actor).propose(text, kind=kind, project=holder, session=session)
        return f"Kept as candidate {id}. It is handed to nobody until a person, or a second session, agrees."

    def feedback(self, id: str, helped: bool, why: str) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            self._check(memory, id)
            Lessons(memory, self._caller.actor).feedback(id, helped=helped, why=why)
        return f"Noted that {id} {'helped' if helped else 'was wrong'}."

    def log_attempt(
        self,
        task: str,
        approach: str,
        outcome: Outcome,
        files: Sequence[str],
        test_results: str,
        analysis: str,
        project: str,
        retry_of: int | None,
    ) -> str:
        self._caller.need("write")
        with self._pool.writing() as memory:
            if retry_of is not None:
                self._attempt(memory, retry_of)
            entry = Attempt(
                task_description=task,
                approach=approach,
                outcome=outcome,
                files_modified=list(files),
                test_results=test_results,
                failure_analysis=analysis,
                project=self._project(memory, project) or self._here,
                retry_of=retry_of,
            )
            return f"Logged as attempt {Journal(memory, self._caller.actor).log(entry)}."

    def sources(self, id: str) -> str:
        self._caller.need("read")
        with self._pool.reading() as memory:
            self._check(memory, id)
            page = memory.lessons.get(id)
            heading = f"LESSON {id} ({page.lesson.trust}, {page.lesson.status}) AND WHERE IT COMES FROM:"
            said = [f"{one.origin}, {one.agent or one.source}, {one.at:%Y-%m-%d}: {one.quote}" for one in page.sources]
            return fenced(memory, heading, [page.lesson.text, *said])

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
            }
            lines = [f"{name}: {value}" for name, value in parts.items() if value]
            return fenced(memory, f"ATTEMPT {number}:", lines)

    def _attempt(self, memory: Hardwon, number: int) -> Attempt:
        found = memory.journal.get(number)
        if not self._caller.sees(found.project):
            raise NotFound(f"no attempt {number}")
        return found

    def _check(self, memory: Hardwon, id: str) -> None:
        """That it is a lesson or failure which this caller may see."""
        if id.startswith("F"):
            seen = [browse.knows_failure(memory, id, project) for project in self._caller.projects or (None,)]
            if not any(seen):
                raise NotFound(f"no failure {id}")
            return
        owner = memory.lessons.get(id).lesson.project
        if owner:
            self._caller.need_project(owner, "lesson")

    def _project(self, memory: Hardwon, name: str) -> str | None:
        """The project that is named; else the folder's, if it is known."""
        if name or not self._here:
            return self._caller.project(memory, name)
        try:
            return memory.project(self._here)
        except HardwonError:
            return None
