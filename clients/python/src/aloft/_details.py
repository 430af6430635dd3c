"""The details of an error: messages of google.rpc in protobuf, of which four are read."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2 as rpc  # type: ignore[import-untyped, unused-ignore]

from .errors import Violation


@dataclass
class ErrorDetails:
    """The content of details."""

    reason: str | None = None
    violations: tuple[Violation, ...] = ()
    request_id: str | None = None
    retry_after: float | None = None


def details_of(details: object) -> ErrorDetails:
    """Returns the content of these details, without unknown or broken ones."""
    found = ErrorDetails()
    for detail in details if isinstance(details, list) else []:
        kind, value = (detail.get("type"), detail.get("value")) if isinstance(detail, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(value, str):
            continue
        read = _READERS.get(kind.rsplit("/", 1)[-1])
        if read is not None:
            try:
                read(found, _bytes_of(value))
            except (DecodeError, binascii.Error, ValueError):
                # An unreadable detail is ignored; the error itself remains.
                continue
    return found


def _bytes_of(text: str) -> bytes:
    """Decodes the bytes of a detail in JSON: base64, with or without padding."""
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)


def _error_info(found: ErrorDetails, value: bytes) -> None:
    found.reason = str(rpc.ErrorInfo.FromString(value).reason) or None


def _request_info(found: ErrorDetails, value: bytes) -> None:
    found.request_id = str(rpc.RequestInfo.FromString(value).request_id) or None


def _bad_request(found: ErrorDetails, value: bytes) -> None:
    message: Any = rpc.BadRequest.FromString(value)
    read = (Violation(field=it.field, description=it.description) for it in message.field_violations)
    found.violations += tuple(read)


def _retry_info(found: ErrorDetails, value: bytes) -> None:
    message: Any = rpc.RetryInfo.FromString(value)
    if not message.HasField("retry_delay"):
        return
    delay = message.retry_delay
    # In whole milliseconds, so that a wait is never too short.
    found.retry_after = max(0.0, delay.seconds + math.ceil(delay.nanos / 1_000_000) / 1_000)


_READERS: Final[Mapping[str, Callable[[ErrorDetails, bytes], None]]] = {
    "google.rpc.ErrorInfo": _error_info,
    "google.rpc.RequestInfo": _request_info,
    "google.rpc.BadRequest": _bad_request,
    "google.rpc.RetryInfo": _retry_info,
}
