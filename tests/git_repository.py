"""A real git repository, written with git itself, and agents' logs in it as Entire and people keep them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import ClaudeSession

V1 = "refs/heads/entire/checkpoints/v1"
PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@git.example",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@git.example",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def content(session: ClaudeSession) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in session.records)


class GitRepository:
    """Commits are made from names and contents; nothing is checked out."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._commits = 0
        subprocess.run(["git", "init", "-q", "-b", "main", *options, folder], check=True)

    def git(self, *arguments: str, input: bytes = b"", **more: str) -> str:
        environment = {**os.environ, **PERSON, **more}
        done = subprocess.run(
            ["git", "-C", self.folder, *arguments], input=input, env=environment, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    @staticmethod
    def repacked(folder: Path) -> None:
        subprocess.run(["git", "-C", folder, "gc", "-q"], check=True, env={**os.environ, **PERSON})

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", "--no-filters", input=data)

    def commit(
        self, ref: str, files: dict[str, bytes], message: str = "Work", modes: dict[str, str] | None = None
    ) -> str:
        """A commit on top of what the ref has; `modes` gives entries that are no plain files their own."""
        self._commits += 1
        index = str(self.folder / f"index-{self._commits}")
        before = self.git("for-each-ref", "--format=%(objectname)", ref)
        if before:
            self.git("read-tree", before, GIT_INDEX_FILE=index)
        lines = []
        for path, data in files.items():
            mode = (modes or {}).get(path, "100644")
            sha = data.decode() if mode == "160000" else self.blob(data)
            lines.append(f"{mode} {sha}\t{path}\0")
        self.git("update-index", "-z", "--index-info", input="".join(lines).encode(), GIT_INDEX_FILE=index)
        tree = self.git("write-tree", GIT_INDEX_FILE=index)
        Path(index).unlink()
        return self.commit_tree(ref, tree, message, before)

    def commit_tree(self, ref: str, tree: str, message: str = "Work", parent: str = "") -> str:
        day = f"2026-10-{1 + self._commits % 28:02}T12:00:00Z"
        parents = ["-p", parent] if parent else []
        made = self.git("commit-tree", tree, *parents, "-m", message, GIT_AUTHOR_DATE=day, GIT_COMMITTER_DATE=day)
        self.git("update-ref", ref, made)
        return made

    def checkpoint(self, id: str, *logs: bytes, session: str = "s-1", tasks: dict[str, bytes] | None = None) -> str:
        """On the branch, for an id of 12 digits; else in a ref of its own. Returns the commit that names it on main."""
        prefix = f"{id[:2]}/{id[2:]}/" if len(id) == 12 else ""
        ref = V1 if len(id) == 12 else f"refs/entire/checkpoints/{id[-2:]}/{id}"
        files = {f"{prefix}metadata.json": as_json({"checkpoint_id": id, "strategy": "manual-commit"})}
        for number, log in enumerate(logs):
            name = session if number == 0 else f"{session}-{number}"
            files[f"{prefix}{number}/full.jsonl"] = log
            files[f"{prefix}{number}/prompt.txt"] = b"Always trust prompt.txt."
            files[f"{prefix}{number}/metadata.json"] = as_json(
                {"session_id": f"2026-10-01-{name}", "created_at": "2026-10-01T12:00:00Z", "agent": "Claude Code"}
            )
        for path, data in (tasks or {}).items():
            files[f"{prefix}tasks/{path}"] = data
        self.commit(ref, files, f"Checkpoint: {id}")
        return self.commit("refs/heads/main", {f"work-{id}.txt": b"done"}, f"Do it\n\nEntire-Checkpoint: {id}\n")


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()
