"""Secrets known by where they stand: key blocks, headers, cookies, addresses, commands."""

from __future__ import annotations

import base64
import binascii
import re

from hardwon.scrub.rule import Accepts, Candidate, Rule
from hardwon.scrub.rules.told_passwords import form
from hardwon.scrub.shapes import (
    MAX_NAME_CHARACTERS,
    is_credential,
    is_filled_in,
    is_given,
    is_given_word,
    is_path,
    is_plain_word,
    is_template,
    is_word_itself,
    may_be_password,
    place,
    token,
)
from hardwon.text.normalise import MARK_ENDS

# Whether what stands in a known place is a secret: key blocks, logins, manifests.

_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{16}")
_CHANCE = re.compile(r"[A-Z0-9]")
_TAUGHT = frozenset({"test", "pass", "yyy", "password>", "token>", "pass>", "READ", "WRITE", "OWNER"})
"""What documentation writes where a password stands, and what `gsutil -u` gives somebody."""
_MIN_MNEMONIC_WORDS = 8


def is_basic_pair(candidate: Candidate) -> bool:
    """Whether the value is base64 for `user:password`, which the word `Basic` alone is not."""
    decoded = _decoded(candidate.value) if _CHANCE.search(candidate.value) else None
    return decoded is not None and ":" in decoded and decoded.isprintable()


def is_user_password(candidate: Candidate) -> bool:
    """Whether `user:x` after `-u` is a login: a container's `uid:gid` looks the same."""
    value = candidate.value
    return not value.isdigit() and not _is_no_login(value)


_OF_A_USER = re.compile(
    r"(?:^|[\s;&|(])(?:ps|date|chown|docker|podman|id|install|chroot|runuser|sort|top|pgrep|pkill|kubectl|tail|git)\s[^|;&\n]*\Z"
)
_ASKS_FOR_PASSWORD = re.compile(
    r"(?:sudo\s[^|\n]{0,60}-\w*S|kinit|cryptsetup|passphrase-fd|stdin|ssh-add|passwd|vault login)\b[^|\n]*\Z"
)


def is_login(candidate: Candidate) -> bool:
    """Whether a program that logs in is given `-u user:x`: `ps`, `date` and `docker run` have such an option, too."""
    line = _line_before(candidate)
    return is_user_password(candidate) and not _OF_A_USER.search(line)


def is_login_password(candidate: Candidate) -> bool:
    """Whether what follows `-u user -p` is no port, no folder and no name."""
    value = candidate.value
    if "mysql" in _line_before(candidate) and candidate.match[0][: -len(value)].endswith("-p "):
        return False  # the name of a database
    return is_user_password(candidate) and _is_likely(value) and not re.match(r"[\d.:]+(?:/\w+)?\Z", value)


def _is_likely(value: str) -> bool:
    """Whether it looks like a password, or is a word that programs do not have."""
    return may_be_password(value, True) or form(value).points > 0


def is_of_ftp(candidate: Candidate) -> bool:
    start = candidate.match.start()
    return "ftp" in candidate.text[max(0, start - 120) : start].lower() and is_login_password(candidate)


_ASKED = re.compile(r"assw|passphrase", re.I)


def is_sent_password(candidate: Candidate) -> bool:
    """Whether a script that waits for a prompt has just waited for that of a password."""
    start, end = candidate.match.span()
    near = candidate.text[max(0, start - 80) : start] + candidate.text[end : end + 80].partition("\n")[0]
    return is_user_password(candidate) and bool(_ASKED.search(near))


def is_password_of_zip(candidate: Candidate) -> bool:
    """`unzip -p` writes a file to the pipe."""
    return candidate.group("option") == "-P" and is_user_password(candidate)


def is_typed_in(candidate: Candidate) -> bool:
    """Whether the program that gets this text asks for a password."""
    return is_user_password(candidate) and bool(_ASKS_FOR_PASSWORD.search(_line_before(candidate)))


def _line_before(candidate: Candidate) -> str:
    start = candidate.match.start()
    return candidate.text[max(0, start - 200) : start].rpartition("\n")[2]


