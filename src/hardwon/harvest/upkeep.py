"""Bring a project's lessons in order: one of those that say the same, conflicts named, old measurements retired; each
tied to the file that it speaks of.

Two lessons say the same when they have the same words in the same order, but for words that only say how strongly it is
meant. They contradict each other when one of them negates the other, when what one wants is what the other does not, or
when they differ in one number alone. Everything else is two lessons: over-merging is the worse mistake. Only what is
new or has changed is compared, and only with lessons of the same words, so that the work grows with what is new.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

from hardwon.clock import now
from hardwon.model.lesson import TRUSTS, StoredLesson
from hardwon.store import integrity, lessons, lifecycle, meta
from hardwon.store.database import Database, marks
from hardwon.store.integrity import Happened
from hardwon.store.lessons import Anchor
from hardwon.text.normalise import blake2b, digest, lazy_pattern, named_in
from hardwon.text.words import stem, terms

COMPARISON_VERSION = 5
"""Rises with every change of what is the same or a conflict: then all lessons are compared again."""
_MEASURED_FACT = "verified-by-command"
_MEASURED_VALUE = lazy_pattern(r"(?<= version )\S+|(?<= on port )\S+|(?<=alias of )`[^`]+`|(?<=machine runs ).+")
_LESSONS_PER_KEY = 50
_LESSONS_PER_QUERY = 500
_CORROBORATED = 0.66
"""Two sessions make it 0.74: suggested by one, implied by several."""

_WORD = lazy_pattern(r"[^\s,;:!?()\"“”`]+")
_NOT = lazy_pattern(r"(?<=\w)n['’]t\b|(?<=\bcan)not\b|\b(?:instead of|rather than)\b", re.IGNORECASE)
_EVERYWHERE = lazy_pattern(r"\b(?:in|for) (?:this|our) (?:project|repo|repository|codebase)\b", re.IGNORECASE)
_IN_KIND = lazy_pattern(r"\A(The user writes ([^;]+)); answer in \2\.\Z")
"""In one session the agent answered in the user's language, in another it did not: the user's is the same."""
_NEGATIONS = frozenset("not never no avoid without stop".split())
_EMPHASIS = frozenset(
    "a an the please always must should shall you we our your i do does ever also just here and but".split()
)
"""Words that say how strongly something is meant, or of what all are that are there."""
_NUMBER = lazy_pattern(r"v?\d+(?:[._]\d+)*\w{0,2}%?")

Relation = Literal["same", "opposite", "other value", "unrelated"]


class Claim(NamedTuple):
    """A sentence as it is compared."""

    words: tuple[str, ...]
    negated_at: tuple[int, ...]
    """Before which of the words a negation stands."""

    @property
    def key(self) -> list[str]:
        """What two sentences have in common that are not unrelated: their words, whatever the numbers."""
        return sorted({"…" if _NUMBER.fullmatch(word) else word for word in self.words})


@lru_cache(maxsize=1 << 12)
def claim(text: str) -> Claim:
    words: list[str] = []
    negated_at: list[int] = []
    for word in _words(_EVERYWHERE.sub(" ", _NOT.sub(" not ", _IN_KIND.sub(r"\1.", text)))):
        if word in _NEGATIONS:
            negated_at.append(len(words))
        elif word not in _EMPHASIS:
            words.append(stem(word))
    return Claim(tuple(words), tuple(negated_at))


def _words(text: str) -> Iterable[str]:
    return filter(None, (word.strip(".'’…").casefold() for word in _WORD.findall(text)))


def relation(one: str, other: str) -> Relation:
    """What two lessons are to each other, by their words alone."""
    a, b = claim(one), claim(other)
    if not a.words or not b.words:
        return "unrelated"
    if a == b:
        return "same"
    if a.words == b.words:
        return "opposite" if {len(a.negated_at), len(b.negated_at)} == {0, 1} else "unrelated"
    if _changed_sides(a, b):
        return "opposite"
    return "other value" if not (a.negated_at or b.negated_at) and _differ_in_a_number(a, b) else "unrelated"


def _changed_sides(a: Claim, b: Claim) -> bool:
    """`use X, not Y` and `use Y, not X`."""
    if len(a.negated_at) != 1 or a.negated_at != b.negated_at or len(a.words) != len(b.words):
        return False
    at = a.negated_at[0]
    (wanted, unwanted), (others, not_others) = [({*one.words[:at]}, {*one.words[at:]}) for one in (a, b)]
    there, back = wanted - others, others - wanted
    return bool(there and back) and there == not_others - unwanted and back == unwanted - not_others


def _differ_in_a_number(a: Claim, b: Claim) -> bool:
    if len(a.words) != len(b.words):
        return False
    replaced = [pair for pair in zip(a.words, b.words, strict=True) if pair[0] != pair[1]]
    return len(replaced) == 1 and all(map(_NUMBER.fullmatch, replaced[0]))


def put_in_order(db: Database, project: str) -> None:
    """Called inside a transaction, once the counts are up to date. What was compared before is not compared again."""
    _retire_old_measurements(db, project)
    compare_fresh(db, project)
    _corroborate(db, project)


def compare_fresh(db: Database, project: str) -> None:
    """Compare the lessons of a project, or of none, that are new or have changed. Called inside a transaction."""
    states = to_compare(db, project)
    fresh = {one.id: one for one in _named(db, list(states)) if _comparable(one, project)}
    keys = _keys(fresh.values())
    lessons.mark_compared(db, states, ((key, id) for id, key in keys.items()))
    _compare(db, fresh, _neighbours(db, keys))


def to_compare(db: Database, project: str) -> dict[str, str]:
    """The lessons of a project, or of none, that no harvest has compared as they are now, each with its state."""
    return lessons.to_compare(db, project, COMPARISON_VERSION)


def notice(db: Database, ids: Sequence[str], *, actor: str) -> None:
    """See at once whether these lessons contradict others of the same holder; called inside a transaction.

    It compares as a harvest does, with their neighbours alone, and joins nothing: what says the same a harvest does.
    """
    fresh = {one.id: one for one in _named(db, ids) if _comparable(one, one.project)}
    keys = _keys(fresh.values())
    lessons.put_keys(db, ids, ((key, id) for id, key in keys.items()))
    pairs = _neighbours(db, keys)
    known = {one.id: one for one in _named(db, sorted({id for pair in pairs for id in pair}))}
    for first, second in ((known[a], known[b]) for a, b in pairs):
        if all(_comparable(one, one.project) for one in (first, second)) and relation(first.text, second.text) in (
            "opposite",
            "other value",
        ):
            _contradict(db, first, second, actor)


def _keys(known: Iterable[StoredLesson]) -> dict[str, str]:
    """Lesson → what it has in common with those of the same holder that are not unrelated."""
    return {one.id: digest(_holder(one), *key) for one in known if (key := claim(one.text).key)}


def _holder(lesson: StoredLesson) -> str:
    return lesson.project or (f"agent {lesson.agent}" if lesson.scope == "agent" else "")


def _compare(db: Database, known: dict[str, StoredLesson], pairs: list[tuple[str, str]]) -> None:
    others = {id for pair in pairs for id in pair} - known.keys()
    known |= {one.id: one for one in _named(db, sorted(others))}
    gone: set[str] = set()
    for a, b in pairs:
        if a in gone or b in gone:
            continue
        first, second = known[a], known[b]
        match relation(first.text, second.text):
            case "same" if _may_join(first, second):
                gone.add(_join(db, first, second))
            case "opposite" | "other value":
                _contradict(db, first, second)
            case _:
                pass


def _named(db: Database, ids: Sequence[str]) -> list[StoredLesson]:
    shares = (ids[at : at + _LESSONS_PER_QUERY] for at in range(0, len(ids), _LESSONS_PER_QUERY))
    return [one for share in shares for one in lessons.named(db, share)]


def _comparable(lesson: StoredLesson, project: str) -> bool:
    if lesson.status in ("superseded", "archived") or lesson.rule == _MEASURED_FACT:
        return False
    if not lesson.rule:
        return lesson.project == project
    from hardwon.harvest.rules.catalogue import OVER_STORE  # noqa: PLC0415 - all rules: a briefing needs none of them

    return lesson.project == project and lesson.rule not in OVER_STORE


def _neighbours(db: Database, keys: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs that have the key in common, at least one of each new; of very many with the same key only the first."""
    holders: dict[str, list[str]] = defaultdict(list)
    for id, key in keys.items():
        holders[key].append(id)
    pairs: set[tuple[str, str]] = set()
    for key, group in lessons.sharing_a_key(db, holders, _LESSONS_PER_KEY):
        pairs.update(
            (min(id, other), max(id, other)) for id in holders[key][:_LESSONS_PER_KEY] for other in group if other != id
        )
    return sorted(pairs)


