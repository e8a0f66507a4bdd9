"""What varies from run to run is masked; names, flags and codes stay."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hardwon.text.normalise import identity, is_random, tail


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("cannot open /home/ann/src/tide/conf.toml", "cannot open conf.toml"),
        (r"cannot open C:\Users\Bob Lee\src\conf.toml", "cannot open conf.toml"),
        ("cannot open src/tide/conf.toml", "cannot open conf.toml"),
        ("cannot open /tmp/tmpab12/out.db", "cannot open <tmp>/out.db"),
        ("cannot open /var/folders/9x/k2/T/tmp8f", "cannot open <tmp>"),
        ("in src/stations/index.ts", "in stations/index.ts"),
        ("listen on localhost:3000", "listen on localhost"),
        ("connect to 127.0.0.1:5432", "connect to <ip>"),
        ("at 2026-10-03T10:11:12.123Z", "at <time>"),
        ("at 10:11:12", "at <time>"),
        ("took 12.5s of 30 s", "took <n> of <n> s"),
        ("object at 0x7f33aa10", "object at <id>"),
        ("job 3f0e2a44-9a1b-4c2d-8e3f-0123456789ab", "job <id>"),
        ("commit a1b2c3d", "commit <id>"),
        ("needs numpy 1.26.4", "needs numpy <version>"),
        ("GET https://ann:pw@packages.example/tide/rows.git?x=1", "GET <url>/rows.git"),
        ("GET https://packages.example", "GET <url>"),
        ("mail to someone@reef.example", "mail to <email>"),
        ("‘quoted’ `code` “text”", "'quoted' 'code' 'text'"),
        ("gone: ‹secret:github-token:3› and ‹email:1›", "gone: <id> and <email>"),
    ],
)
def test_what_varies_is_masked(message: str, masked: str) -> None:
    assert identity(message) == masked


@pytest.mark.parametrize(
    "message",
    [
        "No module named 'asyncpg'",
        "unknown option '--fix-all'",
        "error TS2307 E0432 F401 SC2086",
        "package github.com/spf13/cobra",
        "cannot find <openssl/ssl.h>",
        "container tide-db-1 is unhealthy",
        "react-tide@next is missing",
        "no test_reads_row_2_of_the_table here",
        "python3.12: not there",
        "Class Uint8Array and sha256",
    ],
)
def test_names_flags_and_codes_stay(message: str) -> None:
    assert identity(message) == message


@pytest.mark.parametrize("code", ["status 404", "exit code 2", "HTTP 502", "errno 13"])
def test_a_code_is_part_of_what_went_wrong(code: str) -> None:
    assert identity(f"failed with {code}") != identity(f"failed with {code[:-1]}9")


def test_a_package_with_its_version_is_no_address() -> None:
    assert identity("react@19.0.0 from tide@1.2.3") == "react@<version> from tide@<version>"


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/home/ann/tide/app/main.py", "main.py"),
        ("src/tides/index.ts", "tides/index.ts"),
        (r"C:\work\tide\pkg\__init__.py", "pkg/__init__.py"),
        ("/home/ann/index.js", "index.js"),
        ("index.js", "index.js"),
    ],
)
def test_the_tail_of_a_path_is_the_same_on_every_machine(path: str, kept: str) -> None:
    assert tail(path) == kept


@pytest.mark.parametrize("name", ["test_reads_row_2_of_the_table", "ExtractSlugFromBlobs2024", "app-tls-cert-2024"])
def test_a_name_is_not_random(name: str) -> None:
    assert not is_random(name)


@pytest.mark.parametrize("id", ["7f9Kx2mQ8rT5vW1zB4nY", "x3k9j2h8g7f6d5s4a3q2w1e0"])
def test_an_id_is_random(id: str) -> None:
    assert is_random(id)


@pytest.mark.parametrize(
    ("home", "said", "kept"),
    [
        ("/data/people/ann", "/data/people/ann/reef.py", "~/reef.py"),
        ("/data/people/ann", "/data/people/anna/reef.py", "/data/people/anna/reef.py"),
        ("/app", "/app/reef.py", "/app/reef.py"),
    ],
)
def test_the_own_home_is_shortened_wherever_it_lies(home: str, said: str, kept: str) -> None:
    told = "import sys; from hardwon.scrub.scrubber import Scrubber; print(Scrubber().scrub(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", told, said], env=os.environ | {"HOME": home}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == kept
