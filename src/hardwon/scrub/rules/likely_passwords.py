"""Passwords wherever a text speaks of one: each word nearby is weighed by its form and by what links it to the mention."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from operator import itemgetter
from typing import NamedTuple

from hardwon.scrub.rule import Candidate, Rule
from hardwon.scrub.shapes import (
    NO_WORD_OF_A_PHRASE,
    is_code,
    is_letter_salad,
    is_path,
    is_stand_in,
    is_test_name,
)
from hardwon.text.normalise import MARK_ENDS

# How a text speaks of it; beyond ASCII capitals are written out, for a lowercase copy of a text keeps them.

PASSWORDS = (
    *(
        "password passwort passord passcode passwd pasword passwrd passowrd pssword pswd psswd passw0rd"
        " kennwort contrase senha palavra-passe wachtwoord lösenord adgangskode salasana kodeord hasło hasła hasłem"
        " hasłu heslo heslem hesla jelszó jelszav jelszót parola parolă parolayı parool paroliet şifre Şifre mdp"
        " geslo gesla zaporka lozinka lozinku sifra slaptažod парол Парол ПАРОЛ лозинка παρολα κωδικό nenosiri باسورد"
        " 密码 密碼 口令 合言葉 パスワード 暗証番号 비밀번호 암호 비번 패스워드 पासवर्ड পাসওয়ার্ড รหัสผ่าน סיסמה סיסמא"
        " گذرواژه assword:"
    ).split(),
    *("pass code", "pass word", "mot de passe"),
    *("la clave", " clave:", "la contra", "kata sandi", "kata laluan", "رمز عبور", "پاس ورڈ", "het ww", "mật khẩu"),
    *("كلمة المرور", "كلمة السر", "shared secret", "secret word", "magic word", "secret partagé", "pre-shared key"),
    *("wifi key", "wi-fi key", "wlan key", "wpa key", "segredo compartilhado", "master key"),
)
_PHRASES = ("passphrase", "pass phrase", "phrase secrète", "phrase de passe", "frase de paso", "арольная фраза", "keyphrase")
_SHORT = ("pwd", "pw", "psw", "p/w", "psk")
_PASS = ("pass",)
_PINS = ("pin", "пин", "Пин")
_SECRETS = ("secret", "секрет", "Секрет", "bindcredential")
_TOKENS = ("token", "api key", "access key", "wifi", "wi-fi", "wlan")
_LOGINS = (
    *("login", "log in", "logged in", "logging in", "sign in", "creds", "basic auth", "identifiant", "zugang", "wifi"),
    *("anmeld", "einlogg", "connecte-toi", "connexion", "accès", "acceso", "accedi", "accesso", "inicia sesión"),
    *("credencia", "credenzial", "inlogg", "logga in", "zaloguj", "přihlás", "giriş", "логин", "залогин", "учётк"),
    *("учетк", "войди", "登录", "登入", "账号", "帳號", "ログイン", "로그인", "계정", "đăng nhập", "user/pass", "u/p"),
)
_CLASSES = {"password": PASSWORDS, "phrase": _PHRASES, "short": _SHORT, "pass": _PASS, "pin": _PINS, "secret": _SECRETS, "token": _TOKENS}
_CLASS_OF = {name: kind for kind, names in _CLASSES.items() for name in names}
KEYWORDS = tuple(_CLASS_OF)
_WHOLE = frozenset((*_SHORT, *_PASS, *_PINS, "mdp"))
"""Also parts of other words: they stand by themselves, or as a part of a name."""


class Mention(NamedTuple):
    start: int
    end: int
    kind: str


_OTHER_WORD = re.compile(
    r"(?:by|com|tres|sur|over|under|im)pass\Z|[a-z0-9](?:pin|mdp|psk|p/w)\Z|[a-z]{9}pwd?\Z"
    r"|[^\W\d_](?:senha|parola|hesl[oa]|gesl[oa]|hasł[oa]|zaporka)\Z"
)
_READ = re.compile(r"\$[{(]?[\w:.]*\Z")
_GIVEN = re.compile(r"\w*[ ]?[=:]")


@lru_cache(maxsize=2)
def mentions(lowered: str) -> list[Mention]:
    """In order, none within another; not where a shell reads a variable."""
    found: list[Mention] = []
    for name in (name for name in KEYWORDS if name in lowered):
        start = lowered.find(name)
        while start >= 0:
            end = start + len(name)
            before = lowered[max(0, start - 16) : end]
            is_word = _OTHER_WORD.search(before) or (name in _WHOLE and lowered[end : end + 1].isalpha())
            is_read = "$" in before and _READ.search(before, 0, len(before) - len(name)) and not _GIVEN.match(lowered, end)
            if not is_word and not is_read:
                found.append(Mention(start, end, _CLASS_OF[name]))
            start = lowered.find(name, end)
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


WEIGHTS, WORDS = "likely_passwords.json", "common_words.txt"
LEAST = 1.0
"""The sum of weights above which a word is taken: wrong in less than one of 10,000 real texts."""

# What stands near it.

_REACH_BEFORE, _REACH_AFTER = 60, 100
_MAX_WORDS = 5_000
_OPENING = "\"'`“„«「『‘"
_QUOTES = _OPENING + "”»」』’"
_FAR_EAST = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_BEGINS = re.compile(rf"(?<![^\s{_QUOTES}(（\[{{:=,;|>/、，：。@%{_FAR_EAST}])[^\s{_QUOTES}()（）\[\]{{}}:=,;|<>/\\、，：。{_FAR_EAST}]|(?<=[“„«「『])[^\s]")
_PATTERN = (
    rf"(?P<secret>(?<=[{_OPENING}])(?:\\(?![{_QUOTES}])|[^\n{_QUOTES}\\{MARK_ENDS}]){{3,80}}(?=\\{{0,4}}[{_QUOTES}])"
    rf"|(?:(?![,;&][\w. -]{{1,24}}=|[,;|](?:[\s{_QUOTES}]|\Z))[^\s\xa0{_QUOTES}<>、。，（）{_FAR_EAST}{MARK_ENDS}]){{3,80}}(?<![.:;!?)\]}}…\\]))"
)


def _near(lowered: str) -> Iterator[int]:
    """Where the words near a mention begin, in its line and the two below."""
    done = left = 0
    left = _MAX_WORDS
    for mention in mentions(lowered):
        begin = max(done, mention.start - _REACH_BEFORE, lowered.rfind("\n", 0, mention.start) + 1)
        end = mention.end
        for _ in range(3):
            end = lowered.find("\n", end + 1, mention.end + _REACH_AFTER)
            if end < 0:
                end = min(len(lowered), mention.end + _REACH_AFTER)
                break
        for found in _BEGINS.finditer(lowered, begin, max(end, begin)):
            yield found.start()
            left -= 1
            if not left:
                return
        done = max(done, end)


# What a word looks like.

_TECHNICAL = re.compile(
    r"(?:argon2|pbkdf2|[bs]crypt|sha-?\d|md\d|base\d|utf-?\d|aes-?\d|hmac|rsa|ed25519|pkcs|oauth|saml|jwt|scram)[a-z\d._+-]*"
    r"|(?:x|i|v|k|h|l|es)\d{1,4}n?|(?:python|node|java|rfc|cve|cwe|iso|ipv|http|tls|ssh|log4j|step|phase|level|test|user|case"
    r"|line|item|page|issue|task|part|arg|var|role|port|varchar|char|int|string|utf)[-_. ]?[\d.]*",
    re.I | re.A,
)
_QUANTITY = re.compile(r"[<>≥≤~+#-]?\d[\d.,]*[-–+]?[A-Za-z%°*]{0,2}|\d+[/x:]\d+\S*|\d{4}-\d\d.*|v?\d+\.\d+\S*", re.A)
_FILE = re.compile(r"[\w./\\~@-]+\.[a-z]{1,5}\d?(?::\d+.*)?", re.A)
_FILE_ENDINGS = frozenset(
    "py js ts tsx jsx mjs go rs rb java kt c h cpp cs php sh md txt json yml yaml toml ini cfg conf env lock html css scss"
    " sql xml log pem key crt jks p12 gpg zip gz tgz tar bak vue svelte swift dart ex exs lua pl r ps1 bat net io com org"
    " dev local lan internal so dll exe pdf csv tf enc db".split()
)
_OWN = re.compile(r"passw|passphr|token|secret|credential|login|api_?key|passwd|pwd", re.I)
_PARTS = re.compile(r"[-_./&+'^=]+")
_SYMBOL = re.compile(r"[!@#$%^&*~?+]")
_WORD_NUMBER = re.compile(r"[^\W\d_]{3,}\d+")
_LETTERS = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d", re.A)
_FORMAT = re.compile(r"(?<![\w%!@#$^&*~?])%[a-zA-Z](?!\w)|%\(")
_ADDRESS = re.compile(r"[\w.-]+:\d+/|\d+\.\d+\.\d+|[#.][a-z-]+\Z|[^|]*\|[^|]*\||.*\\[nt]|![a-z_]+\Z|@[\w./-]+\Z|[A-Za-z_][\w.-]*=[^=]|[A-Za-z][\w.-]*:[^\s:]+\Z")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_NO_PHRASE = re.compile(r"[(){}<>%=:;?,]|[.][ ]|\A[A-Z][a-z]+[ ][a-z]")
_CHUNK = re.compile(r"[^\W\d_]\d+[^\W\d_]|\d[^\W\d_]{2}|[a-z][A-Z]+\d")
_BRACKET = re.compile(r"[(){}\[\]]")
_MIN_CHARACTERS = 4
_LAST_GREEK_OR_SLAVIC = "\u0530"
_CALL = re.compile(r"[(.]|->|&&|=>")
_ENDS_AS_SAID = re.compile(
    r"(?:ed|ing|ly|able|ible|ment|tions?|sion|ness|ity|[ae]nce|[ai][sz]e|ate|ful|less|ous|ive|ary|ory|ism|ship|ized|isé|ung|lich|isch|iert"
    r"|mente|ción|ção|ée?s?|ado|ada|ido|ida|ный|ная|ение|ować|ość|mek|iyor|adı|edi)\Z"
)
_CAMEL = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]")
_CALLED = re.compile(r"\A(?:get|set|is|has|on|use|handle|fetch|load|create|update|validate|check|self|this|user|req|form|config)(?:[A-Z_.]|\Z)")


@cache
def _common() -> frozenset[str]:
    """Words that texts are full of, which a password seldom is."""
    return frozenset(files("hardwon.scrub").joinpath(WORDS).read_text(encoding="utf-8").split())


def is_common(word: str) -> bool:
    word = word.lower()
    common = _common()
    return word in common or (word.endswith("s") and word[:-1] in common)


@lru_cache(maxsize=4096)
def shape(value: str) -> str:
    """What kind of word it is; empty for what is no password wherever it stands."""
    value = value.strip("*:_")
    if not value or is_stand_in(value) or _FORMAT.search(value) or "://" in value or is_test_name(value):
        return ""
    if is_path(value) and not (value[0] == "~" and _SYMBOL.search(value[1:])):
        return ""
    if _ADDRESS.match(value) or _TECHNICAL.fullmatch(value) or _HASH.fullmatch(value):
        return ""
    if " " in value:
        return _phrase(value)
    digits, symbols = bool(_DIGITS.search(value)), bool(_SYMBOL.search(value[1:-1]))
    if (is_code(value) or _CALLED.search(value)) and not (digits and symbols and not _CALL.search(value)):
        return ""
    if not digits and not symbols and _BRACKET.search(value):
        return ""
    if value.isdigit():
        return "digits" if len(value) >= _MIN_CHARACTERS else ""
    if value[0] > _LAST_GREEK_OR_SLAVIC and not digits:
        return ""
    if len(value) < _MIN_CHARACTERS or not _LETTERS.search(value) or _QUANTITY.fullmatch(value):
        return ""
    if _OWN.search(value):
        return "own-name-9" if digits or symbols else ""
    if value.isalpha():
        return _letters(value)
    if symbols:
        return "symbols-9" if digits else "symbols"
    if _FILE.fullmatch(value) and value.rpartition(".")[2].partition(":")[0].lower() in _FILE_ENDINGS:
        return ""
    return _parts(value, digits)


def _phrase(value: str) -> str:
    words = re.findall(r"[^\W\d_]+", value)
    if not 2 <= len(words) <= 16 or _OWN.search(value) or _NO_PHRASE.search(value):
        return ""
    return "phrase-common" if sum(map(is_common, words)) > len(words) / 2 else "phrase"


def _letters(value: str) -> str:
    if is_common(value):
        return ""
    if value.islower():
        return "said-word" if _ENDS_AS_SAID.search(value) else "word"
    if value.isupper():
        return "WORD"
    if is_letter_salad(value):
        return "salad"
    return "camelCase" if _CAMEL.search(value) else "Word"


def _parts(value: str, digits: bool) -> str:
    ended = _SYMBOL.search(value[-1:]) is not None
    parts = [part for part in _PARTS.split(value.rstrip("!@#$%^&*~?+")) if part]
    words = [part for part in parts if part.isalpha()]
    if len(parts) > 1 and not NO_WORD_OF_A_PHRASE.isdisjoint(map(str.lower, words)):
        return ""
    common = sum(is_common(word) or bool(_ENDS_AS_SAID.search(word)) for word in words)
    if not digits:
        if ended and len(parts) == 1:
            return "" if common else "word!"
        return "joined-common" if common == len(parts) else "joined-mixed" if common else "joined"
    if len(parts) > 1:
        if any(_CHUNK.search(part) for part in parts) or (_CAMEL.search(value) and not common):
            return "chunks"
        return "name-9" if common == len(words) else "joined-9"
    if ended:
        return "word-9!"
    if _WORD_NUMBER.fullmatch(value):
        return "common-9" if is_common(value.rstrip("0123456789")) else "word-9"
    return "drawn"


# What links it to the mention.

_SAYS = frozenset(
    "is was be are now remains it's its will ist wird lautet war jetzt est c'est était sera es era será é foi è sarà diventa"
    " är var er on oli reads equals jest je este fost olarak adalah là most yra bo był будет это был είναι هي היא है hai still"
    " just only currently noch immer toujours siempre sigue ainda sempre wciąż becomes became itself namely called named"
    " pedig to wäre sería seria sarebbe blir heter wordt".split()
)
_MAKES = frozenset(
    "to as auf als na à comme como come jako как en type enter use using try with answer set put given tippe gib nimm"
    " utilise usa use pon mets coloca met mit avec con com med z ze с введи введите ist: into takes wpisz ustaw".split()
)
_BELONGS = frozenset(
    "for of on at in from by via per für von bei an pour sur de du des para en del di su dla do для от and or the a an der"
    " die das dem le la el il het los las this that your my our their his its und et y e i oder if when not no every each"
    " any with against into than before after".split()
)
_OTHER_THING = re.compile(
    r"(?<![a-z])(?:column|field|hash\w*|policy|reset\w*|strength|manager|length|valid\w*|tests?|file|input|form|page|flow|box"
    r"|prompt|must|should|require\w*|characters?|chars|min\w*|max\w*|confirm\w*|forgot\w*|change|toggle|missing|empty"
    r"|wrong|incorrect|invalid|optional|rotate|expire\w*|failed|failure|generate\w*|encrypt\w*|store[ds]?|protection|count"
    r"|usage|limit|budget|type|name|id|url|endpoint|muss|doit|debe|deve|must|должен|falsch|zeichen|caracteres|caractères"
    r"|символ\w*|文字|长度|不能)(?![a-z])"
)
_TAIL = re.compile(r"[a-zß-ÿа-я]*(?:[_-]?\w+)*(?:'s|’s)?", re.A)
_WORDS = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_CODE_LINE = re.compile(r"[{};]\s*\Z|\)\s*[;:{]?\s*\Z|^\s*(?:def|class|import|from|const|let|var|if|return|function|public|private|func|fn)\s|=>|\w\(|#include|</?\w+>")
_ASKS = re.compile(r"\?[\"'`)*]*\s*\Z")


_OTHER_KEY = re.compile(r"[=,;{&]")


def _link(between: str) -> tuple[str, str]:
    """How the words between end: the kind of link, and the last word if it is one of ours."""
    bare = between.rstrip(_QUOTES + "*([{<>@bBrfuNL" if between[-1:] in _QUOTES else "*")
    stripped = bare.rstrip()
    if "\n" in between:
        return ("line-asked" if re.search(r"[?:.>]\s*\n", between) else "line"), ""
    if not stripped:
        return ("blank" if between[:1].isspace() else "glued"), ""
    sign = stripped[-1]
    if sign in "=:：＝":
        if _OTHER_KEY.search(stripped[:-1]):
            return "other-key", ""
        return ("equals" if sign in "=＝" else "colon"), ""
    if stripped.endswith(("->", "=>", "→", "–", "—", " -")) or stripped == "-":
        return "arrow", ""
    if sign in "|\t":
        return "cell", ""
    if sign in ",;，、":
        return "comma", ""
    if sign in "/%":
        return "slash", ""
    if sign in "([（":
        return "bracket", ""
    if sign in "?!.。":
        return "sentence", ""
    if sign in "是为為はがを는은이가를을成了คือ":
        return "says", ""
    last = (_WORDS.findall(stripped) or [""])[-1]
    if last in _SAYS:
        return "says", last
    if last in _MAKES:
        return "makes", last
    if last in _BELONGS:
        return "belongs", last
    return "word", ""


_FUNCTION = _SAYS | _MAKES | _BELONGS
_ASSIGNED = ("equals", "colon", "other-key", "line", "line-asked")
"""To a token, other rules know what is given."""
_MAY_BE_VERB, _WORDY = ("blank", "word", "belongs", "makes"), frozenset("word Word said-word camelCase joined joined-mixed".split())
_IN_ADDRESS = re.compile(r"@\S*\Z")
_ALONE = re.compile(r"[\s>|*-]*(?:\w{1,10}:)?[\s\"'`*-]*\Z")


def _is_alone(lowered: str, start: int, end: int) -> bool:
    """Whether it is all that its line has, but for `>`, `User:` or `value:`."""
    before, after = lowered[max(0, start - 40) : start].rpartition("\n")[2], lowered[end : end + 8].partition("\n")[0]
    return bool(_ALONE.match(before)) and not after.strip(_QUOTES + " .!*;,)\\rn")


def _before(rest: str, first: str) -> str:
    if "." in rest or ";" in rest:
        return "sentence"
    if not rest.strip(_QUOTES + " *"):
        return "blank"
    if rest.lstrip(_QUOTES)[:1] in ",(:=/":
        return "sign"
    if first in ("as", "als", "como", "comme", "come", "jako", "как", "作为"):
        return "as"
    return "says" if first in _SAYS else "belongs" if first in _BELONGS else "word"


def _tail(tail: str) -> str:
    if not tail:
        return "none"
    if tail in ("s", "en", "s'", "es"):
        return "plural"
    if tail in ("'s", "’s"):
        return "whose"
    if _OTHER_THING.search(tail.replace("_", " ").replace("-", " ")):
        return "thing"
    return "ending" if len(tail) <= 3 else "name"


def _after(after: str) -> str:
    rest = after.lstrip(_QUOTES + "*")
    closed = "q" if rest != after and after[:1] in _QUOTES else ""
    if rest.startswith(("...", "…")):
        return "cut"
    if not rest or rest[0] == "\n":
        return closed + "end"
    if rest[0] in ".,;!?)。，、":
        return closed + ("stop" if len(rest) == 1 or not rest[1].isalnum() else "glued")
    if rest[0] in "(:=[<>{/@":
        return closed + rest[0]
    if not rest[0].isspace():
        return closed + "glued"
    word = _WORDS.match(rest.lstrip())
    if not word:
        return closed + "sign"
    return closed + ("function" if word[0] in _BELONGS or word[0] in _SAYS else "word")


def _head(lowered: str, mention: Mention) -> str:
    before = lowered[max(0, mention.start - 12) : mention.start]
    name = re.search(r"[\w.-]*\Z", before)
    head = name[0] if name else ""
    sign = before[: len(before) - len(head)][-1:]
    if head.startswith("-") or head.endswith("--"):
        return "option"
    if head.endswith("."):
        return "attribute"
    if sign in ("$", "{", "%"):
        return "variable"
    if sign in ("<", "["):
        return "tag"
    if sign and sign in _QUOTES:
        return "quoted"
    return "name" if head else "none"


def relations(candidate: Candidate) -> Iterator[list[str]]:
    """What speaks for and against a word, for each mention that it may belong to."""
    lowered, (start, end) = candidate.match.string, candidate.match.span("secret")
    form = shape(candidate.value)
    if not form:
        return
    line_start = max(lowered.rfind("\n", 0, start) + 1, start - 160)
    line_end = lowered.find("\n", end, end + 160)
    line = lowered[line_start : line_end if line_end >= 0 else end + 160]
    after = _after(lowered[end : end + 24])
    quoted = "quoted" if lowered[start - 1 : start] in _OPENING and start else "bare"
    always = [
        "form:" + form,
        f"form:{form}|{quoted}",
        f"form:{form}|after:{after}",
        "after:" + after,
        f"length:{min(len(candidate.value), 8)}",
    ]
    prior = (_WORDS.findall(lowered[max(line_start, start - 24) : start]) or [""])[-1]
    always.append("prior:" + (prior if prior in _FUNCTION else "other" if prior else "none"))
    if (glued := lowered[start - 1 : start]) and glued in "/:@%.=,>":
        always += ["glued:" + glued, f"glued:{glued}|form:{form}"]
    code = bool(_CODE_LINE.search(line))
    if code:
        always += ["code", f"code|form:{form}", f"code|{quoted}"]
    if _ASKS.search(line):
        always += ["asks", f"asks|form:{form}"]
    known = mentions(lowered)
    for mention in _nearest(known, lowered, start, end):
        kind, ahead = mention.kind, mention.end <= start
        between = lowered[mention.end : start] if ahead else lowered[end : mention.start]
        if MARK_ENDS[0] in between:
            continue
        tail = _TAIL.match(between)[0] if ahead else ""  # type: ignore[index]
        if len(tail) == len(between):
            tail = ""
        rest = between[len(tail) :]
        if ahead:
            link, last = _link(rest)
            if _IN_ADDRESS.search(rest) or (kind == "token" and link in _ASSIGNED):
                continue
            if kind == "pass" and link in _MAY_BE_VERB and form in _WORDY:
                continue
            if "\n" in rest and not _is_alone(lowered, start, end):
                continue
        else:
            first = (_WORDS.findall(rest) or [""])[0]
            last = "before " + first if first in _FUNCTION else ""
            link = "before-" + _before(rest, first)
        words = min(len(_WORDS.findall(rest)), 7)
        thing = bool(_OTHER_THING.search(rest) or _OTHER_THING.match(lowered[mention.end : mention.end + 16].lstrip()))
        found = [
            *always,
            "link:" + link,
            f"form:{form}|link:{link}",
            f"kind:{kind}|link:{link}",
            f"kind:{kind}|form:{form}",
            f"link:{link}|{quoted}",
            f"link:{link}|after:{after}",
            f"form:{form}|link:{link}|{quoted}",
            f"words:{words}",
            f"link:{link}|words:{words}",
            "tail:" + _tail(tail),
            f"tail:{_tail(tail)}|link:{link}",
            *([f"large:{kind}|link:{link}"] if candidate.text[mention.start : mention.end].isupper() else ()),
            "head:" + _head(lowered, mention),
            f"head:{_head(lowered, mention)}|link:{link}",
        ]
        if last:
            found += ["last:" + last, f"last:{last}|form:{form}"]
        if thing:
            found += ["thing", f"thing|form:{form}", f"thing|link:{link}"]
        if code:
            found += [f"code|link:{link}", f"code|kind:{kind}"]
        yield found


def _nearest(known: list[Mention], lowered: str, start: int, end: int) -> Iterator[Mention]:
    """The last before and the first behind it, in its line; else the last of the two lines above."""
    at = bisect_left(known, start, key=_start)
    if at and 0 <= start - known[at - 1].end <= _REACH_AFTER and lowered.count("\n", known[at - 1].end, start) <= 2:
        yield known[at - 1]
    at = bisect_left(known, end, key=_start)
    if at < len(known) and known[at].start <= end + _REACH_BEFORE and "\n" not in lowered[end : known[at].start]:
        yield known[at]


_start = itemgetter(0)


@cache
def _weights() -> dict[str, float]:
    known: dict[str, float] = json.loads(files("hardwon.scrub").joinpath(WEIGHTS).read_text(encoding="utf-8"))
    return known


def is_likely(candidate: Candidate) -> bool:
    weight = _weights().get
    least = LEAST - weight("bias", 0.0)
    return any(sum(weight(name, 0.0) for name in names) > least for names in relations(candidate))


LIKELY = (
    Rule(
        "password",
        "What is most likely given as a password, where a text speaks of one",
        _PATTERN,
        KEYWORDS,
        is_likely,
        any_case=True,
        places=_near,
        probe=f"(?:{'|'.join(map(re.escape, KEYWORDS))})",
    ),
)
