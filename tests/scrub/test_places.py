"""Secrets known by where they stand: headers, addresses, cookies, PEM blocks."""

from __future__ import annotations

from random import Random

import pytest

from hardwon.scrub.scrubber import Scrubber

from .fakes import BASE32, basic_pair, jwt, password, pem_lines, text

VALUE = text(Random(11), 32)
PASSWORD = password(Random(12))
BASIC = basic_pair(Random(13))
WEBHOOK = f"T{text(Random(14), 8)}/B{text(Random(15), 10)}/{text(Random(16), 24)}"


def scrub(text: str) -> str:
    return Scrubber().scrub(text)


@pytest.mark.parametrize(
    ("around", "value", "kind"),
    [
        ("Authorization: Bearer {}", VALUE, "bearer-token"),
        ("curl -H 'Authorization: Bearer {}' https://x.org", VALUE, "bearer-token"),
        ('{{"Authorization": "Bearer {}"}}', VALUE, "bearer-token"),
        ('{{\\"authorization\\":\\"bearer {}\\"}}', VALUE, "bearer-token"),
        ("sent Bearer {} and got 403", VALUE, "bearer-token"),
        ("Authorization: Basic {}", BASIC, "basic-auth"),
        ("Proxy-Authorization: basic {}", BASIC, "basic-auth"),
        ("Authorization: token {}", VALUE, "authorization"),
        ("Authorization: {}", VALUE, "authorization"),
        ("curl -u deploy:{} https://x.org", PASSWORD, "basic-auth"),
        ("curl --user 'deploy:{}' https://x.org", PASSWORD, "basic-auth"),
        ("Cookie: {}", f"sid={VALUE}; theme=dark", "cookie"),
        ("-H 'cookie: {}'", f"a=1234567890; sid={VALUE}", "cookie"),
        ("Set-Cookie: sid={}; Path=/; HttpOnly", VALUE, "cookie"),
        ("postgres://user:{}@host/db", PASSWORD, "uri-password"),
        ("DATABASE_URL='postgresql+asyncpg://app:{}@db.internal:5432/app'", "pw", "uri-password"),
        ("redis://:{}@localhost:6379/0", PASSWORD, "uri-password"),
        ("git clone https://bob:{}@example.org/r.git", f"a@{PASSWORD}", "uri-password"),
        ("https://hooks.slack.com/services/{}", WEBHOOK, "slack-webhook"),
        ("machine example.org login bob password {}", "pw1", "password"),
        ("mysql -h db -u root -p{} shop", PASSWORD, "password"),
        ("mysqldump --single-transaction -u root -p'{}' shop", "pw1", "password"),
        ("sshpass -p {} ssh host", PASSWORD, "password"),
        ("docker login -u bob -p {} registry.example.org", PASSWORD, "password"),
        ("redis-cli -h cache -a {} ping", PASSWORD, "password"),
        ("keytool -list -storepass {} -v", PASSWORD, "password"),
        ("openssl rsa -in k.pem -passin pass:{} -out k", PASSWORD, "password"),
        ("echo '{}' | docker login -u bob --password-stdin", PASSWORD, "password"),
        ("echo 'deploy:{}' | sudo chpasswd", PASSWORD, "password"),
        ('password = "{}"', "lamp v1olet harbour", "password"),
        ('DB_PASSWORD="{}"', "lamp violet harbour", "password"),
        ('keyPassword "{}"', PASSWORD, "password"),
        ("password {} for the box", text(Random(29), 12), "password"),
        ("the password for bob is `{}`.", f"{PASSWORD}#x", "password"),
        ("//registry.example.org/:_authToken={}", VALUE, "npm-token"),
        ("PHPSESSID={}; path=/", VALUE, "cookie"),
        ("root:{}:19000:0:99999:7:::", f"$6${text(Random(26), 8)}${text(Random(27), 86)}", "password-hash"),
        ("kind: Secret\ndata:\n  PG: {}\n", "aHVudGVyMjAyNg==", "kubernetes-secret"),
        ("https://x.blob.example.net/c/f?sv=2&sig={}", text(Random(28), 44), "azure-signature"),
    ],
)
def test_only_the_secret_part_is_replaced(around: str, value: str, kind: str) -> None:
    assert scrub(around.format(value)) == around.format(f"‹secret:{kind}:1›")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <your-token>",
        '"Authorization": f"Bearer {token}"',
        "Authorization: Bearer YOUR_API_KEY",
        "WWW-Authenticate: Bearer realm=x",
        "bearer authentication is required",
        "Basic structure of the project, basic auth, Basic Economy fare",
        "headers: { Authorization: request.headers.get('x') }",
        "docker run -u 1000:1000 -v /data:/data image",
        "cookie: string; cookies: Cookie[]",
        "http://localhost:3000/@scope/x and host:5432",
        "postgres://user:${DB_PASSWORD}@host/db",
        "postgres://user:<password>@host/db",
        "postgres://user:***@host/db",
        "https://hooks.slack.com/services/ is the address",
        "mysql -u root -p shop",
        "mysql -u root -p$MYSQL_PASSWORD shop",
        "ssh -p 2222 host; docker run -p 8080:80 image",
        "password: 'This password is too short. It must contain at least 8 characters.'",
        "https://user:password@example.org",
        "kind: ConfigMap\ndata:\n  PG: aHVudGVyMjAyNg==\n",
    ],
)
def test_placeholders_and_prose_stay(text: str) -> None:
    assert scrub(text) == text


