"""Passwords that people tell in sentences, in any of many languages, be they as weak as `hunter2`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hardwon.scrub.rule import Candidate, Rule
from hardwon.scrub.shapes import (
    is_code,
    is_letter_salad,
    is_name,
    is_path,
    is_plain_word,
    is_stand_in,
    is_strong,
    is_test_name,
    is_words,
    places_of,
)
from hardwon.text.normalise import MARK_ENDS

# What a password is called; beyond ASCII capitals are written out, for a lowercase copy of a text keeps them.

NAMES = (
    *(
        "password passwort passord passphrase passcode kennwort contraseña contrasena senha palavra-passe wachtwoord"
        " lösenord lösenordet passordet adgangskode adgangskoden salasana salasanaa kodeord kodeordet"
        " hasło hasła hasłem heslo jelszó"
        " parola parolă parolası şifre şifresi mdp пароль пароля паролем"
        " Пароль ПАРОЛЬ лозинка lozinka Şifre"
        " 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 비번 패스워드 पासवर्ड পাসওয়ার্ড รหัสผ่าน סיסמה סיסמא"
        " heslem hesla geslo gesla zaporka lozinku slaptažodis slaptažodį parool parooli paroliet contrasenya"
        " jelszava jelszavam jelszót şifreyi şifrem parolayı parolam salasanan salasanasi hasłu паролю пароле парола"
        " παρολα κωδικό nenosiri باسورد"
        " pasword passwrd passowrd pssword pswd psswd passw0rd"
    ).split(),
    *(
        "shared secret",
        "secret word",
        "pass phrase",
        "pass code",
        "pass word",
        "mot de passe",
        "phrase secrète",
        "phrase de passe",
        "parola d'ordine",
        "la clave",
        "frase de paso",
        "magic word",
        "secret partagé",
        "segredo compartilhado",
        "парольная фраза",
        "合言葉",
        "la contra",
        "kata sandi",
        "kata laluan",
        "رمز عبور",
        "گذرواژه",
        "پاس ورڈ",
        "het ww",
        "mật khẩu",
        "κωδικός",
        "κωδικός πρόσβασης",
        "كلمة المرور",
        "كلمة السر",
    ),
)
ANY_NAME = f"(?:{'|'.join(sorted(map(re.escape, NAMES), key=len, reverse=True))})"
_SHORT_NAMES = ("pwd", "pw", "pass", "passwd", "p/w", "psw", "wpa key", "wifi key")
KEYWORDS = tuple(dict.fromkeys("contrase" if name.startswith("contrase") else name for name in NAMES))
_TELLING = r".*(?:[\d!@#$%^&*~+=?-]|[a-z]\.[a-z])"
"""What a line must have behind the word, for a first look."""

# Between that word and the password: whose it is, and that it is so.

WHOSE = r"(?P<whose>(?:[ ][(\"'`]?[^\s\"'`<>(){}\[\];:=|,]{1,40}+[)\"'`,]{0,2}){0,6}?)"
_VERBS = (
    "is was be to as now are remains itself it's its will ist wird lautet war auf als jetzt est c'est était sera à es"
    " still just only always currently noch immer toujours encore siempre aún ainda sempre wciąż sarebbe"
    " era será é foi è sarà diventa är var er on oli reads equals equal para siendo sendo ficou"
    " jest na je este fost olarak adalah là most to yra bo on był будет служит это был на είναι هي היא हे है hai"
).split()
SO = (
    rf"(?P<so>(?:,?[ ](?:{'|'.join(sorted(_VERBS, key=len, reverse=True))})){{1,2}}:?[ ]{{1,2}}"
    r"|[ ]?(?::=|[:=：＝→]|=>|->|[–—-](?=[ ]))[ ]?"
    r"|[ ]?(?:[是为為はがを는은이가를을]|改成了?|改为|设为|设成|设置为|换成|[（(]默认|คือ)[ ]?"
    r"|\?{1,2}[ ]{1,2}(?:(?:try|it's|use|maybe|probably|think)[ ])?|[ ]from[ ](?=[^\s]{4,64}[ ]to[ ])|[ ]?\|[ ]?)"
)
_SIGN = rf"[^\s\"'`“”„«»‘’「」『』<>(),;|、。，\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af{MARK_ENDS}]"
_DOTTED = r"(?:[a-z]{3,12}\.){2,3}[a-z]{3,12}(?![\w.-]*[\w(\[-])"
TOLD = (
    rf"[\"'`“”„«‘「『*]{{0,2}}(?=[^\s\d!@#$%^&*~+=?-]{{0,64}}[\d!@#$%^&*~+=?-]|{_DOTTED})"
    rf"(?P<secret>{_SIGN}{{4,128}}(?<![.:?…]))"
)

# What stands there and is none: algorithms, versions, units, counts, files.

TECHNICAL = re.compile(
    r"(?:(?:argon2|pbkdf2|[bs]crypt|sha-?\d|md\d|base\d|utf-?\d|aes-?\d)[a-z\d._+-]{0,24}"
    r"|(?:argon2|pbkdf2|[bs]crypt|sha-?\d|md\d|hmac|aes|rsa|ed25519|x\d\d|crc|pkcs|oauth|saml|jwt|utf|base\d|http|ipv|tls|ssh"
    r"|[a-z]{1,2}\d{1,4}|python|node|java|log4j|i18n|rfc|cve|cwe|iso-?\d|nist|postgres|mysql|ubuntu|debian|windows|step|phase"
    r"|level|test|user|case|line|field|input|option|section|chapter|part|item|page|figure|table|issue|task|param|arg|var"
    r"|varchar|char|text|int|role|port|screenshot|logs?|paso|étape|schritt|шаг|table|google|github)"
    r"[\d.+_-]{0,8})\Z",
    re.I | re.A,
)
QUANTITY = re.compile(r"[<>≥≤~+-]?\d[\d.,]*[-–+]?[A-Za-z%°*-]{0,12}|\d+[/x:]\d+\S*|#\d+|\d{4}-\d\d.*", re.A)
FILE = re.compile(r"[\w./\\~-]+\.[A-Za-z]{1,5}\d?(?::\d+.*)?", re.A)
DIGIT = re.compile(r"\d", re.A)
LETTER = re.compile(r"[^\W\d_]")
_SYMBOL = re.compile(r"[!@#$%^&*~+]")
_CASED_WITH_DIGITS = re.compile(r"(?=\w*\d\w*\d)(?=\w*[a-z])(?=\w*[A-Z])\w{6,16}(?!\w)", re.A)
_MIN_DIGITS = 4
OTHER_THING = re.compile(
    r" (?:column|field|hash|hashing|hasher|policy|reset|strength|manager|length|validator|test|driver|chip|file"
    r"|rotation)\b",
    re.I,
)
"""Of a password, which is said to be something else."""
_HYPHENATED = re.compile(r"[^\W\d_]{3,}")
_MIN_HYPHENATED_WORDS = 4
"""`correct-horse-battery-staple`."""


_WORDS_AND_NUMBER = re.compile(r"(?:[^\W\d_]{3,12}[-_]){1,3}[^\W\d_]{0,12}\d{2,6}[!#$*@%&]{0,2}")
"""`tide-reef-42`: a name as much as a password, so only what is plainly said to be one."""


_SHORT_PIECE = re.compile(r"(?<![a-z])[a-z]{1,2}(?![a-z])|(?<![A-Z])[A-Z](?![a-z]{2})")
_MIN_SHORT_PIECES = 2
"""In `lUZKqrGVja`; a name in camel case has words."""
_LEET = re.compile(r"(?=\w*[a-z])[a-z\d@$]{4,12}[-._][A-Z][a-z\d]{2,12}\d{1,4}", re.A)
_LETTER_FOR_DIGIT = re.compile(r"(?<![\dA-Z])\d(?=[a-z])")


def _is_leet(value: str) -> bool:
    """`p3pp3r.Tiger2`, `0rchid-Daisy14`: digits for letters, a capital, a number at the end; no `log4j.Logger`."""
    return bool(_LEET.fullmatch(value)) and bool(_LETTER_FOR_DIGIT.search(value))


def is_said_password(candidate: Candidate) -> bool:
    """Whether what a sentence calls a password is one."""
    value = candidate.value.strip("*_")
    said_to_be = bool(candidate.group("so"))
    if is_stand_in(value) or is_path(value) or is_code(value) or is_test_name(value):
        return False
    if OTHER_THING.search(candidate.group("whose")):
        return False
    if is_words(value) or (said_to_be and _is_leet(value)):
        return True
    if value.isalpha() and value.isascii():
        return is_letter_salad(value) and len(_SHORT_PIECE.findall(value)) >= _MIN_SHORT_PIECES
    if "://" in value or FILE.fullmatch(value) or ("&" in value and candidate.group("so") == "="):
        return False
    if value.isdigit():
        return len(value) >= _MIN_DIGITS and said_to_be and not candidate.group("whose")
    if TECHNICAL.match(value) or QUANTITY.fullmatch(value) or not LETTER.search(value):
        return False
    if len(_HYPHENATED.findall(value)) >= _MIN_HYPHENATED_WORDS or _SYMBOL.search(value[1:-1]):
        return said_to_be or bool(DIGIT.search(value))
    if _WORDS_AND_NUMBER.fullmatch(value) or (said_to_be and _CASED_WITH_DIGITS.match(value)):
        return True
    return bool(DIGIT.search(value)) and not is_name(value)


_SHORT_SO = (
    r"(?P<whose>(?:[ ](?:for|of|on)(?:[ ][^\s\"'`<>(){}\[\];:=|,?]{1,40}+){1,3}?)?)"
    r"(?P<so>[ ](?:(?:should|must|will)[ ]be|is|was|to|now|ist|lautet|war|est|es|é|è)[ ]{1,2}"
    r"|[ ]?(?::=|[:=])[ ]?|\?{1,2}[ ]{1,2}|[ ]?(?:->|=>|→|[–—-](?=[ ]))[ ]?)"
)


def _told(names: tuple[str, ...], about: str, between: str, probe: str = "") -> Rule:
    any_name = f"(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})"
    edge = "" if names == NAMES else r"(?<![a-z0-9])"
    return Rule(
        "password",
        about,
        rf"{edge}{any_name}(?:['’]s(?=[ ]))?(?:(?<=[^\x00-\x7f])|(?![a-z0-9_]|-[^ ])){between}{TOLD}",
        KEYWORDS if names == NAMES else names,
        is_said_password,
        any_case=True,
        places=partial(places_of, names),
        probe=probe or any_name,
    )


# Some words further on, or some words before: there only what looks like nothing else.

_WORD = r"[^\s\"'`<>(){}\[\];:=|]{1,40}(?:['’][a-z]{1,2})?"
_SHAPED = (
    rf"[\"'`“„«]?(?P<secret>(?:(?=[^\s\d]{{0,24}}\d)(?=[^\s!@#$%^&*~]{{1,24}}[!@#$%^&*~]){_SIGN}{{6,64}}(?<![.:?…])"
    r"|[a-z]{3,24}\d{1,6}[!#$*@%&?]{0,2}|(?:[a-z]{3,12}-){3,6}[a-z]{3,12}\d{0,4}|(?:[a-z]{3,12}-){1,3}[a-z]{0,12}\d{2,6}"
    rf"|{_DOTTED}|(?=[^\s\d]{{0,24}}\d)[\w+-]{{6,64}}))(?![\w@/-]|\.\w)"
)
_OF_SOMETHING = frozenset(
    "for on of at in from host server user username account db database by version via into per für von bei an pour sur"
    " de du para en del di su dla do для от and or line port branch named called release python node"
    " the el la le der die das dem в на v usar manager column field".split()
)


_MIN_NEAR_CHARACTERS = 8
_WORD_AND_NUMBER = re.compile(r"[^\W\d_]+\d+[!#$*@%&?]{0,2}")
_INNER_DIGIT = re.compile(r"[A-Za-z]\d+[A-Za-z]")
_CASED = re.compile(r"[a-z].*[A-Z]|[A-Z]{2,}.*[a-z]")


def _is_drawn_short(value: str) -> bool:
    """`hunter2`, `k4dQ9z`: of few characters, a word with a number behind it or what chance draws; no `i18n`, `k8s`."""
    if _WORD_AND_NUMBER.fullmatch(value):
        return True
    return len(value) >= 6 and bool(_CASED.search(value) or len(_INNER_DIGIT.findall(value)) > 1)


def is_near(candidate: Candidate) -> bool:
    """The same, where it may also be the host, user or version that the password is for."""
    before = candidate.text[max(0, candidate.match.start("secret") - 24) : candidate.match.start("secret")]
    last = before.rstrip(" \"'`“„«").rpartition(" ")[2].lower().strip(":,")
    if last in _OF_SOMETHING or not is_said_password(candidate):
        return False
    return _is_drawn(candidate.value)


_USED = (
    "use using used uses type enter try put take with rotate in to"
    " nimm verwende nutze utilise tape usa gebruik wpisz введи input"
).split()
_BEFORE_NAME = re.compile(
    rf"(?:{'|'.join(_USED)})[ ]{_SHAPED.replace('(?P<secret>', '(?:')}(?=[\"'`”»]?(?:[ ]{_WORD}){{0,6}}?[ ]"
    r"(?:[\w-]*password|passphrase|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|пароля?)"
    r"(?![a-z0-9_-]|[ ](?:auth|box|dialog|file|flow|step|hash|reset|page|form|manager|unrelated)))"
)


# The other way round: `hunter2 is the password`.

_WORDS_FOR_IT = (
    *("password", "passphrase", "passcode", "passwort", "kennwort", "mot de passe", "contraseña", "senha", "parola"),
    *("wachtwoord", "пароль", "shared secret", "secret"),
)
_CHINESE_FOR_IT = ("密码", "密碼")
_LINK = (
    r"[\"'`”»]?[?!.]?(?:[ ]\((?:the[ ])?|,?[ ](?:that's|it's|which[ ]is)[ ]|"
    r"[ ](?:as|is|still|als|ist|comme|est|como|es|come|è|как)[ ])"
    r"(?:[^\W\d_]{1,16}[ ]){0,3}?"
)
_CHINESE_LINK = "[\"'`”»]?[ ]?(?:作为|作為|当|當|做)"
_AFTER_IT = rf"(?:{_LINK}(?:{'|'.join(_WORDS_FOR_IT)})(?![a-z0-9_-])|{_CHINESE_LINK}(?:{'|'.join(_CHINESE_FOR_IT)}))"
_LINK_BEFORE = re.compile(rf"(?:{_LINK}|{_CHINESE_LINK})\Z")
_LINK_CHARACTERS = 72
_WORDS_BETWEEN = 4
_BACKWARDS = 64
_ANY_WORD = re.compile(r"[^\s\"'`“”«»(]+")


def _before_the_word(text: str) -> Iterator[int]:
    """Where what is said to be the password may begin: from the word for it backwards, past what links the two."""
    for place in places_of((*_WORDS_FOR_IT, *_CHINESE_FOR_IT), text):
        begins = max(0, place - _LINK_CHARACTERS)
        if link := _LINK_BEFORE.search(text, begins, place):
            end = link.start()
            yield 1 + max(text.rfind(sign, max(0, end - _BACKWARDS), end) for sign in " \n\t\"'`“«(")


def _some_words_before(text: str) -> Iterator[int]:
    """The same, for what stands up to four words before the link: `store hunter2 in the vault as the password`."""
    taken = 0
    for place in places_of(_WORDS_FOR_IT, text):
        if link := _LINK_BEFORE.search(text, max(taken, place - _LINK_CHARACTERS), place):
            line = text[max(taken, text.rfind("\n", 0, link.start()) + 1, link.start() - 2 * _BACKWARDS) : link.start()]
            begin, words = link.start() - len(line), list(_ANY_WORD.finditer(line))[:-1]
            yield from (begin + word.start() for word in words[-_WORDS_BETWEEN:])
            taken = place


_AROUND = 120
_BEGINS_A_WORD = re.compile(r"(?<![^\s\"'`“„«(（:=,、，：])[^\s\"'`“”«»()（），]")


def _around_the_word(text: str) -> Iterator[int]:
    """Every word of a line that is near a word for a password, before it or behind it."""
    done = 0
    for place in places_of(NAMES, text):
        begin = max(done, place - _AROUND, text.rfind("\n", 0, place) + 1)
        line_end = text.find("\n", place, place + _AROUND)
        done = max(done, line_end if line_end >= 0 else min(len(text), place + _AROUND))
        yield from (found.start() for found in _BEGINS_A_WORD.finditer(text, begin, done))


_OUR_ID = re.compile(r"(?:\w+:)?[A-Z][0-9a-f]{16}")
"""As an exported tree has it before the words of a lesson."""


def is_told_before(candidate: Candidate) -> bool:
    """Only what looks like nothing else."""
    return (
        not _OUR_ID.fullmatch(candidate.value)
        and is_strong(candidate)
        and is_said_password(candidate)
        and _is_drawn(candidate.value)
    )


_LOOKS_LIKE_NOTHING_ELSE = re.compile(
    r"(?=\S*\d)(?=\S*[^\W\d_])(?=\S[^\s!@#$%^&*~+?]{0,40}[!@#$%^&*~+?]\S)[^\s=(){}\[\]<>/\\:;,.|]{8,40}"
    r"|(?=\w*\d\w*\d)(?=\w*[a-z]\w*[a-z])(?=\w*[A-Z]\w*[A-Z])[A-Za-z0-9]{10,40}",
    re.A,
)


def is_unlike_all_else(candidate: Candidate) -> bool:
    """Enough wherever a password is spoken of: letters, digits and signs as no name, number or code has them."""
    bare = candidate.value.strip("*_~")  # what Markdown puts around a word
    return bool(_LOOKS_LIKE_NOTHING_ELSE.fullmatch(bare)) and is_told_before(candidate)


_TICKET = re.compile(r"[A-Z]{2,10}-\d+")
_WEAK = re.compile(
    r"[^\W\d_]{4,16}\d{2,4}[!#$*@%&?]{0,2}|(?:[^\W\d_]{3,12}[-_.]){1,3}[^\W\d_]{0,12}\d{2,6}[!#$*@%&?]{0,2}"
)


def is_weak_one(candidate: Candidate) -> bool:
    """A word with a number behind it, where nothing but a password is spoken of, and no ticket: `OPS-1234`."""
    text, start = candidate.text, candidate.match.start()
    near = text[max(0, text.rfind("\n", 0, start) + 1, start - _AROUND) : start + _AROUND].partition("\n")[0]
    if OTHER_THING.search(near) or _TICKET.fullmatch(candidate.value):
        return False
    return bool(_WEAK.fullmatch(candidate.value)) and is_said_password(candidate)


def is_told_before_or_words(candidate: Candidate) -> bool:
    """The same, or a phrase of words, and no part of a path."""
    value = candidate.value
    if "/" in value or not is_said_password(candidate):
        return False
    is_phrase = len(_HYPHENATED.findall(value)) >= _MIN_HYPHENATED_WORDS or _WORDS_AND_NUMBER.fullmatch(value)
    return bool(is_phrase) or is_told_before(candidate) or _is_drawn_short(value)


def _is_drawn(value: str) -> bool:
    return len(value) >= _MIN_NEAR_CHARACTERS or _is_drawn_short(value)


# A login in two words: `log in as admin / hunter2`, `credentials: bob:hunter2`.

_LOGIN_NAMES = (
    *(
        "login",
        "log in",
        "logged in",
        "logging in",
        "logs in",
        "sign in",
        "credential",
        "creds",
        "basic auth",
        "auth:",
        "wifi:",
        "wlan:",
        "identifiant",
    ),
    *(
        "zugang",
        "anmeldung",
        "einloggen",
        "melde dich",
        "connecte-toi",
        "connexion",
        "accès",
        "acceso",
        "accedi",
        "accesso",
    ),
    *(
        "inicia sesión",
        "entra con",
        "entre com",
        "acesse",
        "credencia",
        "credenzial",
        "inloggen",
        "inloggning",
        "logga in",
    ),
    *(
        "zaloguj",
        "přihlás",
        "logowanie",
        "giriş",
        "логин",
        "залогин",
        "учётк",
        "учетк",
        "вход",
        "войди",
        "登录",
        "登入",
        "账号",
    ),
    *("帳號", "ログイン", "로그인", "계정", "đăng nhập", "masuk"),
)
_PROTECTED = (
    *("protected with", "protected by", "secured with", "locked with", "unlocked with", "unlock it with"),
    *("unlock with", "unlocks with", "unseal with", "open it with", "opens with", "decrypt it with", "decrypts with"),
    *(
        "entsperren mit",
        "déverrouille avec",
        "desbloquea con",
        "login fails with",
        "login fail with",
        "logging in with",
    ),
    *("encrypted with", "authenticate with", "authenticates with", "log in with", "geschützt mit", "protégé par"),
    *("protegido con", "protegido com", "protetto da", "защищен паролем", "защищено"),
)
_LOGGED_IN_AS = tuple(
    f"{word} {user}{sign}"
    for word in ("its", "it's", "is", "use", "try", "with", "using", "as", "are", "creds", "login")
    for user in ("admin", "root", "administrator", "postgres", "guest", "demo")
    for sign in "/:"
)
_USERS = ("admin / ", "root / ", "administrator / ", "postgres / ", "guest / ", "demo / ", "user / ")
_PAIR = (
    r"(?:(?:(?<=creds)|(?<=credentials)|(?<=[:：])"
    r"|[ ](?:with|as|using|are|is|mit|als|sind|avec|sont|con|son|como|são|sono|zijn|com|met|med|jako|pod|под|с|用|ile)"
    r"|[ ]?(?:[:=]|[-=]>|→))[ ]{1,2}|[ ]\()"
    r"[\"'`]?(?P<user>[a-z][\w.@+-]{1,40})[\"'`]?"
)
_AND = r"(?:[ ]?[/:|,、，][ ]?|[ ](?:and|with|und|et|y|e|i|a|en|och|ve|и|和|con|con la|mit)[ ])"


def is_login_password(candidate: Candidate) -> bool:
    """The same behind a user's name, where addresses and paths stand, too."""
    return "/" not in candidate.value and ":" not in candidate.value and is_said_password(candidate)


