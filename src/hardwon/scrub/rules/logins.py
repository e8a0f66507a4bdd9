"""Passwords known by the call, the console or the configuration they stand in."""

from __future__ import annotations

import re

from hardwon.scrub.marks import MARK_ENDS
from hardwon.scrub.rule import Accepts, Rule
from hardwon.scrub.rules.form import place
from hardwon.scrub.rules.placed import is_call_password, is_mnemonic, is_user_password
from hardwon.scrub.shapes import is_filled_in

_ARGUMENT = rf"[\"'][^\"'\n{MARK_ENDS}]{{1,100}}[\"']\s{{0,24}},\s{{0,24}}"
_LAST_ARGUMENT = rf"[\"'](?P<secret>[^\"'\s{MARK_ENDS}]{{4,100}})[\"']"
_SECRET_WORD = rf"(?P<secret>[^\s\"'{MARK_ENDS}]{{4,128}}+)"


def _call(names: str, about: str, *, arguments: int = 1, opening: str = r"\(\s{0,24}") -> Rule:
    """Functions whose last argument is a password, after `arguments` others."""
    any_name = f"(?:{'|'.join(map(re.escape, names.split()))})"
    pattern = rf"{any_name}{opening}(?:{_ARGUMENT}){{{arguments}}}{_LAST_ARGUMENT}"
    return _line(names, about, pattern, is_call_password, probe=rf"{any_name}{opening}[\"']")


def _line(names: str, about: str, pattern: str, accepts: Accepts = is_user_password, *, probe: str = "") -> Rule:
    keywords = tuple(names.replace("~", " ") for names in names.split())
    probe = probe or f"(?:{'|'.join(map(re.escape, keywords))})"
    return Rule("password", about, pattern, keywords, accepts, any_case=True, probe=probe)


_CALLS = (
    _call("networkcredential", "NetworkCredential(USER, PASSWORD)"),
    _call("directoryentry", "DirectoryEntry(PATH, USER, PASSWORD)", arguments=2),
    _call("basicauth digestauth", "BasicAuth(USER, PASSWORD)"),
    _call("auth", "auth=(USER, PASSWORD)", opening=r"\s{0,4}[=:]\s{0,4}[(\[]\s{0,24}"),
    _call(".login", "login(USER, PASSWORD)"),
    _call("mysqli _connect", "mysql_connect(HOST, USER, PASSWORD)", arguments=2),
    _line(
        "securestring",
        "ConvertTo-SecureString PASSWORD -AsPlainText",
        rf"convertto-securestring (?:-string )?[\"']?{_SECRET_WORD}[\"']?[^\n|;]{{0,40}}-asplaintext",
    ),
)

_CONSOLES = (
    _line("ldap", "ldapsearch -w PASSWORD", rf"ldap[a-z]{{3,8}} [^\n|;]{{0,200}}?(?<= )-w [\"']?{_SECRET_WORD}"),
    _line(
        "sqlplus",
        "sqlplus USER/PASSWORD@",
        rf"sqlplus(?: -\S{{1,8}})*+ [\"']?\w{{1,40}}/(?P<secret>[^\s\"'@/{MARK_ENDS}]{{3,64}})@",
    ),
    _line(
        "--token~",
        "kubeadm join --token TOKEN",
        r"--token (?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![a-z0-9])",
        is_filled_in,
    ),
    *(
        _line(
            flag,
            f"curl {flag} KEY: with no password",
            rf"{flag}(?<![\w-]{flag})[ =]?[\"'](?P<secret>[^\s\"':$<{{{MARK_ENDS}]{{10,128}}):[\"']",
            probe=rf"{flag}[ =]?[\"'][^\s\"':]{{10,}}:[\"']",
        )
        for flag in ("-u", "--user")
    ),
)

_DEVICES = (
    _line("community~", "SNMP community", rf"snmp-server community {_SECRET_WORD} r[ow]\b"),
    _line(
        "password~ secret~",
        "Password in the configuration of a Cisco device",
        rf"^[ \t]{{0,4}}(?:enable|username \S{{1,64}})(?: privilege \d{{1,2}})? (?:password|secret)"
        rf"(?: level \d{{1,2}})?(?: \d)? {_SECRET_WORD}$",
        probe=r"(?:enable|username \S+).* (?:password|secret) ",
    ),
)

_PHRASES = (
    Rule(
        "mnemonic",
        "Words of a wallet",
        r"(?:mnemonic|(?:seed|recovery)[_ -]?phrase)[\"'`]?[ \t]{0,4}[:=(][ \t]{0,4}[\"'`]?"
        r"(?P<secret>(?:[a-z]{3,8} {1,4}){11,23}+[a-z]{3,8})(?![a-z])",
        ("mnemonic", "phrase"),
        is_mnemonic,
        any_case=True,
        probe=r"(?:mnemonic|(?:seed|recovery)[_ -]?phrase).{1,12}[a-z]{3,8} +[a-z]{3,8} ",
    ),
)

_CREDENTIAL_FILES = tuple(
    place(
        "jenkins-secret",
        f"Encrypted `{tag}` of a Jenkins credentials file",
        rf"<{tag}>\{{(?P<secret>[^{{}}<>\n{MARK_ENDS}]{{16,}}+)\}}</",
        f"<{tag}>{{",
        is_filled_in,
    )
    for tag in ("secret", "password", "passphrase", "privatekey", "apitoken", "token")
)

LOGINS = (*_CALLS, *_CONSOLES, *_DEVICES, *_PHRASES, *_CREDENTIAL_FILES)
