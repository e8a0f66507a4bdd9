"""Taking sessions in: `harvest`, `watch`, and the `rules` that draw lessons from them."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import Json, count, print_json, progress_bar, say, say_pending, shown, table
from hardwon.errors import HardwonError, NotFound

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.from_git import GitHarvest
    from hardwon.harvest.distil.asking import Estimate
    from hardwon.harvest.walk import Progress, Report


# Taking sessions in: `harvest`.

_MAX_EXPLAINED = 20
_NOTES_SHOWN = 5
_PROJECTS_NAMED = 3
_ELSEWHERE = re.compile(r"[a-z][a-z+]+://|[\w.-]+@[\w.-]+:")
"""How the address of a repository begins that is no folder."""
_EMBEDDING_SECONDS = 15.0
"""Most time that vectors may take after a harvest; what is left comes with the next."""


def harvest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Session files, or folders of them.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Read every session on this machine.")] = False,
    git: Annotated[
        str | None,
        typer.Option("--git", help="A local clone that contains agents' logs in its commits; nothing is checked out."),
    ] = None,
    ref: Annotated[list[str] | None, typer.Option("--ref", help="With --git: only this branch, tag or ref.")] = None,
    top: Annotated[int | None, typer.Option(help="Read only this many new sessions, the most valuable.", min=1)] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what was considered but not kept, and why.")] = False,
    mine: Annotated[bool, typer.Option("--mine", help="These are your own sessions, wherever the files are.")] = False,
    llm: Annotated[bool, typer.Option("--llm", hidden=True, help="`hardwon distil` of these files.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be learned; save nothing.")] = False,
    executor: Annotated[
        str, typer.Option(help="Read on a cluster that sees the same files: dask://host:8786 or ray://host:10001.")
    ] = "",
    json: Json = False,
) -> None:
    """Learn from session files or folders.

    Unchanged files are skipped. Sessions inside a git repository count as other people's, so what they say waits for
    your review; pass --mine, or list the folder in the setting own_folders, if they are yours. --git reads the
    checkpoints of Entire, which keeps sessions in git, and .specstory/history, .claude and .codex in commits.

    Example: hardwon harvest ~/old-laptop/claude-projects --mine

    Example: hardwon harvest --git ~/src/tidepool
    """
    from hardwon.api import Hardwon

    asked = sum((bool(paths), all_, git is not None))
    if not asked:
        say(
            "hardwon: say what to read: `hardwon harvest --all` reads what your agents wrote on this machine, "
            "`hardwon harvest FOLDER` the sessions in a folder, `hardwon harvest --git REPO` those of a repository",
            err=True,
        )
        raise typer.Exit(2)
    if asked > 1:
        raise typer.BadParameter("name files or folders, or pass --all, or --git with a repository")
    if git and _ELSEWHERE.match(git):
        raise NotFound(f"--git reads a clone on this machine: `git clone {git}`, then `hardwon harvest --git FOLDER`")
    clone = Path(git) if git is not None else None
    if ref and git is None:
        raise typer.BadParameter("--ref needs --git with a repository")
    if clone and (llm or top):
        raise typer.BadParameter("--git reads all that is new; it takes no --top")
    with Hardwon() as memory:
        if clone and dry_run:
            _kept_in_git(memory.sessions.kept_in_git(clone, refs=ref or [], mine=mine), json=json)
            return
        found = [] if clone else memory.discover() if all_ else _named(paths or [])
        if dry_run:
            with progress_bar() as progress:
                report, estimate = _rehearsed(memory, found, top, mine, llm, progress)
            if json:
                print_json(_contract(report, explain=explain) | ({"llm": estimate} if llm else {}))
                return
            say("Dry run: nothing is saved.")
            _counted(report)
            if explain:
                _explain(report)
            if estimate is not None:
                print_json(estimate)
            return
        memory.writing()  # the store is made, or brought up to date, before anything is counted
        known = memory.store.totals()
        with progress_bar() as progress:
            if clone:
                report = memory.sessions.harvest_git(clone, refs=ref or [], mine=mine, progress=progress)
            else:
                report = _harvested(memory, found, top, mine, executor, progress)
            if all_:
                add_from_git(memory, memory.sessions.repositories(), report, progress)
            waiting = memory.store.embed(seconds=_EMBEDDING_SECONDS, progress=progress).left
        distilled = memory.sessions.distil(found) if llm else None
        if json:
            print_json(_contract(report, explain=explain) | ({"llm": distilled} if llm else {}))
            return
        _summary(memory, report, known, _looked(clone) if clone or all_ else "")
        if explain:
            _explain(report)
        if distilled is not None:
            print_json(distilled)
        _say_waiting(waiting)
        say_pending(memory)


def _harvested(
    memory: Hardwon, found: list[Path], top: int | None, mine: bool, executor: str, progress: Progress | None
) -> Report:
    if not executor:
        return memory.harvest(found, most=top, mine=mine, progress=progress)
    from hardwon.harvest.pipeline import executor_at

    with executor_at(executor) as cluster:
        return memory.harvest(found, most=top, mine=mine, executor=cluster, progress=progress)


def _rehearsed(
    memory: Hardwon, found: list[Path], top: int | None, mine: bool, llm: bool, progress: Progress | None
) -> tuple[Report, Estimate | None]:
    """What would be learned of what is new, in a store that is thrown away."""
    from tempfile import TemporaryDirectory

    known = set(memory.sessions.harvested(found)) if memory.exists else set()
    fresh = [path for path in found if path not in known]
    with TemporaryDirectory() as folder, type(memory)(folder) as other:
        report = other.harvest(fresh, most=top, mine=mine, progress=progress)
        report.skipped += len(found) - len(fresh)
        return report, other.sessions.distil_cost(fresh) if llm else None


def _counted(report: Report) -> None:
    counts = [(name, getattr(report, name)) for name in ("sessions", "messages", "errors", "lessons", "fixes")]
    for name, number in [*counts, ("unchanged", report.skipped), ("no session", report.refused)]:
        say(f"  {name:<12}{number:>7,}")


_ADDED_UP = (
    "sessions",
    "foreign",
    "messages",
    "unsure",
    "tool_calls",
    "errors",
    "lessons",
    "failures",
    "fixes",
    "commits",
)


def add_from_git(memory: Hardwon, repositories: list[Path], report: Report, progress: Progress | None) -> None:
    """Checkpoints in the repositories that sessions ran in; one that cannot be read keeps us from no other."""
    for repository in repositories:
        try:
            more = memory.sessions.harvest_git(repository, folders=False, progress=progress)
        except HardwonError as error:
            report.notes.append(str(error))
            continue
        for name in _ADDED_UP:
            setattr(report, name, getattr(report, name) + getattr(more, name))
        report.notes += more.notes


def _kept_in_git(found: GitHarvest, *, json: bool) -> None:
    if json:
        print_json(found)
        return
    for name in found.logs:
        say(shown(name))
    say(
        f"{count(len(found.logs), 'new log')}, {found.unchanged:,} unchanged, "
        f"{count(found.checkpoints, 'checkpoint')} in {shown(found.repository)}."
    )
    for note in found.notes:
        say(shown(note), err=True)


def _named(paths: list[Path]) -> list[Path]:
    from hardwon.sessions.discover import SUFFIXES, below

    found = []
    for path in paths:
        inside = below(path)
        if not inside:
            raise NotFound(f"no session files ({', '.join(SUFFIXES)}) below {path}")
        found += inside
    return list(dict.fromkeys(found))


def _contract(report: Report, *, explain: bool) -> dict[str, object]:
    import msgspec

    fields = msgspec.structs.asdict(report)
    for name in ("projects",) if explain else ("projects", "dropped"):
        del fields[name]
    return fields


def _explain(report: Report) -> None:
    for name, counts in (("kept", report.lessons_by_kind), ("status", report.by_status)):
        say(f"  {name:<12}" + (", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing"))
    say(f"  {'unsure':<12}{count(report.unsure, 'message')} not certain to be typed by you")
    for reason, times in report.dropped_by_reason.items():
        say(f"\nNot kept, {reason} ({times}):")
        for one in [one for one in report.dropped if one.reason == reason][:_MAX_EXPLAINED]:
            say(f"  {one.rule:<18}{shown(one.text, 100)}")


def _looked(git: Path | None) -> str:
    """Where sessions were looked for."""
    from hardwon.sessions.discover import ROOTS
    from hardwon.sessions.reader import formats

    if git:
        return f" in {git}: looked for Entire's checkpoints, and for .specstory/history, .claude and .codex in commits"
    agents = sorted({one.AGENT for one in formats() if one.NAME in ROOTS})
    return f" on this machine: looked where these keep theirs: {', '.join(agents)}"


def _summary(memory: Hardwon, report: Report, known: dict[str, int], looked: str) -> None:
    from hardwon.store import projects
    from hardwon.store.failures import fixes_told

    totals, names = memory.store.totals(), projects.names(memory.reading())
    if report.sessions:
        named = [shown(names[id]) for id in report.projects if names.get(id)]
        of = f" of {', '.join(named)}" if 0 < len(named) <= _PROJECTS_NAMED else ""
        say(
            f"Read {read_now(report, totals['sessions'], known.get('sessions', 0))}{of} in {report.seconds:.1f} s"
            + (f", skipped {count(report.skipped, 'unchanged file')}" if report.skipped else "")
            + "."
        )
    elif report.skipped:
        say(f"Nothing new: {count(report.skipped, 'file')} unchanged since last time.")
    elif report.copies:
        say("Nothing new.")
    else:
        examples = "" if totals["sessions"] else "; examples: `hardwon up`"
        say(f"No session was found{looked}. If yours lie elsewhere: `hardwon harvest FOLDER`{examples}.")
    for note in report.notes[:_NOTES_SHOWN]:
        say(shown(note), err=True)
    if len(report.notes) > _NOTES_SHOWN:
        say(f"… and {len(report.notes) - _NOTES_SHOWN} more of these.", err=True)
    for line in told_of_others(report):
        say(line)
    if report.left_for_later:
        say(f"{count(report.left_for_later, 'session')} left for later: `hardwon harvest --all` reads them.")
    if report.waiting:
        say(
            f"{count(report.waiting, 'session')} not stored: redacting secrets took too long; "
            "the next harvest tries again."
        )
    if report.refused:
        are = "is not a session and was" if report.refused == 1 else "are not sessions and were"
        say(f"{count(report.refused, 'file')} {are} skipped: `hardwon doctor` says why.")
    if report.copies:
        say(f"{count(report.copies, 'session')} in two files: of each the fuller copy counts.")
    if report.moved:
        went = f"{count(report.moved, 'session')} moved to the project of the fuller copy"
        say(f"{went} (`hardwon projects`; `hardwon projects merge` makes two one).")
    if report.empty:
        say(f"{count(report.empty, 'file')} without anything in it to learn from.")
    if not totals["sessions"]:
        return
    if new := _added(totals, known) if known and report.sessions else "":
        say(f"New: {new}. What they teach: `hardwon up`")
    distinct, before = totals["distinct_errors"], totals["seen_before"]
    share = f" ({before / distinct:.0%})" if distinct else ""
    helpers = f" with {count(totals['subagents'], 'sub-agent')}" if totals["subagents"] else ""
    damaged = count(totals["damaged"], "damaged part of a file", "damaged parts of files")
    lines = [
        f"In all: {count(totals['sessions'], 'session')}{helpers}, {count(totals['messages'], 'message')}",
        f"{count(distinct, 'error')}, each once a session, of which {before:,}{share} had come up before",
        count(totals["lessons"], "lesson"),
        f"{count(totals['fixes'], 'fix', 'fixes')}, {fixes_told(memory.reading()):,} of them told to agents",
        f"{count(totals['redactions'], 'secret or name', 'secrets and names')} redacted",
        *([f"{damaged} not read"] if totals["damaged"] else []),
    ]
    say(f"{'; '.join(lines)}.")


def _added(totals: dict[str, int], known: dict[str, int]) -> str:
    """What the store holds more than before."""
    nouns = {"distinct_errors": ("error", ""), "fixes": ("fix", "fixes"), "lessons": ("lesson", "")}
    more = {name: totals[name] - known.get(name, 0) for name in nouns}
    return ", ".join(count(more[name], *noun) for name, noun in nouns.items() if more[name] > 0)


def read_now(report: Report, known: int = 0, before: int = 0) -> str:
    """How many sessions a harvest read; what sub-agents did is part of the session that they worked for."""
    own = report.sessions - report.subagents
    new = min(own, known - before) if known else own  # several files may be of one session
    if not new:
        return f"{count(own, 'session')} again" if own else count(report.subagents, "sub-agent")
    return " and ".join(
        [count(new, "new session"), *([count(report.subagents, "new sub-agent")] if report.subagents else [])]
    )


def told_of_others(report: Report) -> list[str]:
    """What repositories told of: commits, and sessions that other people had."""
    told = []
    if report.commits:
        told.append(f"{count(report.commits, 'commit')} linked to the sessions that made them.")
    if report.foreign:
        told.append(
            f"{count(report.foreign, 'session')} of other people: what they say waits in `hardwon review`; "
            "if they are yours, run the same command with `--mine`."
        )
    return told


def held_back(memory: Hardwon, project: str) -> str:
    """Why a project whose sessions are other people's tells nothing; empty where it has none of these."""
    from hardwon.store.projects import of_others

    others = of_others(memory.reading(), memory.project(project) or "")
    return (
        f" {count(others, 'session')} of other people: nothing of them is told before your yes (`hardwon review`); "
        "if they are yours, read them again with `hardwon harvest … --mine`."
        if others
        else ""
    )


