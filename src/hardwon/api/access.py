"""Who may use the service: tokens of `memory.store`."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from hardwon import home
from hardwon.api.connection import Part
from hardwon.clock import moment, now
from hardwon.errors import NotAllowed, NotFound
from hardwon.model.nouns import each_name
from hardwon.store import integrity, meta
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.meta import TokenRow

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon


Scope = Literal["read", "write", "review", "admin", "sessions", "push"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

ROLES: dict[str, tuple[Scope, ...]] = {
    "reader": ("read",),
    "contributor": ("read", "write", "push"),
    "reviewer": ("read", "write", "push", "review", "sessions"),
    "admin": SCOPES,
}
"""What people are to a team, as scopes; a token has one for its workspace, or for some of its projects."""

PREFIX = "hardwon"
_LINK_BYTES = 16
"""Of the secret of a link that works once within minutes: so short that the link fits a line of 80 columns."""
_DAY = 24 * 3600 * 1_000_000
_ONCE = "once"
"""Stands before the scopes of a link that lets one browser in; it opens nothing by itself."""
_LINK_MICROSECONDS = 5 * 60 * 1_000_000
_BROWSER_DAYS = 30
_MOST_DAYS = 36_500
_MAX_NAME_CHARACTERS = 80
_MAX_TOKEN_CHARACTERS = 200


class Token(Struct, frozen=True, kw_only=True):
    """A right to use the service; the secret itself is nowhere."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    projects: tuple[str, ...]
    """Ids; none means all."""
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    @property
    def valid(self) -> bool:
        """Whether it opens the service now."""
        return self.revoked_at is None and (self.expires_at is None or moment(now()) < self.expires_at)


class NewToken(Struct, frozen=True, kw_only=True):
    """A token just made."""

    secret: str
    """What its holder must send; it is shown this once."""
    token: Token


class Tokens(Part):
    """Who may use the service."""

    def tokens(self) -> list[Token]:
        """All that were made, never their secrets."""
        return [_given(row) for row in meta.list_tokens(self._memory.reading())] if self._memory.exists else []

    def make_token(
        self,
        name: str,
        scopes: str | Sequence[str] = (),
        *,
        role: str = "",
        projects: str | Sequence[str] = (),
        days: float | None = None,
    ) -> NewToken:
        """A new token for the service, of some projects or all, for some days or until it is revoked.

        A `role` (reader, contributor, reviewer, admin) stands for the scopes it needs. Raises `NotAllowed` for a role,
        scopes, days or a name that cannot be, `NotFound` for an unknown project.
        """
        if role and role not in ROLES:
            raise NotAllowed(f"unknown role '{role}'; known: {', '.join(ROLES)}")
        scopes = [*each_name(scopes), *ROLES.get(role, ())]
        secret, row = self._new_token(name, scopes, each_name(projects), days)
        db = self._memory.writing()
        with db.transaction():
            _keep(db, row)
        return NewToken(secret=secret, token=_given(row))

    def _new_token(
        self, name: str, scopes: Sequence[str], projects: Sequence[str], days: float | None, size: int = 32
    ) -> tuple[str, TokenRow]:
        title = name.strip()
        if not title or len(title) > _MAX_NAME_CHARACTERS or not title.isprintable():
            raise NotAllowed(f"a token needs a name of at most {_MAX_NAME_CHARACTERS} printable characters")
        if unknown := sorted(set(scopes) - set(SCOPES)):
            raise NotAllowed(f"unknown scope {', '.join(unknown)}; known: {', '.join(SCOPES)}")
        if not scopes:
            raise NotAllowed(f"missing scope: pass at least one of {', '.join(SCOPES)}")
        ids = sorted({found for each in projects if (found := self._memory.project(each))})
        if "admin" in scopes and ids:
            raise NotAllowed("a token of some projects cannot have the scope admin, which is about the whole store")
        if days is not None and not 0 <= days <= _MOST_DAYS:
            raise NotAllowed(f"a token cannot be good for {days:g} days: give a number from 0 to {_MOST_DAYS}")
        at = now()
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(size)
        ordered = [scope for scope in SCOPES if scope in scopes]
        expires = None if days is None else at + int(days * _DAY)
        row = TokenRow(id, title, _hash(secret), " ".join(ordered), " ".join(ids), at, expires, None)
        return f"{PREFIX}_{id}_{secret}", row

    def revoke_token(self, id: str) -> Token:
        """It no longer gives access; by id or by name. Raises `NotFound`."""
        found = [token for token in self.tokens() if id in (token.id, token.name) and token.revoked_at is None]
        if len(found) != 1:
            what = "several tokens are called" if found else "no token in force is called"
            raise NotFound(f"{what} '{id}': `hardwon token list` shows their ids")
        db = self._memory.writing()
        at = now()
        with db.transaction():
            meta.revoke_token(db, found[0].id, at)
            integrity.record_events(db, "owner", at, [Happened("revoke", found[0].id, {}, {"name": found[0].name})])
        return next(token for token in self.tokens() if token.id == found[0].id)


