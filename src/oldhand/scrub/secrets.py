"""The table of secrets: one rule for each published token format, header and place."""

from __future__ import annotations

import re

from oldhand.scrub.assignments import ASSIGNMENTS
from oldhand.scrub.marks import MARK_ENDS
from oldhand.scrub.rule import Accepts, Rule, always
from oldhand.scrub.shapes import (
    holds_key_material,
    is_api_key,
    is_aws_secret,
    is_basic_pair,
    is_credential,
    is_filled_in,
    is_given,
    is_user_password,
)

__all__ = ["RULES", "Rule"]


def _begins_word(first: str, word: str = "A-Za-z0-9") -> str:
    """No word goes on before `first`; `\\n` in escaped JSON and the `-` of a diff are no words."""
    return rf"(?:(?<![{word}]{first})|(?<=\\[nrt]{first})|(?<=^-{first}))"


def _edged(prefix: str, word: str = "A-Za-z0-9") -> str:
    """A prefix that begins a word.

    Its first character is searched, the rest looked at next, and what stands before it last:
    that is the order in which most of a text is passed over fastest.
    """
    first, rest = re.escape(prefix[0]), re.escape(prefix[1:])
    return rf"{first}(?={rest}){_begins_word(first, word)}{rest}"


def _token(kind: str, pattern: str, *keywords: str, accepts: Accepts = always) -> Rule:
    return Rule(kind, re.compile(pattern, re.A | re.M), keywords, accepts)


def _place(kind: str, pattern: str, keyword: str, accepts: Accepts) -> Rule:
    return Rule(kind, re.compile(pattern, re.A | re.M), (keyword,), accepts, any_case=True)


_URL_SAFE = "A-Za-z0-9_-"

_PEM_BREAK = r"(?:[\s+>|\"',-]|\\{1,8}[nrt]|\d{1,6}[→:|])"
_PEM_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}+"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<body>"
    r"(?:(?!-----)[\s\S]){0,32768}+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    # The end is missing where output was cut: then whatever lines still look like a key.
    rf"|(?:{_PEM_BREAK}{{1,40}}+(?:{_PEM_HEADER}|[A-Za-z0-9+/=]{{16,}}+))*+"
    rf"(?:{_PEM_BREAK}{{1,40}}+[A-Za-z0-9+/=]{{1,76}}+(?=\s*+(?:\Z|\.\.\.|…|\[|<)))?)"
)

_FORTY_CHARACTERS = r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"

_TOKENS = (
    _token("private-key", _PEM, "-----BEGIN ", accepts=holds_key_material),
    # A capital is rare: searching for it alone is faster than for each of the prefixes.
    _token(
        "aws-key-id",
        rf"A(?=KIA|SIA|BIA|CCA){_begins_word('A')}[A-Z0-9]{{19}}(?![A-Za-z0-9])",
        "A",
    ),
    _token(
        "aws-secret-key",
        rf"A[KS]IA[A-Z0-9]{{16}}(?:[^A-Za-z0-9+/{MARK_ENDS}]|/ ){{1,12}}{_FORTY_CHARACTERS}",
        "A",
        accepts=is_aws_secret,
    ),
    _token(
        "github-token",
        r"gh[pousr]_[A-Za-z0-9]{20,}+",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    ),
    _token("github-token", r"github_pat_[A-Za-z0-9_]{20,}+", "github_pat_"),
    _token(
        "gitlab-token",
        r"gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|imt|agent|wt|soat|ffct)-"
        rf"[{_URL_SAFE}]{{20,}}+(?:\.[{_URL_SAFE}]{{2,}}+)*+",
        *("glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-"),
        *("glimt-", "glagent-", "glwt-", "glsoat-", "glffct-"),
    ),
    _token("slack-token", r"xox[abceoprs][-.][A-Za-z0-9.-]{10,}+", "xox"),
    _token("slack-token", r"xapp-[0-9]-[A-Za-z0-9-]{10,}+", "xapp-"),
    _token(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{10,}+)",
        "hooks.slack.com/",
    ),
    _token("anthropic-key", rf"sk-ant-[{_URL_SAFE}]{{16,}}+", "sk-ant-"),
    _token("openrouter-key", rf"sk-or-[{_URL_SAFE}]{{20,}}+", "sk-or-"),
    _token(
        "openai-key",
        rf"{_edged('sk-', _URL_SAFE)}[{_URL_SAFE}]{{16,}}+",
        "sk-",
        accepts=is_api_key,
    ),
    _token("google-key", rf"{_edged('AIza', _URL_SAFE)}[{_URL_SAFE}]{{30,}}+", "A"),
    _token("google-token", rf"{_edged('ya29.', _URL_SAFE)}[{_URL_SAFE}]{{20,}}+", "ya29."),
    _token("google-client-secret", rf"GOCSPX-[{_URL_SAFE}]{{20,}}+", "GOCSPX-"),
    _token("stripe-key", rf"{_edged('sk_')}(?:live|test)_[A-Za-z0-9]{{10,}}+", "sk_"),
    _token("stripe-key", rf"{_edged('rk_')}(?:live|test)_[A-Za-z0-9]{{10,}}+", "rk_"),
    _token("webhook-secret", r"whsec_[A-Za-z0-9+/=]{16,}+", "whsec_"),
    _token("npm-token", r"npm_[A-Za-z0-9]{30,}+", "npm_"),
    _token("pypi-token", rf"pypi-AgE[{_URL_SAFE}]{{20,}}+", "pypi-"),
    _token("huggingface-token", rf"{_edged('hf_')}[A-Za-z0-9]{{30,}}+", "hf_"),
    _token(
        "sendgrid-key",
        rf"{_edged('SG.', _URL_SAFE)}[{_URL_SAFE}]{{16,32}}\.[{_URL_SAFE}]{{16,64}}",
        "S",
    ),
    _token("twilio-key", rf"{_edged('SK')}[0-9a-f]{{32}}(?![A-Za-z0-9])", "S"),
    _token(
        "digitalocean-token",
        r"do[opr]_v1_[0-9a-f]{40,}+",
        *("dop_v1_", "doo_v1_", "dor_v1_"),
    ),
    _token(
        "jwt",
        rf"{_edged('eyJ', _URL_SAFE)}[{_URL_SAFE}]{{8,}}+"
        rf"\.[{_URL_SAFE}]{{8,}}+(?:\.[{_URL_SAFE}]*+){{0,3}}+",
        "eyJ",
    ),
)

