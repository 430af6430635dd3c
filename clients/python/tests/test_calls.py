"""Calls of the real server: pages, timeouts, lost responses, masks and keys."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest
from support.given import server
from support.intercept import Intercept
from support.site import site
from support.styles import Style

from aloft import (
    AsyncClient,
    CallOptions,
    Client,
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    ListMonitorsResponse,
    Maintenance,
    NotFoundError,
    PermissionDeniedError,
    Retry,
    TcpMonitor,
    UnauthenticatedError,
)
from aloft._http import httpx


@pytest.fixture
def options() -> dict[str, Any]:
    """A key that may write, and the address."""
    return {"api_key": server()["keys"]["write"], "base_url": server()["baseUrl"]}


@pytest.fixture
def writer(options: dict[str, Any]) -> Iterator[Client]:
    """A client for the preparation of tests."""
    with Client(**options) as client:
        yield client


def paused(name: str) -> TcpMonitor:
    return TcpMonitor(name=name, uri="db.example.com:5432", periodicity="1h")


@pytest.fixture
def made(writer: Client) -> Iterator[list[str]]:
    """Names of five monitors in the order of lists, newest first."""
    names = [f"page {at}" for at in range(5)]
    ids = [writer.monitor.create_tcp_monitor(monitor=paused(name)).monitor.id for name in reversed(names)]
    yield names
    for monitor in ids:
        writer.monitor.delete_monitor(id=monitor)


def test_list_returns_one_page(style: Style, options: dict[str, Any], made: list[str]) -> None:
    transport = Intercept()
    first = style.call(lambda client: client.monitor.list_monitors(limit=2), transport=transport, **options)
    assert [monitor.name for monitor in first.tcp_monitors] == made[:2]
    assert (first.total_size, len(transport.asked)) == (5, 1)


def test_pages_are_all_of_a_list(style: Style, options: dict[str, Any], made: list[str]) -> None:
    transport = Intercept()
    pages = style.call(
        lambda client: client.monitor.list_monitors_pages(limit=2, offset=1), transport=transport, **options
    )
    assert [[monitor.name for monitor in page.tcp_monitors] for page in pages] == [made[1:3], made[3:]]
    assert len(transport.asked) == 2


def test_pages_are_fetched_when_needed(options: dict[str, Any], made: list[str]) -> None:
    transport = Intercept()
    with httpx.Client(transport=transport) as http_client:
        pages = Client(http_client=http_client, **options).monitor.list_monitors_pages(limit=2)
        assert len(transport.asked) == 0
        assert len(next(pages).tcp_monitors) == 2
        assert len(transport.asked) == 1


def test_async_pages_are_fetched_when_needed(options: dict[str, Any], made: list[str]) -> None:
    async def main() -> int:
        transport = Intercept()
        async with httpx.AsyncClient(transport=transport) as http_client:
            async for _ in AsyncClient(http_client=http_client, **options).monitor.list_monitors_pages(
                limit=2
            ):
                break
            return len(transport.asked)

    assert anyio.run(main) == 1


def test_error_ends_the_pages(style: Style, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        style.call(lambda client: client.monitor.list_monitors_pages(limit=0), **options)
    assert [violation.field for violation in caught.value.violations] == ["limit"]


def test_same_page_twice_is_an_error(style: Style) -> None:
    page = ListMonitorsResponse(next_page_token="again").SerializeToString()
    same = Intercept(
        lambda _: httpx.Response(200, content=page, headers={"content-type": "application/proto"})
    )
    with pytest.raises(InternalError, match="the same page twice"):
        style.call(lambda client: client.monitor.list_monitors_pages(), transport=same, api_key="aloft_key")
    assert len(same.asked) == 2


def test_timeout_ends_a_call(style: Style, options: dict[str, Any], writer: Client) -> None:
    with site(200) as target:
        silent: Any = {"name": "Silence", "url": f"{target.url}/silent", "periodicity": "1h", "retry": 0}
        monitor = writer.monitor.create_http_monitor(monitor=silent).monitor.id
        transport = Intercept()
        with pytest.raises(DeadlineExceededError):
            style.call(
                lambda client: client.monitor.trigger_monitor(id=monitor, options=CallOptions(timeout=0.2)),
                transport=transport,
                **options,
            )
        assert transport.methods == ["TriggerMonitor"]
        writer.monitor.delete_monitor(id=monitor)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_cancelled_task_ends_a_call(backend: str, options: dict[str, Any], writer: Client) -> None:
    with site(200) as target:
        silent: Any = {"name": "Silence", "url": f"{target.url}/silent", "periodicity": "1h", "retry": 0}
        monitor = writer.monitor.create_http_monitor(monitor=silent).monitor.id

        async def main() -> None:
            async with AsyncClient(**options) as client, anyio.create_task_group() as tasks:

                async def trigger() -> None:
                    await client.monitor.trigger_monitor(id=monitor)
                    raise AssertionError("it was answered")

                tasks.start_soon(trigger)
                # The check is under way.
                await anyio.to_thread.run_sync(target.received.get)
                tasks.cancel_scope.cancel()
            async with AsyncClient(**options) as client:
                assert (await client.whoami()).actor.type == "apiKey"

        anyio.run(main, backend=backend)
        writer.monitor.delete_monitor(id=monitor)


def test_lost_response_creates_nothing_twice(style: Style, options: dict[str, Any], writer: Client) -> None:
    transport = Intercept(lost=1)
    created = style.call(
        lambda client: client.monitor.create_tcp_monitor(monitor=paused("once")),
        transport=transport,
        retry=Retry(attempts=3, first_pause=0),
        **options,
    )
    assert transport.answered == [200, 200]
    found = writer.monitor.list_monitors(limit=100).tcp_monitors
    assert [monitor.id for monitor in found if monitor.name == "once"] == [created.monitor.id]
    writer.monitor.delete_monitor(id=created.monitor.id)


def test_each_create_has_its_own_key(options: dict[str, Any], writer: Client, style: Style) -> None:
    same = CallOptions(idempotency_key=f"calls-test-{style.name}")

    def create(call_options: CallOptions | None) -> str:
        reply = style.call(
            lambda client: client.monitor.create_tcp_monitor(monitor=paused("same"), options=call_options),
            **options,
        )
        return str(reply.monitor.id)

    ids = [create(None), create(None), create(same), create(same)]
    assert len({*ids}) == 3 and ids[2] == ids[3]
    for monitor in {*ids}:
        writer.monitor.delete_monitor(id=monitor)


@pytest.mark.parametrize("mask", [["name", "retry"], "name,retry", ("name", "retry")])
def test_mask_may_be_a_list_of_names(
    style: Style, options: dict[str, Any], writer: Client, mask: Any
) -> None:
    monitor = writer.monitor.create_tcp_monitor(monitor=paused("before")).monitor
    changed = style.call(
        lambda client: client.monitor.update_tcp_monitor(
            monitor=TcpMonitor(id=monitor.id, name="after", retry=1), update_mask=mask
        ),
        **options,
    ).monitor
    assert (changed.name, changed.retry, changed.periodicity) == ("after", 1, "1h")
    writer.monitor.delete_monitor(id=monitor.id)


def test_times_may_be_those_of_datetime(style: Style, options: dict[str, Any], writer: Client) -> None:
    monitor = writer.monitor.create_tcp_monitor(monitor=paused("upgraded")).monitor.id
    begin = datetime(2031, 5, 6, 7, tzinfo=timezone.utc)
    planned = Maintenance(title="Upgrade", starts_at=begin, duration="1h", monitor_ids=[monitor])
    created = style.call(lambda client: client.maintenance.create_maintenance(maintenance=planned), **options)
    window = created.maintenance.next_window
    assert window.starts_at.ToDatetime(timezone.utc) == begin
    assert window.ends_at.ToDatetime(timezone.utc) == begin + timedelta(hours=1)
    assert not style.call(lambda client: client.incident.list_incidents(from_=begin), **options).incidents
    writer.maintenance.delete_maintenance(id=created.maintenance.id)
    writer.monitor.delete_monitor(id=monitor)


def test_client_serves_several_threads(writer: Client, made: list[str]) -> None:
    sizes: list[int] = []
    threads = [
        threading.Thread(target=lambda: sizes.append(writer.monitor.list_monitors().total_size))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [5] * 8


def test_async_client_serves_several_tasks(options: dict[str, Any], made: list[str]) -> None:
    async def main() -> list[int]:
        sizes: list[int] = []
        async with AsyncClient(**options) as client, anyio.create_task_group() as tasks:

            async def count() -> None:
                sizes.append((await client.monitor.list_monitors()).total_size)

            for _ in range(8):
                tasks.start_soon(count)
        return sizes

    assert anyio.run(main) == [5] * 8


def test_read_key_revokes_itself_and_nothing_else(options: dict[str, Any], writer: Client) -> None:
    # spec: §4.2, §5.7
    with Client(server()["keys"]["spare"], server()["baseUrl"]) as reader:
        mine, other = reader.whoami().actor, writer.whoami().actor
        with pytest.raises(PermissionDeniedError) as denied:
            reader.revoke_key(other.key_id)
        assert (denied.value.reason, denied.value.status) == ("KEY_READ_ONLY", 403)
        reader.revoke_key(mine.key_id)
        with pytest.raises(UnauthenticatedError) as revoked:
            reader.whoami()
        assert (revoked.value.reason, revoked.value.status) == ("KEY_REVOKED", 401)
    with pytest.raises(NotFoundError):
        writer.revoke_key("../monitors")