def make_first(memory: Hardwon) -> str:
    """A token that may do everything, if there was never one; else nothing."""
    secret, row = Tokens(memory)._new_token("first", SCOPES, (), None)
    db = memory.writing()
    with db.transaction():  # of several processes that start at once, one makes it
        if meta.list_tokens(db):
            return ""
        _keep(db, row)
    return secret


def make_link(memory: Hardwon) -> str:
    """A secret that lets one browser in, once, within five minutes, to do everything."""
    secret, row = Tokens(memory)._new_token("browser", SCOPES, (), None, _LINK_BYTES)
    db = memory.writing()
    with db.transaction():
        meta.drop_tokens(db, f"{_ONCE} ", before=row.created_at)  # links that nobody followed
        meta.add_token(db, row._replace(scopes=f"{_ONCE} {row.scopes}", expires_at=row.created_at + _LINK_MICROSECONDS))
    return secret


def redeem(memory: Hardwon, secret: str) -> str:
    """The token that a link stands for, made of it: the link is gone then. Empty for what is no link, or too old."""
    row = _known(memory, secret)
    if row is None or not row.scopes.startswith(f"{_ONCE} ") or not _given(row).valid:
        return ""
    fresh, at = secrets.token_urlsafe(32), now()
    made = row._replace(
        hash=_hash(fresh), scopes=row.scopes.removeprefix(f"{_ONCE} "), created_at=at,
        expires_at=at + _BROWSER_DAYS * _DAY,
    )  # fmt: skip
    db = memory.writing()
    with db.transaction():  # of two that follow the same link at once, one gets in
        if not meta.replace_token(db, made, row.hash):
            return ""
        _record(db, made)
    return f"{PREFIX}_{row.id}_{fresh}"


def recognise(memory: Hardwon, secret: str) -> Token | None:
    """Whose token this is; nobody's if it is unknown, revoked or too old."""
    row = _known(memory, secret)
    found = _given(row) if row and not row.scopes.startswith(f"{_ONCE} ") else None
    return found if found and found.valid else None


def _known(memory: Hardwon, secret: str) -> TokenRow | None:
    prefix, _, rest = secret[:_MAX_TOKEN_CHARACTERS].partition("_")
    id, _, word = rest.partition("_")
    row = meta.get_token(memory.reading(), id) if prefix in (PREFIX, home.FORMER_NAME) and id.isalnum() else None
    # An unknown id costs as much as a wrong secret.
    same = hmac.compare_digest(_hash(word), row.hash if row else _hash(""))
    return row if row and same else None


def _keep(db: Database, row: TokenRow) -> None:
    meta.add_token(db, row)
    _record(db, row)


def _record(db: Database, row: TokenRow) -> None:
    about = {"name": row.name, "scopes": row.scopes, "projects": row.projects}
    integrity.record_events(db, "owner", row.created_at, [Happened("token", row.id, {}, about)])


def _hash(secret: str) -> str:
    """The secret has 256 random bits: nobody finds it by trying, so that a fast hash will do."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _given(row: TokenRow) -> Token:
    scopes = tuple(scope for scope in SCOPES if scope in row.scopes.split())
    return Token(
        id=row.id,
        name=row.name,
        scopes=scopes,
        projects=tuple(row.projects.split()),
        created_at=moment(row.created_at),
        expires_at=None if row.expires_at is None else moment(row.expires_at),
        revoked_at=None if row.revoked_at is None else moment(row.revoked_at),
    )
