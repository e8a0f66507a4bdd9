"""Secrets known only by the name they are given to: `DB_PASSWORD=…`, `--token …`."""

from __future__ import annotations

from hardwon.scrub.marks import MARK_ENDS
from hardwon.scrub.rule import Accepts, Rule
from hardwon.scrub.rules.form import ASSIGNED, ASSIGNED_PROBE, NAME_END, QUOTE
from hardwon.scrub.shapes import is_credential, is_filled_in, is_passphrase, is_password, is_strong, is_very_strong

_KEY_OF = (
    "access account admin api app application auth aws client consumer crypt crypto deploy encryption hmac integration"
    " jwt license licence master private project secret security service session shared sign signing ssh storage"
    " subscription webhook write"
).split()
# What stands before is of one length, so words of a length go together.
_BY_LENGTH = [[word for word in _KEY_OF if len(word) == length] for length in sorted({*map(len, _KEY_OF)})]
_AFTER_WHAT_KEY = "|".join(
    f"(?<=(?:{'|'.join(words)}){between}key)" for words in _BY_LENGTH for between in ("", "[_ -]")
)

_PASSWORDS = {
    # Test runners print `PASS: name`.
    "pass": r"pass(?:word|wd|phrase|code|key|(?<!bypass)(?<!compass)(?:(?<!\spass)(?<!^pass)|(?=[\"']?[ \t]?=)))",
    "pwd": "pwd",
}
_PUBLIC_TOKENS = ("next", "page", "continuation", "publickey", "public", "csrf", "xsrf")
_NOT_PUBLIC = "".join(f"(?<!{word}token)(?<!{word}[_-]token)" for word in _PUBLIC_TOKENS)
# `arn:aws:…:secret:name` and `urn:…:oauth:name` are addresses, not assignments.
_CREDENTIALS = {
    "token": f"token{_NOT_PUBLIC}",
    "secret": r"secret(?<![\w*]:secret)",
    "auth": r"auth(?<![\w*]:auth)(?<![\w*]:oauth)",
    "key": f"key(?:{_AFTER_WHAT_KEY})",
    "credential": "credentials?",
    "creds": "creds",
}
_KINDS = {"password": _PASSWORDS, "credential": _CREDENTIALS}
_MIN_VALUE_CHARACTERS = {"password": 6, "credential": 8}
_ACCEPTS: dict[str, Accepts] = {"password": is_password, "credential": is_credential}

_SUFFIXED = (
    r"(?:[_.-]?(?:access|key|base64|b64|base|value|production|prod|dev|staging|test|live|old|new"
    r"|raw|string|hash|private|\d{1,3}))"
)
_SUFFIX = rf"{_SUFFIXED}{{0,3}}+"
_LITERAL = r"[ \t]{1,4}(?:by[ \t]{1,4})?(?=[\"'])"
_BETWEEN = dict.fromkeys(("key", "secret"), f"(?:{ASSIGNED}|{_LITERAL})")
"""In prose a quoted word often follows `token`."""
_NEXT_ARGUMENT = r"(?:[ \t]{1,4}|[\"'],[ \t]{0,4}(?=[\"']))(?!-)"


def _value(least: int) -> str:
    return (
        r"(?P<secret>(?(quote)"
        rf"(?![^\s\\]{{0,{least - 1}}}(?P=quote))(?:(?!(?P=quote))(?:\\.|[^\s\\{MARK_ENDS}])){{{least},}}+(?![ \t])"
        rf"|[^\s\"'`<>(){{}}\[\],;&|\\{MARK_ENDS}]{{{least},}}+(?![(\[{{])))"
    )


_PROBED = {
    "pass": "pass(?:word|wd|phrase|code|key)?",
    "key": rf"(?:{'|'.join(_KEY_OF)})[_ -]?key",
    "credential": _CREDENTIALS["credential"],
}
# What the last word on a value asks for, as far as a probe can: a digit or a symbol.
_LIKELY = {"password": r"(?:\S*[\d!@#$%^&*~]|\S{8,})", "credential": r"(?:\S*\d|\S{16,})"}
_IN_QUOTES = rf"(?P<quote>[\"'])(?P<secret>[^\n\\\"'{MARK_ENDS}]{{8,128}})(?P=quote)"


