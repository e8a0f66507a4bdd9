"""A `.loki` folder: episodes, patterns and skills of its memory, crash files, what its completion gate decided.

Every file is data of unknown worth: one that cannot be read is named in the account and keeps no other out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from hardwon.capture import crash, record
from hardwon.capture.attempts import relative
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.exchange.intake import ACTOR, Intake, Taken
from hardwon.failures.ledger import Findings
from hardwon.model.failure import FOREIGN, Fix, Step
from hardwon.model.lesson import Kind, Relation
from hardwon.store import attempts, failures, lessons, lifecycle
from hardwon.store.attempts import AttemptRow, FileRow
from hardwon.store.database import Database
from hardwon.store.failures import Place
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import derived
from hardwon.text.shown import one_line

_RUN = "import:loki"
_OUTCOMES = ("success", "failure", "partial")
_MAX_FILE_BYTES = 5_000_000
_MAX_PROSE_CHARACTERS = 4_000
_MAX_LESSON_CHARACTERS = 500
_DEFAULT_CONFIDENCE = 0.8
_DECISIONS = re.compile(r"evidence|completion|verif|gate", re.IGNORECASE)
"""In the names of the files that a gate writes its decisions to."""
_REFUSED = re.compile(r"(?i)^(?:block|blocked|reject|rejected|fail|failed|failure|false|no|incomplete)$")
_PASSED = re.compile(r"(?i)^(?:pass|passed|approve|approved|success|true|yes|complete|completed|done|verified)$")
_RELATIONS: dict[str, Relation] = {
    "contradicts": "contradicts",
    "supersedes": "supersedes",
    "derived_from": "derived_from",
    "supports": "supports",
}
"""All others say no more than that two belong together."""

Record = dict[str, Any]


def take(db: Database, path: Path, *, project: str | None = None, trusted: bool = False) -> Taken:
    """Inside a transaction; `project` is an id. What it says waits for review, unless somebody vouches for it."""
    folder = _folder(path)
    work = _LokiImport(Intake(db, "loki", folder.stat().st_mtime_ns // 1000), project, trusted)
    memory = folder / "memory"
    for file in sorted((memory / "episodic").glob("*/*.json")):
        work.each(file, work.episode)
    for name in ("patterns", "anti-patterns", "anti_patterns"):
        file = memory / "semantic" / f"{name}.json"
        if file.is_file():
            kind = "pattern" if name == "patterns" else "pitfall"
            work.each(file, work.pattern, "patterns", "anti_patterns", kind=kind)
    for file in sorted((memory / "skills").glob("*.json")):
        work.each(file, work.skill)
    for file in sorted((folder / "crash").glob("*.json")):
        work.crash(file)
    for file in sorted(folder.rglob("*.json")):
        inside = file.relative_to(folder).parts[0]
        if inside not in ("memory", "crash") and _DECISIONS.search(file.name):
            work.each(file, work.decision)
    work.links()
    return work.intake.report()


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise NotFound(f"no such folder: {path}")
    for folder in (path / ".loki", path):
        if (folder / "memory").is_dir() or (folder / "crash").is_dir():
            return folder
    if path.name == "memory" and (path / "episodic").is_dir():
        return path.parent
    raise HardwonError(f"{path} is no .loki folder: it has neither memory/ nor crash/")


class _LokiImport:
    """A method for each sort of file."""

    def __init__(self, intake: Intake, project: str | None, trusted: bool) -> None:
        self.intake = intake
        self._project = project
        self._trusted = trusted
        self._attempts: dict[str, str] = {}
        self._lessons: dict[str, str] = {}
        self._links: list[tuple[str, Relation, str]] = []

    def each(self, file: Path, step: Any, *lists: str, **more: Any) -> None:
        """Hand over the objects of a file, those of a list in it one by one; what is damaged is left out and named."""
        for item in self._objects(file, lists):
            try:
                step(item, file, **more)
            except (NotAllowed, ValueError, TypeError, AttributeError) as error:
                self._leave_out(file, one_line(str(error)))

    def _objects(self, file: Path, lists: tuple[str, ...]) -> Iterator[Record]:
        if file.is_symlink() or file.stat().st_size > _MAX_FILE_BYTES:
            self._leave_out(file, "a link, or larger than a file of loki's memory can be")
            return
        try:
            content = msgspec.json.decode(file.read_bytes())
        except (msgspec.DecodeError, RecursionError, OSError) as error:
            self._leave_out(file, f"cannot be read: {error}")
            return
        if lists and isinstance(content, dict):
            content = next((content[name] for name in lists if name in content), content)
        for item in content if isinstance(content, list) else [content]:
            if isinstance(item, dict):
                yield item
            else:
                self._leave_out(file, "an entry that is no object")

    def _leave_out(self, file: Path, why: str) -> None:
        self.intake.leave_out(f"{self.intake.text(file.name)}: {self.intake.text(why)}")

    def episode(self, given: Record, file: Path) -> None:
        intake, context = self.intake, _object(given.get("context"))
        name = intake.text(given.get("id")) or file.stem
        id = derived("A", "loki", str(given.get("id")), str(given.get("timestamp")))
        self._attempts[name] = id
        goal = intake.text(context.get("goal") or given.get("goal")).strip()
        if not goal:
            self._leave_out(file, "an episode without a goal")
            return
        if intake.known_attempt(id, self._project, trusted=self._trusted):
            return
        errors = [_object(one) for one in _list(given.get("errors_encountered"))]
        said = [f"{one.get('type') or one.get('error_type') or 'error'}: {one.get('message') or ''}" for one in errors]
        outcome = str(given.get("outcome"))
        row = AttemptRow(
            id=id,
            source="import",
            session=intake.text(given.get("task_id")),
            root=_RUN,
            project=self._project,
            agent=intake.text(given.get("agent")),
            task=goal,
            approach=intake.text("; ".join(map(_action, _list(given.get("action_log")))))[:_MAX_PROSE_CHARACTERS],
            phase=intake.text(context.get("phase") or given.get("phase")),
            outcome=outcome if outcome in _OUTCOMES else "unknown",
            evidence=f"episode {name} of loki",
            exit_code=None,
            diff="",
            test_results="",
            failure_analysis=intake.text("; ".join(said))[:_MAX_PROSE_CHARACTERS],
            reflection=intake.text("; ".join(_resolutions(errors)))[:_MAX_PROSE_CHARACTERS],
            retry_count=0,
            retry_of="",
            git_commit=intake.text(given.get("git_commit")),
            tokens=_whole(given.get("tokens_used")),
            started_at=intake.time(given.get("timestamp")),
            duration=(_whole(given.get("duration_seconds")) or 0) * 1_000_000 or None,
            files=tuple(self._files(given)),
        )
        intake.attempt(row, trusted=self._trusted)
        for at, (error, text) in enumerate(zip(errors, said, strict=True)):
            self._error(row, at, intake.text(text), intake.text(error.get("resolution")).strip())

    def _files(self, given: Record) -> Iterator[FileRow]:
        for key, role in (("files_modified", "modified"), ("artifacts_produced", "created"), ("files_read", "read")):
            for path in _list(given.get(key)):
                yield FileRow(relative(self.intake.text(path)), role)

    def _error(self, row: AttemptRow, at: int, text: str, resolution: str) -> None:
        """An error of an episode as an occurrence of a failure, and what resolved it as a fix that waits."""
        found = record.recognised([text])
        if found is None:
            return
        met = msgspec.structs.replace(record.occurrence(row, found), call_index=at, exit_code=None)
        fix = Fix(
            occurrence=met,
            steps=(Step("did", one_line(resolution)),),
            succeeded_as="",
            succeeded_at=at + 1,
            untrusted="" if self._trusted else FOREIGN,
        )
        place = Place(row.id, row.session or row.id, row.project, row.agent, row.started_at, row.phase)
        known = failures.save(self.intake.db, place, Findings([met], [fix] if resolution else [], []), {})
        failures.refresh(self.intake.db, known)

    def pattern(self, given: Record, file: Path, kind: Kind) -> None:
        text = self.intake.text
        said = text(given.get("pattern") or given.get("what_fails")).strip()
        right = text(given.get("correct_approach") or given.get("prevention"))
        wrong, why = text(given.get("incorrect_approach")), text(given.get("why"))
        parts = (said, f"because {why}" if why else "", f"do {right}" if right else "", f"not {wrong}" if wrong else "")
        if wrong and not right:
            kind = "pitfall"
        tags = [text(given.get("category")), *map(text, _list(given.get("conditions")))]
        cited = [self._attempts.get(str(one), f"{_RUN}:{text(one)}") for one in _list(given.get("source_episodes"))]
        id = self._lesson(given, file, kind, "; ".join(filter(None, parts)) if said else "", tags, cited)
        for link in map(_object, _list(given.get("links"))):
            other = str(link.get("to") or link.get("to_id"))
            self._links.append((id, _RELATIONS.get(str(link.get("relation")), "related"), other))

    def skill(self, given: Record, file: Path) -> None:
        text = self.intake.text
        name, steps = text(given.get("name")).strip(), [text(step) for step in _list(given.get("steps"))]
        said = f"{name}: {', then '.join(steps)}" if name and steps else ""
        self._lesson(given, file, "pattern", said, ["skill", *map(text, _list(given.get("prerequisites")))], [])
        for at, one in enumerate(map(_object, _list(given.get("common_errors")))):
            pitfall = f"{text(one.get('error'))}: {text(one.get('fix'))}" if one.get("error") and one.get("fix") else ""
            self._lesson({**given, "id": f"{given.get('id')}/{at}"}, file, "pitfall", pitfall, ["skill"], [])

    def _lesson(self, given: Record, file: Path, kind: Kind, said: str, tags: list[str], cited: list[str]) -> str:
        intake = self.intake
        name, text = intake.text(given.get("id")) or file.stem, one_line(said)[:_MAX_LESSON_CHARACTERS]
        if not text:
            self._leave_out(file, f"{name} says nothing")
            return ""
        sure = given.get("confidence")
        confidence = float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else _DEFAULT_CONFIDENCE
        at = intake.time_or_none(given.get("created_at")) or intake.time(given.get("last_used"))
        row = LessonRow(
            id=derived("L", "loki", str(given.get("id")), text),
            kind=kind,
            text=text,
            scope="project" if self._project else "global",
            project=self._project,
            agent="",
            base_confidence=confidence,
            confidence=confidence,
            status="active" if self._trusted else "candidate",
            trust="human" if self._trusted else "claimed",
            rule="",
            failure="",
            first_seen=at,
            last_confirmed=intake.time_or_none(given.get("last_used")) or at,
            source_count=max(1, len(cited)),
            harvester_version=0,
            tags=msgspec.json.encode([tag for tag in tags if tag]).decode(),
            reference_count=_whole(given.get("usage_count")) or 0,
        )
        known = lessons.get(intake.db, row.id)
        if known and self._project and known.scope == "global":  # of an import that named no project
            owned = {"scope": "project", "project": self._project}
            lifecycle.edit(intake.db, row.id, owned, actor=ACTOR, why="imported again with its project")
        sources = dict.fromkeys([f"{_RUN}:{name}", *cited])
        places = [Cited("", source, 0, source, at, text, "import") for source in sources]
        self._lessons[str(given.get("id"))] = id = intake.lesson(row, places, f"{name} of loki's memory")
        return id

    def crash(self, file: Path) -> None:
        db = self.intake.db
        try:
            found = crash.read_file(file)
        except (NotAllowed, OSError) as error:
            self._leave_out(file, str(error))
            return
        before = attempts.count(db)
        number = record.crash(
            db, found, at=found.captured_at, evidence="crash-file", run=_RUN, project=self._project or ""
        )
        new = attempts.count(db) > before
        self.intake.count("crashes", new=new)
        if not new and (row := attempts.get(db, number)):
            self.intake.give_project(row, self._project)

    def decision(self, given: Record, file: Path) -> None:
        """What the completion gate said: an attempt at being done, and what speaks against it."""
        intake = self.intake
        reasons = [intake.text(one) for one in _list(given.get("reasons") or given.get("reason"))]
        said = [str(given[name]) for name in ("status", "verdict", "decision", "approved", "passed") if name in given]
        blocked = given.get("blocked") is True or bool(reasons) or any(map(_REFUSED.match, said))
        passed = not blocked and (given.get("blocked") is False or any(map(_PASSED.match, said)))
        if not (blocked or passed):
            return
        at = intake.time(next((given[name] for name in ("timestamp", "checked_at", "at") if name in given), None))
        id = derived("A", "loki", "gate", file.name, str(at))
        if intake.known_attempt(id, self._project, trusted=self._trusted):
            return
        row = AttemptRow(
            id=id, source="import", session="", root=_RUN, project=self._project, agent="",
            task=intake.text(given.get("goal") or given.get("task")) or "be done, as the completion gate sees it",
            approach="", phase="VERIFY", outcome="failure" if blocked else "success",
            evidence=f"loki's gate in {intake.text(file.name)}", exit_code=None, diff="", test_results="",
            failure_analysis=", ".join(reasons)[:_MAX_PROSE_CHARACTERS], reflection="", retry_count=0, retry_of="",
            git_commit="", tokens=None, started_at=at, duration=None,
        )  # fmt: skip
        intake.attempt(row, trusted=self._trusted)

    def links(self) -> None:
        db = self.intake.db
        for id, relation, name in dict.fromkeys(self._links):
            other = self._lessons.get(name, "")
            there = "SELECT 1 FROM lesson_link WHERE lesson = ? AND relation = ? AND other = ?"
            if id and other and id != other and not db.query(there, (id, relation, other)):
                lifecycle.link(db, id, relation, other, actor=ACTOR)


def _object(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) and value else []


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else None


def _action(given: object) -> str:
    one = _object(given)
    words = (one.get("action") or one.get("tool"), one.get("target") or one.get("input"))
    return " ".join(str(word) for word in words if word)


def _resolutions(errors: list[Record]) -> list[str]:
    return [str(one["resolution"]) for one in errors if one.get("resolution")]
