"""`hardwon-hook EVENT [--agent NAME]`: the agent's payload on stdin, context for it on stdout, always exit 0."""

from __future__ import annotations

import json
import os
import sys
import time

from hardwon.home import DATABASE, MIRROR, home_directory, switched_off
from hardwon.hook.agents import CONTEXT_BYTES, module, named
from hardwon.hook.once import done, fired_twice, first
from hardwon.hook_config import load

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.hook_config import HookConfig

HARD_STOP_SECONDS = 2.0
PAYLOAD_BYTES = 16 * 1024 * 1024
EVENTS = ("session-start", "prompt", "tool-failed", "session-end")

_BEGAN = time.perf_counter_ns()


def main() -> None:
    """Say something useful or nothing; never fail, never hang."""
    event, told = _arguments(sys.argv[1:])
    agent = error = ""
    try:
        _stop_in_time(event)
        if event not in EVENTS or switched_off():
            os._exit(0)
        said, agent, error = answered(event, told, sys.stdin.buffer.read(PAYLOAD_BYTES))
        if said is None:
            os._exit(0)
        if said:
            sys.stdout.write(said + "\n")
            sys.stdout.flush()
    except BaseException as problem:  # whatever it is, an interrupt too: the agent's work is more important
        error = error or _named(problem)
    _leave(event, agent, error)
    os._exit(0)  # nothing is left to write: spare the agent the interpreter's goodbye


def answered(event: str, told: str, raw: bytes) -> tuple[str | None, str, str]:
    """(what to say, the agent, what went wrong) for any bytes at all; None when there is nothing to tell anybody."""
    agent = named({}, told) if told else ""
    try:
        config = load(home_directory())
        payload = _payload(raw)
        agent = named(payload, told)
        return respond(event, payload, agent, config), agent, config.trouble
    except Exception as problem:
        return "", agent, _named(problem)


def _arguments(given: list[str]) -> tuple[str, str]:
    """(event, agent), of whatever was given. `--home` says where the store is, if the agent's environment does not."""
    told = {"--agent": "", "--home": ""}
    others = []
    words = iter(given)
    for word in words:
        if word in told:
            told[word] = next(words, "")
        else:
            others.append(word)
    if told["--home"]:
        os.environ.setdefault("HARDWON_HOME", told["--home"])
    return (others[0] if others else ""), told["--agent"]


def _payload(raw: bytes) -> dict[str, object]:
    payload = json.loads(raw.decode("utf-8-sig", "replace") or "{}")
    return payload if isinstance(payload, dict) else {}


def _stop_in_time(event: str) -> None:
    """End when something takes too long."""

    def stop(*_: object) -> None:
        _leave(event, "", f"stopped after {HARD_STOP_SECONDS:g} s")
        os._exit(0)

    if sys.platform == "win32":
        import _thread

        def later() -> None:
            time.sleep(HARD_STOP_SECONDS)
            stop()

        _thread.start_new_thread(later, ())
        return
    import signal

    def stop_at_once(*_: object) -> None:
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, 0.1)  # telling it may hang for the same reason
        stop()

    signal.signal(signal.SIGALRM, stop_at_once)
    signal.setitimer(signal.ITIMER_REAL, HARD_STOP_SECONDS)


def _leave(event: str, agent: str, error: str) -> None:
    """Tell `hardwon doctor` how long it took and what went wrong."""
    try:
        home = home_directory()
        if event in EVENTS and (os.path.exists(os.path.join(home, DATABASE)) or load(home).is_on_server):
            from hardwon.store.spool import leave

            leave(home, event, agent, (time.perf_counter_ns() - _BEGAN) // 1000, error)
    except BaseException:  # noqa: S110 - nobody is left to tell
        pass


def _named(problem: BaseException) -> str:
    """An error without any text of the payload: its kind, where it was raised, and what the system says."""
    at, place = problem.__traceback__, ""
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if file.endswith(".py"):  # apsw adds lines of its C code
            place = f"{os.path.basename(file)}:{at.tb_lineno}"
        at = at.tb_next
    kind = type(problem)
    said = f": {problem.strerror}" if isinstance(problem, OSError) else ""
    if kind.__module__ == "apsw":
        said = f": {problem}"
    return f"{kind.__name__} at {place}{said}"


def respond(event: str, payload: dict[str, object], agent: str, config: HookConfig) -> str | None:
    """The answer as the JSON that the agent takes, empty if there is nothing to say; None if it is not for us."""
    adapter = module(agent)
    seen = adapter.event(event, payload)
    if seen is None:
        return None
    seen["agent"] = adapter.AGENT if agent in ("", "gemini") else agent
    context = _context(event, seen, config)
    if context is None:
        return None
    fits = bool(context) and len(context.encode("utf-8", "replace")) <= CONTEXT_BYTES
    from hardwon.store.spool import TOLD, note

    if fits or seen.get("silent"):
        note(home_directory(), agent, event, TOLD if fits else str(seen["silent"]))
    if not fits:
        return ""
    return json.dumps(adapter.answer(event, payload, context))


def _context(event: str, seen: dict[str, object], config: HookConfig) -> str | None:
    home = home_directory()
    mirror = os.path.join(home, MIRROR)
    is_mirrored = config.is_on_server or (config.team_url and os.path.exists(mirror))
    database = mirror if is_mirrored else os.path.join(home, DATABASE)
    if event != "session-end" and not os.path.exists(database):
        return ""  # nobody looks, either
    if _fired_twice(home, event, seen):
        return None
    if event == "session-end":
        from hardwon.hook.session_end import harvest

        if os.path.isdir(home) or config.is_on_server:  # `uninstall --purge` may have deleted it while sessions ran
            harvest(home, seen)
        return ""
    if event == "session-start":
        return _start(home, database, seen, config)
    if event == "prompt":
        from hardwon.hook.prompt import reminder

        return reminder(database, seen, config)
    from hardwon.hook.tool_failed import advice

    return advice(database, seen, config)


def _start(home: str, database: str, seen: dict[str, object], config: HookConfig) -> str:
    """The briefing, but for sub-agents; a conversation that goes on has it already, and is told how far it had come."""
    session = str(seen.get("session_id") or "")
    if seen.get("subagent") or seen.get("source") == "fork":
        seen["silent"] = "silent: a sub-agent's session, or a fork"
        return ""
    from hardwon.hook.session_start import briefing, taken_up

    if seen.get("source") == "resume" and session and done(home, "briefed", session):
        return taken_up(database, seen, config)

    said = briefing(database, seen, config)
    if said and session:
        first(home, "briefed", session)
    return said


def _fired_twice(home: str, event: str, seen: dict[str, object]) -> bool:
    """Cursor runs its own hooks and Claude Code's; settings of a user and of a project may both name us."""
    session = seen.get("session_id")
    if not session or not os.path.isdir(home):
        return False
    what = seen.get("call_id") or seen.get("error") or seen.get("prompt") or seen.get("source") or ""
    who = (str(session), str(seen.get("root_session_id")), str(seen.get("subagent")))
    return fired_twice(home, event, *who, str(what))
