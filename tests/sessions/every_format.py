"""A session of every format that people type into: what stands in the user's role, and an answer to each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import ClaudeSession, write_lines
from tests.sessions import (
    test_amp,
    test_cline,
    test_codex,
    test_continue_dev,
    test_copilot,
    test_cursor,
    test_cursor_cli,
    test_droid,
    test_gemini,
    test_goose,
    test_hermes_cli,
    test_kiro,
    test_opencode,
    test_pi,
    test_qwen,
    test_specstory_layouts,
    test_vscode_copilot,
    test_zed,
)

Writer = Callable[[Path, list[str]], Path]


def _document(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def claude_code(folder: Path, texts: list[str]) -> Path:
    session = ClaudeSession(folder.name)
    for text in texts:
        session = session.user(text).says("I see.")
    return session.write(folder)


def _rollout(folder: Path, texts: list[str], *, events: bool) -> Path:
    records: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": folder.name, "cwd": "/srv/work/reef"}}]
    for text in texts:
        records.append(test_codex.message("user", text))
        if events:
            records.append({"type": "event_msg", "payload": {"type": "user_message", "message": text}})
        records.append(test_codex.message("assistant", "I see."))
    return write_lines(folder / "rollout.jsonl", records)


def codex(folder: Path, texts: list[str]) -> Path:
    return _rollout(folder, texts, events=True)


def codex_without_events(folder: Path, texts: list[str]) -> Path:
    return _rollout(folder, texts, events=False)


def specstory(folder: Path, texts: list[str]) -> Path:
    said = (test_specstory_layouts.asked(text) + test_specstory_layouts.turn("I see.") for text in texts)
    path = folder / f"{folder.name}.md"
    path.write_text(test_specstory_layouts.HEAD.replace("Tides", folder.name) + "".join(said))
    return path


def aider(folder: Path, texts: list[str]) -> Path:
    path = folder / ".aider.chat.history.md"
    said = ("".join(f"#### {line}  \n" for line in text.split("\n")) + "\nI see.\n\n" for text in texts)
    path.write_text("\n# aider chat started at 2026-10-01 10:00:00\n\n> Aider v0.51.2-dev  \n\n" + "".join(said))
    return path


def gemini_cli(folder: Path, texts: list[str]) -> Path:
    records = [{**test_gemini.HEADER, "sessionId": folder.name}]
    for number, text in enumerate(texts):
        records.append(test_gemini.message(f"u{number}", "user", text))
        records.append(test_gemini.message(f"g{number}", "gemini", "I see."))
    return write_lines(folder / "session-x.jsonl", records)


def qwen_code(folder: Path, texts: list[str]) -> Path:
    records = []
    for number, text in enumerate(texts):
        records.append(test_qwen.user(f"u{number}", text, sessionId=folder.name))
        records.append(test_qwen.record(f"a{number}", "assistant", {"text": "I see."}, sessionId=folder.name))
    return write_lines(folder / "chat.jsonl", records)


def copilot_cli(folder: Path, texts: list[str]) -> Path:
    start = test_copilot.event("session.start", sessionId=folder.name, context=test_copilot.CONTEXT)
    events = [start]
    for text in texts:
        events += [test_copilot.event("user.message", content=text, transformedContent=text)]
        events += [test_copilot.event("assistant.message", content="I see.", toolRequests=[])]
    return write_lines(folder / "events.jsonl", events)


def vscode_copilot(folder: Path, texts: list[str]) -> Path:
    requests = [test_vscode_copilot.request(text, {"value": "I see."}) for text in texts]
    return _document(folder / "s.json", test_vscode_copilot.chat(*requests, sessionId=folder.name))


def cursor(folder: Path, texts: list[str]) -> Path:
    bubbles = [one for text in texts for one in (test_cursor.bubble(1, text), test_cursor.bubble(2, "I see."))]
    head = test_cursor.composer(folder.name, len(bubbles))
    rows = {f"composerData:{folder.name}": head, **test_cursor.rows(folder.name, bubbles)}
    return test_cursor.store(folder / "state.vscdb", rows)


def cursor_cli(folder: Path, texts: list[str]) -> Path:
    records = []
    for text in texts:
        records.append(test_cursor_cli.said("user", f"<user_query>\n{text}\n</user_query>"))
        records.append(test_cursor_cli.said("assistant", "I see."))
    return write_lines(folder / test_cursor_cli.PROJECT / folder.name / f"{folder.name}.jsonl", records)


def droid(folder: Path, texts: list[str]) -> Path:
    records: list[dict[str, Any]] = [{**test_droid.START, "id": folder.name}]
    for text in texts:
        records.append(test_droid.said("user", test_droid.text(text)))
        records.append(test_droid.said("assistant", test_droid.text("I see.")))
    return write_lines(folder / f"{folder.name}.jsonl", records)


def amp(folder: Path, texts: list[str]) -> Path:
    said = [
        {"role": role, "content": [test_amp.text(words)]}
        for text in texts
        for role, words in (("user", text), ("assistant", "I see."))
    ]
    return _document(folder / "T.json", {**test_amp.THREAD, "id": f"T-{folder.name}", "messages": said})


def kiro_cli(folder: Path, texts: list[str]) -> Path:
    records = []
    for text in texts:
        records.append(test_kiro.record("Prompt", test_kiro.block("text", text)))
        records.append(test_kiro.record("AssistantMessage", test_kiro.block("text", "I see.")))
    path = write_lines(folder / f"{folder.name}.jsonl", records)
    _document(path.with_suffix(".json"), {**test_kiro.NOTES, "session_id": folder.name})
    return path


def zed(folder: Path, texts: list[str]) -> Path:
    said: list[Any] = []
    for text in texts:
        said.append({"User": {"id": "u", "content": [{"Text": text}]}})
        said.append({"Agent": {"content": [{"Text": "I see."}], "tool_results": {}}})
    return test_zed.database(folder / "threads.db", (folder.name, {**test_zed.THREAD, "messages": said}))


def continue_dev(folder: Path, texts: list[str]) -> Path:
    history = [
        {"message": {"role": role, "content": words}, "contextItems": []}
        for text in texts
        for role, words in (("user", text), ("assistant", "I see."))
    ]
    return _document(folder / "n.json", {**test_continue_dev.SESSION, "sessionId": folder.name, "history": history})


def hermes(folder: Path, texts: list[str]) -> Path:
    records = [
        {"role": role, "content": words, "timestamp": "2026-10-01T10:00:00Z"}
        for text in texts
        for role, words in (("user", text), ("assistant", "I see."))
    ]
    return write_lines(folder / f"{folder.name}.jsonl", records)


def hermes_cli(folder: Path, texts: list[str]) -> Path:
    said = [
        {"role": role, "content": words} for text in texts for role, words in (("user", text), ("assistant", "I see."))
    ]
    return _document(folder / "session.json", {**test_hermes_cli.DOCUMENT, "session_id": folder.name, "messages": said})


def opencode(folder: Path, texts: list[str]) -> Path:
    said = [
        test_opencode.message(role, test_opencode.text(words))
        for text in texts
        for role, words in (("user", text), ("assistant", "I see."))
    ]
    return _document(
        folder / "export.json", {"info": {**test_opencode.INFO, "id": f"ses_{folder.name}"}, "messages": said}
    )


def pi(folder: Path, texts: list[str]) -> Path:
    records: list[dict[str, Any]] = [{**test_pi.HEADER, "id": folder.name}]
    for text in texts:
        records += [test_pi.said("user", text), test_pi.said("assistant", test_pi.text("I see."))]
    return write_lines(folder / "s.jsonl", records)


def cline(folder: Path, texts: list[str]) -> Path:
    said = []
    for text in texts:
        said.append(test_cline.said("user", test_cline.text(f"<user_input>{text}</user_input>")))
        said.append(test_cline.said("assistant", test_cline.text("I see.")))
    name = folder.name
    return _document(folder / name / f"{name}.messages.json", test_cline.document(*said, sessionId=name))


def goose(folder: Path, texts: list[str]) -> Path:
    records: list[dict[str, Any]] = [test_goose.HEADER]
    for text in texts:
        records.append(test_goose.said("user", test_goose.text(text)))
        records.append(test_goose.said("assistant", test_goose.text("I see.")))
    return write_lines(folder / f"{folder.name}.jsonl", records)


WRITERS: dict[str, Writer] = {
    writer.__name__: writer
    for writer in (
        *(claude_code, codex, codex_without_events, specstory, aider, gemini_cli, qwen_code, copilot_cli),
        *(vscode_copilot, cursor, cursor_cli, droid, amp, kiro_cli, zed, continue_dev, hermes, hermes_cli),
        *(opencode, pi, cline, goose),
    )
}
