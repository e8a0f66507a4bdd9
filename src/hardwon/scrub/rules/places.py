"""Secrets known by where they stand: key blocks, headers, cookies, addresses, commands."""

from __future__ import annotations

from hardwon.scrub.marks import MARK_ENDS
from hardwon.scrub.rules.form import place, token
from hardwon.scrub.rules.hashes import HASHES
from hardwon.scrub.rules.logins import LOGINS
from hardwon.scrub.rules.placed import (
    holds_key_material,
    is_basic_pair,
    is_in_kubernetes_secret,
    is_private_key_in_base64,
    is_user_password,
)
from hardwon.scrub.shapes import is_credential, is_filled_in, is_given, is_given_word

_BREAK = r"(?:[\s+>|\"',-]|\\{1,8}[nrt]|\d{1,6}[→:|])"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}+"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<body>"
    r"(?:(?!-----)[\s\S]){0,32768}+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    # The end is missing where output was cut: then whatever lines still look like a key.
    rf"|(?:{_BREAK}{{1,40}}+(?:{_HEADER}|[A-Za-z0-9+/=]{{16,}}+))*+"
    rf"(?:{_BREAK}{{1,40}}+[A-Za-z0-9+/=]{{1,76}}+(?=\s*+(?:\Z|\.\.\.|…|\[|<)))?)"
)
_PUTTY = r"Private-Lines: \d{1,3}(?P<secret>(?:\s{1,4}+[A-Za-z0-9+/=]{40,}+)+(?:\s{1,4}+[A-Za-z0-9+/=]{4,}+)?)"

_KEYS = (
    token(
        "private-key",
        "Private key block (PEM, OpenSSH, PGP)",
        _PEM,
        "-----BEGIN ",
        accepts=holds_key_material,
        edge="",
        solid=False,
        probe="-----BEGIN [A-Z0-9 ]{0,39}PRIVATE KEY",
    ),
    token("private-key", "PuTTY private key", _PUTTY, "Private-Lines: ", edge="", probe=r"Private-Lines: \d"),
    token(
        "private-key",
        "Private key block, encoded once more",
        "LS0tLS1CRUdJTi<B>{60,}={0,2}",
        accepts=is_private_key_in_base64,
        edge="",
    ),
    token(
        "kubernetes-secret",
        "Value in a Kubernetes Secret",
        r"^[ \t]{1,12}[\"']?[\w.-]{1,64}[\"']?: ?(?:[|>]-?\n[ \t]{2,16})?[\"']?"
        r"(?P<secret>[A-Za-z0-9+/]{6,8192}+={0,2})[\"']?,?[ \t]{0,4}$",
        *(f": {quote}{word}" for word in ("Secret", "secret") for quote in ("", '"', "'")),
        accepts=is_in_kubernetes_secret,
        edge="",
        solid=False,
        probe=r"kind\"?: [\"']?[Ss]ecret",
    ),
)

_SIGN = r"[\"'\\]{0,4}[ \t]{0,4}[:=,][ \t\"'\\]{0,8}"
_COOKIE_NAME = r"[\w.%-]{1,64}="

_HEADERS = (
    place(
        "bearer-token",
        "Bearer token in an Authorization header",
        rf"authorization(?<![a-z]authorization){_SIGN}bearer[ \t]{{1,4}}(?P<secret>[a-z0-9._~+/=:-]{{6,}}+)",
        "auth",
        is_given,
    ),
    place(
        "bearer-token",
        "Bearer token",
        r"bearer(?<![a-z]bearer)(?:[ \t]{1,4}|[\"']?[ \t]{0,2}[:=][ \t\"']{0,4})(?P<secret>[a-z0-9._~+/=-]{8,}+)",
        "bearer",
        is_credential,
    ),
    place(
        "basic-auth",
        "Basic authentication header",
        r"basic(?<![a-z]basic)[ \t]{1,4}(?P<secret>[a-z0-9+/]{6,}+={0,2})",
        "basic ",
        is_basic_pair,
        probe=r"basic[ \t]{1,4}(?-i:[a-z+/]*[A-Z0-9])",
    ),
    place(
        "authorization",
        "Any other Authorization header",
        rf"authorization(?<![a-z]authorization){_SIGN}(?!aws4-)"
        r"(?:(?:token|bot|apikey|api-key|negotiate|digest|key|splunk|ssws|genie-?key|sso-key)[ \t=]{1,4})?"
        r"(?P<secret>[a-z0-9._~+/=:-]{8,}+)",
        "auth",
        is_credential,
    ),
    place(
        "cookie",
        "Cookie header",
        rf"cookie(?:(?<![a-z-]cookie){_SIGN}|(?<=[^-]--cookie)[ =][\"']?|(?<=\s-b cookie))"
        rf"(?P<secret>{_COOKIE_NAME}[^\s\"'\\;]{{8,}}+[^\n\"'\\]*+)",
        "cookie",
        is_given,
    ),
    place(
        "cookie",
        "Set-Cookie header",
        rf"set-cookie{_SIGN}{_COOKIE_NAME}(?P<secret>[^\s\"'\\;,{MARK_ENDS}]{{6,}}+)",
        "cookie",
        is_given,
    ),
)

