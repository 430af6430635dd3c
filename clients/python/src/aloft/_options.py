"""Options of a client and of a call. Explicit options precede the environment, blank counts as missing, and invalid
options fail when the client is created. `_attempts` uses them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from ._address import Address, address_of
from ._environment import environment
from ._headers import HeaderValues
from .errors import invalid


@dataclass(frozen=True)
class Retry:
    """Retry policy of failed calls.

    Retried failures are rate limits (429), an unreachable service (`unavailable`: no connection, no response, 502 to
    504) and concurrent changes (`aborted`, except `REVISION_MISMATCH`: the same revision stays outdated). Internal
    errors (`internal`) are not, because the fault would recur. Reads, idempotent methods and creates (by their
    idempotency key) are retried in each of these cases. Others are retried only if nothing was done: after 429,
    without a connection, or if the service sends its own Retry-After.

    A delete whose response was lost and whose retry finds nothing has succeeded.

    Pauses are random up to a bound that doubles with each attempt (full jitter). A Retry-After of at most a minute is
    added in full; a longer one ends the call.
    """

    attempts: int = 4
    """Maximum number of attempts, including the first."""
    first_pause: float = 0.2
    """Bound of the pause before the second attempt, in seconds."""
    longest_pause: float = 5.0
    """Bound of every pause, in seconds."""

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if not _is_number(value) or value < (1 if part.name == "attempts" else 0):
                raise invalid(
                    f"`{part.name}` of `Retry` must be a number, attempts from 1 on (given: `{value}`)"
                )


@dataclass(frozen=True)
class CallOptions:
    """Options of one call."""

    timeout: float | None = None
    """Time limit of the call with all its attempts, in seconds; 0 disables it. Defaults to the client's."""
    headers: HeaderValues | None = field(default=None, repr=False)
    """Headers of the request. `x-service-key` replaces the key for this call."""
    idempotency_key: str | None = None
    """Idempotency key of a create: a retry with the same key returns the result of the first call. Defaults to a
    random key per call, shared by its attempts."""
    retry: Retry | Literal[False] | None = None
    """Retry policy; False disables retries. Defaults to the client's."""

    def __post_init__(self) -> None:
        timeout_of(self.timeout)
        retry_of(self.retry)
        if self.headers is not None and not isinstance(self.headers, Mapping):
            # An iterator would be used up after the first call.
            object.__setattr__(self, "headers", tuple(self.headers))


@dataclass(frozen=True)
class Settings:
    """The effective options of a client."""

    api_key: str | None = field(repr=False)
    address: Address
    timeout: float | None
    """None: the method's own."""
    retry: Retry


def settings_of(
    api_key: str | None, base_url: str | None, timeout: float | None, retry: Retry | Literal[False] | None
) -> Settings:
    """Reads the options; raises InvalidArgumentError if one is invalid."""
    key = _given(api_key, "api_key") or environment("SERVICE_API_KEY")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise invalid("invalid character in the API key; copy it again")
    return Settings(
        api_key=key,
        address=address_of(_given(base_url, "base_url")),
        timeout=timeout_of(timeout),
        retry=retry_of(retry) or Retry(),
    )


def timeout_of(timeout: float | None) -> float | None:
    """Returns the given timeout; raises InvalidArgumentError if it is invalid."""
    if timeout is not None and (not _is_number(timeout) or timeout < 0):
        raise invalid(f"`timeout` must be a number of seconds, 0 for no limit (given: `{timeout}`)")
    return timeout


def retry_of(retry: Retry | Literal[False] | None) -> Retry | None:
    """Returns the given retry policy; None without one."""
    if retry is None or isinstance(retry, Retry):
        return retry
    if retry is not False:
        raise invalid(f"`retry` must be a `Retry`, or False for none (given: `{retry}`)")
    return NO_RETRY


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _given(text: object, name: str) -> str | None:
    """Returns a string that is not blank."""
    if text is not None and not isinstance(text, str):
        raise invalid(f"`{name}` must be a string")
    return (text or "").strip() or None


NO_RETRY: Final = Retry(attempts=1)
NO_OPTIONS: Final = CallOptions()