def _rank(lesson: StoredLesson) -> tuple[bool, int, bool, int, str]:
    """Which of two that say the same stays: what a person decided on, the more trusted, what says more, the older."""
    less = not _IN_KIND.match(lesson.text)
    return not lesson.kept, TRUSTS.index(lesson.trust), less, lesson.first_seen, lesson.id


def _may_join(a: StoredLesson, b: StoredLesson) -> bool:
    stays, goes = sorted((a, b), key=_rank)
    if goes.kept or ("question" in (a.kind, b.kind) and a.kind != b.kind):
        return False
    # Words that a page or a tool said must not make a trusted lesson look better supported.
    return goes.trust != "untrusted" or stays.trust == "untrusted" or stays.status == "invalid"


def _join(db: Database, a: StoredLesson, b: StoredLesson) -> str:
    stays, goes = sorted((a, b), key=_rank)
    lessons.join(db, goes.id, stays.id)
    integrity.record_events(
        db, "harvest", now(), [Happened("merge", stays.id, {}, {"from": goes.id, "text": goes.text})]
    )
    meta.mark_stale(db, [stays.id])
    return goes.id


def _contradict(db: Database, a: StoredLesson, b: StoredLesson, actor: str = "harvest") -> None:
    """Only lessons that are both believed are in conflict; a doubtful one must not silence a trusted one."""
    if (a.status, b.status) == ("active", "active"):
        lifecycle.note_conflict(db, [a.id, b.id], actor=actor, why="they say the opposite of each other")
    elif "invalid" not in (a.status, b.status):
        lifecycle.note_contradiction(db, a.id, b.id, actor=actor)


