"""Decides whether and when a failed call is retried. `_attempts` retries it."""

from __future__ import annotations

from typing import Final

from ._http import httpx
from ._options import Retry
from .errors import ServiceError

_RETRY_AFTER_MAX: Final = 60.0
"""Longest Retry-After to wait for, in seconds. The caller should know of a longer one."""

_NEVER_CONNECTED: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""Failures before a request was sent."""


def may_help(error: ServiceError, is_safe: bool) -> bool:
    """Returns whether a retry may help and executes nothing twice. `is_safe`: the call may be executed twice."""
    if error.code == "resource_exhausted":
        # A request that is too large stays too large.
        return error.reason == "RATE_LIMITED" or error.status == 429 or error.retry_after is not None
    if error.code == "unavailable":
        return is_safe or not may_be_done(error)
    if error.code == "aborted":
        # The same revision stays outdated.
        return is_safe and error.reason != "REVISION_MISMATCH"
    return False


def may_be_done(error: ServiceError) -> bool:
    """Returns whether a call with this failure may have been executed, with only its response missing."""
    was_sent = not isinstance(error.__cause__, _NEVER_CONNECTED)
    return error.code == "unavailable" and was_sent and not _was_refused(error)


def pause_of(error: ServiceError, tries: int, retry: Retry, random: float) -> float | None:
    """Returns the pause before the next attempt in seconds; None if it is too long."""
    asked = error.retry_after or 0.0
    if asked > _RETRY_AFTER_MAX:
        return None
    # The bound is reached long before the power is too large for a float.
    bound = min(retry.longest_pause, retry.first_pause * 2.0 ** min(tries - 1, 64))
    return asked + random * bound


def _was_refused(error: ServiceError) -> bool:
    """Returns whether the service itself says that it did nothing, and when to retry."""
    return error.reason is not None and error.retry_after is not None
