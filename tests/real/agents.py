"""How each real agent is started once, without a person, with a model on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Variables = dict[str, str]


class Agent(NamedTuple):
    program: str
    settings: str
    """A folder below the user's home that tells that the agent is here."""
    prepare: Callable[[Path, str, Path], Variables]
    """Given the user's home, the model's address and the project: writes settings, gives variables."""
    line: Callable[[str], list[str]]
    """The arguments for a prompt."""


def _claude(user: Path, model: str, project: Path) -> Variables:
    quiet = {"hasCompletedOnboarding": True, "projects": {str(project): {"hasTrustDialogAccepted": True}}}
    (user / ".claude.json").write_text(json.dumps(quiet))
    return {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(user: Path, model: str, project: Path) -> Variables:
    (user / ".codex" / "config.toml").write_text(
        f'model = "gpt-5"\nmodel_provider = "here"\n'
        f'[model_providers.here]\nname = "here"\nbase_url = "{model}/v1"\nenv_key = "HERE_KEY"\n'
        f'wire_api = "responses"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    return {"HERE_KEY": "none"}


def _gemini(user: Path, model: str, project: Path) -> Variables:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    (user / ".gemini" / "settings.json").write_text(json.dumps(settings, indent=2))
    (user / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model, "GEMINI_TELEMETRY_ENABLED": "false"}


def _opencode(user: Path, model: str, _: Path) -> Variables:
    here = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m", "tool_call": True, "limit": {"context": 100_000, "output": 8_000}}},
    }
    settings = {"provider": {"here": here}, "model": "here/m", "small_model": "here/m", "autoupdate": False}
    (user / ".config" / "opencode" / "opencode.json").write_text(json.dumps(settings))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def _hermes(user: Path, model: str, _: Path) -> Variables:
    (user / ".hermes" / "config.yaml").write_text(
        f"model:\n  default: m\n  provider: custom\n  base_url: {model}/v1\n  api_key: none\n"
        "plugins:\n  enabled:\n    - hardwon\napprovals:\n  mode: 'off'\n"
    )
    return {"OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "none"}


AGENTS = {
    "claude-code": Agent(
        "claude", ".claude", _claude, lambda prompt: ["-p", prompt, "--allowedTools", "Bash", "--model", "sonnet"]
    ),
    "codex": Agent(
        "codex",
        ".codex",
        _codex,
        lambda prompt: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                        "--dangerously-bypass-hook-trust", prompt],
    ),
    "gemini": Agent("gemini", ".gemini", _gemini, lambda prompt: ["-p", prompt, "--yolo", "-m", "gemini-2.5-pro"]),
    "opencode": Agent("opencode", ".config/opencode", _opencode, lambda prompt: ["run", prompt]),
    "hermes": Agent("hermes", ".hermes", _hermes, lambda prompt: ["chat", "-q", prompt, "--yolo"]),
}  # fmt: skip