def _say_waiting(items: int) -> None:
    if items:
        say(f"{count(items, 'item')} cannot be found by meaning yet: run `hardwon reindex`.")


# `rules`: what lessons are drawn by.


def rules(json: Json = False) -> None:
    """List the rules that find lessons in sessions.

    Example: hardwon rules
    """
    from hardwon.harvest.rules.catalogue import RULES

    if json:
        print_json(
            [
                {
                    "name": rule.name,
                    "version": rule.version,
                    "kinds": rule.kinds,
                    "over": rule.over,
                    "finds": rule.finds,
                }
                for rule in RULES
            ]
        )
        return
    rows = [(rule.name, rule.version, ", ".join(rule.kinds), rule.over, rule.finds) for rule in RULES]
    table(("RULE", "VERSION", "KIND", "OVER", "FINDS"), rows, right=(1,), spare=(1, 3))
    say("\nA model can find lessons that rules miss: `hardwon distil --dry-run` shows the cost.")


# Sessions harvested as they finish, for agents that have no hooks: `watch`.

QUIET = 60.0
"""Seconds without a change after which a session counts as finished."""


class Watch:
    """What was seen so far; each look costs no more than the names and stamps of the files."""

    def __init__(self, quiet: float = QUIET, home: Path | None = None) -> None:
        self._quiet = quiet
        self._home = home
        self._done: dict[Path, tuple[int, int]] = {}

    def look(self, now: Callable[[], float] = time.time) -> Report | None:
        """Harvest what has finished since the last look; None if nothing has."""
        from hardwon.api import Hardwon
        from hardwon.harvest.pipeline import stamp_of

        before = (now() - self._quiet) * 1_000_000
        with Hardwon(self._home) as memory:
            stamps = {path: stamp_of(path) for path in memory.discover()}
            fresh = [path for path, stamp in stamps.items() if stamp[1] <= before and self._done.get(path) != stamp]
            if not fresh:
                return None
            report = memory.harvest(memory.sessions.retained(fresh), most=memory.config.sample)
            memory.store.keep_daily_metrics(report.projects)
            if report.sessions:
                memory.sessions.distil_if_wanted()
        # As they were before: what changed meanwhile is seen at the next look.
        self._done.update((path, stamps[path]) for path in fresh)
        return report if report.sessions else None


