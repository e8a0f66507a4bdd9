"""What Docker, git and GitHub, HTTP clients and databases say."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first
from hardwon.text.normalise import lazy_pattern

# Docker and Compose: the daemon, builds, services.

_DOCKER_RULES: tuple[Rule, ...] = (
    ("no daemon", "Cannot connect to the Docker", r"(?P<message>Cannot connect to the Docker daemon)"),
    ("no daemon", "failed to connect to the docker", r"(?P<message>failed to connect to the docker API)"),
    ("permission", "permission denied while trying",
     r"(?P<message>permission denied while trying to connect to the [Dd]ocker daemon socket)"),
    ("daemon", "rror response from daemon",
     r"[Ee]rror response from daemon: (?!.*\.\.\. +[\d.]+s\s*$)(?P<message>.+)$"),
    ("build", "failed to solve", r"^(?:ERROR: |target \S+: )*failed to solve: (?P<message>.+)$"),
    ("compose", "no such service", r"^(?P<message>no such service: \S+)$"),
    ("compose", "no configuration file", r"^(?P<message>no configuration file provided)"),
    ("compose", "has neither", r"^(?:.*?)(?P<message>service \"[^\"]+\" has neither an image nor a build context)"),
    ("compose", "dependency failed", r"^(?:.*?)(?P<message>dependency failed to start: .+)$"),
    ("compose", "compose", r"^(?P<message>(?:yaml: |validating |services\.).+)$"),
    ("docker", "is not a docker command", r"^docker: (?P<message>'[^']+' is not a docker command)"),
    ("docker", "invalid reference", r"^(?:docker: )?(?P<message>invalid reference format.*)$"),
)  # fmt: skip
_NAME = lazy_pattern(r"( on endpoint \S+| by container \"?)\s*\(?[0-9a-f]{12,64}\)?\"?")
_CHECKSUM = lazy_pattern(r"failed to compute cache key: (?:failed to calculate checksum of ref \S+ )?")
_PORT = lazy_pattern(r"^.* on endpoint (\S+).*: Bind for \S+ failed: (port is already allocated)")
_STEP = lazy_pattern(r"process \"(?:/bin/(?:ba)?sh -\w+ )?(.+)\" did not complete successfully: (.+)")
_ADVICE = lazy_pattern(r"\. (?:You have to|See |Is the|Did you|Run )")


def find_docker(text: str) -> Span | None:
    found = first(text, _DOCKER_RULES)
    if not found:
        return None
    name, match = found
    message = _PORT.sub(r"'\1': \2", match.group("message").removeprefix("Conflict. "))
    if step := _STEP.match(message):
        return Span(
            "docker", name, f"process did not complete successfully: {step.group(2)}", step.group(1), match.group()
        )
    message = _CHECKSUM.sub("", _NAME.sub(r"\1", message))
    return Span("docker", name, _ADVICE.split(message, maxsplit=1)[0].strip(), "", match.group().strip())


# git and gh: a rejected push, a conflict, a `fatal:` or `error:` line, what GitHub answers.

_LINE = lazy_pattern(r"^(?:remote: )?(fatal|error): (?!failed to push some refs)(.+)$", re.MULTILINE)
_REJECTED = lazy_pattern(r"^ ?! \[(?:remote )?rejected\].*\((.+)\)$", re.MULTILINE)
_CONFLICT = lazy_pattern(r"^CONFLICT \(([^)]+)\): (.+)$", re.MULTILINE)
_HINT = lazy_pattern(r"^hint: .*\bgit\b|^usage: git\b|^Aborting$", re.MULTILINE)
_WORDS = lazy_pattern(
    r"\b(?:git|refs?|worktrees?|branch(?:es)?|repository|pathspec|commits?|committed|merge|rebas\w+|remote|"
    r"stash|index|revision|tag"
    r"|cherry-pick|checkout|patch|HEAD|submodule|upstream|unmerged|unstaged|pull|Username|Password|detached|"
    r"overwritten by"
    r"|unable to access|email address|untracked|object|ambiguous argument)\b"
)
# A commit's subject, the machine's own folder or name.
_REST = lazy_pattern(r"\.\.\. | at '[/~][^']*'$| \(got '")
_GIT_RULES: tuple[Rule, ...] = (
    ("rejected", "remote: error: GH", r"^remote: error: (GH\d+: .+?)\.?$"),
    ("git", "not a git command", r"^git: ('\S+' is not a git command)"),
    ("nothing to commit", "nothing to commit", r"^(nothing to commit).*$"),
    ("nothing to commit", "nothing added", r"^(nothing added to commit but untracked files present).*$"),
    ("nothing to commit", "no changes added", r"^(no changes added to commit).*$"),
    ("ignored", "ignored by one of", r"^The following paths are (ignored by one of your \.gitignore files):?$"),
    ("ssh", "(publickey", r"(Permission denied \(publickey)"),
    ("ssh", "Host key", r"^(Host key verification failed)"),
)
_GITHUB: tuple[Rule, ...] = (
    ("gh", "GraphQL: ", r"^(?:.*?)GraphQL: (.+?)(?: \([\w.]+\))?$"),
    ("gh", "HTTP 4", r"^(?:gh: |.*?: )?(.* ?\(HTTP \d+\)|HTTP \d{3}: [^(\n]+)"),
    ("gh", "gh auth",
     r"^(?:To get started with GitHub CLI|.*not logged in(?:to)? (?:to )?any (?:GitHub )?hosts).*(gh auth login)"),
    ("gh", "pull request",
     r"^(no (?:open )?pull requests found for branch \".+\"|a pull request for branch .+ already exists)"),
    ("gh", "default remote repository", r"(No default remote repository has been set)"),
    ("gh", "no git remotes found", r"^(no git remotes found)"),
    ("gh", "could not find any", r"^(could not find any .+)$"),
)  # fmt: skip


def find_git(text: str) -> Span | None:
    if found := first(text, _GIT_RULES[:1]):
        return _of(found)
    if rejected := _REJECTED.search(text):
        return Span("git", "rejected", rejected.group(1), "", rejected.group().strip())
    if conflict := _CONFLICT.search(text):
        return Span(
            "git",
            "conflict",
            f"{conflict.group(1)}: {conflict.group(2).removeprefix('Merge conflict in ')}",
            "",
            conflict.group(),
        )
    if found := first(text, _GIT_RULES[6:]):
        return _of(found)  # before the `fatal:` that follows and says less
    lines = list(_LINE.finditer(text))
    chosen = next((found for found in lines if found.group(1) == "fatal"), lines[0] if lines else None)
    if chosen and (_WORDS.search(chosen.group(2)) or _HINT.search(text)):
        message = _REST.split(chosen.group(2), maxsplit=1)[0]
        return Span("git", chosen.group(1), message, "", f"{chosen.group(1)}: {message}")
    if found := first(text, _GITHUB) or first(text, _GIT_RULES[1:6]):
        return _of(found)
    return None


def _of(found: tuple[str, re.Match[str]]) -> Span:
    message = found[1].group(1).strip()
    return Span(
        "git", found[0], "not logged in" if message == "gh auth login" else message, "", found[1].group().strip()
    )


# Asking another machine: curl, wget, ssh, and what HTTP libraries say of a status.

_HTTP_RULES: tuple[Rule, ...] = (
    ("curl", "curl: (", r"^(?:.*?)(?P<type>curl: \(\d+\)) (?P<message>.+)$"),
    ("wget", " ERROR ", r"^.*? ERROR (?P<code>\d{3}): (?P<message>.+?)\.?$"),
    ("wget", "failed: Connection",
     r"^Connecting to (?P<host>\S+) .*failed: (?P<message>Connection refused|Connection timed out)"),
    ("wget", "unable to resolve host", r"^wget: (?P<message>unable to resolve host address .+)$"),
    ("wget", "wget: ",
     r"^wget: (?P<message>(?:bad address|server returned error|can't connect|download timed out).*)$"),
    ("ssh", "ssh: ", r"^ssh: (?P<message>connect to host \S+ port \d+: .+|Could not resolve hostname [^:\n]+)"),
    ("status", "status code ", r"^(?:.*?)(?P<message>[Rr]equest failed with status code \d+)"),
    ("status", "HTTP Error ", r"^(?:.*?)(?P<message>HTTP Error \d{3}: .+)$"),
    ("status", "HTTP/", r"^[<\s]*HTTP/[\d.]+ (?P<code>[45]\d\d) ?(?P<message>.*)$"),
    ("status", "statusCode",
     r"\"statusCode\":\s?(?P<code>[45]\d\d).*?\"(?:message|error)\":\s?\"(?P<message>[^\"]+)\""),
)  # fmt: skip
_CONNECT = lazy_pattern(r"^(Failed to connect to \S+).*$")


def find_http(text: str) -> Span | None:
    found = first(text, _HTTP_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    message = _CONNECT.sub(r"\1", parts["message"].strip())
    if code := parts.get("code"):
        message = f"status {code} {message}".strip()
    elif host := parts.get("host"):
        message = f"{host} {message}"
    message = re.sub(r"(?<=returned error: )(\d{3})", r"status \1", message)
    return Span("http", parts.get("type") or name, message, "", match.group().strip())


# Databases at the command line: sqlite3, psql, mysql, duckdb, redis; migrations of Alembic and Prisma.

_SQL_RULES: tuple[Rule, ...] = (
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
    ("alembic", "FAILED: ",
     r"^[ \t]*FAILED: (?P<message>.*\b(?:revisions?|heads?|database|config|scripts?|migrations?|alembic)\b.*)$"),
    ("prisma", "Error: P", r"^(?:Error: )?(?P<type>P\d{4}):? *\n?\s*(?P<message>.+)$"),
)  # fmt: skip
_ADDRESS = lazy_pattern(r"connection to server at \"([^\"]+)\"(?: \([^)]+\))?, port \d+ failed: ")


def find_sql(text: str) -> Span | None:
    found = first(text, _SQL_RULES)
    if not found:
        return None
    name, match = found
    parts = match.groupdict()
    return Span("sql", parts.get("type") or name, _ADDRESS.sub("", parts["message"]), "", match.group().strip())
