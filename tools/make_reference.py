"""Writes the pages of reference from the program itself: commands, settings, HTTP, MCP, redaction, trust.

Run by `make generated`. A test compares each page with what is made here.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import typer

from hardwon.cli.app import GROUPS, app
from hardwon.config import MEANINGS, Config
from hardwon.harvest.trust import TABLE
from hardwon.scrub.scrubber import listed

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = DOCS.parent / "src" / "hardwon"
NOTE = "<!-- Written by `make generated`; do not change it by hand. -->\n\n"

VARIABLES = {
    "HARDWON_HOME": "the folder that holds everything; by default the user's data folder",
    "HARDWON_OFF": (
        "`1`: no session is read, agents are told nothing (hooks, MCP, `bootstrap`, `map`, `failures match`), "
        "and nothing that an agent or a program says is written (attempts, interactions, documents, proposals, feedback"
        "). What you do yourself still works: `remember`, `review`, `search`, `forget`, backups"
    ),
    "HARDWON_TEAM_TOKEN": "the token of `team_url`",
    "HARDWON_GITHUB_TOKEN": "with which `worker` reads artefacts of private repositories",
    "HARDWON_RUN": "the name of a loop, for `run`, `capture`, `journal` and `verify`",
    "HARDWON_FAILURE_MEMORY": "`0`: `run` only runs, `capture` records nothing, no block of past failures",
    "HARDWON_EMBEDDING_KEY": "the key of `embedding_url`",
    "HARDWON_LLM_KEY": "the key of `llm_url`",
    "HARDWON_SERVE_RATE": "requests a second that a token may make, on average; `HARDWON_SERVE_BURST`: at once",
    "HARDWON_SERVE_LARGEST_BODY": "bytes of a request; `HARDWON_SERVE_BODY_SECONDS`, `HARDWON_SERVE_HEAD_SECONDS`: "
    "how long it may take; `HARDWON_SERVE_READERS`: how many read at once",
}


COMMANDS = """
Results go to stdout, progress and messages to stderr. Exit code 0 is success, 1 a problem said in one line, 2 wrong
usage. Every command takes `--help` and `--json` ([what it prints](json.md)). Where an id is wanted, its beginning is
enough."""
FOR_AGENTS = """
`hardwon-hook session-start|prompt|tool-failed|session-end [--agent NAME]` reads an agent's payload on stdin and answers
with the JSON that the agent takes, or with nothing. It always exits 0, within 2 seconds."""
SETTINGS = """
`hardwon config` shows them and where each comes from, `hardwon config budget 1200` changes one in `config.toml` of the
home folder and leaves the rest of the file as it is written, `HARDWON_BUDGET=1200` overrides one for a command. Hooks
follow `budget`, `min_confidence`, `experiment` and `database` from their next call on; with a file that cannot be read
they go on with the defaults, and `hardwon doctor` says so."""
HTTP = """
What [`hardwon serve`](service.md) answers; the OpenAPI 3.1 schema is at `/schema`. The token goes into the header
`Authorization: Bearer …`; answers are JSON, times ISO-8601 in UTC, errors `application/problem+json`."""
MCP = """
What [`hardwon mcp`](mcp.md) and `/mcp` of the service offer. An argument that a tool does not take is refused, so that
nothing is lost in silence."""
MCP_BESIDES = """
Resources: `hardwon://bootstrap/{project}`, `hardwon://lessons/{id}/sources`. Prompt: `reflect` on an attempt by its
number."""
MODULES = """
Every module of `src/hardwon/` and what it is for, by its own first sentence. [Architecture](architecture.md) tells how
they work together."""
REDACTED = """
`hardwon scrub --rules` prints this table; [secrets are redacted](scrubbing.md) tells how it is used."""


def commands() -> str:
    """Every command with its options, as `--help` tells them."""
    root: Any = typer.main.get_command(app)
    parts = [_head("Commands", COMMANDS)]
    for group, names in GROUPS.items():
        parts.append(f"\n## {group}\n")
        for name in names:
            command = root.commands[name]
            subs = getattr(command, "commands", {})
            if not subs or command.invoke_without_command:
                parts.append(_command(f"hardwon {name}", command))
            parts += [_command(f"hardwon {name} {sub}", each) for sub, each in subs.items()]
    parts.append(f"\n## For agents\n\n{_flowed(FOR_AGENTS)}\n")
    return "".join(parts)


def _command(title: str, command: Any) -> str:
    about, *examples = inspect.cleandoc(command.help or "").split("Example: ")
    arguments = [_argument(each) for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    wanted = [each for each in options if each.opts[0] not in ("--json", "--help")]
    usage = " ".join([title, *arguments])
    lines = [f"{usage}{' [OPTIONS]' if wanted else ''}", *(f"$ {example.strip()}" for example in examples)]
    text = f"\n### {title}\n\n{_flowed(about)}\n\n```text\n" + "\n".join(lines) + "\n```\n"
    if wanted:
        text += "\n" + _table(("option", ""), ((_option(each), _said(each)) for each in wanted))
    return text


def _argument(each: Any) -> str:
    name = (each.metavar or each.name).upper().strip("[]<>").removesuffix("...")
    name += "…" if each.nargs == -1 else ""
    return name if each.required else f"[{name}]"


def _option(each: Any) -> str:
    names = ", ".join(f"`{name}`" for name in each.opts)
    if each.is_flag:
        return ", ".join([names, *(f"`{name}`" for name in each.secondary_opts if each.default)])
    value = (each.metavar or each.name).strip("_").replace("_", "-").upper()
    return f"{names} *{value}*{' …' if each.multiple else ''}"


def _said(each: Any) -> str:
    given = each.default
    shown = "" if each.is_flag or callable(given) or given in (None, "", [], ()) else f" Default: `{given}`."
    return _cell(f"{each.help or ''}{shown}")


def settings() -> str:
    defaults = msgspec.structs.asdict(Config())
    rows = ((f"`{name}`", f"`{defaults[name]}`" if defaults[name] != "" else "", _cell(text))
            for name, text in MEANINGS.items())  # fmt: skip
    return (
        _head("Settings", SETTINGS)
        + "\n"
        + _table(("setting", "default", "meaning"), rows)
        + "\n## Variables\n\nEvery setting has one, `HARDWON_` and its name. Besides:\n\n"
        + _table(("variable", "meaning"), ((f"`{name}`", text) for name, text in VARIABLES.items()))
    )


def http() -> str:
    """Every request that the service answers, from its own OpenAPI schema."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Litestar's own
        from hardwon.serve.app import resources  # noqa: PLC0415 - an extra
        from hardwon.serve.middleware import ServiceSettings  # noqa: PLC0415

        pool: Any = None
        schema = resources(pool, ServiceSettings()).openapi_schema.to_schema()
    components = schema["components"]["schemas"]
    parts = [_head("HTTP", HTTP)]
    last = ""
    for path, verbs in sorted(schema["paths"].items()):
        if not path.startswith(("/api", "/health")):
            continue
        noun = path.removeprefix("/api").strip("/").split("/")[0] or "api"
        if noun != last:
            parts.append(f"\n## {noun}\n")
            last = noun
        for verb, told in verbs.items():
            parts.append(f"\n**`{verb.upper()} {path}`**\n\n{_flowed(told.get('description', ''))}\n")
            asked = [each for each in told.get("parameters", []) if each["in"] == "query"]
            body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if asked:
                parts.append(f"\nQuery: {', '.join(_asked(each) for each in asked)}.\n")
            if fields := _fields(body, components):
                parts.append(f"\nBody: {', '.join(fields)}.\n")
    return "".join(parts)


