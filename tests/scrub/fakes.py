"""Secrets made up at run time, so that none stands in the repository."""

from __future__ import annotations

import base64
import re
import string
from random import Random

from .formats import ALNUM, CLASSES, FIXED

URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
HEX = string.hexdigits[:16]
BASE32 = string.ascii_uppercase + "234567"


def text(random: Random, length: int, alphabet: str = ALNUM) -> str:
    """Random text that has a digit, a small and a capital letter where the alphabet has them."""
    sure = [alphabet[0], alphabet[-1], *(c for c in "aB7" if c in alphabet)][:length]
    letters = [*sure, *random.choices(alphabet, k=length - len(sure))]
    random.shuffle(letters)
    return "".join(letters)


def password(random: Random) -> str:
    return f"{text(random, 9, string.ascii_lowercase)}{random.randint(10, 99)}"


def jwt(random: Random) -> str:
    return f"eyJ{text(random, 20, ALNUM)}.eyJ{text(random, 40, ALNUM)}.{text(random, 43, ALNUM)}"


def pem_lines(random: Random, label: str = "RSA PRIVATE KEY", lines: int = 6) -> list[str]:
    body = [text(random, 64, BASE64) for _ in range(lines)]
    return [f"-----BEGIN {label}-----", *body, text(random, 24, BASE64), f"-----END {label}-----"]


def basic_pair(random: Random) -> str:
    return base64.b64encode(f"deploy:{password(random)}".encode()).decode()


_PLACE = re.compile(r"<([A-Z])(\d+)>")


def make(random: Random, form: str) -> str:
    """A token of a published form."""
    return _PLACE.sub(lambda found: text(random, int(found[2]), CLASSES[found[1]]), form)


def each_token() -> list[tuple[str, str]]:
    return [
        (kind, make(Random(f"{kind} {number}"), form))
        for kind, forms in FIXED.items()
        for number, form in enumerate(forms)
    ]
