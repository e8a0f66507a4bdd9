"""The language model that is asked, what it answers, and what it may cost in a day."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from hardwon.config import Config
from hardwon.durable import write_whole
from hardwon.errors import BadConfig, NoModel
from hardwon.http_json import RequestFailed, api_key, post_json
from hardwon.store import meta
from hardwon.store.database import Database
from hardwon.text.shown import QUESTION, estimate, one_line

# A model that answers: an OpenAI-compatible endpoint, Anthropic's, or a command. Its bad days are never
# content.

KEY_VARIABLE = "HARDWON_LLM_KEY"
"""Read from the environment alone: a key has no place in a file of settings."""
_KEYS_OF_HOSTS = {"api.anthropic.com": "ANTHROPIC_API_KEY", "api.openai.com": "OPENAI_API_KEY"}
"""Where that is not set, what the host's own tools read: sent to that host alone."""
_ANSWER_SECONDS = 300
ROOM = 48_000
"""Characters of sessions in a question: about 14,000 tokens."""
LOCAL_ROOM = 16_000
LOCAL_TOKENS = 16_384
"""What a model on this machine must hold at once: the question, what is known, and the answer."""
_MAX_ANSWER_BYTES = 8_000_000
_MAX_ANSWER_TOKENS = 8_000
_MAX_BRACES_TRIED = 2_000
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
    cost: float | None = None
    """Where the model itself says so."""


class Passing(Exception):
    """It may work the next time; `pause` is how long the model asked to be left alone."""

    def __init__(self, why: str, pause: float = 0.0, spent: tuple[int, int] = (0, 0)) -> None:
        super().__init__(why)
        self.pause = pause
        self.spent = spent
        """Tokens in and out: what is of no use is paid for all the same."""


class _Refused(NoModel):
    """The server does not understand what it was sent."""


class Unanswered(Exception):
    """The question is written down, and nobody has answered it yet."""


class Model(Protocol):
    name: str
    """As people are told whom they ask."""
    room: int
    """Characters of sessions that fit in a question."""
    leaves: bool
    """Whether what is asked leaves this machine."""

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer: ...


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

    def __init__(self, url: str, model: str, room: int = ROOM) -> None:
        self._address = url.rstrip("/") + "/chat/completions"
        self._model = model
        self._is_simple = False
        self.name, self.room, self.leaves = f"{model or 'the model'} at {url}", room, not is_local(url)

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer:  # noqa: ARG002
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
        key = _key(self._address)
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
        self.name, self.room, self.leaves = f"{model} at {url}", ROOM, not is_local(url)

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer:  # noqa: ARG002
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
            {"x-api-key": _key(self._address), "anthropic-version": "2023-06-01"},
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


class Ollama:
    """`POST …/api/chat` on this machine: its OpenAI-compatible address cannot be told how much to read at once."""

    def __init__(self, url: str, model: str) -> None:
        self._address = url.rstrip("/") + "/api/chat"
        self._model = model
        self.name, self.room, self.leaves = f"{model} of Ollama", LOCAL_ROOM, not is_local(url)

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer:  # noqa: ARG002
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        body = {
            "model": self._model,
            "messages": messages,
            "format": schema,
            "stream": False,
            "options": {"num_ctx": LOCAL_TOKENS, "temperature": 0},
        }
        answer = _posted(self._address, body, {})
        try:
            said = str(answer["message"]["content"])
            spent = answer.get("prompt_eval_count"), answer.get("eval_count")
        except (KeyError, TypeError, AttributeError) as error:
            raise Passing(f"{self._address} did not answer like Ollama") from error
        if answer.get("done_reason") == "length":
            raise Passing("the answer was cut off", spent=(_count(spent[0], system + text), _count(spent[1], said)))
        return _answer(said, schema, spent, system + text)


