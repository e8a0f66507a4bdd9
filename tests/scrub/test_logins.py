"""Passwords in calls, consoles and configurations are replaced, and what teaches how to write them is not."""

from __future__ import annotations

import base64
from random import Random

import pytest

from hardwon.scrub.scrubber import Scrubber

from .fakes import make, password, pem_lines, text
from .formats import UUID

PASSWORD = password(Random(51))
VALUE = text(Random(52), 40)
WORDS = "lamp violet harbour copper meadow signal orbit willow anchor pepper canyon ember"


def scrub(text: str) -> str:
    return Scrubber().scrub(text)


@pytest.mark.parametrize(
    "around",
    [
        'new NetworkCredential("bob", "{}");',
        'new DirectoryEntry("LDAP://EXAMPLE.ORG",\n    "bob",\n    "{}");',
        "requests.get(url, auth=('bob', '{}'))",
        "HTTPBasicAuth('bob', '{}')",
        "ftp.login('bob', '{}')",
        "mysqli_connect('localhost', 'bob', '{}', 'shop')",
        "new mysqli('localhost', 'bob', '{}')",
        'ConvertTo-SecureString "{}" -AsPlainText -Force',
        "ldapsearch -x -D cn=admin -w {} -b dc=example",
        "sqlplus bob/{}@orcl",
        "PsExec.exe \\\\10.0.0.7 -u bob -p {} cmd",
        "snmp-server community {} RW 99",
        "enable secret 5 {}",
        "username bob privilege 15 password 7 {}",
        "default login bob password {}",
        'psql "host=db user=bob password={} dbname=shop"',
        "jdbc:sqlserver://db.example.org:1433;user=sa;password={}",
        "wget --http-password={} https://example.org",
    ],
)
def test_the_password_of_a_login_is_replaced(around: str) -> None:
    assert scrub(around.format(PASSWORD)) == around.format("‹secret:password:1›")


@pytest.mark.parametrize(
    "around",
    ['curl -u ":{}" https://x.org', "curl --user bob@example.org:{} https://x.org", "curl -u bob:'{}' https://x.org"],
)
def test_the_password_for_curl_is_found_in_each_of_its_forms(around: str) -> None:
    assert PASSWORD not in scrub(around.format(PASSWORD))


def test_a_key_that_stands_as_user_for_curl_is_replaced() -> None:
    assert scrub(f'curl -u "{VALUE}:" https://x.org') == 'curl -u "‹secret:password:1›:" https://x.org'


@pytest.mark.parametrize(
    "text",
    [
        "curl -i -u 'test:test'",
        "curl -u <user:password> https://x.org",
        "curl -u username:token",
        'curl --user "username:password" https://x.org',
        "git push -u git@example.org:bob/shop1.git",
        "gsutil defacl ch -u bob:READ gs://bucket",
        "--tls-client-key=projects/12345/secrets/my-tls-key/versions/1",
        "_core_token = rf'(?:[{_punct}]+|{_other})'",
        "ftp.login('bob', 'secret')",
        "requests.get(url, auth=('user', 'password'))",
        "auth = ('bob', os.environ['PASSWORD'])",
        "enable password\n",
        "ldapsearch -x -w $PASSWORD",
        'password: "@DB_PASSWORD@"',
        'this.addPassword = "#add-password";',
        f"csrf-token={VALUE}",
        f'publicToken = "{VALUE}"',
        "<secret>{mounted}</secret>",
    ],
)
def test_what_only_shows_how_a_login_is_written_stays(text: str) -> None:
    assert scrub(text) == text


def test_a_password_with_a_dollar_sign_in_a_word_is_no_template() -> None:
    assert scrub('password = "super$ecret"') == 'password = "‹secret:password:1›"'
    assert scrub('password = "Bearer $TOKEN"') == 'password = "Bearer $TOKEN"'


def test_the_words_of_a_wallet_are_replaced_and_those_of_a_test_are_not() -> None:
    assert scrub(f'mnemonic: "{WORDS}"') == 'mnemonic: "‹secret:mnemonic:1›"'
    assert scrub(f"SEED_PHRASE={WORDS}") == "SEED_PHRASE=‹secret:mnemonic:1›"
    of_a_test = f'mnemonic = "{"test " * 11}junk"'
    assert scrub(of_a_test) == of_a_test


def test_the_secrets_of_a_jenkins_credentials_file_are_replaced() -> None:
    assert scrub(f"<secret>{{{VALUE}}}</secret>") == "<secret>{‹secret:jenkins-secret:1›}</secret>"


def test_a_private_key_is_found_in_base64_and_a_certificate_is_left() -> None:
    for label, is_secret in (("RSA PRIVATE KEY", True), ("PRIVATE KEY", True), ("CERTIFICATE", False)):
        encoded = base64.b64encode("\n".join(pem_lines(Random(53), label)).encode()).decode()
        assert scrub(f"tls: {encoded}") == ("tls: ‹secret:private-key:1›" if is_secret else f"tls: {encoded}")


@pytest.mark.parametrize(
    "form", ["$5$rounds=5000$<A16>$<A43>", "$6$rounds=656000$<A16>$<A86>", "pbkdf2_sha256$260000$<A12>$<B43>="]
)
def test_the_hash_of_a_password_is_replaced_whatever_its_rounds(form: str) -> None:
    assert scrub(f"bob:{make(Random(54), form)}:18000") == "bob:‹secret:password-hash:1›:18000"


@pytest.mark.parametrize("kind", ["Secret", "secret", '"secret"'])
@pytest.mark.parametrize("value", [" {}", ' "{}"', " |\n    {}", " '{}'"])
def test_the_data_of_a_kubernetes_secret_are_replaced_however_they_are_written(kind: str, value: str) -> None:
    encoded = base64.b64encode(PASSWORD.encode()).decode()
    manifest = f"apiVersion: v1\nkind: {kind}\ndata:\n  extra:{value.format(encoded)}\n"
    assert encoded not in scrub(manifest)


def test_what_terraform_gives_a_variable_by_default_is_its_value() -> None:
    around = 'variable "okta_api_token" {{\n  default = "{}"\n}}'
    assert VALUE not in scrub(around.format(VALUE))
    token = make(Random(55), UUID)
    assert token not in scrub(f'variable "snyk_token" {{\n  type = string\n  default = "{token}"\n}}')
