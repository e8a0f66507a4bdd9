"""Hashes of passwords: with a word list at hand they are as good as weak passwords."""

from __future__ import annotations

from hardwon.scrub.rules.form import token

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