_ACCOUNT = re.compile(r"(?:user|login|admin|root|account|db|smtp|ftp|ssh|vpn)[^\n]{0,40}\Z", re.I)


def is_password_of_user(candidate: Candidate) -> bool:
    """The same behind the word `pass`, which tests use, too: where a user is spoken of."""
    start = candidate.match.start()
    return bool(_ACCOUNT.search(candidate.text, max(0, start - 56), start)) and is_said_password(candidate)


# Several words in quotes; and a table with a column of passwords.

_QUOTED_WORDS = r"[\"'`“„«「『](?P<secret>[a-z]{3,12}(?: [a-z]{3,12}){2,5})[\"'`”“»」』]"
KEYWORDS_FOR_IT = tuple(
    "contrase" if word.startswith("contrase") else word for word in (*_WORDS_FOR_IT, *_CHINESE_FOR_IT)
)
PROBE_FOR_IT = f"(?:{'|'.join(KEYWORDS_FOR_IT)})"
_COLUMNS = ("password", "passwort", "contraseña", "senha", "kennwort", "passwd", "mot de passe", "パスワード", "密码")
_HEADING = re.compile(
    r"^(?P<before>(?:[^\n,;|\t]{0,40}[,;|\t]){1,8})[ ]{0,20}[\"'`*]{0,2}"
    rf"(?:{'|'.join(_COLUMNS)}|pwd?|pin)[\"'`*]{{0,2}}[ ]{{0,20}}(?P<sign>[,;|\t]|$)",
    re.M,
)
_RULED = re.compile(r"[-+|:= ]{3,}")
_MAX_ROWS = 200