_HEADER_SIGN = r"[\"'\\]{0,4}[ \t]{0,4}[:=][ \t\"'\\]{0,8}"
_COOKIE_NAME = r"[\w.%-]{1,64}="

_PLACES = (
    _place(
        "aws-secret-key",
        r"secret(?:[_ .-]?(?:access|key)){0,2}+(?: \[none\])?"
        rf"[^a-z0-9+/\n{MARK_ENDS}]{{0,11}}[\s\"'=:>,]{_FORTY_CHARACTERS}",
        "secret",
        is_aws_secret,
    ),
    _place(
        "bearer-token",
        rf"authorization(?<![a-z]authorization){_HEADER_SIGN}"
        r"bearer[ \t]{1,4}(?P<secret>[a-z0-9._~+/=:-]{6,}+)",
        "auth",
        is_given,
    ),
    _place(
        "bearer-token",
        r"bearer(?<![a-z]bearer)[ \t]{1,4}(?P<secret>[a-z0-9._~+/=-]{8,}+)",
        "bearer ",
        is_credential,
    ),
    _place(
        "basic-auth",
        r"basic(?<![a-z]basic)[ \t]{1,4}(?P<secret>[a-z0-9+/]{6,}+={0,2})",
        "basic ",
        is_basic_pair,
    ),
    _place(
        "authorization",
        rf"authorization(?<![a-z]authorization){_HEADER_SIGN}(?!aws4-)"
        r"(?:(?:token|bot|apikey|api-key|negotiate|digest|key|splunk)[ \t=]{1,4})?"
        r"(?P<secret>[a-z0-9._~+/=:-]{8,}+)",
        "auth",
        is_credential,
    ),
    *(
        _place(
            "basic-auth",
            rf"{flag}(?<![\w-]{flag})[ =][\"']?[^\s:\"'@/{MARK_ENDS}]{{1,64}}:"
            rf"(?P<secret>[^\s\"'{MARK_ENDS}]{{3,128}})",
            keyword,
            is_user_password,
        )
        for flag, keyword in (("-u", "-u"), ("--user", "--"))
    ),
    _place(
        "cookie",
        rf"cookie(?:(?<![a-z-]cookie){_HEADER_SIGN}|(?<=[^-]--cookie)[ =][\"']?)"
        rf"(?P<secret>{_COOKIE_NAME}[^\s\"'\\;]{{8,}}+[^\n\"'\\]*+)",
        "cookie",
        is_given,
    ),
    _place(
        "cookie",
        rf"set-cookie{_HEADER_SIGN}{_COOKIE_NAME}(?P<secret>[^\s\"'\\;,{MARK_ENDS}]{{6,}}+)",
        "cookie",
        is_given,
    ),
    _place(
        "uri-password",
        # A password may hold an unescaped `@`, so the last one before the path counts.
        rf"://[^\s/:@\"'<>{MARK_ENDS}]{{0,64}}:"
        rf"(?P<secret>[^\s/?#\"'<>{MARK_ENDS}]{{1,256}})@(?=[\w\[{MARK_ENDS}$%{{-])",
        "://",
        is_filled_in,
    ),
    _place(
        "password",
        rf"machine[ \t]{{1,4}}[^\s{MARK_ENDS}]{{1,64}}\s{{1,8}}"
        rf"login[ \t]{{1,4}}[^\s{MARK_ENDS}]{{1,64}}\s{{1,8}}"
        rf"password[ \t]{{1,4}}(?P<secret>[^\s{MARK_ENDS}]{{3,128}})",
        "machine ",
        is_filled_in,
    ),
)

RULES: tuple[Rule, ...] = (*_TOKENS, *_PLACES, *ASSIGNMENTS)
