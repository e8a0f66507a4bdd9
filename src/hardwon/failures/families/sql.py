"""Databases at the command line: sqlite3, psql, mysql, duckdb, redis; migrations of Alembic and Prisma."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_RULES: tuple[Rule, ...] = (
    ("postgres", "psql: ",
     r"^psql: (?:error: )?(?:connection to server .*? failed: )?(?:FATAL|ERROR)?:?\s*(?P<message>.+)$"),
    ("postgres", "ERROR:  ", r"^(?:psql:\S+?:\d+: )?ERROR:  (?P<message>(?! ).+)$"),
    ("postgres", "FATAL:  ", r"^(?:.*?)FATAL:  (?P<message>(?! ).+)$"),
    ("sqlite", "rror",
     (r"^(?:Error|Parse error|Runtime error)(?:: (?:in prepare|stepping)|"
     r"(?::)? near line \d+)?[,:] (?P<message>(?:no such |near |UNIQUE |NOT NULL |FOREIGN KEY |CHECK |"
     r"unable to open |database |table |duplicate |incomplete |file is not|attempt to|datatype |ambiguous |"
     r"\d+ values|unrecognized token|disk I/O|SQL logic).+?)(?: \(\d+\))?$")),
    ("mysql", "ERROR ", r"^(?P<type>ERROR \d{4}) \(\w+\)(?: at line \d+)?: (?P<message>.+)$"),
    ("duckdb", " Error:", r"^(?P<type>(?:Catalog|Binder|Parser|Conversion|IO|Constraint) Error): ?\n?(?P<message>.+)$"),
    ("redis", "Redis", r"^(?P<message>Could not connect to Redis) at"),
    ("alembic", "FAILED: ", r"^[ \t]*FAILED: (?P<message>.+)$"),
    ("prisma", "Error: P", r"^(?:Error: )?(?P<type>P\d{4}):? *\n?\s*(?P<message>.+)$"),
)  # fmt: skip
_ADDRESS = re.compile(r"connection to server at \"([^\"]+)\"(?: \([^)]+\))?, port \d+ failed: ")


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    return Span("sql", parts.get("type") or name, _ADDRESS.sub("", parts["message"]), "", match.group().strip())
