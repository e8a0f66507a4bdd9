"""Hardwon in the agents' settings: `install`, `uninstall`, `status`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from hardwon.cli.app import (
    Json,
    ask_about_folders,
    confirmed,
    cost_of,
    count,
    is_here,
    print_json,
    say,
    short_path,
    table,
)
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.install.agents import Agent
    from hardwon.install.command import Where
    from hardwon.install.plan import Change
    from hardwon.install.status import Installed

AgentArgument = Annotated[
    str, typer.Argument(help="claude-code, codex, gemini, opencode, cursor, hermes or cline.", show_default=False)
]
ProjectFlag = Annotated[
    bool, typer.Option("--project", help="Use this folder's project settings, not your user settings.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
Diff = Annotated[bool, typer.Option("--diff", help="Show the whole change, however long.")]
_DIFF_LINES = 8
_MEASURES = "Experiment: on, some lines are withheld at random (`hardwon config experiment off` stops it)."
_MOMENTS = {
    "session-start": "a session starts",
    "prompt": "you send a prompt",
    "tool-failed": "a command fails",
    "session-end": "a session ends",
}


def install(
    agent: AgentArgument = "",
    project: ProjectFlag = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Add Hardwon's hooks to an agent's settings.

    Shows the change, asks, and keeps a backup. Nothing else in the settings is touched.

    Example: hardwon install claude-code
    """
    from hardwon.install.plan import agent_named, installing
    from hardwon.install.status import missing_consent

    chosen, where = agent_named(agent or _which_agent()), _where(project)
    changes = installing(chosen, where)
    if changes and not json:
        say(_summary(chosen, where))
    done = _agreed(changes, yes, dry_run, json, f"{chosen.title} already has Hardwon's hooks.", whole=diff)
    if done and not json:
        waits = missing_consent(chosen.name, where)
        say(chosen.afterwards if waits else f"{chosen.title} now uses Hardwon. {chosen.afterwards}")
        if project and any(sys.executable in (change.new or "") for change in changes):
            say("These settings contain the path of this machine's Python: do not commit them.")
        _ask_to_measure(yes=yes)
        if not yes:
            _ask_to_distil()
        say("Run `hardwon status` any time to see how it is doing.")


def _which_agent() -> NoReturn:
    """Nobody was named: say who is here, and who could be."""
    known = here()
    found = [each.agent for each in known if each.found]
    others = ", ".join(each.agent for each in known if not each.found)
    on_this_machine = f"found here: {', '.join(found)}; also known: {others}" if found else f"known: {others}"
    raise HardwonError(f"name an agent, as in `hardwon install {(found or ['claude-code'])[0]}` ({on_this_machine})")


def _summary(agent: Agent, where: Where) -> str:
    """What is added, when it runs, and what must stay for it."""
    from hardwon.install.command import event_of, interpreter
    from hardwon.install.files import OwnFile

    files = agent.files(where)
    names = " and ".join(short_path(str(file.path)) for file in files)
    hooks = [line for file in files for _, line in file.ours(file.installed(None)[0])]
    at = _MOMENTS | (
        {"tool-failed": "a command has run (it answers those that failed)"} if agent.name == "codex" else {}
    )
    moments = [at[event] for event in dict.fromkeys(map(event_of, hooks)) if event in at]
    if not moments:
        return f"This adds Hardwon to {names}.\n"
    is_plugin = isinstance(files[0], OwnFile)
    what = "a plugin" if is_plugin else count(len(hooks), "hook")
    calls, stop = ("It calls", "it stops") if is_plugin else ("They call", "they stop")
    return (
        f"This adds {what} to {names}, for these moments: {', '.join(moments)}. "
        f"{calls} {interpreter(hooks[0])}: if that is deleted, {stop} without a word.\n"
        + (
            f"HARDWON_HOME is set: the hooks will use the store in {short_path(str(_home()))}.\n"
            if os.environ.get("HARDWON_HOME")
            else ""
        )
    )


def _ask_to_measure(*, yes: bool) -> None:
    """Once; an experiment that goes on is said."""
    from hardwon import config

    found = config.load(_home())
    if found.config.experiment == "on":
        say(f"\n{_MEASURES}")
    if yes or found.origins["experiment"] != "default":
        return
    say(
        "\nHardwon can measure whether it helps. To do so it leaves one session in ten without a briefing and "
        "withholds a fifth of the lines in the others, at random. `hardwon measure --experiment` shows the result."
    )
    if not is_here("measure"):
        say("The result needs statistics packages that are not installed yet: `hardwon extras add measure`.")
    config.save(_home(), "experiment", "on" if confirmed("Measure whether it helps?") else "off")


def _ask_to_distil() -> None:
    """Where an agent is at hand that can answer, whether it may read the sessions, and what that costs."""
    from hardwon import config
    from hardwon.api import Hardwon
    from hardwon.harvest.distil.chosen import installed

    models = installed()
    if not models or config.load(_home()).origins["distil"] != "default":
        return
    with Hardwon() as memory:
        cost = memory.sessions.distil_cost() if memory.exists else None
    say(
        f"\n{models[0]} can read sessions when they end and find lessons that rules miss. Secrets are redacted "
        f"first; the text goes to the provider of {models[0]}, at your cost."
    )
    if cost is not None and cost.sessions:
        say(f"For the sessions read so far: {cost_of(cost)}")
    config.save(_home(), "distil", models[0] if confirmed(f"Let {models[0]} read them?") else "off")


