"""Passwords that people tell without calling them so: logins of two words, tables, answers, what is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hardwon.scrub.rule import Accepts, Candidate, Rule
from hardwon.scrub.rules.likely_passwords import PASSWORDS
from hardwon.scrub.rules.value_forms import shape
from hardwon.scrub.shapes import is_stand_in, places_of
from hardwon.text.normalise import MARK_ENDS

# Which forms are enough for a place that may hold other things, and for one that holds nothing else.

_DRAWN = frozenset("symbols symbols-9 word-9 word-9! word! drawn joined-9 salad chunks common-9 own-name-9".split())
_ANY = _DRAWN | frozenset("word Word camelCase joined joined-mixed digits name-9 phrase said-word".split())


def _has_form(forms: frozenset[str]) -> Accepts:
    return lambda candidate: len(candidate.value) > 3 and shape(candidate.value) in forms


is_drawn, is_any = _has_form(_DRAWN), _has_form(_ANY)
is_typed = _has_form(_DRAWN | {"word", "joined", "joined-mixed", "camelCase"})
_VALUE = rf"[\"'`“„«*]{{0,2}}(?P<secret>[^\s\"'`“”„«»<>(),;|、。，{MARK_ENDS}]{{4,80}}(?<![.:?!…]))"


def _said(about: str, pattern: str, keywords: tuple[str, ...], accepts: Accepts, *, at: bool = True) -> Rule:
    places = partial(places_of, keywords) if at else None
    probe = f"(?:{'|'.join(map(re.escape, keywords))})"
    return Rule("password", about, pattern, keywords, accepts, any_case=True, places=places, probe=probe)


def _any_of(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


# A login in two words: `log in as admin / hunter2`, `credentials: bob:hunter2`, `u: bob p: hunter2`.

_LOGINS = (
    *("login", "log in", "logged in", "logging in", "logs in", "sign in", "credential", "creds", "basic auth", "auth:"),
    *("wifi:", "wlan:", "identifiant", "zugang", "anmeldung", "einloggen", "melde dich", "connecte-toi", "connexion"),
    *("accès", "acceso", "accedi", "accesso", "inicia sesión", "entra con", "entre com", "acesse", "credencia"),
    *(
        "credenzial",
        "inloggen",
        "inloggning",
        "logga in",
        "zaloguj",
        "přihlás",
        "logowanie",
        "giriş",
        "логин",
        "залогин",
    ),
    *(
        "учётк",
        "учетк",
        "вход",
        "войди",
        "登录",
        "登入",
        "账号",
        "帳號",
        "ログイン",
        "로그인",
        "계정",
        "đăng nhập",
        "masuk",
    ),
    *("u/p", "user/pass", "user/pw", "vpn:", "ftp:", "ssh:"),
)
_WHOSE = r"(?:[ ][(\"'`]?[^\s\"'`<>(){}\[\];:=|,]{1,40}+[)\"'`,]{0,2}){0,6}?"
_USER = (
    r"(?:(?:(?<=creds)|(?<=credentials)|(?<=[:：]))[ ]{1,2}|[ ]{0,2}(?:[:=]|[-=]>|→)[ ]{1,2}|[ ]\("
    r"|[ ](?:with|as|using|are|is|mit|als|sind|avec|sont|con|son|como|são|sono|zijn|com|met|med"
    r"|jako|pod|под|с|用|ile)[ ]{1,2})"
    r"[\"'`]?(?P<user>[a-z][\w.@+-]{1,40})[\"'`]?"
)
_SIGN = r"[ ]?(?:[/:|]|//)[ ]?"
_AND = r"(?:[ ]?[,、，][ ]?|[ ](?:and|with|und|et|y|e|i|a|en|och|ve|и|和|con|con la|mit)[ ])"
_ADMINS = ("admin", "root", "administrator", "postgres", "guest", "demo")
_NAMED = tuple(
    f"{word} {user}{sign}"
    for word in ("its", "it's", "is", "use", "try", "with", "using", "as", "are", "creds", "login")
    for user in _ADMINS
    for sign in "/:"
)
_IN_LETTERS = (
    r"(?<![a-z0-9])(?:u|usr|user|username|benutzer|usuario|usuário|utente)[ ]?[:=][ ]?"
    r"[^\s,;/|]{1,64}[ ]{0,2}[,;/|]?[ \n]{0,2}(?<=[ ,\n])(?:p|pw|pass|p/w)[:=][ ]?"
)


def is_login_password(candidate: Candidate) -> bool:
    """No part of a path or an address."""
    return "/" not in candidate.value and ":" not in candidate.value and is_drawn(candidate)


# What opens something, and what is typed when somebody asks for it: `at the prompt type hunter2`.

_PROTECTED = (
    *(
        "protected with",
        "protected by",
        "secured with",
        "locked with",
        "unlocked with",
        "unlock it with",
        "unlock with",
    ),
    *(
        "unlocks with",
        "unseal with",
        "open it with",
        "opens with",
        "decrypt it with",
        "decrypts with",
        "encrypted with",
    ),
    *("entsperren mit", "déverrouille avec", "desbloquea con", "logging in with", "authenticate with", "log in with"),
    *(
        "authenticates with",
        "geschützt mit",
        "protégé par",
        "protegido con",
        "protegido com",
        "protetto da",
        "защищено",
    ),
)
_ASKED = (
    *(
        "when it asks",
        "when asked",
        "when prompted",
        "if prompted",
        "if it asks",
        "when sudo asks",
        "when sudo prompts",
    ),
    *("when it prompts", "at the prompt", "when ssh asks", "if sudo asks", "will prompt", "will ask", "wenn es fragt"),
    *("wenn er fragt", "quand il demande", "cuando pregunte", "cuando lo pida", "quando pedir", "quando chiede"),
    *("когда спросит", "если спросит"),
)
_TO_TYPE = re.compile(
    r"(?<![^\W\d_])(?:type|enter|use|give|say|answer|put|paste|send|tippe|gib|tape|saisis|escribe|digite|digita|введи|введите)"
    r"[ ](?:(?:it|in|with|back|ein)[ ])?"
)
_REACH = 60


def _typed_when_asked(text: str) -> Iterator[int]:
    """Where what is to be typed may begin, before the asking and behind it."""
    for place in places_of(_ASKED, text):
        begin = max(0, text.rfind("\n", 0, place) + 1, place - _REACH)
        end = text.find("\n", place, place + _REACH)
        end = end if end >= 0 else min(len(text), place + _REACH)
        yield from (found.end() for found in _TO_TYPE.finditer(text, begin, end))


# An answer in the next line, and a table with a column of passwords.

_COLUMN = (
    rf"[^\n,;|\t]{{0,24}}(?:{_any_of(PASSWORDS)}|(?<![a-z])(?:pwd?|pin|secret|api[ _-]?key)(?![a-z]))"
    r"[a-z\"'`*]{0,3}[ ]{0,20}"
)
_HEADING = re.compile(rf"^(?P<before>(?:[^\n,;|\t]{{0,40}}[,;|\t]){{1,8}})(?={_COLUMN}(?:[,;|\t]|$))", re.M)
_RULED = re.compile(r"[-+|:= ]{3,}")
_MAX_ROWS = 200


def _cells_below(text: str) -> Iterator[int]:
    """Where the cells of a column of passwords begin, row by row below its heading."""
    done = 0
    for heading in _HEADING.finditer(text):
        if heading.start() < done:
            continue
        before = heading["before"]
        sign = before[-1]
        column, begin = before.count(sign), text.find("\n", heading.end()) + 1
        for _ in range(_MAX_ROWS):
            end = text.find("\n", begin) if begin else -1
            row = text[begin : end if end >= 0 else len(text)] if begin else ""
            cells = row.split(sign)
            if _RULED.fullmatch(row) and end >= 0:
                begin = end + 1
                continue
            if len(cells) <= column:
                break
            at = begin + sum(len(cell) + 1 for cell in cells[:column])
            yield at + len(cells[column]) - len(cells[column].lstrip())
            done = begin = end + 1 if end >= 0 else 0


def is_in_column(candidate: Candidate) -> bool:
    return not is_stand_in(candidate.value) and is_any(candidate)


TOLD = (
    _said(
        "USER / PASSWORD behind a word such as `login`",
        rf"{_any_of(_LOGINS)}[a-z]{{0,8}}{_WHOSE}{_USER}{_SIGN}{_VALUE}",
        _LOGINS,
        is_typed,
    ),
    _said(
        "USER and PASSWORD behind a word such as `login`",
        rf"{_any_of(_LOGINS)}[a-z]{{0,8}}{_WHOSE}{_USER}{_AND}{_VALUE}",
        _LOGINS,
        is_login_password,
    ),
    _said("“use admin/…” in a sentence", rf"{_any_of(_NAMED)}{_VALUE}(?=[\s.,;)\"'`]|\Z)", _NAMED, is_login_password),
    _said("admin / PASSWORD", rf"(?:{'|'.join(_ADMINS)}|user) / {_VALUE}", (" / ",), is_login_password, at=False),
    _said(
        "u: USER p: PASSWORD",
        _IN_LETTERS + _VALUE,
        tuple(f"{before}{name}{sign}" for before in " ,\n" for name in ("p", "pw", "pass", "p/w") for sign in ":="),
        is_any,
        at=False,
    ),
    _said("“protected with …” in a sentence", rf"{_any_of(_PROTECTED)}[ ]{_VALUE}", _PROTECTED, is_login_password),
    _said("“type … when it asks” in a sentence", _VALUE, _ASKED, is_typed)._replace(places=_typed_when_asked),
    _said(
        "The next line, after a line that asks for the password",
        rf"{_any_of((*PASSWORDS, 'pw'))}(?![a-z0-9_-])[^\n]{{0,60}}[?:.][ ]{{0,2}}\n{{1,2}}(?:>[ ]|[a-z]{{1,9}}:[ ])?"
        rf"(?P<secret>[^\s\"'`<>{{}}{MARK_ENDS}]{{4,64}}(?<![.,:;?]))(?=[ ]*(?:\n|\Z))",
        (*PASSWORDS, "pw"),
        is_any,
    ),
    _said(
        "Below a heading `password` in a table",
        rf"[\"'`]?(?P<secret>[^\s,;|\"'`{MARK_ENDS}]{{4,128}})[\"'`]?(?=[ \t]*(?:[,;|\t\n]|\Z))",
        (*PASSWORDS, "pw", "pin", "secret", "key"),
        is_in_column,
    )._replace(places=_cells_below),
)