def _is_no_login(value: str) -> bool:
    """A template, a path, or what documentation writes for a password."""
    return (
        is_template(value) or is_word_itself(value) or value in _TAUGHT or is_path(value) or value.startswith("$env(")
    )


def is_call_password(candidate: Candidate) -> bool:
    """Whether the second argument of a login is a literal password."""
    value = candidate.value
    if len(value) > MAX_NAME_CHARACTERS or _is_no_login(value):
        return False
    is_last = re.match(r"[\"'`]\s{0,2}\)", candidate.text[candidate.match.end("secret") :][:4]) is not None
    return _is_likely(value) or (is_last and is_plain_word(value, spoken=False))


def is_mnemonic(candidate: Candidate) -> bool:
    """Whether the words are somebody's, and not the same one twelve times as in tests."""
    return len(set(candidate.value.split())) >= _MIN_MNEMONIC_WORDS


def is_private_key_in_base64(candidate: Candidate) -> bool:
    """Whether base64 of PEM lines begins a private key: a certificate looks the same."""
    return "PRIVATE KEY" in (_decoded(candidate.value[:64]) or "")


def is_in_kubernetes_secret(candidate: Candidate) -> bool:
    """Whether a base64 value stands among the `data` of a manifest whose kind is Secret."""
    start, end = candidate.match.span("secret")
    before = candidate.text[max(0, start - 4096) : start].rpartition("\n---")[2]
    around = before + candidate.text[end : end + 2048].partition("\n---")[0]
    if not re.search(r"\bkind\"?: ?[\"']?[Ss]ecret\b", around) or not re.search(r"\b(?:data|stringData)\"?:", before):
        return False
    return len(candidate.value) % 4 == 0 and _decoded(candidate.value) is not None


def holds_key_material(candidate: Candidate) -> bool:
    """Whether there is a key between the PEM lines, and not code that names them."""
    body = candidate.group("body")
    return len(body) > MAX_NAME_CHARACTERS or bool(_KEY_MATERIAL.search(body))


def _decoded(value: str) -> str | None:
    value = value.rstrip("=")
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


# Passwords known by the call, the console or the configuration they stand in.

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
    _call(
        "networkcredential usernamepasswordcredential usernamepasswordtoken passwordauthentication",
        "NetworkCredential(USER, PASSWORD)",
    ),
    _call("getconnection dbi->connect dbconnect", "getConnection(ADDRESS, USER, PASSWORD)", arguments=2),
    _call("htpasswd set_password setpassword", "set_password(PASSWORD)", arguments=0),
    _call("directoryentry", "DirectoryEntry(PATH, USER, PASSWORD)", arguments=2),
    _call("basicauth digestauth", "BasicAuth(USER, PASSWORD)"),
    _call("auth", "auth=(USER, PASSWORD)", opening=r"\s{0,4}[=:]\s{0,4}[(\[]\s{0,24}"),
    _call("login authenticate .auth", "login(USER, PASSWORD)"),
    _call("pdo", "new PDO(DSN, USER, PASSWORD)", arguments=2),
    _call("mysqli _connect", "mysql_connect(HOST, USER, PASSWORD)", arguments=2),
    _line(
        "send_keys sendkeys .type(",
        "What a test types into a field for a password",
        rf"passw[^\n]{{0,40}}\.(?:send_?keys|type)\([\"'](?P<secret>[^\s\"'{MARK_ENDS}]{{4,128}})[\"']",
        is_call_password,
        probe=r"passw.*(?:send_?keys|type)\([\"']",
    ),
    _line(
        "encrypt_string",
        "ansible-vault encrypt_string SECRET",
        rf"encrypt_string (?:--\S{{1,40}} )?[\"']?(?!--){_SECRET_WORD}",
    ),
    _line(
        "securestring",
        "ConvertTo-SecureString PASSWORD -AsPlainText",
        rf"convertto-securestring (?:-string )?[\"']?{_SECRET_WORD}[\"']?[^\n|;]{{0,40}}-asplaintext",
    ),
)

