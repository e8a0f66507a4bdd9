"""Rules for a secret known only by the name it is given to: `DB_PASSWORD=…`, `--token …`."""

from __future__ import annotations

import re

from oldhand.scrub.marks import MARK_ENDS
from oldhand.scrub.rule import Accepts, Rule
from oldhand.scrub.shapes import is_credential, is_filled_in, is_password

_KEY_OF = (
    "access account api auth aws client consumer deploy encryption license master private service"
    " session shared signing ssh storage subscription webhook"
).split()
_AFTER_WHAT_KEY = "|".join(f"(?<={word}key)|(?<={word}[_ -]key)" for word in _KEY_OF)

_PASSWORDS = {"pass": r"pass(?:word|wd|phrase|(?<!bypass)(?<!compass))", "pwd": "pwd"}
_PUBLIC_TOKENS = ("next", "page", "continuation", "publickey")
_NOT_PUBLIC = "".join(f"(?<!{word}token)(?<!{word}[_-]token)" for word in _PUBLIC_TOKENS)
# `arn:aws:…:secret:name` and `urn:…:oauth:name` are addresses, not assignments.
_CREDENTIALS = {
    "token": f"token{_NOT_PUBLIC}",
    "secret": r"secret(?<![\w*]:secret)",
    "auth": r"auth(?<![\w*]:auth)(?<![\w*]:oauth)",
    "key": f"key(?:{_AFTER_WHAT_KEY})",
}

_SUFFIX = (
    r"(?:[_.-]?(?:access|key|base64|b64|base|value|production|prod|dev|staging|test|live|old|new"
    r"|raw|string|hash|\d{1,3})){0,3}+"
)
_NAME_END = r"(?:\\{0,4}[\"'`]|\*\*)?\]?"
_ASSIGNED = (
    r"(?:[ \t]{0,4}(?::[ ]?(?:str|string|secretstr|&str|optional\[str\]|str[ ]\|[ ]none)[ ]?=(?!=)"
    r"|:=|=>|!?={1,3}|:(?!:))[ \t]{0,8}(?:\*\*[ \t]?)?"
    rf"|>(?=[^<\s{MARK_ENDS}]{{8,200}}</))"
)
_SQL_LITERAL = r"[ \t]{1,4}(?=')"
_NEXT_ARGUMENT = r"(?:[ \t]{1,4}|[\"'],[ \t]{0,4}(?=[\"']))(?!-)"

_QUOTE = r"(?:[bruf]{1,2}(?=[\"']))?(?P<quote>\\{0,4}[\"'`])?"
_VALUE = (
    r"(?P<secret>(?(quote)"
    rf"(?:(?!(?P=quote))(?:\\.|[^\s\\{MARK_ENDS}])){{8,}}+(?![ \t])"
    rf"|[^\s\"'`<>(){{}}\[\],;&|\\{MARK_ENDS}]{{8,}}+(?![(\[{{])))"
)


def _assigned(kind: str, keyword: str, name: str, between: str, accepts: Accepts) -> Rule:
    pattern = re.compile(rf"(?P<name>{name}){between}{_QUOTE}{_VALUE}", re.A)
    return Rule(kind, pattern, (keyword,), accepts, any_case=True)


def _flag(kind: str, names: dict[str, str], accepts: Accepts) -> Rule:
    any_name = "|".join(names.values())
    option = rf"--(?<![\w-]--)(?:[a-z0-9]{{1,20}}-){{0,3}}(?:{any_name}){_SUFFIX}"
    return _assigned(kind, "--", option, _NEXT_ARGUMENT, accepts)


def _in_url(keyword: str, *names: str) -> Rule:
    after_name = "|".join(f"{name[len(keyword) :]}=(?<=[?&]{name}=)" for name in names)
    pattern = re.compile(rf"{keyword}(?:{after_name})(?P<secret>[^\s&#\"'<>{MARK_ENDS}]{{1,128}}+)")
    return Rule("password", pattern, (keyword,), is_filled_in, any_case=True)


ASSIGNMENTS = (
    *(
        _assigned(
            "password",
            keyword,
            name + _SUFFIX,
            rf"{_NAME_END}(?:{_ASSIGNED}|{_SQL_LITERAL})",
            is_password,
        )
        for keyword, name in _PASSWORDS.items()
    ),
    *(
        _assigned("credential", keyword, name + _SUFFIX, _NAME_END + _ASSIGNED, is_credential)
        for keyword, name in _CREDENTIALS.items()
    ),
    _flag("password", _PASSWORDS, is_password),
    _flag("credential", _CREDENTIALS, is_credential),
    _in_url("pass", "password", "passwd", "pass"),
    _in_url("pwd", "pwd"),
)
