"""A command called wrongly: what argparse, click, clap, cobra, commander and getopt say of options and sub-commands."""

from __future__ import annotations

import re

from hardwon.failures.families.span import Rule, Span, first

_OPTION = r"(?:option|argument|flag|shorthand flag|switch|parameter)s?"
_RULES: tuple[Rule, ...] = (
    ("usage", ": error: ", r"^(?P<program>[\w./-]+(?: [\w-]+)*): error: (?P<message>.+)$"),
    ("usage", "rror: ",
     (r"^[Ee]rror: (?P<message>(?:No such (?:option|command)|Invalid value for|Missing (?:argument|option|"
     r"parameter)|Got unexpected extra argument).+)$")),
    ("usage", "rror: ",
     (rf"^[Ee]rror: (?P<message>(?:unknown (?:{_OPTION}|(?:sub)?command)|unexpected argument|"
     rf"unrecognized (?:subcommand|{_OPTION})|too many arguments|missing required argument|required option|"
     rf"option '?-|invalid value '|the following required arguments|the argument '|no such (?:sub)?command).*)$")),
    ("usage", "nknown ", rf"^(?P<message>[Uu]nknown (?:{_OPTION}|(?:sub)?command):? .+)$"),
    ("usage", "llegal option", r"^(?P<program>\S+?): (?P<message>illegal option -- .+)$"),
    ("usage", "option", rf"^(?P<program>\S+?): (?P<message>(?:invalid|unrecognized|unknown|bad) {_OPTION}.*)$"),
    ("usage", "argument",
     (rf"^(?P<program>\S+?): (?P<message>(?:fatal: )?(?:invalid|unrecognized|unknown|ambiguous) {_OPTION}.*|"
     rf"option requires an argument.*|option '[^']+' requires an argument)$")),
    ("usage", "requires",
     (r"^(?P<program>\S+?): (?P<message>option requires an argument.*|option '[^']+' requires an argument|"
     r".*: requires parameter.*)$")),
    ("usage", "arg(s)", r"^(?:Error: )?(?P<message>(?:accepts|requires) .*arg\(s\).*)$"),
    ("usage", "operand", r"^(?P<program>\S+?): (?P<message>(?:missing|extra) (?:file |destination file )?operand.*)$"),
)  # fmt: skip
_PROGRAM = re.compile(r"^[ \t]*[Uu]sage: (?:python[\d.]* -m )?([\w./-]+)", re.MULTILINE)
_CHOICES = re.compile(
    r" \(choose from .*\)$|; did you mean.*$|\. Did you mean.*$|, did you mean.*$| found$|\s+\(Did you mean.*$"
)


def find(text: str) -> Span | None:
    found = first(text, _RULES)
    if not found:
        return None
    match = found[1]
    message = _CHOICES.sub("", match.group("message")).strip()
    program = match.groupdict().get("program") or ""
    if not program and (named := _PROGRAM.search(text)):
        program = named.group(1)
    program = re.sub(r"^.*[/\\]", "", program).removesuffix(".exe")
    if program in ("error", "fatal", "Error", "bash", "sh", "zsh"):
        program = ""
    return Span("usage", "usage", message, program, match.group().strip())