def test_the_known_form_of_a_token_names_it_inside_a_header_or_an_address() -> None:
    token = "ghp_" + text(Random(17), 36)
    assert scrub(f"Authorization: token {token}") == "Authorization: token ‹secret:github-token:1›"
    assert (
        scrub(f"https://x-access-token:{token}@github.com/o/r.git")
        == "https://x-access-token:‹secret:github-token:1›@github.com/o/r.git"
    )


def test_a_secret_that_spans_others_is_replaced_as_a_whole() -> None:
    cookie = f"jwt={jwt(Random(18))}; id=AKIA{text(Random(25), 16, BASE32)}"
    assert scrub(f"Cookie: {cookie}\nHost: x") == "Cookie: ‹secret:cookie:1›\nHost: x"


LABELS = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"]


@pytest.mark.parametrize("label", [*LABELS, "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", "\\\\n"])
def test_a_private_key_block_becomes_one_mark(label: str, line_end: str) -> None:
    block = line_end.join(pem_lines(Random(label), label))
    scrubbed = scrub(f'cat key.pem: "{block}" done')
    assert scrubbed == 'cat key.pem: "‹secret:private-key:1›" done'


@pytest.mark.parametrize("prefix", ["+", "    ", "> ", "{:>6}→", "{:>4}\t"])
def test_a_private_key_is_found_behind_line_numbers_and_diff_signs(prefix: str) -> None:
    lines = pem_lines(Random(prefix))
    shown = "\n".join(prefix.format(n) + line for n, line in enumerate(lines, 1))
    scrubbed = scrub(f"before\n{shown}\nafter")
    assert not any(line in scrubbed for line in lines[1:-1])
    assert scrubbed.startswith("before\n")
    assert scrubbed.endswith("after")


@pytest.mark.parametrize("line_end", ["\n", "\\n"])
@pytest.mark.parametrize("cut", ["", "\n... [output truncated]", "\n<truncated>"])
def test_a_private_key_whose_end_was_cut_off_leaves_nothing_behind(line_end: str, cut: str) -> None:
    lines = pem_lines(Random(19))
    block = line_end.join([*lines[:4], lines[4][:23]])
    assert scrub(f"key: {block}{cut}") == f"key: ‹secret:private-key:1›{cut}"


def test_an_encrypted_private_key_is_found_although_headers_stand_before_it() -> None:
    begin, *body = pem_lines(Random(20))
    headers = ["Proc-Type: 4,ENCRYPTED", f"DEK-Info: AES-256-CBC,{text(Random(21), 32)}", ""]
    assert scrub("\n".join([begin, *headers, *body[:3]])) == "‹secret:private-key:1›"


def test_prose_after_a_cut_private_key_stays() -> None:
    begin, first, *_ = pem_lines(Random(22))
    assert scrub(f"{begin}\n{first}\n\nThe key above is invalid.") == (
        "‹secret:private-key:1›\n\nThe key above is invalid."
    )
