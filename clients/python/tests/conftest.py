"""Fixtures of all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

if os.environ.get("ALOFT_CLIENT_HTTP") == "httpx":
    # The library that the client uses on Python 3.10. It has the same interface.
    import httpx

    sys.modules["httpx2"] = httpx

from support.styles import Style

STYLES = ("sync", "asyncio", "trio")


@pytest.fixture(params=STYLES)
def style(request: pytest.FixtureRequest) -> Style:
    """Each client."""
    return Style(request.param)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Servers of a test, which end with it."""
    with ExitStack() as entered:
        yield entered


@dataclass
class HeldClock:
    """A clock that stands still, and records pauses instead of waiting."""

    chance: float = 0.5
    time: float = 1_000.0
    pauses: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def random(self) -> float:
        return self.chance

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HeldClock:
    """The clock of every client of the test."""
    held = HeldClock()
    monkeypatch.setattr("aloft._client.Clock", lambda: held)
    return held


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's settings must not influence a test."""
    for name in ("SERVICE_API_KEY", "SERVICE_API_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
