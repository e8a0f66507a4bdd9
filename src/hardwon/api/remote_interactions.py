"""The interactions of a service, with the verbs of `memory.interactions`."""

from __future__ import annotations

from typing import Any

from hardwon.api.wire_client import Client
from hardwon.errors import NotFound
from hardwon.model import wire
from hardwon.model.interaction import Interaction, InteractionSummary, Page, Reinforced


class RemoteInteractions:
    """What was asked and answered: recorded, listed, and what it says about the lessons."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def record(self, interaction: Interaction, *, reinforce: bool = True) -> str:
        body: dict[str, Any] = {
            name: getattr(interaction, name) for name in Interaction.__struct_fields__ if name != "id"
        }
        return self._client.send("POST", Interaction, {**body, "reinforce": reinforce}, "api", "interactions").id

    def page(
        self,
        *,
        project: str | None = None,
        session: str = "",
        client: str = "",
        since: int = 0,
        limit: int = 50,
        cursor: str = "",
    ) -> Page:
        query = {"project": project, "session": session, "client": client, "limit": limit, "cursor": cursor}
        begin = wire.moment(since).isoformat() if since else None
        found = self._client.get(wire.Page[InteractionSummary], "api", "interactions", **query, since=begin)
        return Page(found.items, found.next)

    def get(self, id: str) -> Interaction | None:
        try:
            return self._client.get(Interaction, "api", "interactions", id)
        except NotFound:
            return None

    def reinforce(self, id: str) -> list[Reinforced]:
        return self._client.send("POST", list[Reinforced], {}, "api", "interactions", id, "reinforce")

    def extract(self, id: str) -> list[wire.LessonLine]:
        return self._client.send("POST", list[wire.LessonLine], {}, "api", "interactions", id, "extract")