def uninstall(
    agent: Annotated[str | None, typer.Argument(help="As for `install`.", show_default=False)] = None,
    all_: Annotated[bool, typer.Option("--all", help="Remove it from every agent and every project.")] = False,
    purge: Annotated[bool, typer.Option("--purge", help="With --all: also delete everything it has stored.")] = False,
    project: ProjectFlag = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Remove Hardwon from an agent's settings.

    Settings that have not changed since are restored byte for byte; otherwise only Hardwon's own entries are removed.
    The store is kept unless you pass --purge.

    Example: hardwon uninstall claude-code
    """
    from hardwon.install.plan import agent_named, removing, removing_everywhere

    if (agent is None) != all_ or (purge and not all_) or (project and all_):
        raise typer.BadParameter("name one agent, or pass --all (optionally with --purge)")
    if agent is None:
        whose, changes = "every agent's", removing_everywhere(_where(False), _home())
    else:
        chosen = agent_named(agent)
        whose, changes = f"{chosen.title}'s", removing(chosen, _where(project), _home())
    if changes and not json:
        files = ", ".join(short_path(str(change.path)) for change in changes)
        say(f"This removes Hardwon from {files}.\n")
    nothing = f"Hardwon is not in {'any agent' if agent is None else chosen.title}'s settings."
    done = _agreed(changes, yes, dry_run, json, nothing, whole=diff)
    if done and not json:
        everywhere = "every agent's" if agent is None else whose
        say(f"Hardwon is removed from {everywhere} settings.")
    if purge and dry_run and not json and _home().exists():
        say(f"{_home()} and everything in it would be deleted.")
    elif purge and not dry_run and (done or not changes):
        _purge(_home(), yes, json)
        _remove_completion(json)


def _purge(home: Path, yes: bool, json: bool) -> None:
    """Delete the folder of the store, if that is what it is."""
    import shutil

    from hardwon.home import DATABASE, MIRROR
    from hardwon.serve.announced import end

    if not home.exists():
        return
    is_ours = any((home / name).exists() for name in (DATABASE, MIRROR, "config.toml"))
    if not is_ours or home in (Path.home(), *Path.home().parents):
        raise HardwonError(f"{home} holds more than Hardwon's files: delete what you do not need by hand")
    if not yes and not confirmed(f"Delete {home} and everything Hardwon has learned?"):
        say("Nothing was deleted.")
        return
    if end(home) and not json:
        say("Stopped the service behind the pages.")
    shutil.rmtree(home)
    if not json:
        say(f"Deleted {home}. Remove the program the way you installed it: uv tool, pipx or pip, or delete the clone.")


def _remove_completion(json: bool) -> None:
    """What `--install-completion` wrote; lines that other programs' completion needs stay in .zshrc."""
    home = Path.home()
    sourced = home / ".bash_completions" / "hardwon.sh"
    for path in (sourced, home / ".zfunc" / "_hardwon", home / ".config" / "fish" / "completions" / "hardwon.fish"):
        if path.is_file():
            path.unlink()
            with suppress(OSError):  # other programs' are there
                path.parent.rmdir()
            if not json:
                say(f"Deleted {path}.")
    bashrc, line = home / ".bashrc", f"\nsource '{sourced}'\n"
    if bashrc.is_file() and line in (before := bashrc.read_text(encoding="utf-8", errors="surrogateescape")):
        bashrc.write_text(before.replace(line, "", 1), encoding="utf-8", errors="surrogateescape")


def status(project: ProjectFlag = False, json: Json = False) -> None:
    """Show which agents use Hardwon and how their hooks are doing.

    Example: hardwon status
    """
    from hardwon.api import Hardwon
    from hardwon.install.status import everywhere

    with Hardwon() as memory:
        runs = memory.store.last_runs()
        distils, measures = memory.config.distil, memory.config.experiment == "on"
        waiting = memory.review.counts()
        known = memory.store.totals()["sessions"] if memory.exists else 0
        if not json:
            ask_about_folders(memory)
    shown: list[dict[str, Any]] = []
    for each in everywhere(_where(project)):
        own = [run for name in _names(each.agent) for run in runs.get(name, [])]
        shown.append(
            {
                "agent": each.agent,
                "found": each.found,
                "installed": each.installed,
                "hooks": each.hooks,
                "files": each.files,
                "trouble": each.trouble,
                "runs": own,
            }
        )
    if json:
        print_json(shown)
        return
    rows = [_row(entry) for entry in shown if entry["found"] or entry["installed"]]
    if rows:
        table(("AGENT", "HARDWON", "TO DO"), rows)
    if away := [entry["agent"] for entry in shown if not (entry["found"] or entry["installed"])]:
        say(f"Not found here: {', '.join(away)}.")
    if last := [_run(entry["agent"], run) for entry in shown for run in entry["runs"]]:
        say()
        table(("AGENT", "HOOK", "LAST RUN", "WHAT CAME OF IT"), last)
    if not any(entry["installed"] for entry in shown):
        first = next((entry["agent"] for entry in shown if entry["found"]), "claude-code")
        say(f"\nNo agent uses Hardwon yet. To start: `hardwon install {first}`.")
    how = " (`hardwon review --everywhere`)" if waiting.all else ""
    say(f"\nKnown: {count(known, 'session')} (`hardwon up` reads new ones).")
    say(f"Waiting for review: {waiting.said}{how}.")
    by = "off (run `hardwon distil` yourself)" if distils == "off" else f"{distils} reads each session when it ends"
    say(f"Finding lessons with a model: {by}.")
    if measures:
        say(_MEASURES)
    else:
        say("Experiment (does the briefing help?): off, nothing is withheld (`hardwon config experiment on`).")


def here() -> list[Installed]:
    """Every agent that Hardwon can be installed for, and whether it is on this machine."""
    from hardwon.install.status import everywhere

    return everywhere(_where(False))


def move_over() -> None:
    """Agents that call us by our former name are made to call us by this one; said on stderr."""
    from hardwon.install.plan import apply, moving_over

    for agent, changes in moving_over(_where(False)):
        backups = apply(changes, _home())
        kept = f"; backup: {', '.join(map(str, backups))}" if backups else ""
        say(f"hardwon: {agent.title} used Hardwon under its former name; its settings are updated{kept}", err=True)
        say(f"hardwon: {agent.afterwards}", err=True)


def _names(agent: str) -> list[str]:
    """What its runs are kept under: the name that the hook is given, and the one that its sessions have."""
    from hardwon.hook.agents import MODULES, module

    return list(dict.fromkeys((agent, module(agent).AGENT if agent in MODULES else agent)))


def _run(agent: str, run: dict[str, Any]) -> tuple[str, str, str, str]:
    quiet = "began to read the session" if run["event"] == "session-end" else ""
    return agent, run["event"], run["ago"], run["said"] or quiet or "-"


def _row(entry: dict[str, Any]) -> tuple[str, str, str]:
    errors = [f"{run['event']}: {run['error']}" for run in entry["runs"] if run["error"]]
    installed = ", ".join(entry["hooks"]) if len(entry["hooks"]) == 1 else f"{len(entry['hooks'])} hooks"
    trouble = "; ".join(filter(None, [entry["trouble"], *(errors if entry["installed"] else ())]))
    to_do = "" if entry["installed"] else f"hardwon install {entry['agent']}"
    return entry["agent"], installed if entry["installed"] else "no", trouble or to_do


def _agreed(changes: list[Change], yes: bool, dry_run: bool, json: bool, nothing: str, *, whole: bool) -> bool:
    """Show the changes, ask, and make them; False if there was nothing to do or it was not wanted."""
    from hardwon.install.plan import apply

    told = [{"file": str(change.path), "diff": change.diff()} for change in changes]
    if not changes or dry_run:
        if json:
            print_json({"changes": told, "backups": [], "done": False})
        else:
            _say_diff("\n\n".join(entry["diff"] for entry in told), whole=True) if changes else say(nothing)
            if changes:
                say("A dry run: nothing was changed.")
        return False
    if not json:
        _say_diff("\n\n".join(entry["diff"] for entry in told), whole=whole)
    if not yes:
        if not sys.stdin.isatty():
            raise HardwonError("cannot ask for confirmation without a terminal: pass --yes")
        if not _wanted(told, whole=whole):
            say("Nothing was changed.")
            return False
    backups = [str(path) for path in apply(changes, _home())]
    if json:
        print_json({"changes": told, "backups": backups, "done": True})
    for backup in backups if not json else ():
        say(f"Backup: {backup}")
    return True


def _wanted(told: list[dict[str, str]], *, whole: bool) -> bool:
    """Whether a person says yes; `d` shows the whole change first."""

    def show() -> None:
        _say_diff("\n\n".join(entry["diff"] for entry in told), whole=True)

    return confirmed("Make this change?", more=None if whole else ("d", "the whole of it", show))


def _say_diff(diff: str, *, whole: bool) -> None:
    lines = diff.split("\n")
    kept = len(lines) if whole else _DIFF_LINES
    more = f"… and {len(lines) - kept} more lines: `--diff` shows them\n" if len(lines) > kept else ""
    (say if sys.stdout.isatty() else typer.echo)("\n".join(lines[:kept]) + f"\n{more}")


def _where(project: bool) -> Where:
    from hardwon.install.command import Where

    return Where(os.environ, Path.home(), Path.cwd() if project else None, briefing=_briefing)


def _briefing() -> str:
    from hardwon.api import Hardwon
    from hardwon.briefing.compose import markdown_of
    from hardwon.errors import NotFound

    with Hardwon() as memory:
        try:
            return markdown_of(memory.bootstrap(".")) if memory.exists else ""
        except NotFound:
            return ""


def _home() -> Path:
    from hardwon.home import home_directory

    return Path(home_directory())
