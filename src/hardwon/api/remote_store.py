"""The documents of a service, and letting go there: the verbs of `memory.documents` and `memory.forget`."""

from __future__ import annotations

from typing import Any

from hardwon.api.forget import Forgot
from hardwon.api.wire_client import Client
from hardwon.model import wire
from hardwon.store.forget import What


class RemoteDocuments:
    """Reference texts; files are taken in by name and content, for the service reads none of this machine."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def keep(self, name: str, text: str, *, project: str = "") -> str:
        body = {"name": name, "text": text, "project": project}
        return self._client.send("POST", wire.DocumentPage, body, "api", "documents").document.id

    def listed(self, project: str | None = None) -> list[wire.Document]:
        return list(self._client.pages(wire.Page[wire.Document], "api", "documents", project=project))

    def remove(self, id: str) -> None:
        self._client.delete("api", "documents", id)


class RemoteForgetting:
    """Forgetting for good, with proof; and letting go of what is old."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def item(self, id: str, *, dry_run: bool = False) -> Forgot:
        return self._forget(id=id, dry_run=dry_run)

    def session(self, name: str, *, dry_run: bool = False) -> Forgot:
        return self._forget(session=name, dry_run=dry_run)

    def project(self, name: str, *, dry_run: bool = False) -> Forgot:
        return self._forget(project=name, dry_run=dry_run)

    def text(self, text: str, *, dry_run: bool = False) -> Forgot:
        return self._forget(text=text, dry_run=dry_run)

    def purge(self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False) -> Forgot:
        body = {"days": days, "what": what, "project": project or "", "dry_run": dry_run}
        return self._client.send("POST", Forgot, body, "api", "purge")

    def _forget(self, **body: Any) -> Forgot:
        return self._client.send("POST", Forgot, body, "api", "forget")
