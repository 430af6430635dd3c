"""Requests and responses of one attempt, without sending anything: Connect's unary protocol with protobuf, and the
plain requests of `/v1`. Protocol: <https://connectrpc.com/docs/protocol#unary-request>"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from google.protobuf.message import DecodeError

from ._headers import IDEMPOTENCY_HEADER, headers_of, random_key, sendable
from ._http import httpx
from ._method import Method, Repetition, Reply
from ._options import CallOptions, Settings
from ._refusal import Answer, object_of, refusal
from ._request import content_of, request_of
from ._version import __version__
from .errors import InternalError, UnavailableError

ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
"""Maximum number of bytes to read of any response, decompressed."""
REFUSAL_BYTES_MAX: Final = 1024 * 1024
"""Maximum number of bytes to read of a response that is not the service's. Errors of the service are smaller."""

USER_AGENT: Final = (
    f"aloft-python/{__version__} python/{platform.python_version()} {httpx.__name__}/{httpx.__version__}"
)

_PROTOBUF: Final = "application/proto"
_JSON: Final = "application/json"


@dataclass(frozen=True)
class Sent:
    """A request."""

    verb: Literal["DELETE", "GET", "POST"]
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    method: str
    """Name of the method, for errors."""
    accepts: str
    """Type of a successful response."""

    def with_time(self, remaining: float | None) -> dict[str, str]:
        """Returns the headers of an attempt that has this many seconds left."""
        headers = dict(self.headers)
        if remaining is not None and self.accepts == _PROTOBUF:
            # The protocol allows ten digits.
            headers["connect-timeout-ms"] = str(min(math.ceil(remaining * 1_000), 9_999_999_999))
        return headers


def call_of(
    settings: Settings, method: Method[Any], fields: Mapping[str, object], options: CallOptions
) -> Sent:
    """Returns the request of a call."""
    content = content_of(method, request_of(method, fields))
    headers = headers_of(settings.api_key, options.headers)
    if method.repetition is Repetition.CREATES:
        given = options.idempotency_key or headers.get(IDEMPOTENCY_HEADER)
        headers[IDEMPOTENCY_HEADER] = random_key() if given is None else sendable(IDEMPOTENCY_HEADER, given)
    headers.setdefault("user-agent", USER_AGENT)
    headers |= {"content-type": _PROTOBUF, "connect-protocol-version": "1"}
    return Sent(
        verb="POST",
        url=f"{settings.address.rpc}/{method.path}",
        headers=headers,
        content=content,
        method=method.path,
        accepts=_PROTOBUF,
    )


def plain_of(settings: Settings, verb: Literal["DELETE", "GET"], path: str, options: CallOptions) -> Sent:
    """Returns a request of `/v1`."""
    headers = headers_of(settings.api_key, options.headers)
    headers.setdefault("user-agent", USER_AGENT)
    return Sent(
        verb=verb,
        url=settings.address.host + path,
        headers=headers,
        content=None,
        method=f"{verb} {path}",
        accepts=_JSON,
    )


def is_whole(sent: Sent, status: int, headers: Mapping[str, str]) -> bool:
    """Returns whether it may be a successful response of the service: others return 200 too, in any format."""
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    return status == 200 and kind == sent.accepts


def message_of(method: Method[Reply], sent: Sent, answer: Answer) -> Reply:
    """Returns the message of a response; raises its error."""
    if not is_whole(sent, answer.status, answer.headers):
        raise refusal(answer, sent.method, sent.url)
    try:
        return method.response.FromString(answer.content)
    except DecodeError as cause:
        message = f"{sent.url} answered 200 with an unreadable message"
        raise InternalError(
            message,
            request_id=answer.headers.get("x-request-id"),
            status=answer.status,
            method=sent.method,
        ) from cause


def plain_answer_of(sent: Sent, answer: Answer) -> dict[str, Any] | None:
    """Returns the object of a response of `/v1`, or None for a DELETE; raises its error."""
    if answer.status == 204 and sent.verb == "DELETE":
        return None
    body = object_of(answer.content) if is_whole(sent, answer.status, answer.headers) else None
    if body is None:
        raise refusal(answer, sent.method, sent.url)
    return body


def too_large(sent: Sent, status: int) -> InternalError:
    """Returns the error of a response that does not end, or is larger than any of the service."""
    return InternalError(f"the answer of {sent.url} is too large", status=status, method=sent.method)


def failure(cause: Exception, begun: bool, sent: Sent) -> UnavailableError:
    """Returns the error of a missing response. The caller gives it its cause."""
    what = f"the answer of {sent.url} broke off" if begun else f"cannot reach {sent.url}"
    return UnavailableError(f"{what}: {cause or type(cause).__name__}", method=sent.method)
