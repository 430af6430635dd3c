"""Verifies webhooks of the service and returns their events. Signatures are those of Standard Webhooks; see
docs/reference/webhook.md."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from ._refusal import object_of
from .errors import InvalidArgumentError, UnauthenticatedError, WebhookReason, invalid
from .webhook_events import WebhookEvent

_VERSION: Final = 1
"""The format version of `WebhookEvent`."""
_TOLERANCE_SECONDS: Final = 300.0
"""Maximum difference between a request's time and ours, in seconds."""
_SIGNATURES_MAX: Final = 16
"""Maximum number of signatures to check: a workspace has at most five secrets at once."""


def verify_webhook(
    headers: Mapping[str, Any],
    body: bytes | str,
    secret: str | Sequence[str],
    *,
    tolerance: float = _TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """Returns the event of a webhook after verifying its signature and its time.

    Raises UnauthenticatedError with a reason if it is forged or old: respond with 401, which is final. Any other
    ServiceError is not the request's fault, such as an invalid secret, or an event of a newer version
    (`WEBHOOK_BODY`): respond with 500, and it is sent again.

    The same event may arrive more than once, with the same header `webhook-id`.

    Args:
        headers: Headers of the request, by name in any case. A value is a string, bytes or a list of strings.
        body: Its body as received, before any JSON parsing.
        secret: The secret, `whsec_…`; several during a rotation.
        tolerance: Maximum difference between its time and this clock, in seconds.
        now: Current time in seconds since 1970. Defaults to that of this machine.
    """
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    request_id, stamp, signatures = (_header_of(headers, name) for name in names)
    if not request_id or not stamp or not signatures:
        message = (
            "the request lacks `webhook-id`, `webhook-timestamp` or `webhook-signature`: it is no webhook"
        )
        raise _refused("WEBHOOK_HEADERS_MISSING", message)
    _check_time(stamp, tolerance, time.time() if now is None else now)
    content = body.encode() if isinstance(body, str) else body
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise invalid("`body` must be the body as it arrived, bytes or a string: read it before it is parsed")
    secrets = [secret] if isinstance(secret, str) else secret
    keys = [_key_of(it) for it in (secrets or [""])]
    # Some servers decode headers that are not UTF-8 with surrogates.
    signed = f"{request_id}.{stamp}.".encode("utf-8", "surrogateescape") + bytes(content)
    if not _is_signed(signed, signatures, keys):
        message = "no signature is right: another secret, or the body is not as it arrived"
        raise _refused("WEBHOOK_SIGNATURE", message)
    return _event_of(bytes(content))


def _check_time(stamp: str, tolerance: float, now: float) -> None:
    is_number = stamp.isascii() and stamp.isdecimal()
    # A text of thousands of digits is no time, and `float` reads it faster than `int`.
    if not is_number or not abs(now - float(stamp)) <= tolerance:
        message = f"the request is not of the last {tolerance:g} seconds: it may be a repetition"
        raise _refused("WEBHOOK_TIMESTAMP", message)


def _is_signed(signed: bytes, signatures: str, keys: Iterable[bytes]) -> bool:
    given = [_signature_of(text) for text in signatures.split(" ")[:_SIGNATURES_MAX]]
    expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    # Compares in constant time.
    return any(it is not None and hmac.compare_digest(it, right) for it in given for right in expected)


def _signature_of(text: str) -> bytes | None:
    """Returns the bytes of a version 1 signature; None for others."""
    return _unbase64(text[3:]) if text.startswith("v1,") else None


def _key_of(secret: object) -> bytes:
    key = _unbase64(secret.strip().removeprefix("whsec_")) if isinstance(secret, str) else None
    if not key:
        raise invalid("`secret` must be `whsec_` and base64, as it was shown when it was rotated")
    return key


def _unbase64(text: str) -> bytes | None:
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _event_of(content: bytes) -> WebhookEvent:
    event = object_of(content) or {}
    version = event.get("version")
    is_known = version == _VERSION and isinstance(version, int) and not isinstance(version, bool)
    if not is_known or not isinstance(event.get("type"), str) or not isinstance(event.get("data"), dict):
        message = "the body is signed, and is no event of a version that is known here"
        raise InvalidArgumentError(message, reason="WEBHOOK_BODY")
    return cast(WebhookEvent, event)


def _header_of(headers: Mapping[str, Any], name: str) -> str | None:
    found = headers.get(name)
    if found is None:
        found = next((value for key, value in headers.items() if key.lower() == name), None)
    if isinstance(found, bytes):
        return found.decode("latin-1")
    if found is None or isinstance(found, str):
        return found
    return " ".join(found) if isinstance(found, (list, tuple)) else None


def _refused(reason: WebhookReason, message: str) -> UnauthenticatedError:
    return UnauthenticatedError(message, reason=reason)
