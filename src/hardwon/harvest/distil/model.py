"""The language model that is asked, what it answers, and what it may cost in a day."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from hardwon.config import Config
from hardwon.errors import BadConfig, NoModel
from hardwon.http_json import RequestFailed, api_key, post_json
from hardwon.store import meta
from hardwon.store.database import Database
from hardwon.text.fence import TAG
from hardwon.text.tokens import estimate

# A model that answers: an OpenAI-compatible endpoint, Anthropic's, or a command. Its bad days are never
# content.

KEY_VARIABLE = "HARDWON_LLM_KEY"
"""Read from the environment alone: a key has no place in a file of settings."""
_ANSWER_SECONDS = 180
_MAX_ANSWER_BYTES = 8_000_000
_MAX_ANSWER_TOKENS = 4_000
_MAX_BRACES_TRIED = 1_000
_TRIES_PER_QUESTION = 4
_MAX_PAUSE_SECONDS = 60.0
_PASSING_STATUSES = frozenset((0, 408, 409, 425, 429, 500, 502, 503, 504, 529))
"""0: it did not answer at all, or not in time."""

Schema = dict[str, Any]
T = TypeVar("T")


class Answer(NamedTuple):
    value: Any
    """Decoded JSON."""
    tokens_in: int
    tokens_out: int


class Passing(Exception):
    """It may work the next time; `pause` is how long the model asked to be left alone."""

    def __init__(self, why: str, pause: float = 0.0, spent: tuple[int, int] = (0, 0)) -> None:
        super().__init__(why)
        self.pause = pause
        self.spent = spent
        """Tokens in and out: what is of no use is paid for all the same."""


class _Refused(NoModel):
    """The server does not understand what it was sent."""


class Model(Protocol):
    def ask(self, system: str, text: str, schema: Schema) -> Answer: ...


def chosen(config: Config) -> Model:
    """The model that the settings name."""
    if config.llm_command:
        return Command(config.llm_command)
    if not config.llm_url.startswith(("http://", "https://")) or not config.llm_model:
        raise BadConfig("no model is set: give llm_url and llm_model, or llm_command, with `hardwon config`")
    kind = Anthropic if config.llm_url.rstrip("/").endswith("/messages") else OpenAI
    return kind(config.llm_url, config.llm_model)


def patiently(step: Callable[[], T], pause: Callable[[float], None] = time.sleep) -> T:
    """Do it again, later and later, while that may help."""
    for attempt in range(_TRIES_PER_QUESTION):
        try:
            return step()
        except Passing as trouble:
            if trouble.pause > _MAX_PAUSE_SECONDS:
                raise NoModel(f"{trouble} and asks to wait {trouble.pause:.0f} s; run it again then") from trouble
            if attempt == _TRIES_PER_QUESTION - 1:
                raise NoModel(f"the model gave no usable answer {_TRIES_PER_QUESTION} times: {trouble}") from trouble
            pause(max(trouble.pause, 2.0**attempt))
    raise AssertionError("unreachable")


class OpenAI:
    """Any server that speaks `POST …/chat/completions`."""

    def __init__(self, url: str, model: str) -> None:
        self._address = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._is_simple = False

    def ask(self, system: str, text: str, schema: Schema) -> Answer:
        answer = self._answered(system, text, schema)
        try:
            choice = answer["choices"][0]
            message, usage = choice["message"], answer.get("usage") or {}
            if message.get("refusal") or choice.get("finish_reason") not in (None, "stop"):
                spent = _count(usage.get("prompt_tokens"), system + text), _count(usage.get("completion_tokens"), "")
                why = "the model refused to answer" if message.get("refusal") else "the answer was cut off"
                raise Passing(f"{why} (finish_reason {choice.get('finish_reason')})", spent=spent)
            said = str(message["content"])
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise Passing(f"{self._address} did not answer like an OpenAI-compatible chat endpoint") from error
        return _answer(said, schema, (usage.get("prompt_tokens"), usage.get("completion_tokens")), system + text)

    def _answered(self, system: str, text: str, schema: Schema) -> Any:
        """Some servers know no schema, or another word for the longest answer, and refuse what they do not know."""
        key = api_key(KEY_VARIABLE)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        body = {"model": self._model, "messages": messages}
        if not self._is_simple:
            wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
            try:
                return _posted(
                    self._address, {**body, "max_tokens": _MAX_ANSWER_TOKENS, "response_format": wanted}, headers
                )
            except _Refused:
                self._is_simple = True
        try:
            return _posted(self._address, body, headers)
        except _Refused as error:
            raise NoModel(str(error)) from error


class Anthropic:
    """`POST …/v1/messages`, with the answer as the input of a tool."""

    def __init__(self, url: str, model: str) -> None:
        self._address = url.rstrip("/")
        self._model = model

    def ask(self, system: str, text: str, schema: Schema) -> Answer:
        answer = _posted(
            self._address,
            {
                "model": self._model,
                "system": system,
                "max_tokens": _MAX_ANSWER_TOKENS,
                "messages": [{"role": "user", "content": text}],
                "tools": [{"name": "answer", "description": "The answer.", "input_schema": schema}],
                "tool_choice": {"type": "tool", "name": "answer"},
            },
            {"x-api-key": api_key(KEY_VARIABLE), "anthropic-version": "2023-06-01"},
        )
        try:
            usage = answer.get("usage") or {}
            spent = _count(usage.get("input_tokens"), system + text), _count(usage.get("output_tokens"), "")
            given = [block["input"] for block in answer["content"] if block.get("type") == "tool_use"]
            if not given or answer.get("stop_reason") not in ("tool_use", "end_turn"):
                raise Passing(f"the answer was cut off (stop_reason {answer.get('stop_reason')})", spent=spent)
        except (KeyError, TypeError, AttributeError) as error:
            raise Passing(f"{self._address} did not answer like Anthropic's messages endpoint") from error
        return Answer(given[0], *spent)


class Command:
    """`claude -p`, `codex exec`, …: the prompt on stdin, the answer on stdout."""

    def __init__(self, line: str, seconds: float = _ANSWER_SECONDS) -> None:
        self._words = shlex.split(line)
        self._seconds = seconds

    def ask(self, system: str, text: str, schema: Schema) -> Answer:
        asked = f'<{TAG} purpose="harvest">\n{system}\n\n{json.dumps(schema)}\n\n{text}'
        # Our own hooks have nothing to add to our own question.
        quiet = {**os.environ, "HARDWON_OFF": "1"}
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own setting
                self._words,
                env=quiet,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise BadConfig(f"llm_command '{self._words[0]}' cannot be run: {error.strerror}") from error
        with process:
            try:
                said, _ = process.communicate(asked, timeout=self._seconds)
            except subprocess.TimeoutExpired as error:
                raise Passing(f"llm_command gave no answer in {self._seconds} s") from error
            finally:
                _end(process)
        if process.returncode:
            raise Passing(f"llm_command exited with code {process.returncode}")
        return _answer(said, schema, (None, None), asked)


def _end(process: subprocess.Popen[str]) -> None:
    """With whatever it has started, which may hold on to its output."""
    if process.poll() is None and hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _posted(address: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    try:
        return post_json(address, body, headers, seconds=_ANSWER_SECONDS, max_bytes=_MAX_ANSWER_BYTES)
    except RequestFailed as error:
        if error.status in _PASSING_STATUSES:
            raise Passing(str(error), _seconds_to_wait(error.retry_after)) from error
        kind = _Refused if error.status in (400, 422) else NoModel
        raise kind(f"{error}: check llm_url, llm_model and {KEY_VARIABLE}") from error
    except ValueError as error:
        raise Passing(f"{address} did not answer with JSON") from error


def _seconds_to_wait(retry_after: str) -> float:
    """A number, or the date until which to wait."""
    with suppress(ValueError):
        return max(0.0, float(retry_after))
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    return 0.0


def _answer(said: str, schema: Schema, spent: tuple[object, object], asked: str) -> Answer:
    """The last JSON of the wanted shape in what was said; a message about a quota or a refusal holds none."""
    tokens = _count(spent[0], asked), _count(spent[1], said)
    for start in [match.start() for match in re.finditer(r"\{", said)][-_MAX_BRACES_TRIED:][::-1]:
        with suppress(ValueError, RecursionError):
            value, _ = json.JSONDecoder().raw_decode(said, start)
            if value.keys() >= set(schema["required"]):
                return Answer(value, *tokens)
    raise Passing("the model's answer has no JSON of the requested shape", spent=tokens)


def _count(given: object, text: str) -> int:
    return given if isinstance(given, int) and given >= 0 else estimate(text)


# What models may cost in a day, and what they have cost today.


class Spend:
    def __init__(self, db: Database, config: Config) -> None:
        self._db = db
        self._config = config
        self._name = f"llm {time.strftime('%Y-%m-%d', time.gmtime())}"

    def price(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self._config.llm_price_in + tokens_out * self._config.llm_price_out) / 1_000_000

    def today(self) -> tuple[int, float]:
        """Tokens and money."""
        tokens, _, cost = meta.note(self._db, self._name).partition(" ")
        return int(tokens or 0), float(cost or 0)

    def allows(self, tokens: int) -> bool:
        spent, cost = self.today()
        within = spent + tokens <= self._config.llm_tokens_per_day
        return within and cost + self.price(tokens, 0) <= self._config.llm_cost_per_day

    def record(self, tokens_in: int, tokens_out: int) -> None:
        tokens, cost = self.today()
        with self._db.transaction():
            meta.set_note(
                self._db,
                self._name,
                f"{tokens + tokens_in + tokens_out} {cost + self.price(tokens_in, tokens_out):.6f}",
            )
