"""Cline's SDK sessions: a document of messages, and beside it a manifest that tells where and when they were."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hardwon.clock import microseconds
from hardwon.model.session import Origin, Record
from hardwon.sessions.cline_task import Verdict
from hardwon.sessions.loose import joined, json_object
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.origin import user_text

ROLES = ("user", "assistant", "error")
_LARGEST_MANIFEST = 4 * 1024 * 1024
_USER_INPUT = re.compile(r"<user_input\b[^>]{0,200}>")
_REJECTED = "This tool call was rejected by the user"
_SDK_EXIT = re.compile(r"(?:Command failed: )?Command exited with code (-?\d{1,9})")


def is_session(found: object) -> bool:
    """The compacted copy that lies beside a session has its shape: it begins with a summary."""
    if not isinstance(found, dict) or not isinstance(found.get("sessionId"), str) or "updated_at" not in found:
        return False
    messages = found.get("messages")
    if not isinstance(messages, list) or "source_message_count" in found or "projectHash" in found:
        return False
    first = messages[0] if messages else None
    if isinstance(first, dict) and is_summary(first):
        return False
    return all(isinstance(entry, dict) and entry.get("role") in ROLES for entry in messages[:3])


def is_summary(entry: Record) -> bool:
    metadata = entry.get("metadata")
    return isinstance(metadata, dict) and text_of(metadata.get("kind")).startswith("compaction")


def manifest_of(path: Path) -> Record:
    """A session's own, or for a sub-agent's messages that of the session whose folder they lie in."""
    own = path.name.removesuffix(".json").removesuffix(".messages")
    for name in (own, path.parent.name):
        candidate = path.with_name(f"{name}.json")
        try:
            if candidate == path or candidate.stat().st_size > _LARGEST_MANIFEST:
                continue
            found = json_object(candidate.read_bytes())
        except OSError:
            continue
        if found is not None and isinstance(found.get("session_id"), str):
            return found
    return {}


def forked_at(path: Path, manifest: Record) -> int | None:
    """A fork begins with a copy of the session it left, which is not told twice where that lies beside it."""
    metadata = manifest.get("metadata")
    fork = metadata.get("fork") if isinstance(metadata, dict) else None
    if not isinstance(fork, dict):
        return None
    left = os.path.basename(text_of(fork.get("forkedFromSessionId")))
    original = path.parent.parent / left / f"{left}.messages.json"
    return microseconds(fork.get("forkedAt")) if left and os.path.isfile(original) else None


def session_words(text: str) -> tuple[str, Origin]:
    if text.startswith("<SYSTEM_NOTICE>"):
        return text, "injected"
    opening, end = _USER_INPUT.search(text), text.rfind("</user_input>")
    return user_text(text[opening.end() : end] if opening and opening.end() <= end else text)


def session_verdict(block: Record) -> Verdict:
    flagged = block.get("is_error") is True
    entries = _entries(block.get("content"), flagged=flagged)
    errors = [text for entry in entries if (text := text_of(entry.get("error")))]
    if entries:
        told = (part for entry in entries for part in (joined(entry.get("result")), text_of(entry.get("error"))))
        text = "\n".join(filter(None, told))
    else:
        text = joined(block.get("content"))
    if any(error.startswith(_REJECTED) for error in errors):
        return text, "error", "rejected", None
    if flagged or errors:
        code = next((int(found.group(1)) for error in errors if (found := _SDK_EXIT.match(error))), None)
        return text, "error", "flag", code
    if not entries:
        return text, "ok", "no-flag", None
    if all(entry.get("success") is True for entry in entries):
        return text, "ok", "flag", None
    return text, "unknown", "none", None  # a search without a match says no more


def _entries(content: object, *, flagged: bool) -> list[Record]:
    """What each part of a call came to, as `{query, result, success, error}`."""
    if isinstance(content, str):
        found = json_object(content) if content.startswith("{") else None
        return [found] if found is not None and (flagged or {"query", "success"} <= found.keys()) else []
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and "success" in block]