def _retire_old_measurements(db: Database, project: str) -> None:
    """Of several measurements of the same thing the newest holds; the others stay, with the time they held."""
    slots: dict[str, list[StoredLesson]] = defaultdict(list)
    for one in lessons.listed(db, project=project, kind="fact"):
        live = one.status in ("active", "superseded") and not one.kept
        if live and one.rule == _MEASURED_FACT and one.project == project:
            slots[_MEASURED_VALUE.sub("…", one.text)].append(one)
    for group in slots.values():
        group.sort(key=lambda one: (one.last_confirmed, one.id))
        newest = group[-1]
        restored = {"status": "active", "superseded_by": "", "valid_until": None}
        lessons.settle(db, newest.id, why="measured last", **restored)
        for old in group[:-1]:
            since = {"status": "superseded", "superseded_by": newest.id, "valid_until": newest.last_confirmed}
            lessons.settle(db, old.id, why="measured again, with another result", **since)


def _corroborate(db: Database, project: str) -> None:
    """An agent's claim that a second session makes on its own, without having been told, may be believed."""
    rows = db.query(
        "SELECT l.id FROM lesson l WHERE l.project = ? AND l.trust = 'claimed' AND l.status = 'candidate' "
        "AND l.kept = 0 AND (SELECT count(DISTINCT o.root) FROM lesson_source o WHERE o.lesson = l.id "
        "AND o.origin = 'agent') > 1 ORDER BY l.id",
        (project,),
    )
    for one in _named(db, [row[0] for row in rows]):
        if _comparable(one, project) and _is_corroborated(db, one.id):
            believed = {"status": "active", "trust": "corroborated", "base_confidence": _CORROBORATED}
            lessons.settle(db, one.id, why="a second session says so", **believed)
            meta.mark_stale(db, [one.id])


