"""Reads the error of an unsuccessful response: from the service in Connect's format, from `/v1` in that of RFC 9457, or
from an intermediary in any format."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ._details import ErrorDetails, details_of
from .errors import ERRORS, ErrorCode, ServiceError


@dataclass(frozen=True)
class Answer:
    """A response that was read: completely, or as far as an error needs."""

    status: int
    headers: Mapping[str, str]
    """By name, in any case."""
    content: bytes


_SHOWN_MAX: Final = 160
"""Maximum number of characters of a page that a message quotes."""
_LOOKED_AT_MAX: Final = 8_192
"""Maximum number of characters of a page that are scanned for these, because strangers' pages have any length."""

_MARKUP: Final = re.compile(r"<(style|script)\b[\s\S]*?(?:</\1>|$)|<[a-z!/][^<>]*(?:>|$)", re.IGNORECASE)
"""Invisible parts of a page. An unclosed part extends to the end, so nothing is scanned twice."""

_CODES: Final[Mapping[int, ErrorCode]] = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    408: "deadline_exceeded",
    413: "resource_exhausted",
    429: "resource_exhausted",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}
"""Codes of statuses without an error of the service."""


def refusal(answer: Answer, method: str, url: str) -> ServiceError:
    """Returns the error of this response to a call of `method` at `url`."""
    body = object_of(answer.content)
    if body is not None and isinstance(body.get("code"), str):
        return _of_service(body, answer, method)
    if body is not None and isinstance(body.get("detail"), str):
        return _of_problem(body, answer, method)
    return _of_stranger(answer, method, url)


def object_of(content: bytes) -> dict[str, Any] | None:
    """Parses a JSON object; None for anything else."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Returns the wait of a Retry-After in seconds; None if it is invalid (RFC 9110 §10.2.3)."""
    given = headers.get("retry-after", "").strip()
    if given.isascii() and given.isdecimal():
        return float(given)
    try:
        at = parsedate_to_datetime(given)
        now = datetime.now(timezone.utc) if at.tzinfo else datetime.now(timezone.utc).replace(tzinfo=None)
        return max(0.0, (at - now).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _of_service(body: dict[str, Any], answer: Answer, method: str) -> ServiceError:
    details = details_of(body.get("details"))
    code = body["code"] if body["code"] in ERRORS else _code_of(answer.status)
    message = _text_of(body.get("message")) or f"the service answered {body['code']}"
    return _error(code, message, details, answer, method)


def _of_problem(body: dict[str, Any], answer: Answer, method: str) -> ServiceError:
    details = ErrorDetails(_text_of(body.get("reason")), request_id=_text_of(body.get("requestId")))
    code = _code_of(answer.status)
    if answer.status == 404 and details.reason == "NOT_FOUND":
        code = "not_found"
    elif answer.status == 500:
        code = "internal"
    return _error(code, body["detail"], details, answer, method)


def _of_stranger(answer: Answer, method: str, url: str) -> ServiceError:
    location = answer.headers.get("location")
    if location is not None:
        shown = f"a redirect to {location}"
    else:
        kind = answer.headers.get("content-type", "").split(";")[0] or "nothing that says its type"
        shown = kind + _excerpt(answer.content)
    message = f"{url} answered {answer.status} {shown}, which is not the service; is `base_url` right?"
    # A success without a valid response is not from the service.
    code: ErrorCode = "internal" if 200 <= answer.status < 300 else _code_of(answer.status)
    return _error(code, message, ErrorDetails(), answer, method)


def _error(code: str, message: str, details: ErrorDetails, answer: Answer, method: str) -> ServiceError:
    retry_after = details.retry_after
    return ERRORS[code](
        _with_advice(message, details.reason),
        reason=details.reason,
        violations=details.violations,
        request_id=details.request_id or answer.headers.get("x-request-id"),
        status=answer.status,
        retry_after=_retry_after_of(answer.headers) if retry_after is None else retry_after,
        method=method,
    )


def _with_advice(message: str, reason: str | None) -> str:
    """Explains how to give a key, if one is missing."""
    if reason != "KEY_MISSING":
        return message
    return f"{message}; give the option `api_key`, or set SERVICE_API_KEY"


def _excerpt(content: bytes) -> str:
    """Returns the beginning of a page's visible text."""
    page = content[: _LOOKED_AT_MAX * 4].decode("utf-8", "replace")[:_LOOKED_AT_MAX]
    words = " ".join(_MARKUP.sub(" ", page).split())
    if not words:
        return " that is empty"
    return f" “{words[:_SHOWN_MAX]}…”" if len(words) > _SHOWN_MAX else f" “{words}”"


def _code_of(status: int) -> ErrorCode:
    return _CODES.get(status, "unknown")


def _text_of(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
