"""People do not show: neither by their address nor by the name of their home."""

from __future__ import annotations

import pytest

from hardwon.scrub.scrubber import Scrubber


def scrub(text: str) -> str:
    return Scrubber().scrub(text)


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("write to alice@example.com.", "write to ‹email:1›."),
        ("Alice <alice.b+tag@mail.example.co.uk>", "Alice <‹email:1›>"),
        ("noreply@anthropic.com", "‹email:1›"),
        ('{"email":"a_b@x-y.io"}', '{"email":"‹email:1›"}'),
        ("mailto:bob@firma.rs?subject=x", "mailto:‹email:1›?subject=x"),
        ("To: a@x.org, b@x.org, a@x.org", "To: ‹email:1›, ‹email:2›, ‹email:1›"),
        ('"line one\\nbob@x.org"', '"line one\\n‹email:1›"'),
        ("Author: X <git@example.org>", "Author: X <‹email:1›>"),
        ("bob@163.com", "‹email:1›"),
    ],
)
def test_an_email_address_becomes_a_mark(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:owner/repo.git",
        "ssh -T git@github.com",
        "ssh://git@gitlab.example.org:2222/owner/repo",
        "npm i lodash@4.17.21 @types/node@20.1.0 pkg@1.2.3-beta.rc",
        "uses: actions/checkout@v4",
        "icon@2x.png",
        "2026-10-01_10-00Z-use-@tide-docs-数据.md",
        "scores = q@k.transpose(-2, -1)",
        "@app.route('/x') @pytest.fixture",
        "user@host a@b @ x",
        "https://medium.com/@some.one/post",
    ],
)
def test_what_only_has_an_at_sign_stays(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("/home/alice/x", "~/x"),
        ("/home/alice", "~"),
        ("cd /home/alice && ls", "cd ~ && ls"),
        ("in /home/alice.", "in ~."),
        ("/home/alice.b-c_d/x", "~/x"),
        ("/Users/alice/Library/x", "~/Library/x"),
        ("/var/home/alice/x", "~/x"),
        ("/root/x and /root", "~/x and ~"),
        ('"/Users/alice"', '"~"'),
        ("PATH=/home/a/bin:/home/b/bin", "PATH=~/bin:~/bin"),
        ("File /home/alice/a.py:3", "File ~/a.py:3"),
        ("gcc -I/home/alice/include", "gcc -I~/include"),
        ("file:///home/alice/x", "file://~/x"),
        ('"a\\n/home/alice/x"', '"a\\n~/x"'),
        (r"C:\Users\alice\x", r"~\x"),
        (r"C:\USERS\ALICE\x", r"~\x"),
        (r"C:\\Users\\alice\\x", r"~\\x"),
        ("C:/Users/alice/x", "~/x"),
        (r"c:\users\alice", "~"),
        (r"C:\Users\Alice Smith\Documents\x", r"~\Documents\x"),
        ("C:\\Users\\bob is where it was, see a/b", "~ is where it was, see a/b"),
        ("file:///C:/Users/alice/x", "file:///~/x"),
        ("file:///c%3A/Users/alice/x", "file:///c%3A~/x"),
        ("/mnt/c/Users/alice/x", "~/x"),
        ("/c/Users/alice/x", "~/x"),
        ("/home/алиса/x", "~/x"),
        ("/home/alice/home/bob/x", "~/home/bob/x"),
    ],
)
def test_a_home_folder_becomes_a_tilde(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "/home",
        "/home/",
        "ls /home /home/ /Users/",
        "/home/$USER/x /home/<user>/x /home/*/x",
        "https://example.org/home/alice",
        "/srv/home/alice",
        "./home/alice ../root/x",
        "/rootfs /roots/x /rooted",
        "~/x",
        "/Users/Shared/x",
        "/homes/alice",
        "-Users-alice-work",
    ],
)
def test_what_is_no_home_folder_stays(text: str) -> None:
    assert scrub(text) == text


def test_homes_are_not_counted_as_redactions() -> None:
    scrubber = Scrubber()
    scrubber.scrub("/home/alice/x")
    assert scrubber.redactions == 0
    scrubber.scrub("alice@example.com alice@example.com")
    assert scrubber.redactions == 2


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("call +49 30 901820 now", "call ‹phone:1› now"),
        ("tel:+14155552671", "tel:‹phone:1›"),
        ("fax (415) 555-2671, 415-555-2671", "fax ‹phone:1›, ‹phone:2›"),
        ('{"phone": "0490 75 40 81"}', '{"phone": "‹phone:1›"}'),
        ("from 203.7.113.94 port 22", "from ‹ip:1› port 22"),
        ("http://185.199.108.153/x", "http://‹ip:1›/x"),
        ("peer 2a02:6b8:0:1a2d::517 gone", "peer ‹ip:1› gone"),
        ("paid with 4539 1488 0343 6467", "paid with ‹card:1›"),
        ("paid with 4539148803436467.", "paid with ‹card:1›."),
    ],
)
def test_numbers_that_lead_to_a_person_become_marks(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1 0.0.0.0 10.1.2.3 192.168.178.20 172.16.0.9 169.254.169.254 8.8.8.8 255.255.255.0",
        "Chrome/120.0.6099.109 v1.2.3.4 version 104.55.66.77 pkg==45.67.89.101",
        "::1 fe80::1 std::vector 12:34:56 aa:bb:cc:dd:ee:ff 2024:10:05",
        "1700000000000 1700000000000000 20260102030405 order_id=4539148803436467",
        "4539 1488 0343 6468",
        "2026-01-02 03:04:05 +0100 line 12, column 345-678",
        "123-45-6789 100-200-3000 1.5e+12345678",
        "+1234567890123456789",
        "@@ -1234,5678 +1234,5678 @@\n+1234567890\n+2024-01-02 10:11:12",
        "sum = a +12345678",
    ],
)
def test_numbers_in_logs_and_code_stay(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Desk: 5403926876", "Desk: ‹phone:1›"),
        ("Phone:\n60-56-85-91\n", "Phone:\n‹phone:1›\n"),
        ("please call me at 0494 92 82 32 today", "please call me at ‹phone:1› today"),
        ("21 253 109 8211-Office, +46 (0)8 928 571 38 fax", "‹phone:1›-Office, ‹phone:2› fax"),
        ("I lost my card 630427373398.", "I lost my card ‹card:1›."),
        ("getting address 6e40:4041:c617:e898:c11:40d2:c669:2eb4 blocked", "getting address ‹ip:1› blocked"),
        ("client_ip = |106.31.73.20|", "client_ip = |‹ip:1›|"),
        ("My website is https://www.fern.example.pt/", "My website is ‹url:1›"),
    ],
)
def test_what_stands_where_a_person_is_spoken_of_is_theirs(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "the staging server is at https://staging.fern.example.io",
        "messages to 2026-11-16 are kept",
        "call me at 2026-11-16",
        "cell: 12",
        "wildcard 123456789012 rows",
        "discard: 1234567890123456",
        "4 mobile, 12 office",
        "Chrome 120.0.9.109",
        "release 21.100.4.101",
        "see https://docs.fern.example.io/mobile/page",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert scrub(text) == text