def _is_corroborated(db: Database, lesson: str) -> bool:
    """Whether two root sessions say so, neither having been shown it, that looked at nothing in common.

    What two agents say after they read the same page, file or output may be its words in theirs: one piece of evidence.
    """
    rows = db.query(
        "SELECT DISTINCT o.root, coalesce(c.tool, ''), coalesce(c.subject, '') FROM lesson_source o "
        "JOIN session s ON s.id = o.source AND s.root = o.root JOIN session t ON t.root = o.root "
        "LEFT JOIN call c ON c.session = t.id AND c.action <> 'edit' "
        "WHERE o.lesson = ? AND o.origin = 'agent' AND NOT EXISTS ("
        "SELECT 1 FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap JOIN session u ON u.root = o.root "
        "WHERE e.item = o.lesson AND e.shown = 1 AND b.session IN (u.id, u.external_id, u.root))",
        (lesson,),
    )
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for root, tool, subject in rows:
        seen[root].update({(tool, subject)} if tool else ())
    return any(one.isdisjoint(other) for one, other in combinations(seen.values(), 2))


# Tie lessons to the file they speak of, and see whether it is still what it was.

# A few numbers that tell how much of one text is in another, without keeping either.

_NUMBERS_PER_SKETCH = 32
_EMPTY = "0" * (4 * _NUMBERS_PER_SKETCH)


def sketch(text: str) -> str:
    """Of the set of its lines: for each of some hash functions the smallest value, 16 bits of it in hexadecimal."""
    lines = {line.strip() for line in text.splitlines()} - {""}
    if not lines:
        return _EMPTY
    hashes = [
        blake2b(line.encode("utf-8", "surrogatepass"), digest_size=2 * _NUMBERS_PER_SKETCH).digest() for line in lines
    ]
    return "".join(min(found[at : at + 2] for found in hashes).hex() for at in range(0, 2 * _NUMBERS_PER_SKETCH, 2))


def likeness(one: str, other: str) -> float:
    """About the share of all lines of two texts that both have."""
    pairs = [(one[at : at + 4], other[at : at + 4]) for at in range(0, 4 * _NUMBERS_PER_SKETCH, 4)]
    return sum(a == b for a, b in pairs) / _NUMBERS_PER_SKETCH


MIN_LIKENESS = 0.15
"""Below this share of common lines, a file is another one now."""
_BYTES_PER_FILE = 2_000_000


def tie(db: Database, projects: Iterable[str]) -> int:
    """Note the one file that a lesson names, where it is there; returns how many lessons that were."""
    count = 0
    for project in projects:
        folders = _folders(db, project)
        found = [anchor for id, text in lessons.without_anchor(db, project) if (anchor := _anchor(id, text, folders))]
        if found:
            with db.transaction(project):
                lessons.save_anchors(db, found)
        count += len(found)
    return count


def adrift(db: Database, project: str) -> dict[str, str]:
    """Lesson → why not to believe it: its file is gone, or another one now. None where no root is on this machine."""
    folders = _folders(db, project)
    if not folders:
        return {}
    return dict(_judged(lessons.anchors_of(db, project), folders))


# What the repository tells its agents already.

_READ_BY_AGENTS = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "README.md",
    "CONTRIBUTING.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
)
_SHARE_WRITTEN_DOWN = 0.8
_FEWEST_TERMS = 3
_SENTENCE = lazy_pattern(r"(?<=[.!?。])\s+|\n+")


def written_down(db: Database, project: str, known: Iterable[StoredLesson]) -> dict[str, str]:
    """Lesson → the file of the checkout that says the same, so that agents read it anyway."""
    files = [*_written(_folders(db, project))]
    here = (one for one in known if one.project == project and not one.pinned) if files else ()
    wanted = {one.id: frozenset(terms(one.text)) for one in here}
    found: dict[str, str] = {}
    for name, sentences in files:
        for id, words in wanted.items():
            enough = len(words) >= _FEWEST_TERMS and id not in found
            if enough and any(len(words & said) >= _SHARE_WRITTEN_DOWN * len(words) for said in sentences):
                found[id] = f"stands in {name}"
    return found


def _written(folders: Iterable[Path]) -> Iterator[tuple[str, list[frozenset[str]]]]:
    for path, name in ((folder / name, name) for folder in folders for name in _READ_BY_AGENTS):
        with suppress(OSError):
            if path.is_file() and path.stat().st_size <= _BYTES_PER_FILE:
                text = _without_block(path.read_text(encoding="utf-8", errors="replace"))
                yield name, [frozenset(terms(part)) for part in _SENTENCE.split(text) if part.strip()]


