"""Which line of an output says what went wrong: whole, with what it leads to, and a cause rather than a consequence.

Plain strings and no other module of ours but the patterns: the hook starts cold at every failed call.
"""

from __future__ import annotations

import re

from hardwon.text.normalise import lazy_pattern

# Whole lines: a terminal breaks a line at its edge, and draws over what it had shown.

CUT = "…"
"""Stands at the end of a line whose rest the terminal drew over."""
_NARROWEST_SCREEN = 60
_OPENS = lazy_pattern(r"(?:^|[\s(\[:=,])(['\"])(?=\S)|(\()")
_NEW_RECORD = lazy_pattern(
    r"\s{2,}|(?:[A-Z]:[\\/]|~?/|\.{1,2}/)\S*[(:]\d|\S+\.\w+[(:]\d+|at |\d+ ?[|│]|[-*+>$#✓✗✔✖×(\[{}═━─]"
    r"|(?:\w*[Ee]rror|ERROR|\w+Exception|fatal|[Ww]arning|FAIL|PASS)\b"
)
_END_OF_A_LINK = lazy_pattern(r": error [A-Z]{2,4}\d{4}: [^(]*\)$")
"""Stands where the message stood: two lines of a screen became one."""
_MAX_CHARACTERS_JOINED = 1_000
_MAX_LINES_JOINED = 3


def is_cut(line: str) -> bool:
    """Whether the screen has drawn over the end of a line."""
    return line.endswith(CUT) or _END_OF_A_LINK.search(line) is not None


def _is_open(line: str) -> bool:
    """Whether what was quoted or bracketed last has no end."""
    opened = list(_OPENS.finditer(line))
    return bool(opened) and (opened[-1].group(1) or ")") not in line[opened[-1].end() :]


def with_whole_lines(text: str) -> str:
    """Lines that were broken within a name or quotes, whole again: the next line closes what the first left open."""
    lines = text.split("\n")
    if not any(len(line) >= _NARROWEST_SCREEN for line in lines):
        return text
    whole: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if _NARROWEST_SCREEN <= len(line) < _MAX_CHARACTERS_JOINED and line[-1] not in " ,;{([" and _is_open(line):
            for more in range(1, _MAX_LINES_JOINED):
                rest = lines[at : at + more]
                if len(rest) < more or not rest[-1].strip() or _NEW_RECORD.match(rest[-1]):
                    break
                if not _is_open(joined := "".join((line, *rest))):
                    line, at = joined, at + more
                    break
        whole.append(line)
    return "\n".join(whole)


# A consequence says that something failed, not what: the one that ran it speaks, or it only counts.

_SPOKEN_BY = lazy_pattern(
    r"\W{0,4}(?:\w{0,40}[Ee]rror|ERROR|FATAL|fatal|FAILED|npm (?:error|ERR!)|remote)\b[:!\]]{0,2}\s*"
)
_CONSEQUENCE = lazy_pattern(
    r"(?:the )?(?:command|process|script|task|step|job|subprocess|child process|hook|recipe|target|build|tests?|lint"
    r"|check|compilation|type ?check|run|suite|execution|operation)s?\b"
    r"(?: [`'\"(<][^`'\")>]{0,80}[`'\")>]| \S{1,80})? ?"
    r"(?:failed|failure|exited|errored|returned|did not (?:complete|finish)|(?:has |was )?(?:terminated|killed))\b"
    r"|g?make(?:\[\d+\])?: \*\*\* \[.{1,200}\] Error"
    r"|exit(?:ed)? (?:with )?(?:code|status)|\S{1,80} exited with|process (?:exited|completed with)|command failed"
    r"|.{0,200}\b(?:returned non-zero exit status|did not complete successfully: exit code"
    r"|failed with exit (?:code|status))"
    r"|\d+ (?:tests?|checks?|problems?|errors?|failures?|failed|failing|suites?)\b|some (?:tests?|checks?) failed"
    r"|(?:there (?:were|was)|found) \d+ (?:tests?|errors?|failures?|problems?)"
    r"|an? (?:unexpected |internal |unknown )?error (?:has )?occurred\W*$|something went wrong\W*$"
    r"|(?:unhandled|uncaught) (?:exception|error|rejection)\W*$|failed\W*$|see (?:above|below|log)\b",
    re.IGNORECASE,
)
_PLACE = r"(?:[A-Za-z]:)?[\w@~…./\\#-]*[\w-]+\.\w{1,5}(?:[:(]\d+(?:[:,]\d+)?\)?)?|\bline \d+|\bcol(?:umn)? \d+"
_SAYS_NOTHING = r"(?i)\b(?:error|fatal|failed|failure|fail|exception|in|at|on|file|test|line|warning|err|src)\b"
_LEADS_ON = lazy_pattern(
    r"(?:\b\w+ (?:to|of|for|from|with|in|on|at|by|the|an?|and|or|is|are|was|were|because|that|while|when|than|as|into"
    r"|following|imports|could not|cannot)|\btested by|:(?: The| An?)?)$"
)
_OF_A_LISTING = lazy_pattern(r"\d+\b|[│|>^~+{}-]\s|at \S+ ?\(|\^+$|~+$")
_NAMES_A_CAUSE = lazy_pattern(
    r"^\s{0,4}(?:[\w./@-]+: ){0,2}(?:fatal|[Ee]rror|ERROR|FATAL|[A-Z]\w*(?:Error|Exception)|Caused by|[Rr]eason|cause)"
    r"\b[^:\n]{0,24}: \S"
    r"|^\s{0,4}[\w./-]+: (?:.+: )?(?:No such file|Permission denied|command not found|not found|cannot |can't |unable )"
)
_LINES_LOOKED_AT = 8
_MAX_CHARACTERS_JUDGED = 300
_MAX_SPEAKERS = 3
_WORD = lazy_pattern(r"[^\W\d_]{2,}")


def is_consequence(line: str) -> bool:
    """Whether a line only says that something failed, counts, or names a place and not what is wrong there."""
    said = line.strip()[:_MAX_CHARACTERS_JUDGED]
    if is_place(said):
        return True
    for _ in range(_MAX_SPEAKERS):
        speaker = _SPOKEN_BY.match(said)
        said = said[speaker.end() :] if speaker else said
    return not said or _CONSEQUENCE.match(said) is not None


def is_place(line: str) -> bool:
    """A file and a line, and not a word of what is wrong there."""
    rest = re.sub(_PLACE, " ", line)
    if rest == line:
        return False
    return not _WORD.search(re.sub(_SAYS_NOTHING, " ", rest))


def leads_on(line: str) -> bool:
    """Whether a line is only the beginning of what is said on the next."""
    return _LEADS_ON.search(line.rstrip()) is not None


def below(line: str, text: str) -> list[str]:
    """The lines that follow a line of a text, without blank ones; none where it is not there."""
    _, there, after = text.partition(line)
    if not there:
        return []
    lines = after.partition("\n")[2].split("\n")[: 2 * _LINES_LOOKED_AT]
    return [bare for one in lines if (bare := one.strip(" \t│┃|"))][:_LINES_LOOKED_AT]


def continued(line: str, text: str) -> str:
    """What a line leads to; empty where that is code, a table or nothing."""
    following = below(line, text)
    return following[0] if following and not _OF_A_LISTING.match(following[0]) else ""


def cause_below(line: str, text: str) -> str:
    """The first of the next lines that names a cause."""
    return next((one for one in below(line, text) if _NAMES_A_CAUSE.match(one) and not is_consequence(one)), "")
