"""What an agent waits for before it runs a hook is told, where its own files tell it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardwon.home import FORMER_NAME
from hardwon.install.agents import AGENTS
from hardwon.install.command import Where
from hardwon.install.plan import apply, installing
from hardwon.install.status import _hooks, everywhere
from tests.install.test_install import FILES, user  # noqa: F401 - a fixture

PYTHON = "/usr/bin/python3"
# What Codex 0.166.0 itself says of the hooks that were installed with that Python under the project's former name.
FORMERLY_REVIEWED = {
    "session_start": "0886a82f758a55b9706e8d68621da1cb7a37fdfe19edffafdc93f2606cbb88c0",
    "user_prompt_submit": "b81bc7ff61708413a2802a3b78c3e4f2811603bec706c9c282f60cae7337161c",
    "post_tool_use": "ed5f686327b112db86eba94f3ff9b7b23fe8c114fc83dcd1ea621c53912638d7",
    "session_end": "5e6ac3a35e076e0fb7397d58e1bebc4ea611ea4294fe6879e05c736022025a65",
}
# What this code says of them today; the name of the module differs, and that a hook that is gone is silent.
REVIEWED = {
    "session_start": "bc49382fc3a9e2671ca6bccb323cb478e86c400a6bfb9b69e39ef65eb8157a05",
    "user_prompt_submit": "5561a1bf8334d8646ae80f8074d4be6b9bb0579ed4acf145bb2b1425b30259bb",
    "post_tool_use": "af25c549cd5a8dbcb3d5d25ab1693a8e74a801fb5bca4a6a04b0a42c5c443b4f",
    "session_end": "a1e8f059191fbe2fb35845a73f4992fa2b6150aac5ce7b651ec9d079059aa432",
}


def trouble(agent: str, where: Where) -> str:
    (found,) = [each for each in everywhere(where) if each.agent == agent]
    return found.trouble


def install(agent: str, user: Path, home: Path) -> Where:  # noqa: F811
    where = Where({"PATH": ""}, user, python=PYTHON)
    apply(installing(AGENTS[agent], where), home)
    return where


def state(user: Path, hashes: dict[str, str], more: str = "") -> str:  # noqa: F811
    path = user / FILES["codex"]
    entries = [
        f'[hooks.state."{path}:{name}:0:0"]\ntrusted_hash = "sha256:{value}"\n{more}' for name, value in hashes.items()
    ]
    return 'model = "m"\n' + "\n".join(entries)


@pytest.mark.skipif(not Path(PYTHON).exists(), reason="this system has its Python elsewhere")
def test_a_hook_is_hashed_as_codex_does_it(user: Path, home: Path) -> None:  # noqa: F811
    install("codex", user, home)
    file = user / FILES["codex"]
    assert {key.split(":")[1]: value for key, value in _hooks(file)} == REVIEWED
    file.write_text(file.read_text().replace("hardwon", FORMER_NAME).replace(" 2>/dev/null || :", ""))
    assert {key.split(":")[1]: value for key, value in _hooks(file)} == FORMERLY_REVIEWED


def test_codex_is_told_apart_by_what_its_user_has_reviewed(user: Path, home: Path) -> None:  # noqa: F811
    where = install("codex", user, home)
    config = user / ".codex" / "config.toml"
    ask = "start `codex` and open /hooks"
    assert ask in trouble("codex", where)
    config.write_text(state(user, REVIEWED))
    assert trouble("codex", where) == ""
    (user / "link").symlink_to(user / ".codex")
    config.write_text(state(user, REVIEWED).replace("/.codex/", "/link/"))
    assert trouble("codex", where) == "", "the file may be named by way of a link"
    config.write_text(state(user, {**REVIEWED, "session_end": "0" * 64}))
    assert trouble("codex", where) == f"a hook was changed since you reviewed it: {ask}"
    config.write_text(state(user, {name: value for name, value in REVIEWED.items() if name != "post_tool_use"}))
    assert "it waits for your yes" in trouble("codex", where)
    config.write_text(state(user, REVIEWED, "enabled = false\n"))
    assert "switched off" in trouble("codex", where)
    config.write_text("[features]\nhooks = false\n")
    assert "features.hooks" in trouble("codex", where)
    config.write_text("broken [")
    assert ask in trouble("codex", where)


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("", False),
        ("model:\n  default: m\n", False),
        ("plugins:\n  enabled:\n    - hardwon\n", True),
        ("plugins:\n  enabled:\n  - other\n  - 'hardwon'  # ours\n  disabled: []\n", True),
        ("plugins:\n  enabled: [other, hardwon]\n", True),
        ("plugins:\n  # mine\n  enabled: []\n  disabled:\n    - hardwon\n", False),
        ("plugins:\n  disabled:\n    - hardwon\n  enabled:\n    - other\n", False),
        ("tools:\n  enabled:\n    - hardwon\nplugins:\n  enabled:\n    - other\n", False),
    ],
)
def test_hermes_is_told_apart_by_whether_the_plugin_is_enabled(
    user: Path,  # noqa: F811
    home: Path,
    text: str,
    enabled: bool,
) -> None:
    where = install("hermes", user, home)
    (user / ".hermes" / "config.yaml").write_text(text)
    said = trouble("hermes", where)
    assert said == "" if enabled else "run `hermes plugins enable hardwon`" in said


@pytest.mark.parametrize(
    ("agent", "switch"),
    [
        ("claude-code", {"disableAllHooks": True}),
        ("gemini", {"hooksConfig": {"enabled": False}}),
        ("gemini", {"hooksConfig": {"disabled": ["hardwon-prompt"]}}),
    ],
)
def test_hooks_that_are_switched_off_are_said(user: Path, home: Path, agent: str, switch: dict[str, object]) -> None:  # noqa: F811
    path = user / FILES[agent]
    path.write_text(json.dumps(switch))
    where = install(agent, user, home)
    assert "its hooks are switched off" in trouble(agent, where)
    path.write_text(json.dumps({**json.loads(path.read_text()), **dict.fromkeys(switch)}))
    assert trouble(agent, where) == ""
