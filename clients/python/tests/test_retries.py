"""The client's pauses between attempts, and their reasons: full jitter, Retry-After, and the call's time limit. The
clock stands still, so nothing here waits."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import anyio
import pytest
from conftest import HeldClock
from support.bad_server import bad_server, message, page, refusal, reset, silence
from support.styles import Act, Style

from aloft import (
    AsyncClient,
    CallOptions,
    CreateTcpMonitorResponse,
    GetMonitorResponse,
    HttpMonitor,
    Monitor,
    Retry,
    ServiceError,
    TcpMonitor,
    UnavailableError,
)
from aloft._attempts import Attempts, Traits
from aloft._options import CallOptions as Options
from aloft._options import settings_of

FOUND = message(GetMonitorResponse(monitor=Monitor(http=HttpMonitor(id="mon_1"))))


def read(client: Any) -> Any:
    return client.monitor.get_monitor(id="mon_1")


def busy(seconds: str) -> Any:
    return refusal(429, "resource_exhausted", "RATE_LIMITED", {"retry-after": seconds})


def error_of(style: Style, act: Act, **options: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        style.call(act, **{"api_key": "aloft_key", "timeout": 0, **options})
    return caught.value


def test_pauses_are_random_up_to_limited_bound(style: Style, clock: HeldClock) -> None:
    with bad_server(page(502), reset, page(504), page(503), FOUND) as server:
        retry = Retry(attempts=5, first_pause=1, longest_pause=3)
        found = style.call(read, api_key="aloft_key", base_url=server.base_url, timeout=0, retry=retry)
        assert found.monitor.http.id == "mon_1"
        assert (clock.pauses, len(server.asked)) == ([0.5, 1.0, 1.5, 1.5], 5)


def test_repeated_429_waits_for_retry_after(style: Style, clock: HeldClock) -> None:
    with bad_server(busy("7"), busy("1"), page(429, {"retry-after": "30"}), FOUND) as server:
        retry = Retry(attempts=4, first_pause=0.1, longest_pause=0.1)
        style.call(read, api_key="aloft_key", base_url=server.base_url, timeout=0, retry=retry)
        assert clock.pauses == pytest.approx([7.05, 1.05, 30.05])
        assert len(server.asked) == 4


def test_endless_429_fails_with_retry_time(style: Style, clock: HeldClock) -> None:
    with bad_server(busy("7")) as server:
        error = error_of(style, read, base_url=server.base_url, retry=Retry(attempts=3))
        assert (error.code, error.reason, error.status, error.retry_after) == (
            "resource_exhausted",
            "RATE_LIMITED",
            429,
            7.0,
        )
        assert (len(clock.pauses), len(server.asked)) == (2, 3)


def test_pause_beyond_the_limit_fails_immediately(style: Style, clock: HeldClock) -> None:
    with bad_server(busy("7")) as server:
        error = error_of(style, read, base_url=server.base_url, timeout=5)
        assert (error.code, error.retry_after) == ("resource_exhausted", 7.0)
        assert (clock.pauses, len(server.asked)) == ([], 1)


def test_retry_after_of_hours_fails_immediately(style: Style, clock: HeldClock) -> None:
    later = refusal(503, "unavailable", "UNAVAILABLE", {"retry-after": "3600"})
    with bad_server(later) as server:
        error = error_of(style, read, base_url=server.base_url)
        assert (error.code, error.retry_after) == ("unavailable", 3600.0)
        assert (clock.pauses, len(server.asked)) == ([], 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("soon", None), ("", None), ("-1", None), ("1.5", None), ("Fri, 31 Dec 1999 23:59:59 GMT", 0.0)],
)
def test_retry_after_is_read_or_ignored(style: Style, clock: HeldClock, given: str, expected: Any) -> None:
    with bad_server(page(429, {"retry-after": given})) as server:
        assert error_of(style, read, base_url=server.base_url, retry=False).retry_after == expected


def test_retry_after_may_be_a_date(style: Style, clock: HeldClock) -> None:
    at = format_datetime(datetime.now(timezone.utc) + timedelta(days=1), usegmt=True)
    with bad_server(page(429, {"retry-after": at})) as server:
        error = error_of(style, read, base_url=server.base_url)
        assert error.retry_after is not None and 3_600 < error.retry_after <= 86_400


def test_time_limit_has_last_failure_as_cause(style: Style, clock: HeldClock) -> None:
    clock.chance = 0.0
    with bad_server(page(502), silence) as server:
        # The clock passes the limit between the attempts.
        clock.sleep = lambda seconds: setattr(clock, "time", clock.time + 90)  # type: ignore[method-assign]
        error = error_of(style, read, base_url=server.base_url, timeout=90)
        assert error.code == "deadline_exceeded"
        assert isinstance(error.__cause__, UnavailableError) and error.__cause__.status == 502
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("waits", "timeout", "call_timeout", "expected"),
    [
        (False, None, None, 60.0),
        (True, None, None, 150.0),
        (True, 5, None, 5.0),
        (False, 5, 7.5, 7.5),
        (False, 5, 0, None),
        (False, 0, None, None),
    ],
)
def test_time_limit_of_call_precedes_others(
    waits: bool, timeout: float | None, call_timeout: float | None, expected: float | None
) -> None:
    settings = settings_of("aloft_key", None, timeout, None)
    traits = Traits(name="it", is_safe=True, waits=waits)
    attempts = Attempts(settings, traits, Options(timeout=call_timeout), HeldClock())  # type: ignore[arg-type]
    assert attempts.remaining() == expected


def test_server_gets_the_remaining_time(style: Style, clock: HeldClock) -> None:
    with bad_server(page(502), FOUND) as server:
        retry = Retry(first_pause=1)
        style.call(read, api_key="aloft_key", base_url=server.base_url, timeout=10, retry=retry)
        assert [asked.headers["connect-timeout-ms"] for asked in server.asked] == ["10000", "9500"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancelled_task_ends_call_in_a_pause(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(base_url: str) -> None:
        async with anyio.create_task_group() as tasks:

            async def pause(seconds: float) -> None:
                tasks.cancel_scope.cancel()
                await anyio.sleep_forever()

            held = HeldClock()
            monkeypatch.setattr(held, "sleep_async", pause)
            monkeypatch.setattr("aloft._client.Clock", lambda: held)
            async with AsyncClient("aloft_key", base_url) as client:
                await client.monitor.get_monitor(id="mon_1")
                raise AssertionError("it went on")

    with bad_server(page(502)) as server:
        anyio.run(main, server.base_url, backend=backend)
        assert len(server.asked) == 1


def test_attempts_share_one_idempotency_key(style: Style, clock: HeldClock) -> None:
    made = message(CreateTcpMonitorResponse(monitor=TcpMonitor(id="mon_1")))
    monitor = TcpMonitor(name="Database", uri="db.example.com:5432", periodicity="1m")

    def create(key: str | None = None) -> Act:
        options = CallOptions(idempotency_key=key)
        return lambda client: client.monitor.create_tcp_monitor(monitor=monitor, options=options)

    with bad_server(reset, page(502), made, made, made) as server:
        for act in (create(), create(), create("deploy-42")):
            style.call(
                act, api_key="aloft_key", base_url=server.base_url, retry=Retry(attempts=3, first_pause=0)
            )
        keys = [asked.headers["idempotency-key"] for asked in server.asked]
        assert len(set(keys[:3])) == 1 and 16 <= len(keys[0]) <= 256
        assert keys[3] != keys[0] and keys[4] == "deploy-42"


def test_reads_have_no_idempotency_key(style: Style) -> None:
    with bad_server(FOUND) as server:
        style.call(read, api_key="aloft_key", base_url=server.base_url)
        assert "idempotency-key" not in server.asked[0].headers
