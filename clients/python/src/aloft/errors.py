"""Errors for callers: one class with a stable code, and a subclass for each code. `_refusal` reads errors from
responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias

ErrorCode: TypeAlias = Literal[
    "canceled",
    "unknown",
    "invalid_argument",
    "deadline_exceeded",
    "not_found",
    "already_exists",
    "permission_denied",
    "resource_exhausted",
    "failed_precondition",
    "aborted",
    "out_of_range",
    "unimplemented",
    "internal",
    "unavailable",
    "data_loss",
    "unauthenticated",
]
"""The code of an error, as in gRPC and Connect."""

WebhookReason: TypeAlias = Literal[
    "WEBHOOK_HEADERS_MISSING", "WEBHOOK_TIMESTAMP", "WEBHOOK_SIGNATURE", "WEBHOOK_BODY"
]
"""The reason why `verify_webhook` rejected a request."""


@dataclass(frozen=True)
class Violation:
    """A field of a request that violates a rule."""

    field: str
    """Path from the request on, such as `monitor.degraded_at`."""
    description: str
    """The given value and the allowed values."""


class ServiceError(Exception):
    """The failure of a call, before or after it was sent. The only exception that calls of this library raise.

    `__cause__` is the exception behind it, if there is one.
    """

    code: ClassVar[ErrorCode] = "unknown"
    """Code of the error, such as `not_found`."""
    message: str
    """Explanation, for people."""
    reason: str | None
    """Stable reason, such as `MONITOR_TYPE_MISMATCH`. None if the service did not respond itself. `ERROR_REASONS` has
    those of this version; a newer service may have others."""
    violations: tuple[Violation, ...]
    """The fields that violate rules; empty for other errors."""
    request_id: str | None
    """ID of the request in the service's log. None without a response of the service."""
    status: int | None
    """HTTP status of the response. None without a response."""
    retry_after: float | None
    """Wait before the next attempt, in seconds. None if unspecified."""
    method: str | None
    """Name of the method, such as `monitor.v1.MonitorService/GetMonitor`."""

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        violations: Sequence[Violation] = (),
        request_id: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        method: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.violations = tuple(violations)
        self.request_id = request_id
        self.status = status
        self.retry_after = retry_after
        self.method = method

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {name: value for name, value in self.__dict__.items() if name != "message"}
        return (_rebuilt, (type(self), self.message, parts))


def _rebuilt(kind: type[ServiceError], message: str, parts: Mapping[str, Any]) -> ServiceError:
    """Restores a pickled error, for example from another process."""
    error = kind(message)
    error.__dict__.update(parts)
    return error


class CanceledError(ServiceError):
    """The call was cancelled on its way."""

    code = "canceled"


class UnknownError(ServiceError):
    """The cause is unknown, such as an unexpected response of a proxy."""

    code = "unknown"


class InvalidArgumentError(ServiceError):
    """The request violates rules; `violations` names the fields. An invalid setting raises it, too."""

    code = "invalid_argument"


class DeadlineExceededError(ServiceError):
    """The call ran out of time; `__cause__` is the failure of its last attempt, if there was one."""

    code = "deadline_exceeded"


class NotFoundError(ServiceError):
    """The workspace has no such thing."""

    code = "not_found"


class AlreadyExistsError(ServiceError):
    """Something else already has a value that must be unique."""

    code = "already_exists"


class PermissionDeniedError(ServiceError):
    """The key lacks the permission, such as a read-only key that changes something."""

    code = "permission_denied"


class ResourceExhaustedError(ServiceError):
    """There were too many calls (`retry_after` is the wait), or the request is too large."""

    code = "resource_exhausted"


class FailedPreconditionError(ServiceError):
    """The state does not allow this call."""

    code = "failed_precondition"


class AbortedError(ServiceError):
    """It was modified concurrently; fetch it and retry."""

    code = "aborted"


class OutOfRangeError(ServiceError):
    """Something is past its end."""

    code = "out_of_range"


class UnimplementedError(ServiceError):
    """The service lacks the method, which also happens at a wrong address."""

    code = "unimplemented"


class InternalError(ServiceError):
    """The service failed, or the response was invalid."""

    code = "internal"


class UnavailableError(ServiceError):
    """The service did not respond, or cannot now; a retry may help."""

    code = "unavailable"


class DataLossError(ServiceError):
    """Data was lost."""

    code = "data_loss"


class UnauthenticatedError(ServiceError):
    """The key is missing, unknown, expired or revoked."""

    code = "unauthenticated"


ERRORS: Final[Mapping[str, type[ServiceError]]] = {
    kind.code: kind
    for kind in (
        CanceledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}
"""The class of each code."""


def invalid(message: str, violations: Sequence[Violation] = ()) -> InvalidArgumentError:
    """Creates an error for an invalid request that was not sent."""
    return InvalidArgumentError(message, reason="INVALID_ARGUMENT", violations=violations)