def is_quoted_phrase(candidate: Candidate) -> bool:
    return not OTHER_THING.search(candidate.group("whose")) and is_words(candidate.value, " ")


def is_in_column(candidate: Candidate) -> bool:
    value = candidate.value
    if is_stand_in(value):
        return False
    return is_said_password(candidate) or is_plain_word(value) or (value.isdigit() and len(value) >= _MIN_DIGITS)


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


SENTENCES = (
    _told(NAMES, "“the password (for …) is …” in a sentence, in many languages", WHOSE + SO),
    _told(NAMES, "“password …” in a sentence, in many languages", r"(?:,?[ ]{1,2}\(?|(?<=[^\x00-\x7f]))"),
    Rule(
        "password",
        "Password some words behind that word",
        rf"(?:{'|'.join(sorted(map(re.escape, NAMES), key=len, reverse=True))})(?![a-z0-9_-])"
        rf"(?:[ ,]{{1,2}}{_WORD}){{1,5}}?[ ,]{{1,2}}{_SHAPED}",
        KEYWORDS,
        is_near,
        any_case=True,
        places=partial(places_of, NAMES),
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "“use … for the password” in a sentence",
        rf"(?:{'|'.join(_USED)})[ ]{_SHAPED}",
        KEYWORDS,
        is_said_password,
        any_case=True,
        places=lambda text: (found.start() for found in _BEFORE_NAME.finditer(text)),
        probe=f"(?:{'|'.join(_USED)}) .*(?:passw|passphr|kennwort|mot de passe|contrase|senha|wachtw|парол)",
    ),
    _told(
        _SHORT_NAMES,
        "“pw is …” in a sentence",
        _SHORT_SO,
        rf"(?:\b|_)(?:pwd|pw|pass|passwd|p/w|psw|wpa key|wifi key)(?:['’]s)?"
        rf"(?: (?:is|was|to|now|be|should|must|will|for|of|on|ist|lautet|war|est|es|é|è) | ?[:=?→–—-]){_TELLING}",
    ),
    *(
        _told(
            (name,),
            f"“the {name} (for …) is …” in a sentence",
            WHOSE + r"(?P<so>[ ](?:is|was|ist|est|es|è)[ ]{1,2}" + colon + ")",
            rf"{name}.*(?: (?:is|was|ist|est|es|è) |[:=] ){_TELLING}",
        )
        for name, colon in (("secret", ""), ("wifi", "|(?<=wifi|code| key|[ ]net):[ ]"))
    ),
    Rule(
        "password",
        "“user … pass …” in a sentence",
        rf"[ ]pass[ ]{TOLD}",
        ("pass ",),
        is_password_of_user,
        any_case=True,
        probe=rf" pass {_TELLING}",
    ),
    _told(("pwd", "pw"), "“pw …” in a sentence", r"[ ]{1,2}", rf"(?:\b|_)(?:pwd|pw)(?:['’]s)? {_TELLING}"),
    Rule(
        "password",
        "“… is the password” in a sentence",
        rf"(?P<so>){TOLD}(?={_AFTER_IT})",
        KEYWORDS_FOR_IT,
        is_said_password,
        any_case=True,
        places=_before_the_word,
        probe=PROBE_FOR_IT,
    ),
    Rule(
        "password",
        "Password some words before “as the password”",
        rf"(?P<so>){TOLD}(?=[\"'`”»]?(?:[ ]{_WORD}){{1,{_WORDS_BETWEEN}}}?{_AFTER_IT})",
        KEYWORDS_FOR_IT,
        is_told_before,
        any_case=True,
        places=_some_words_before,
        probe=PROBE_FOR_IT,
    ),
    Rule(
        "password",
        "What looks like nothing else, in a line that speaks of a password",
        rf"(?P<whose>)(?P<so>)(?P<secret>{_SIGN}{{8,128}}(?<![.:?…]))",
        KEYWORDS,
        is_unlike_all_else,
        any_case=True,
        places=_around_the_word,
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "A word with a number behind it, in a line that speaks of a password",
        rf"(?P<whose>)(?P<so>)(?P<secret>{_SIGN}{{6,40}}(?<![.:?…]))",
        KEYWORDS,
        is_weak_one,
        any_case=True,
        places=_around_the_word,
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "Letters whose case changes as in no word, said to be the password",
        rf"{ANY_NAME}(?:(?<=[^\x00-\x7f])|(?![a-z0-9_]|-[^ ]))(?:{WHOSE}{SO}|,?[ ]{{1,2}}\(?)"
        r"[\"'`“„«]?(?P<secret>[a-z]{8,40})(?![\w.-])",
        KEYWORDS,
        is_said_password,
        any_case=True,
        places=partial(places_of, NAMES),
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "Words in quotes that are said to be the password",
        rf"{ANY_NAME}(?:(?<=[^\x00-\x7f])|(?![a-z0-9_]|-[^ ]))(?:{WHOSE}{SO}|,?[ ]{{0,2}}\(?)" + _QUOTED_WORDS,
        KEYWORDS,
        is_quoted_phrase,
        any_case=True,
        places=partial(places_of, NAMES),
        probe=ANY_NAME,
    ),
    Rule(
        "password",
        "Words in quotes before “as the password”",
        rf"{_QUOTED_WORDS}(?:[ ]{_WORD}){{0,{_WORDS_BETWEEN}}}?{_AFTER_IT}",
        KEYWORDS_FOR_IT,
        is_quoted_phrase,
        any_case=True,
        probe=PROBE_FOR_IT,
    ),
    Rule(
        "password",
        "Below a heading `password` in a table",
        rf"[\"'`]?(?P<secret>[^\s,;|\"'`{MARK_ENDS}]{{4,128}})[\"'`]?(?=[ \t]*(?:[,;|\t\n]|\Z))",
        (
            "password",
            "passwort",
            "contrase",
            "senha",
            "kennwort",
            "passwd",
            "mot de passe",
            "パスワード",
            "密码",
            "pw",
            "pin",
        ),
        is_in_column,
        any_case=True,
        places=_cells_below,
        probe=r"(?:,|;|\||\t) *(?:passw|contrase|senha|kennwort|mot de passe|パスワード|密码|pwd?|pin)",
    ),
    Rule(
        "password",
        "USER / PASSWORD behind a word such as `login`",
        rf"(?:{'|'.join(_LOGIN_NAMES)})[a-z]{{0,3}}{WHOSE}{_PAIR}{_AND}{TOLD}",
        _LOGIN_NAMES,
        is_login_password,
        any_case=True,
        places=partial(places_of, _LOGIN_NAMES),
        probe=f"(?:{'|'.join(_LOGIN_NAMES)}).*(?:[/:|,]| (?:and|with|und|et|y|e|i|и|和|con) ){_TELLING}",
    ),
    Rule(
        "password",
        "“protected with …” in a sentence",
        rf"(?:{'|'.join(_PROTECTED)})(?P<whose>)(?P<so>)[ ]{TOLD}",
        _PROTECTED,
        is_told_before_or_words,
        any_case=True,
        places=partial(places_of, _PROTECTED),
        probe=f"(?:{'|'.join(_PROTECTED)}) {_TELLING}",
    ),
    Rule(
        "password",
        "“use admin/…” in a sentence",
        rf"(?:{'|'.join(_LOGGED_IN_AS)})(?P<whose>)(?P<so>){TOLD}(?=[\s.,;)\"'`]|\Z)",
        tuple(dict.fromkeys(name.partition(" ")[2] for name in _LOGGED_IN_AS)),
        is_told_before_or_words,
        any_case=True,
        places=partial(places_of, _LOGGED_IN_AS),
        probe=f"(?:{'|'.join(_LOGGED_IN_AS)}){_TELLING}",
    ),
    Rule(
        "password",
        "admin / PASSWORD",
        rf"(?:{'|'.join(_USERS)}){TOLD}",
        (" / ",),
        is_login_password,
        places=partial(places_of, _USERS),
        any_case=True,
        probe=f"(?:{'|'.join(_USERS)}){_TELLING}",
    ),
)