class Command:
    """A program that answers: the question on stdin, the answer on stdout."""

    def __init__(
        self,
        words: Sequence[str],
        name: str = "llm_command",
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        seconds: float = _ANSWER_SECONDS,
    ) -> None:
        self._words = list(words)
        self._seconds = seconds
        self._folder = folder
        self._environment = dict(environment or {})
        self.name, self.room, self.leaves = name, ROOM, True

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer:  # noqa: ARG002
        question = f"{QUESTION}\n{system}\n\n{json.dumps(schema)}\n\n{text}"
        said = self._said(question)
        return _of_agent(said, schema, question) or _answer(said, schema, (None, None), question)

    def _said(self, question: str) -> str:
        if self._folder:
            self._folder.mkdir(parents=True, exist_ok=True)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own setting, or one of the agents that we know
                self._words,
                # Our own hooks have nothing to add to our own question, and nothing to learn from it.
                env={**os.environ, **self._environment, "HARDWON_OFF": "1"},
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise BadConfig(f"{self.name}: '{self._words[0]}' cannot be run: {error.strerror}") from error
        with process:
            try:
                said, told = process.communicate(question, timeout=self._seconds)
            except subprocess.TimeoutExpired as error:
                raise Passing(f"{self.name} gave no answer in {self._seconds:g} s") from error
            finally:
                _end(process)
        if process.returncode:
            why = one_line(next((line for line in reversed((told or said).splitlines()) if line.strip()), ""))[:200]
            raise Passing(f"{self.name} exited with code {process.returncode}" + (f": {why}" if why else ""))
        return said


def _of_agent(said: str, schema: Schema, question: str) -> Answer | None:
    """The answer in the JSON that Claude Code and Gemini CLI wrap it in, with what it cost; None without such."""
    try:
        whole = json.loads(said)
        text = whole.get("result", whole.get("response"))
    except (ValueError, RecursionError, AttributeError):
        return None
    if not isinstance(text, str):
        return None
    usage = whole.get("usage") if isinstance(whole.get("usage"), dict) else {}
    parts = [usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    tokens_in = sum(part for part in parts if isinstance(part, int)) or None
    cost = whole.get("total_cost_usd")
    answer = _answer(text, schema, (tokens_in, usage.get("output_tokens")), question)
    return answer._replace(cost=float(cost) if isinstance(cost, int | float) and cost >= 0 else None)


def _end(process: subprocess.Popen[str]) -> None:
    """With whatever it has started, which may hold on to its output."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)  # noqa: S603, S607
    process.kill()


class Files:
    """Questions as files, for any model that somebody can paste them to; answers are looked for beside them.

    `read-….md` are questions; the answer to one has its name and ends in `.answer.md`, `.txt` or
    `.json`.
    """

    _ENDINGS = (".answer.json", ".answer.md", ".answer.txt", ".json", ".txt")

    def __init__(self, questions: Path | None, answers: Path | None) -> None:
        self._questions = questions or answers or Path()
        self._answers = answers
        self.name, self.room, self.leaves = f"the answers in {answers}" if answers else "nobody", ROOM, False
        self.written: list[str] = []

    def ask(self, system: str, text: str, schema: Schema, *, name: str = "") -> Answer:
        whole = f"{system}\n\n{text}"
        for ending in self._ENDINGS if self._answers else ():
            path = cast(Path, self._answers) / f"{name}{ending}"
            if path.is_file():
                try:
                    return _answer(path.read_text(encoding="utf-8", errors="replace"), schema, (None, None), whole)
                except Passing as error:
                    raise NoModel(f"{path} is no answer: {error}") from error
        self._questions.mkdir(parents=True, exist_ok=True)
        write_whole(self._questions / f"{name}.md", whole + "\n")
        self.written.append(f"{name}.md")
        raise Unanswered


def is_local(url: str) -> bool:
    """Whether what is sent there stays on this machine."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _key(address: str) -> str:
    return api_key(KEY_VARIABLE) or api_key(_KEYS_OF_HOSTS.get(urlsplit(address).hostname or "", KEY_VARIABLE))


def _posted(address: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
    try:
        return post_json(address, body, headers, seconds=_ANSWER_SECONDS, max_bytes=_MAX_ANSWER_BYTES)
    except RequestFailed as error:
        if error.status in _PASSING_STATUSES:
            raise Passing(str(error), _seconds_to_wait(error.retry_after)) from error
        kind = _Refused if error.status in (400, 422) else NoModel
        raise kind(f"{error}: check the address, the model and {KEY_VARIABLE}") from error
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
    with suppress(ValueError, RecursionError, AttributeError):
        whole = json.loads(said)
        if whole.keys() >= set(schema["required"]):
            return Answer(whole, *tokens)
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

    def record(self, tokens_in: int, tokens_out: int, cost: float) -> None:
        tokens, before = self.today()
        with self._db.transaction():
            meta.set_note(self._db, self._name, f"{tokens + tokens_in + tokens_out} {before + cost:.6f}")
