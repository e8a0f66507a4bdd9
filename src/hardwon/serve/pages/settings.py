"""Settings: who may use the service, and what Hardwon does."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import structs

from hardwon import config
from hardwon.api import Hardwon
from hardwon.api.access import SCOPES, NewToken
from hardwon.api.store import Store
from hardwon.errors import HardwonError, NotAllowed
from hardwon.serve import permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import action, page, then, url
from hardwon.serve.routes import Asked, bad, pool, reading

_CHANGED_HERE = (
    *("budget", "min_confidence", "half_life_days", "sample", "retain_days", "experiment", "fusion_weight"),
    *("search_sessions", "llm_tokens_per_day", "llm_cost_per_day", "llm_price_in", "llm_price_out"),
)
"""No other: what runs a program, opens a folder or sends something elsewhere is set on the machine itself."""
_MAY_HOLD_A_SECRET = ("database", "embedding_url", "llm_url", "llm_command")
_MOST_DAYS = 3_650


@page("/settings", "admin")
def settings(request: Asked, saved: Annotated[str, Parameter(max_length=40)] = "") -> Response[str]:
    permissions.of(request).need_whole_store()
    with reading(request) as memory:
        return _shown(request, memory, saved=saved)


def _shown(
    request: Asked, memory: Hardwon, *, saved: str = "", made: NewToken | None = None, trouble: str = ""
) -> Response[str]:
    loaded = config.load(memory.home)
    values = structs.asdict(loaded.config)
    return frame.shown(
        "settings.html",
        request,
        memory,
        tokens=[one for one in memory.store.tokens() if one.valid],
        mine=permissions.of(request).id,
        scopes=[scope for scope in SCOPES if scope in permissions.of(request).scopes],
        made=made,
        trouble=trouble,
        saved=saved if saved in values else "",
        rows=[
            (name, _told(name, value), config.MEANINGS[name], _kind(name, value, loaded.origins[name]))
            for name, value in values.items()
        ],
        origins={name: origin.rpartition("/")[2] for name, origin in loaded.origins.items()},
        choices=config.CHOICES,
    )


def _told(name: str, value: Any) -> str:
    return "(set)" if name in _MAY_HOLD_A_SECRET and value else str(value)


def _kind(name: str, value: Any, origin: str) -> str:
    """How it is changed; empty where it cannot be changed here."""
    if name not in _CHANGED_HERE or origin.startswith("HARDWON_"):
        return ""
    return "choice" if name in config.CHOICES else "number" if isinstance(value, int | float) else "text"


@action("/settings/config", "admin")
def change(request: Asked) -> Redirect | Response[str]:
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    name, value = sent.get("name", ""), sent.get("value", "").strip()
    if name not in _CHANGED_HERE:
        raise bad("this setting is changed on the machine itself: `hardwon config NAME VALUE`")
    with pool(request).writing() as memory:
        try:
            pool(request).settings_changed(config.save(memory.home, name, value).config)
        except HardwonError as error:
            return _again(_shown(request, memory, trouble=str(error)))
        if name in ("half_life_days", "search_sessions") and memory.exists:
            memory.refresh_standing()
    return then(url("settings", saved=name))


@action("/settings/tokens", "admin")
def make(request: Asked) -> Response[str]:
    """The page with the secret on it, this once."""
    sent, caller = frame.fields(request), permissions.of(request)
    caller.need_whole_store()
    scopes = [value for name, value in sent if name == "scope"]
    for scope in SCOPES:
        if scope in scopes:
            caller.need(scope)  # nobody gives what he has not
    one = dict(sent)
    with pool(request).writing() as memory:
        store = Store(memory, caller.actor)
        try:
            days = _days(one.get("days", ""))
            projects = [one["project"]] if one.get("project") else []
            made = store.make_token(one.get("name", ""), scopes, projects=projects, days=days)
        except NotAllowed as error:
            return _again(_shown(request, memory, trouble=str(error)))
        return _again(_shown(request, memory, made=made))


def _days(text: str) -> float | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or not 1 <= int(text) <= _MOST_DAYS:
        raise NotAllowed(f"a token is valid for 1 to {_MOST_DAYS} days, or until it is revoked")
    return float(text)


def _again(answer: Response[str]) -> Response[str]:
    answer.status_code = 200
    return answer


@action("/settings/revoke", "admin")
def revoke(request: Asked) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        memory.store.revoke_token(sent.get("id", ""))
    return then(url("settings"))


router = Router("/", route_handlers=[settings, change, make, revoke])
