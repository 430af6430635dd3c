"""Time and chance of a client. Tests replace them."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio


@dataclass(frozen=True)
class Clock:
    """The functions that a client calls."""

    now: Callable[[], float] = time.monotonic
    """Returns the time of a monotonic clock, in seconds."""
    random: Callable[[], float] = random.random
    """Returns a number from 0 to 1."""
    sleep: Callable[[float], None] = time.sleep
    """Waits some seconds, in a client without async."""
    sleep_async: Callable[[float], Awaitable[None]] = anyio.sleep
    """Waits some seconds, in an async client."""