def _without_block(text: str) -> str:
    """The text of such a file without the block that Hardwon keeps in it."""
    before, mark, rest = text.partition("<!-- hardwon:begin")
    return before + rest.partition("<!-- hardwon:end -->")[2] if mark else text


def _judged(known: Iterable[Anchor], folders: list[Path]) -> Iterator[tuple[str, str]]:
    now: dict[str, str | None] = {}
    for lesson, path, then in known:
        if path not in now:
            now[path] = next(filter(None, (_sketch(folder / path) for folder in folders)), None)
        seen = now[path]
        if seen is None:
            yield lesson, f"{path} is gone"
        elif likeness(then, seen) < MIN_LIKENESS:
            yield lesson, f"{path} has changed beyond recognition"


def _anchor(lesson: str, text: str, folders: list[Path]) -> Anchor | None:
    """None where several files are named: the lesson may hold for any of them."""
    there = {
        path: seen
        for path in named_in(text)
        if not os.path.isabs(path) and ".." not in Path(path).parts
        if (seen := next(filter(None, (_sketch(folder / path) for folder in folders)), None))
    }
    return Anchor(lesson, *next(iter(there.items()))) if len(there) == 1 else None


def _folders(db: Database, project: str) -> list[Path]:
    return [path for root in lessons.roots_of(db, project) if (path := Path(os.path.expanduser(root))).is_dir()]


def _sketch(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _BYTES_PER_FILE:
            return None
        return sketch(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


# What nobody needed for long goes to the archive; it comes back when it is seen again.

LEAST_CONFIDENCE_KEPT = 0.3
_DAY = 86_400_000_000
_SPOKEN = ("preference", "decision", "identity")
"""What a person said does not grow old by silence."""


def archive_idle(db: Database, at: int, half_life_days: float) -> list[str]:
    """Archive what is idle, take out what was seen again; returns the ids of both. Inside a transaction."""
    idle = _idle(db, at, half_life_days)
    for id, days in idle.items():
        lifecycle.archive(db, id, actor=lifecycle.DECAY_ACTOR, why=f"not seen, used or needed for {days:.0f} days")
    awake = _seen_again(db)
    for id in awake:
        lifecycle.restore(db, id, actor=lifecycle.DECAY_ACTOR, why="seen again")
    for id in (*idle, *awake):
        db.execute("UPDATE lesson SET kept = 0 WHERE id = ?", (id,))  # no person decided on it
        integrity.reseal(db, "lesson", [id])
    return [*idle, *awake]


def _idle(db: Database, at: int, half_life_days: float) -> dict[str, float]:
    """Id → days, of active lessons whose confidence has halved away and that no answer ever used.

    Idle is the time since a lesson was last confirmed, since it came into this store, and since its failure
    happened last: rare is not stale. What a person decided on or pinned stays.
    """
    rows = db.query(
        "SELECT l.id, l.confidence, l.last_confirmed, coalesce(f.last_seen, 0), coalesce(e.at, 0) FROM lesson l "
        "LEFT JOIN failure f ON f.id = l.failure LEFT JOIN event e ON e.item = l.id AND e.action = 'create' "
        "WHERE l.status = 'active' AND l.kept = 0 AND l.pinned = 0 AND l.reference_count = 0 "
        f"AND l.kind NOT IN ({marks(_SPOKEN)}) AND l.last_confirmed < ? ORDER BY l.id",
        (*_SPOKEN, at - round(half_life_days * _DAY)),
    )
    ages = {id: (confidence, max(0, at - max(times)) / _DAY) for id, confidence, *times in rows}
    return {
        id: days for id, (sure, days) in ages.items() if sure * 0.5 ** (days / half_life_days) < LEAST_CONFIDENCE_KEPT
    }


def _seen_again(db: Database) -> list[str]:
    rows = db.query(
        "SELECT l.id FROM lesson l LEFT JOIN failure f ON f.id = l.failure "
        "JOIN event e ON e.item = l.id AND e.action = 'archive' AND e.actor = ? "
        "WHERE l.status = 'archived' AND l.kept = 0 GROUP BY l.id, l.last_confirmed, f.last_seen "
        "HAVING l.last_confirmed > max(e.at) OR f.last_seen > max(e.at) ORDER BY l.id",
        (lifecycle.DECAY_ACTOR,),
    )
    return [row[0] for row in rows]