_ADDRESSES = (
    place(
        "uri-password",
        "Password in an address",
        # A password may hold an unescaped `@`, so the last one before the path counts.
        rf"://[^\s/:@\"'<>{MARK_ENDS}]{{0,64}}:"
        rf"(?P<secret>[^\s/?\"'<>{MARK_ENDS}]{{1,256}})@(?=[\w\[{MARK_ENDS}$%{{-])",
        "://",
        is_given_word,
        probe=r"://[^\s/:@\"'<>]*:[^\s/?\"'<>]+@",
    ),
    place(
        "uri-password",
        "Token in place of a user in an address",
        rf"://(?P<secret>[a-z0-9_.~-]{{20,256}})@(?=[\w\[{MARK_ENDS}])",
        "://",
        is_credential,
        probe=r"://[a-z0-9_.~-]{20,}@",
    ),
)

_END = rf"(?P<secret>[^\s\"'`|;&<>{MARK_ENDS}]{{3,128}}+)"
_OPTION = r"[^\s|;&]{0,160}(?:[ \t]|(?<=\\)\n)"


_LOGINS = (
    (" -p", "mysql", r"-p", "mysql, mysqldump -pPASSWORD"),
    (" -p", "mariadb", r"-p", "mariadb -pPASSWORD"),
    (" -p", "sshpass", r"-p ?", "sshpass -p PASSWORD"),
    (" -p", "psexec", r"-p ", "psexec -p PASSWORD"),
    (" -p", "login ", r"-p ", "docker, podman, az login -p PASSWORD"),
    (" -p", "mongo", r"-p ", "mongo, mongosh -p PASSWORD"),
    (" -p", "cqlsh", r"-p ", "cqlsh -p PASSWORD"),
    ("redis-cli", "redis-cli", r"-a ", "redis-cli -a PASSWORD"),
    (" -p", "sqlcmd", r"-p ?", "sqlcmd -P PASSWORD"),
    (" -p", "zip", r"-p ", "zip, unzip -P PASSWORD"),
    (" -p", "7z", r"-p", "7z -pPASSWORD"),
    ("pass", "htpasswd", r"-[a-z]*b[a-z]* \S{1,64} \S{1,64} ", "htpasswd -b FILE USER PASSWORD"),
    ("-u", "smbclient", r"-u \S{1,64}%", "smbclient -U USER%PASSWORD"),
    ("pass", "keytool", r"-(?:store|key)pass ", "keytool -storepass PASSWORD"),
    ("pass", "openssl", r"-pass(?:in|out)? pass:", "openssl -passin pass:PASSWORD"),
)

_COMMANDS = (
    *(
        place(
            "basic-auth",
            f"curl {flag} USER:PASSWORD",
            rf"{flag}(?<![\w-]{flag})[ =]?[ ]?[\"']?[^\s:\"'@/={MARK_ENDS}]{{0,64}}+"
            r"(?:@(?<=[^\s:\"'@/=]@)[a-z0-9.-]{3,64}+(?=:[^\s/]{3,128}(?:[\s\"']|$)))?+[\"']?:[\"']?"
            rf"(?P<secret>[^\s\"'{MARK_ENDS}]{{3,128}})",
            flag,
            is_user_password,
        )
        for flag in ("-u", "--user")
    ),
    *(
        place(
            "password",
            about,
            rf"{name}(?<![\w-]{name})(?:(?<= )|[\w.]{{0,12}} )(?:(?!{name}){_OPTION}){{0,10}}?{flag}[\"']?{_END}",
            keyword,
            is_user_password,
        )
        for keyword, name, flag, about in _LOGINS
    ),
    place(
        "password",
        "Login in a .netrc file",
        rf"(?:machine[ \t]{{1,4}}[^\s{MARK_ENDS}]{{1,64}}|default)\s{{1,8}}"
        rf"login[ \t]{{1,4}}[^\s{MARK_ENDS}]{{1,64}}\s{{1,8}}password[ \t]{{1,4}}(?P<secret>[^\s{MARK_ENDS}]{{3,128}})",
        "password ",
        is_filled_in,
    ),
    place(
        "password",
        "Line of a .pgpass file",
        rf":5432:[\w*-]{{1,64}}:[\w*-]{{1,64}}:(?P<secret>[^\s:{MARK_ENDS}]{{3,128}})$",
        ":5432:",
        is_filled_in,
    ),
    place(
        "password",
        "echo USER:PASSWORD | chpasswd",
        rf"[\"' ][\w.-]{{1,32}}:(?P<secret>[^\s:\"'{MARK_ENDS}]{{3,128}})[\"']?"
        r"[ \t]{0,4}\|[ \t]{0,4}(?:sudo )?chpasswd",
        "chpasswd",
        is_filled_in,
    ),
    place(
        "password",
        "echo PASSWORD | docker login --password-stdin",
        rf"echo (?:-n )?[\"']?(?P<secret>[^\s\"'|{MARK_ENDS}]{{6,128}})[\"']?[ \t]{{0,4}}\|[^|\n]{{0,120}}stdin",
        "stdin",
        is_user_password,
    ),
    place(
        "npm-token",
        "Token in an .npmrc file",
        rf"_auth(?<=:_auth)(?:token)?[ \t]{{0,2}}[= ][ \t]{{0,2}}[\"']?(?P<secret>[^\s\"'{MARK_ENDS}]{{8,256}}+)",
        "_auth",
        is_given,
    ),
    place(
        "docker-token",
        "Login in a docker config.json",
        r"\"auth\"[ \t]{0,2}:[ \t]{0,4}\"(?P<secret>[a-z0-9+/]{8,}+={0,2})\"",
        '"auth"',
        is_basic_pair,
    ),
)

PLACES = (*_KEYS, *HASHES, *_HEADERS, *_ADDRESSES, *_COMMANDS, *LOGINS)
