"""Ten machines push what the shared projects taught to one service: does the team's store equal that of one machine?

`python -m benchmarks.push`: each file of sessions lies on one machine; all machines push to a real service on a real
PostgreSQL, in any order, at the same time, are killed and push again. What comes of it is compared with what one
machine that harvested all files pushes, and with the store that it harvested. A push of one session is
timed beside a bare insert of the rows that it sends.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from tests.conftest import SHARED, same_marks
from tests.serve.service import Service, environment, served

from benchmarks.timing import markdown
from benchmarks.writers import server, workspace
from hardwon import Hardwon, connect, team
from hardwon.exchange.team import SENT, SessionRows
from hardwon.sessions.project import project_id
from hardwon.store import schema
from hardwon.store.database import connect as connect_store

MACHINES = 10
KILLS = 30
SESSIONS_TIMED = 150
NOT_SENT = {
    "session": ("path", "task"),
    "opened": ("words",),
    "failure_in_project": ("place",),
    "project": ("key", "name"),
    "lesson_compared": ("state",),
}
"""Columns that are not sent, or made of what is not; and the names that a team gives to folders without a remote."""
TABLES_NOT_SENT = frozenset(("passage", "attempt", "attempt_file", "project_root", "project_alias", "lesson_key"))
_PUSH = "from hardwon import Hardwon, team\nwith Hardwon() as m, team.service(m) as s: team.push(m, s)"
_AT_ONCE = 3


class Machine(NamedTuple):
    home: Path
    files: list[Path]


class Differences(NamedTuple):
    equal: int
    """Rows that are the same in both."""
    missing: int
    added: int
    changed: Counter[str]
    """Table and column → values that are not the same."""
    examples: list[str]


def machine(home: Path, files: Sequence[Path]) -> Machine:
    """One that has harvested its files; where it has before, as it is."""
    if (home / "hardwon.db").exists():
        return Machine(home, list(files))
    with Hardwon(home) as memory:
        same_marks(memory)
        memory.harvest(list(files), mine=True)
    return Machine(home, list(files))


def team_names(home: Path) -> dict[str, str]:
    """Session → what the team calls its project; a folder gets the name of its last part and its id."""
    with Hardwon(home) as memory:
        rows = memory.reading().query(
            "SELECT s.id, p.id, p.key, p.name FROM session s JOIN project p ON p.id = s.project"
        )
    return {id: f"{name}-{project}" if team.is_folder(key) else key for id, project, key, name in rows}


def join(one: Machine, address: str, token: str, names: dict[str, str]) -> None:
    """Say yes to all its projects, each under the name that the team has for its sessions."""
    with Hardwon(one.home) as memory:
        held = memory.reading().query("SELECT id, project FROM session WHERE project IS NOT NULL")
    called: dict[str, Counter[str]] = defaultdict(Counter)
    for session, project in held:
        called[project][names[session]] += 1
    chosen = ", ".join(f"{project}={found.most_common(1)[0][0]}" for project, found in sorted(called.items()))
    (one.home / "config.toml").write_text(f'team_url = "{address}"\npush_projects = "{chosen}"\n', encoding="utf-8")
    file = one.home / team.TOKEN_FILE
    file.write_text(token, encoding="utf-8")
    file.chmod(0o600)


def push_all(machines: Sequence[Machine], kills: int, dice: random.Random) -> int:
    """In any order, some at a time; so many are killed, and push again. Returns how many were."""
    waiting = [one for one in machines for _ in range(2)]
    dice.shuffle(waiting)
    killed = 0
    soonest = 0.2  # before any can be done; later ones mostly in the middle
    running: list[tuple[Machine, subprocess.Popen[bytes], float]] = []
    while waiting or running:
        while waiting and len(running) < _AT_ONCE:
            one = waiting.pop()
            command = [sys.executable, "-c", _PUSH]
            process = subprocess.Popen(command, env=environment(one.home, one.home), stderr=subprocess.PIPE)
            doomed = time.monotonic() + (soonest or dice.uniform(0.3, 3.0)) if killed < kills else float("inf")
            soonest = 0.0
            running.append((one, process, doomed))
        time.sleep(0.05)
        for entry in list(running):
            one, process, doomed = entry
            if process.poll() is None and time.monotonic() > doomed:
                process.kill()
                process.communicate()
                killed += 1
                waiting.insert(0, one)
                running.remove(entry)
            elif process.poll() is not None:
                running.remove(entry)
                told = process.communicate()[1].decode()
                if process.returncode:  # the service had too much to do, and said so: the next time it goes on
                    assert "try again" in told, told
                    waiting.insert(0, one)
    return killed


@contextmanager
def team_service(folder: Path, place: Path | str) -> Iterator[tuple[Service, str]]:
    """A service with an empty store, and a token that may push to it."""
    home = folder / "hardwon"
    unhurried = {"HARDWON_SERVE_RATE": "100000", "HARDWON_SERVE_BURST": "100000"}
    surroundings = {**environment(home, place), **unhurried}
    with served(surroundings) as running:
        token = running.make_token("ada", "push", "read")
        db = connect_store(place, write=True)
        with db.transaction():
            db.execute("UPDATE meta SET value = ? WHERE key = 'scrub_key'", ("5c" * 16,))
        db.close()
        yield running, token


def content(place: Path | str, names: dict[str, str]) -> dict[str, dict[tuple[Any, ...], dict[str, Any]]]:
    """What a store has learned: table → key → row, with projects as the team calls them."""
    db = connect_store(place)
    rename = {id: project_id(names[id]) for id, _ in db.query("SELECT id, key FROM project") if id in names}
    for id, kind, project, text in db.query("SELECT id, kind, project, text FROM lesson"):
        rename[id] = f"{kind} {rename.get(project, project)} {text}"
    found = {}
    for table in schema.TABLES.copied:
        if not table.content or table.name in TABLES_NOT_SENT:
            continue
        columns = [column.name for column in table.columns if column.content]
        rows = [
            {name: rename.get(value, value) for name, value in zip(columns, row, strict=True)}
            for some in table.rows(db, columns)
            for row in some
        ]
        found[table.name] = {tuple(row[name] for name in table.key): row for row in rows}
    db.close()
    return found


def compared(one: dict[str, Any], other: dict[str, Any]) -> Differences:
    equal = missing = added = 0
    changed: Counter[str] = Counter()
    examples: list[str] = []
    for table, rows in one.items():
        ignored = NOT_SENT.get(table, ())
        theirs = other[table]
        missing += len(rows.keys() - theirs.keys())
        added += len(theirs.keys() - rows.keys())
        examples += [f"only one: {table} {rows[key]}" for key in list(rows.keys() - theirs.keys())[:2]]
        examples += [f"only team: {table} {theirs[key]}" for key in list(theirs.keys() - rows.keys())[:2]]
        for key in rows.keys() & theirs.keys():
            differing = [
                name for name, value in rows[key].items() if name not in ignored and theirs[key][name] != value
            ]
            equal += not differing
            for name in differing:
                if not changed[f"{table}.{name}"]:
                    examples.append(f"{table}.{name}: {rows[key][name]!r} / {theirs[key][name]!r}")
            changed.update(f"{table}.{name}" for name in differing)
    return Differences(equal, missing, added, changed, examples)


def sent_by(one: Machine, names: dict[str, str]) -> Iterator[SessionRows]:
    with Hardwon(one.home) as memory:
        db = memory.reading()
        for id, _ in db.query("SELECT id, key FROM project ORDER BY id"):
            sessions = [row[0] for row in db.query("SELECT id FROM session WHERE project = ?", (id,))]
            if sessions:
                yield from (rows for _, rows in team.outgoing(db, id, names[sessions[0]]))


def timed(
    sessions: Sequence[SessionRows], service: Service, token: str, address: str
) -> tuple[list[float], list[float]]:
    """Seconds of a push of each session alone, and of a bare insert of the same rows in a transaction of its own."""
    pushes, inserts = [], []
    with connect(service.address, token) as client, psycopg.connect(address) as bare:
        for table in SENT:
            names = ", ".join(table.sent)
            bare.execute(f"CREATE TABLE bare_{table.name} AS SELECT {names} FROM {table.name} LIMIT 0")
        bare.commit()
        for one in sessions:
            began = time.perf_counter()
            client.team.take([one])
            pushes.append(time.perf_counter() - began)
            began = time.perf_counter()
            with bare.cursor() as cursor:
                for name, rows in one.rows.items():
                    marks = ", ".join(["%s"] * len(rows[0])) if rows else ""
                    if rows:
                        cursor.executemany(f"INSERT INTO bare_{name} VALUES ({marks})", rows)
            bare.commit()
            inserts.append(time.perf_counter() - began)
    return pushes, inserts


def main(machines: int = MACHINES, kills: int = KILLS, kept: str = "") -> str:
    """`kept` is a folder for the machines' stores, to be used again."""
    dice = random.Random(26)
    files = sorted(path for path in (SHARED / "projects").rglob("*") if path.is_file() and path.suffix != ".json")
    with tempfile.TemporaryDirectory(prefix="hardwon-push-") as name, server() as postgres, ExitStack() as services:
        folder, homes = Path(name), Path(kept or name)
        whole = machine(homes / "one" / "hardwon", files)
        names = team_names(whole.home)
        shares: list[list[Path]] = [[] for _ in range(machines)]
        for file in files:
            dice.choice(shares).append(file)
        ten = [machine(homes / f"m{number}" / "hardwon", share) for number, share in enumerate(shares)]
        print(f"{len(files)} files on {machines} machines", file=sys.stderr, flush=True)
        places = [workspace(postgres.get_uri()) for _ in range(3)]
        for number in range(len(places)):
            (folder / f"s{number}").mkdir()
        began = time.monotonic()
        running, token = services.enter_context(team_service(folder / "s0", places[0]))
        for one in ten:
            join(one, running.address, token, names)
        killed = push_all(ten, kills, dice)
        seconds = time.monotonic() - began
        running, token = services.enter_context(team_service(folder / "s1", places[1]))
        join(whole, running.address, token, names)
        push_all([whole], 0, dice)
        running, token = services.enter_context(team_service(folder / "s2", places[2]))
        sample = dice.sample(list(sent_by(whole, names)), SESSIONS_TIMED)
        pushes, inserts = timed(sample, running, token, places[2])
        by_project = {}
        with Hardwon(whole.home) as memory:
            for session, project in memory.reading().query("SELECT id, project FROM session WHERE project <> ''"):
                by_project[project] = names[session]
        of_ten, of_one = (content(place, {}) for place in places[:2])
        there = compared(of_one, of_ten)
        here = compared(content(whole.home / "hardwon.db", by_project), of_one)
    for line in (*there.examples, "---", *here.examples):
        print(line[:600], file=sys.stderr)
    rows = [
        (
            what,
            f"{one.equal:,}",
            f"{one.missing:,}",
            f"{one.added:,}",
            ", ".join(f"{k} {n}" for k, n in one.changed.items()),
        )
        for what, one in (("ten machines / one machine's push", there), ("one machine's push / its harvest", here))
    ]
    ratio = statistics.median(push / insert for push, insert in zip(pushes, inserts, strict=True))
    milliseconds = sorted(1000 * each for each in pushes)
    note = (
        f"{len(files)} files, {machines} machines, {killed} pushes killed, {seconds:.0f} s. "
        f"A push of one session (n = {len(pushes)}): median "
        f"{statistics.median(milliseconds):.0f} ms, p95 {milliseconds[int(0.95 * len(milliseconds))]:.0f} ms, "
        f"{ratio:.1f} times a bare insert of its rows ({1000 * statistics.median(inserts):.1f} ms)."
    )
    return markdown("Push", ("compared", "rows equal", "missing", "added", "other values"), rows, note)


if __name__ == "__main__":
    print(main(kept="".join(sys.argv[1:2])))
