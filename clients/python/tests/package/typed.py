"""A consumer's program for type checkers. Lines with `# wrong` must be rejected."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timezone

from aloft import (
    REGIONS,
    AsyncClient,
    CallOptions,
    Client,
    HttpMonitor,
    ListMonitorsResponse,
    NotFoundError,
    Periodicity,
    Region,
    Retry,
    ServiceError,
    StatusCodeAssertion,
    limits,
    verify_webhook,
)


def create(client: Client, periodicity: Periodicity) -> str:
    monitor = HttpMonitor(
        name="API",
        url="https://example.com/",
        periodicity=periodicity,
        regions=["fly-ams", *REGIONS],
        status_code_assertions=[StatusCodeAssertion(target=200, comparator="eq")],
        active=True,
    )
    created = client.monitor.create_http_monitor(
        monitor=monitor, options=CallOptions(idempotency_key="deploy-42")
    )
    region: Region = created.monitor.regions[0]
    retry: int = created.monitor.retry
    at: datetime = created.monitor.created_at.ToDatetime(timezone.utc)
    return f"{created.monitor.id} {region} {retry} {at}"


def pages(client: Client) -> Iterator[ListMonitorsResponse]:
    return client.monitor.list_monitors_pages(limit=limits.list.limit.max)


async def pages_async(client: AsyncClient) -> AsyncIterator[ListMonitorsResponse]:
    found = await client.monitor.get_monitor(id="mon_1")
    kind = found.monitor.WhichOneof("kind")
    assert kind is None or kind in ("http", "tcp", "dns")
    async for page in client.monitor.list_monitors_pages():
        yield page


def failing(client: Client) -> tuple[str, float | None]:
    try:
        client.incident.list_incidents(from_=datetime.now(timezone.utc), options=CallOptions(timeout=1))
    except NotFoundError as error:
        return error.code, error.retry_after
    except ServiceError as error:
        return str(error.reason), None
    return "", None


def received(headers: dict[str, str], body: bytes) -> str:
    event = verify_webhook(headers, body, "whsec_…")
    if event["type"] == "monitor.error":
        return event["data"]["channel"]
    if event["type"] == "page.report.opened":
        return event["data"]["page"]["title"]
    return event["type"]


def wrong(client: Client) -> None:
    HttpMonitor(periodicity="31s")  # wrong: arg-type
    HttpMonitor(urll="https://example.com/")  # wrong: call-arg
    HttpMonitor(regions=["fly-moon"])  # wrong: list-item
    StatusCodeAssertion(target=200, comparator="like")  # wrong: arg-type
    client.monitor.get_monitor()  # wrong: call-arg
    client.monitor.list_monitors(limit="1")  # wrong: arg-type
    client.monitor.sing_to_monitor()  # wrong: attr-defined
    client.monitor.get_monitor(id="mon_1").monitor.HasField("htpp")  # wrong: arg-type
    Client(retry=True)  # wrong: arg-type
    Client(timeout=Retry())  # wrong: arg-type
    print(limits.http_monitor.name.most)  # wrong: attr-defined