_COUNTED = ("sessions", "lessons", "failures", "fixes")


def watch(
    once: Annotated[bool, typer.Option("--once", help="Check once and exit.")] = False,
    interval: Annotated[float, typer.Option(help="Seconds between checks.", min=0.1)] = 10.0,
    quiet: Annotated[
        float, typer.Option(help="A session counts as finished after this many seconds without a change.", min=0.0)
    ] = 60.0,
    json: Json = False,
) -> None:
    """Harvest sessions as they finish, until Ctrl-C.

    For agents without hooks. With --json, prints one line per harvest and a total at the end.

    Example: hardwon watch --interval 30
    """

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watching = Watch(quiet)
    totals = dict.fromkeys(_COUNTED, 0)
    began = time.monotonic()
    try:
        if not once and not json:
            say(f"Checking every {interval:g} s for finished sessions. Ctrl-C stops.", err=True)
        while True:
            _look(watching, totals, once, json)
            if once:
                break
            time.sleep(interval)
    except KeyboardInterrupt:
        pass
    _tell({**totals, "seconds": round(time.monotonic() - began, 1)}, json, "In all")


def _look(watching: Any, totals: dict[str, int], once: bool, json: bool) -> None:
    try:
        report: Report | None = watching.look()
    except HardwonError as error:
        if once:
            raise
        say(f"hardwon: {error}; trying again", err=True)
        return
    if report is None:
        return
    for name in totals:
        totals[name] += getattr(report, name)
    found = {name: getattr(report, name) for name in _COUNTED} | {"seconds": report.seconds}
    if not once:
        _tell(found, json, time.strftime("%H:%M:%S"))


def _tell(counts: dict[str, Any], json: bool, lead: str) -> None:
    if json:
        import msgspec

        say(msgspec.json.encode(counts).decode())
    else:
        parts = ", ".join(f"{counts[name]} new {name if counts[name] != 1 else _singular(name)}" for name in _COUNTED)
        say(f"{lead}: {parts} in {counts['seconds']:.1f} s")
    sys.stdout.flush()


def _singular(name: str) -> str:
    return name.removesuffix("es") if name == "fixes" else name.removesuffix("s")
