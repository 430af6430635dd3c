"""`/v1` of the same host: the identity of a key, and its revocation (specification §4.1, §4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ._attempts import Traits
from ._headers import KEY_HEADER
from ._options import CallOptions, Settings
from ._refusal import Answer
from ._wire import Sent, plain_answer_of, plain_of
from .errors import InternalError, ServiceError, invalid


@dataclass(frozen=True)
class Actor:
    """The caller."""

    type: str
    """`apiKey` for a key."""
    key_id: str
    """ID of the key, `key_…`; not the key itself."""
    scopes: tuple[str, ...]
    """Scopes of the key; `SCOPES` has all."""


@dataclass(frozen=True)
class Identity:
    """The workspace and the scopes of a key."""

    name: str
    """Name of the workspace."""
    slug: str
    """Slug of the workspace."""
    plan: str
    """Plan of the workspace."""
    actor: Actor
    """The caller."""


@dataclass(frozen=True)
class PlainCall:
    """A call of `/v1`."""

    sent: Sent
    traits: Traits

    def read(self, answer: Answer) -> dict[str, Any]:
        """Returns the object of a response; empty for a DELETE."""
        return plain_answer_of(self.sent, answer) or {}


def whoami_call(settings: Settings, options: CallOptions) -> PlainCall:
    """Asks for the identity of the call's key."""
    return _call(plain_of(settings, "GET", "/v1/whoami", options), None)


def revocation_call(settings: Settings, key_id: str, options: CallOptions) -> PlainCall:
    """Revokes a key."""
    if not isinstance(key_id, str) or key_id in ("", ".", ".."):
        raise invalid("`key_id` must be the identifier of a key, `key_…`, as `whoami` returns it")
    sent = plain_of(settings, "DELETE", f"/v1/api-key/{quote(key_id, safe='')}", options)
    key = sent.headers.get(KEY_HEADER)

    def is_done(error: ServiceError) -> bool:
        return error.reason == "KEY_REVOKED" and _is_of(key, key_id)

    return _call(sent, is_done)


def identity_of(body: dict[str, Any] | None, method: str) -> Identity:
    """Returns the identity in a response; raises InternalError if there is none."""
    given = body or {}
    try:
        actor = given["actor"]
        return Identity(
            name=str(given["name"]),
            slug=str(given["slug"]),
            plan=str(given["plan"]),
            actor=Actor(
                type=str(actor["type"]), key_id=str(actor["keyId"]), scopes=tuple(map(str, actor["scopes"]))
            ),
        )
    except (KeyError, TypeError) as cause:
        raise InternalError("the service answered without an identity", status=200, method=method) from cause


def _call(sent: Sent, is_done: Callable[[ServiceError], bool] | None) -> PlainCall:
    return PlainCall(sent, Traits(name=sent.method, is_safe=True, is_done=is_done))


def _is_of(key: str | None, key_id: str) -> bool:
    """Returns whether this key has this ID: its text contains the part after the prefix."""
    carried = key_id.split("_")[1:2]
    return bool(carried) and (key or "").split("_")[1:2] == carried
