"""The attempts of a call, without sending anything: its time limit, and its pauses. `_sync` and `_async` send."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ._clock import Clock
from ._options import CallOptions, Settings, retry_of
from ._retry import may_be_done, may_help, pause_of
from .errors import DeadlineExceededError, ServiceError
from .gen.limits import WAITING_CALL_SECONDS

_TIMEOUT: Final = 60.0
"""Default time limit of a call, in seconds."""


@dataclass(frozen=True)
class Traits:
    """The parameters of a call's attempts."""

    name: str
    """Name of the method, for errors."""
    is_safe: bool
    """Whether it may be executed twice."""
    waits: bool = False
    """Whether it waits for checks."""
    is_done: Callable[[ServiceError], bool] | None = None
    """Whether this error shows that an earlier attempt with a lost response has succeeded."""


class Attempts:
    """The attempts of one call."""

    def __init__(self, settings: Settings, traits: Traits, options: CallOptions, clock: Clock) -> None:
        given = settings.timeout if options.timeout is None else options.timeout
        if given is None:
            given = WAITING_CALL_SECONDS if traits.waits else _TIMEOUT
        self._traits = traits
        self._timeout = given if given > 0 else math.inf
        self._retry = retry_of(options.retry) or settings.retry
        self._clock = clock
        self._ends_at = clock.now() + self._timeout
        self._tries = 0
        self._is_unclear = False
        self._last: ServiceError | None = None

    def begin(self) -> None:
        """Begins an attempt. Raises DeadlineExceededError if no time is left."""
        self._tries += 1
        self.check_time()

    def check_time(self) -> None:
        """Raises DeadlineExceededError if no time is left."""
        if self._clock.now() >= self._ends_at:
            raise self.expired() from self._last

    def remaining(self) -> float | None:
        """Returns the remaining time in seconds, which is positive; None without a limit."""
        if self._timeout == math.inf:
            return None
        return max(0.001, min(self._ends_at - self._clock.now(), self._timeout))

    def expired(self) -> DeadlineExceededError:
        """Returns the error of a call that ran out of time. The caller gives it its cause."""
        within = f"the call did not come to its end within {self._timeout:g} s"
        return DeadlineExceededError(f"{within}; `timeout` gives it longer", method=self._traits.name)

    @property
    def last(self) -> ServiceError | None:
        """Failure of the last attempt that was retried."""
        return self._last

    def pause_after(self, error: ServiceError) -> float | None:
        """Returns the pause before the next attempt, or None if the call has succeeded nevertheless.

        Raises the error if there is no other attempt.
        """
        if self._is_unclear and self._traits.is_done is not None and self._traits.is_done(error):
            return None
        if self._tries >= self._retry.attempts or not may_help(error, self._traits.is_safe):
            raise error
        pause = pause_of(error, self._tries, self._retry, self._clock.random())
        left = self.remaining()
        if pause is None or (left is not None and pause >= left):
            raise error
        self._last = error
        self._is_unclear = self._is_unclear or may_be_done(error)
        return pause