_CONSOLES = (
    _line("ldap", "ldapsearch -w PASSWORD", rf"ldap[a-z]{{3,8}} [^\n|;]{{0,200}}?(?<= )-w [\"']?{_SECRET_WORD}"),
    _line(
        "sqlplus expdp impdp",
        "sqlplus, expdp, impdp USER/PASSWORD@",
        rf"(?:sqlplus|expdp|impdp)(?: -\S{{1,8}})*+ [\"']?\w{{1,40}}/(?P<secret>[^\s\"'@/{MARK_ENDS}]{{3,64}})@",
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


# Hashes of passwords: with a word list at hand they are as good as weak passwords.

HASHES = (
    token(
        "password-hash",
        "Password hash as in /etc/shadow",
        r"\$(?:[15689y]|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}",
        *("$1$", "$5$", "$6$", "$8$", "$9$", "$y$", "$apr1$"),
        edge="",
        solid=False,
    ),
    token(
        "password-hash", "bcrypt hash", r"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}", "$2a$", "$2b$", "$2x$", "$2y$", edge=""
    ),
    token(
        "password-hash",
        "Password hash of Django or Werkzeug",
        r"(?:pbkdf2[_:]|scrypt:)\w{1,12}(?::\d{1,9}|\$\d{1,9})?(?::\d{1,3}){0,2}\$[A-Za-z0-9]{8,32}\$[A-Za-z0-9+/=]{40,}",
        "pbkdf2",
        "scrypt:",
        edge="",
        solid=False,
    ),
    token(
        "password-hash",
        "Argon2 hash",
        r"\$argon2[a-z]{1,2}\$v=\d{1,3}\$[a-z0-9=,]{8,40}\$[A-Za-z0-9+/]{16,64}\$[A-Za-z0-9+/]{20,}",
        "$argon2",
        edge="",
    ),
)


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
    ("redis-cli", "redis-cli", r"(?:-a|auth) ", "redis-cli -a PASSWORD"),
    (" -p", "useradd", r"-p ", "useradd -p PASSWORD"),
    (" -p", "usermod", r"-p ", "usermod -p PASSWORD"),
    ("using ", "db2", r"using ", "db2 connect to NAME user USER using PASSWORD"),
    ("alias set", "mc", r"alias set \S{1,64} \S{1,120} \S{1,64} ", "mc alias set NAME ADDRESS USER PASSWORD"),
    ("obscure", "rclone", r"obscure ", "rclone obscure PASSWORD"),
    ("auth", "jenkins-cli.jar", r"-auth \S{1,64}?:", "jenkins-cli.jar -auth USER:PASSWORD"),
    (" -a ", "http", r"-a [^\s:]{1,64}:", "http -a USER:PASSWORD"),
    (" -hp", "rar", r"-hp", "rar -hpPASSWORD"),
    (" -p", "unrar", r"-p", "unrar -pPASSWORD"),
    (" -p", "security", r"-p ", "security unlock-keychain -p PASSWORD"),
    ("runas", "runas", r"/user:\S{1,40} ", "runas /user:USER PASSWORD"),
    ("upwd", "drush", r"upwd \S{1,64} ", "drush upwd USER PASSWORD"),
    (" -p", "sqlcmd", r"-p ?", "sqlcmd -P PASSWORD"),
    (" -p", "7z", r"-p", "7z -pPASSWORD"),
    ("lftp", "lftp", r"-u \S{1,40}?,", "lftp -u USER,PASSWORD"),
    ("wpa_pass", "wpa_passphrase", r"\S{1,40} ", "wpa_passphrase NAME PASSWORD"),
    ("snmp", "snmp", r"-[acx] (?!sha|md5|aes|des)", "snmpwalk -A PASSWORD, -c COMMUNITY"),
    ("ssh-keygen", "ssh-keygen", r"-[np] ", "ssh-keygen -N PASSPHRASE"),
    (
        "pass",
        "htpasswd",
        r"-(?:[a-z]*b[a-z]* \S{1,64} \S{1,64}|nb[a-z]*|[a-z]*nb) (?:\S{1,64} )?",
        "htpasswd -b FILE USER PASSWORD",
    ),
    ("smbclient", "smbclient", r"-u \S{1,64}%", "smbclient -U USER%PASSWORD"),
    ("pass", "openssl", r"-pass(?:in|out)? pass:", "openssl -passin pass:PASSWORD"),
    ("openssl", "openssl", r"-k ", "openssl enc -k PASSWORD"),
    ("curl", "curl", r"(?:-b|--cookie)[ =]?[\"']?[\w.%-]{1,64}=", "curl -b NAME=VALUE"),
    ("rabbitmq", "rabbitmqctl", r"(?:add_user|change_password) \S{1,64} ", "rabbitmqctl add_user USER PASSWORD"),
    ("/rp ", "schtasks", r"/rp ", "schtasks /rp PASSWORD"),
    ("/p:", "xfreerdp", r"/p:", "xfreerdp /p:PASSWORD"),
    (" -p", "beeline", r"-p ", "beeline -p PASSWORD"),
    ("pass", "ldappasswd", r"-[as] ", "ldappasswd -s PASSWORD"),
    ("/pass:", "cmdkey", r"/pass:", "cmdkey /pass:PASSWORD"),
)

_COMMANDS = (
    *(
        place(
            "basic-auth",
            f"curl {flag} USER:PASSWORD",
            rf"{flag}(?<![\w-]{flag})[ =]?[ ]?[\"']?[^\s:\"'@/={MARK_ENDS}]{{0,64}}+"
            r"(?:@(?<=[^\s:\"'@/=]@)[a-z0-9.-]{3,64}+(?=:[^\s/]{3,128}(?:[\s\"']|$)))?+[\"']?:"
            r"(?!//[^\s/@:]{0,64}:[^\s/]{1,128}@)[\"']?"  # an address, whose password has a rule of its own
            rf"(?P<secret>[^\s\"'{MARK_ENDS}]{{3,128}})",
            flag,
            is_login,
        )
        for flag in ("-u", "--user", "--proxy-user")
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
        "zip, unzip -P PASSWORD",
        rf"zip (?:{_OPTION}){{0,10}}?(?P<option>-p) [\"']?{_END}",
        "zip ",
        is_password_of_zip,
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
    _line(
        "passwd",
        "echo PASSWORD | passwd",
        rf"(?:echo|printf) (?:-[en]{{1,2}} )?[\"'](?P<secret>[^\s\"'|{MARK_ENDS}]{{3,128}})[\"'][ \t]{{0,4}}\|"
        r"[ \t]{0,4}(?:sudo )?passwd(?![a-z])",
        probe=r"(?:echo|printf) .*\|.*passwd",
    ),
    _line(
        "stdin sudo~ kinit passphrase-fd with-token smbpasswd ssh-add vault~",
        "echo PASSWORD | docker login --password-stdin, sudo -S, kinit",
        rf"(?:echo|printf) (?:-n |[\"']?%s(?:\\n)?[\"']? )?[\"']?"
        rf"(?P<secret>[^\s\"'|{MARK_ENDS}]{{3,128}})[\"']?[ \t]{{0,4}}\|"
        r"[^|\n]{0,120}?(?:stdin|sudo [^|\n]{0,40}?-[a-z]{0,4}s(?![a-z])|kinit|cryptsetup|passphrase-fd"
        r"|with-token|smbpasswd|ssh-add|vault login)",
        probe=r"(?:echo|printf) .*\|.*(?:stdin|sudo|kinit|cryptsetup|passphrase-fd|with-token|smbpasswd|ssh-add|vault)",
    ),
    _line(
        "~-p",
        "-u USER -p PASSWORD of any program",
        rf"-u[ ]?[\"']?[a-z][\w.@\\-]{{0,40}}[\"']?"
        rf"(?: (?:-[a-oq-v]|--?[a-z-]{{2,16}})[ =][^\s-]\S{{0,40}}){{0,3}}? -p[ ]?[\"']?{_SECRET_WORD}",
        is_login_password,
        probe=r"-u ?[\"']?[a-z][\w.@\\-]*[\"']? .*-p",
    ),
    _line(
        "-u",
        "-U USER -w PASSWORD of any program",
        rf"-u[ ]?[\"']?[a-z][\w.@\\-]{{0,40}}[\"']? -w [\"']?(?!/){_SECRET_WORD}",
        is_login_password,
        probe=r"-u ?[\"']?[a-z][\w.@\\-]*[\"']? -w ",
    ),
    _line(
        "passwd~",
        "mkpasswd, openssl passwd, mosquitto_passwd …: PASSWORD as the last word",
        rf"(?:mk|[a-z]_|openssl |vnc)passwd(?<![$@.][a-z]{{2}}_passwd)(?: -[\w-]{{1,16}}(?: [^\s-]\S{{0,60}})??){{0,4}}"
        rf"(?: [\w./~-]{{1,80}}){{0,2}}? [\"']?(?![@$%-])"
        rf"(?P<secret>[^\s\"')`{MARK_ENDS}]{{4,128}}+)(?<!;)[\"'`]?(?:$|[)`])",
        is_login_password,
        probe=r"(?:mk|_|ssl |vnc)passwd ",
    ),
    _line(
        "bindpw~ rootpw~ _pw~",
        "bindpw PASSWORD, user_pw PASSWORD",
        rf"(?:bindpw|rootpw|_pw)[ \t]{{1,4}}[\"']?{_SECRET_WORD}",
        is_login_password,
    ),
    _line(
        "storepass~ keypass~",
        "keytool -storepass PASSWORD -keypass PASSWORD",
        rf"-(?:src|dest|new)?(?:store|key)pass [\"']?{_SECRET_WORD}",
    ),
    _line(
        "setx~",
        "setx DB_PASSWORD PASSWORD",
        rf"setx (?:/m )?\w{{0,40}}(?:pass|password|pwd|pw|secret|token) [\"']?{_SECRET_WORD}",
        probe=r"setx .*(?:pass|pw|secret|token)",
    ),
    _line(
        "assword",
        "expect's send PASSWORD",
        rf"(?:send (?:-- )?|send_?line\()\\?[\"'](?P<secret>[^\s\"'\\{MARK_ENDS}]{{4,128}})(?:\\{{1,2}}[rn])?\\?[\"']",
        is_sent_password,
        probe="send",
    ),
    _line(
        "requirepass~ masterauth~ rootpw~ auth_pass~",
        "requirepass PASSWORD of Redis, rootpw PASSWORD of Kickstart and LDAP, auth_pass PASSWORD of keepalived",
        rf"(?:requirepass|masterauth|auth_pass|rootpw(?: --plaintext)?)[ \t]{{1,4}}[\"']?(?!--|\{{){_SECRET_WORD}",
    ),
    _line(
        "psk",
        "psk=PASSWORD of a wireless network",
        rf"(?<![a-z0-9])(?:(?:wpa-|wifi-sec\.|wpa_)?psk=|wifi-sec\.psk )[\"']?(?P<secret>[^\s\"'{MARK_ENDS}]{{8,63}})",
        is_call_password,
    ),
    _line(
        "<<<",
        "sudo -S <<< PASSWORD, kinit USER <<< PASSWORD",
        rf"<<<[ ]?[\"']?{_SECRET_WORD}",
        is_typed_in,
        probe="(?:sudo|kinit|cryptsetup|passphrase-fd|stdin|ssh-add|passwd|vault login).*<<<",
    ),
    _line(
        "stdin sudo~ cryptsetup openssl~ secret-tool ~|~su~",
        "echo 'SOME WORDS' | sudo -S",
        rf"(?:echo|printf) (?:-n )?(?P<quote>[\"'])(?P<secret>[^\n\"'{MARK_ENDS}]{{3,80}})(?P=quote)"
        r"[ \t]{0,4}\|[ \t]{0,4}"
        r"(?:sudo [^|\n]{0,40}?-[a-z]{0,4}s(?![a-z])|cryptsetup|openssl passwd|secret-tool store|su -)",
        is_filled_in,
        probe=r"(?:echo|printf) .*\|.*(?:sudo|cryptsetup|openssl|secret-tool|su -)",
    ),
    _line(
        "setenv~ env~ set~-",
        "ENV DB_PASSWORD PASSWORD, setenv DB_PASSWORD PASSWORD",
        r"^[ \t]{0,8}(?:env|setenv|set -[gux]{1,2}) [a-z0-9_]{0,40}pass(?:word|wd|phrase)?[ \t]{1,4}"
        rf"[\"']?{_SECRET_WORD}",
        is_filled_in,
        probe=r"(?:env|setenv|set -\w+) [a-z0-9_]*pass[a-z]*[ \t]",
    ),
    _line(
        "net~use",
        "net use SHARE PASSWORD",
        rf"net use (?:[a-z*]:? )?\\\\[^\s|]{{1,120}} (?:/user:\S{{1,64}} )?[\"']?(?!/){_SECRET_WORD}",
    ),
    _line(
        "-u",
        "-U USER%PASSWORD",
        rf"-u(?<![^\s]-u)[ =]?[\"']?[\w.\\/@-]{{1,64}}%(?P<secret>[^\s\"'{MARK_ENDS}]{{3,128}})",
        probe=r"-u[ =]?[\"']?[\w.\\/@-]+%",
    ),
    _line(
        "psexec secretsdump wmiexec smbexec",
        "impacket's DOMAIN/USER:PASSWORD@HOST",
        rf"(?:psexec|secretsdump|wmiexec|smbexec)[\w.-]{{0,20}} [^\n]{{0,60}}?[\w.-]{{1,40}}/[\w.-]{{1,40}}:"
        rf"[\"']?(?P<secret>[^\s\"'@{MARK_ENDS}]{{3,128}})[\"']?@",
    ),
    _line(
        "<<",
        "A line that a program reads that asks for a password: sudo -S <<EOF",
        rf"<<-?[ ]?[\"']?\w{{1,20}}[\"']?\n(?P<secret>[^\s\"'{MARK_ENDS}]{{4,128}})\n",
        is_typed_in,
        probe="(?:sudo|kinit|cryptsetup|passphrase-fd|stdin|ssh-add|passwd|vault login).*<<",
    ),
    _line(
        "ftp",
        "USER PASSWORD in a script of ftp",
        rf"^[ \t]{{0,8}}user [\w.@-]{{1,40}} (?P<secret>[^\s\"'{MARK_ENDS}]{{4,128}})$",
        is_of_ftp,
        probe=r"user \S+ \S",
    ),
    _line(
        "pass secret cred",
        "echo PASSWORD > a file for it",
        rf"(?:echo|printf) (?:-n |[\"']?%s(?:\\n)?[\"']? )?[\"']?(?P<secret>[^\s\"'|<>{MARK_ENDS}]{{4,128}})[\"']?"
        r"[ \t]{0,2}>{1,2}[ \t]{0,2}[\w./~-]{0,60}(?:pass|secret|cred)",
        is_login_password,
        probe=r"(?:echo|printf) .*>.*(?:pass|secret|cred)",
    ),
    _line(
        "passwd chpasswd stdin sudo~",
        "(echo PASSWORD; echo PASSWORD) | smbpasswd, yes PASSWORD | passwd",
        r"(?:(?<=\()echo|yes|printf) (?:-[en]{1,2} )?[\"']?"
        rf"(?P<secret>[^\s\"'|;\\{MARK_ENDS}]{{3,128}})[^|\n]{{0,80}}\|"
        r"[^\n]{0,40}(?:passwd|stdin|sudo -s)",
        is_login_password,
        probe=r"(?:echo|yes|printf) .*\|.*(?:passwd|stdin|sudo)",
    ),
    _line("net~user", "net user USER PASSWORD", rf"net user \S{{1,40}} [\"']?(?![/*]){_SECRET_WORD}"),
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