def _assigned(kind: str, keyword: str, name: str, between: str) -> Rule:
    value = _value(_MIN_VALUE_CHARACTERS[kind])
    pattern = rf"(?P<name>{name})(?>{between}{QUOTE}){value}"
    about = f"Value given to a name with `{keyword}`"
    probe = _probe(keyword) + _LIKELY[kind]
    return Rule(kind, about, pattern, (keyword,), _ACCEPTS[kind], any_case=True, probe=probe)


def _probe(keyword: str) -> str:
    return rf"{_PROBED.get(keyword, keyword)}{_SUFFIXED}*{ASSIGNED_PROBE}"


def _quoted_words(keyword: str, name: str) -> Rule:
    pattern = rf"(?P<name>{name}{_SUFFIX}){NAME_END}{ASSIGNED}{_IN_QUOTES}"
    about = f"Words in quotes given to a name with `{keyword}`"
    probe = _probe(keyword) + r"[^\"'\n]* [^\"'\n]*[\"']"
    return Rule("password", about, pattern, (keyword,), is_passphrase, any_case=True, probe=probe)


def _flag(kind: str, *keywords: str) -> Rule:
    any_name = "|".join(_KINDS[kind].values())
    option = rf"-(?:(?<![\w-]-)|(?<=--)(?<![\w-]--))(?:[a-z0-9]{{1,20}}-){{0,3}}(?:api(?=key))?(?:{any_name}){_SUFFIX}"
    pattern = rf"(?P<name>{option}){_NEXT_ARGUMENT}{QUOTE}{_value(_MIN_VALUE_CHARACTERS[kind])}"
    any_word = "|".join(_PROBED.get(keyword, keyword) for keyword in _KINDS[kind])
    probe = rf"-[a-z0-9-]*(?:{any_word}){_SUFFIXED}*[\"', \t]+" + _LIKELY[kind]
    return Rule(
        kind, f"Argument of an option `--{kind}`", pattern, keywords, _ACCEPTS[kind], any_case=True, probe=probe
    )


def _in_url(keyword: str, *names: str) -> Rule:
    after_name = "|".join(f"{name[len(keyword) :]}=(?<=[?&]{name}=)" for name in names)
    pattern = rf"{keyword}(?:{after_name})(?P<secret>[^\s&#\"'<>{MARK_ENDS}]{{1,128}}+)"
    about = f"Password in the query of an address, `?{names[0]}=`"
    return Rule("password", about, pattern, (keyword,), is_filled_in, any_case=True)


def _told(keyword: str, said: str, accepts: Accepts) -> Rule:
    pattern = (
        rf"(?P<name>{keyword})(?: (?:for|of) [\w@.'-]{{1,40}})?{said}[ \t]{{1,4}}"
        rf"(?P<quote>[\"'`*]{{1,2}})?(?P<secret>[^\s\"'`<>(),;{MARK_ENDS}]{{6,128}}+)"
    )
    about = f"“the {keyword} is …” in a sentence" if said else f"“{keyword} …” in a sentence"
    return Rule("password", about, pattern, (f"{keyword} ",), accepts, any_case=True)


_IS = r"(?: (?:is|was)(?: set to| now)?:?)"
ASSIGNMENTS = (
    *(
        _assigned("password", keyword, name + _SUFFIX, rf"{NAME_END}(?:{ASSIGNED}|{_LITERAL})")
        for keyword, name in _PASSWORDS.items()
    ),
    _assigned("password", "identified by", "identified by", _LITERAL),
    *(
        _assigned("credential", keyword, name + _SUFFIX, NAME_END + _BETWEEN.get(keyword, ASSIGNED))
        for keyword, name in _CREDENTIALS.items()
    ),
    *(_quoted_words(keyword, name) for keyword, name in _PASSWORDS.items()),
    _flag("password", "pass", "pwd"),
    _flag("credential", "-token", "-secret", "-auth", "-key", "-apikey", "-credential"),
    _in_url("pass", "password", "passwd", "pass"),
    _in_url("pwd", "pwd"),
    *(_told(keyword, _IS, is_strong) for keyword in ("password", "passphrase", "passcode", "token", "secret")),
    _told("password", "", is_very_strong),
)
