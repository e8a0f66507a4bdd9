"""Whatever an agent sends, the hook says valid JSON or nothing. FUZZ_PAYLOADS sets how many are tried."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from hardwon.hook.agents import module, named
from hardwon.hook.main import answered
from hardwon.hook.session_end import ask
from tests.hook.conftest import AGENTS, EVENTS, example, hook

COUNT = int(os.environ.get("FUZZ_PAYLOADS", "400"))
STRANGE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e400,
    10**30,
    "",
    "\0",
    "\ud800",
    "é" * 300,
    "../" * 3000,
    "//host/share",
    "x" * 70_000,
    [],
    [[]],
    {},
    {"command": 5},
    {"llmContent": [None, {"text": 1}], "error": []},
    '{"exitCode": 1, "output": []}',
    "Exit code 1\n",
)


def strange(random: random.Random, agent: str, event: str) -> bytes:
    """A payload with some of its fields made strange, sometimes damaged as bytes too."""
    payload = example(agent, event, prompt="why does asyncpg fail in tide_gauge.py")
    payload |= {name: random.randbytes(8).hex() for name in ("session_id", "conversation_id") if name in payload}
    for _ in range(random.randrange(4)):
        key = random.choice([*payload, "agent", "cursor_version", "agent_id"])
        payload[key] = random.choice(STRANGE)
    if random.random() < 0.3:
        payload.pop(random.choice(list(payload)))
    raw = json.dumps(payload).encode()
    how = random.randrange(8)
    if how == 0:
        return raw[: random.randrange(len(raw))]
    if how == 1:
        at = random.randrange(len(raw))
        return raw[:at] + random.randbytes(3) + raw[at + 3 :]
    if how == 2:
        return random.choice([b"", b"[1]", b"null", b"[" * 100_000, b"\xef\xbb\xbf" + raw, b"\xff\xfe", raw + raw])
    return raw


def test_any_payload_gets_valid_json_or_silence(harvested: Path) -> None:
    spoke = 0
    for seed in range(COUNT):
        chance = random.Random(seed)
        agent, event = chance.choice(AGENTS), chance.choice(EVENTS[:3])
        raw = strange(chance, agent, event)
        said, _, error = answered(event, chance.choice([agent, "", "nobody"]), raw)
        assert not (said and error), f"seed {seed}"
        if said:
            answer = json.loads(said)
            assert isinstance(answer, dict), f"seed {seed}"
            assert said.isascii(), f"seed {seed}"
            spoke += 1
    assert spoke > COUNT / 10


def test_any_payload_of_an_end_asks_for_a_harvest_or_nothing(home: Path) -> None:
    for seed in range(COUNT // 4):
        chance = random.Random(seed)
        agent = chance.choice(AGENTS)
        try:
            payload = json.loads(strange(chance, agent, "session-end"))
        except (ValueError, RecursionError):
            continue
        if isinstance(payload, dict):
            seen = module(named(payload, agent)).event("session-end", payload)
            ask(str(home), agent, str(seen["transcript_path"]))
    for request in (home / "pending").iterdir():
        assert set(json.loads(request.read_text())) == {"agent", "transcript"}


@pytest.mark.parametrize("event", EVENTS[:3])
@pytest.mark.parametrize(
    "raw", ["", "{", "[" * 5000, '{"cwd": "/srv/work/reef"', '{"cwd": 7, "error": {}, "prompt": []}']
)
def test_the_real_process_ends_well_on_garbled_input(harvested: Path, event: str, raw: str) -> None:
    done = hook(event, raw)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