def _asked(each: dict[str, Any]) -> str:
    return f"`{each['name']}`{' (required)' if each.get('required') else ''}"


def _fields(body: dict[str, Any], components: dict[str, Any]) -> list[str]:
    for part in (body, *body.get("oneOf", []), *body.get("anyOf", [])):
        if name := part.get("$ref", "").rpartition("/")[2]:
            found = components[name]
            needed = set(found.get("required", []))
            return [f"`{field}`{' (required)' if field in needed else ''}" for field in found.get("properties", {})]
    return []


def mcp_tools() -> str:
    import asyncio  # noqa: PLC0415

    from hardwon.serve.mcp import build  # noqa: PLC0415 - an extra

    nobody: Any = None
    tools = asyncio.run(build(nobody).list_tools())
    rows = []
    for tool in tools:
        needed = set(tool.input_schema.get("required", []))
        arguments = [f"**`{name}`**" if name in needed else f"`{name}`" for name in tool.input_schema["properties"]]
        scope = "read" if tool.annotations and tool.annotations.read_only_hint else "write"
        rows.append((f"`{tool.name}`", _cell(_flowed(tool.description or "")), " ".join(arguments), f"`{scope}`"))
    head = ("tool", "what it does", "arguments (**needed**)", "scope over HTTP")
    return f"{_head('MCP tools', MCP)}\n{_table(head, rows)}\n{_flowed(MCP_BESIDES)}\n"


def redacted() -> str:
    rows = ((f"`{mark}`", _cell(about), where) for mark, about, where in listed())
    return f"{_head('What is redacted', REDACTED)}\n{_table(('mark', 'what', 'where'), rows)}"


def trust() -> str:
    rows = (
        (origin, basis, row.status if row else "not kept", row.trust if row else "")
        for (origin, basis), row in TABLE.items()
    )
    return _table(("origin", "basis", "status", "trust"), rows)


def modules() -> str:
    """What each module is for, by the first sentence of its docstring."""
    parts = [_head("Modules", MODULES)]
    folders = sorted({path.parent for path in SOURCE.rglob("*.py")}, key=lambda path: path.relative_to(SOURCE).parts)
    for folder in folders:
        name = "/".join(folder.relative_to(SOURCE).parts)
        rows = [(f"`{path.name}`", _purpose(path)) for path in sorted(folder.glob("*.py"))]
        about = _purpose(folder / "__init__.py")
        parts.append(f"\n## {name or 'hardwon'}\n\n" + (f"{about}\n\n" if about else ""))
        parts.append(_table(("module", ""), (row for row in rows if row[0] != "`__init__.py`")))
    return "".join(parts)


def _purpose(path: Path) -> str:
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) if path.exists() else ""
    return _cell((doc or "").split("\n\n")[0])


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "settings.md": settings,
    "http.md": http,
    "mcp-tools.md": mcp_tools,
    "modules.md": modules,
    "redacted.md": redacted,
}
BLOCKS: dict[tuple[str, str], Callable[[], str]] = {("trust.md", "trust"): trust}
"""Page and mark → what stands between the marks."""


@cache
def generated() -> dict[str, str]:
    """Each page as it should be."""
    pages = {name: make() for name, make in PAGES.items()}
    for (name, mark), make in BLOCKS.items():
        text = pages.get(name) or (DOCS / name).read_text(encoding="utf-8")
        begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
        before, found, rest = text.partition(begin)
        assert found, f"{name} has no {begin}"
        pages[name] = f"{before}{begin}{make()}{end}{rest.partition(end)[2]}"
    return pages


def _head(title: str, about: str) -> str:
    return f"# {title}\n\n{NOTE}{_flowed(about)}\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|")


def _flowed(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


if __name__ == "__main__":
    for page, text in generated().items():
        (DOCS / page).write_text(text, encoding="utf-8")
