"""A program with the installed package. It prints what both clients get."""

import asyncio
import json
import os

from aloft import AsyncClient, Client, InvalidArgumentError, NotFoundError, TcpMonitor, limits


def with_client() -> list[object]:
    with Client() as client:
        monitor = client.monitor.create_tcp_monitor(
            monitor=TcpMonitor(name="Database", uri="db.example.com:5432", periodicity="1h")
        ).monitor
        pages = list(client.monitor.list_monitors_pages(limit=limits.list.limit.max))
        fields: list[str] = []
        try:
            client.monitor.update_tcp_monitor(
                monitor=TcpMonitor(id=monitor.id, retry=99), update_mask=["retry"]
            )
        except InvalidArgumentError as error:
            fields = [violation.field for violation in error.violations]
        client.monitor.delete_monitor(id=monitor.id)
        return [monitor.name, [it.name for page in pages for it in page.tcp_monitors], fields]


async def with_async_client() -> list[object]:
    async with AsyncClient(
        os.environ["SERVICE_API_KEY"], os.environ["SERVICE_API_URL"], timeout=30
    ) as client:
        identity = await client.whoami()
        reason = None
        try:
            await client.monitor.get_monitor(id="mon_0000000000000")
        except NotFoundError as error:
            reason = error.reason
        pages = [page.total_size async for page in client.monitor.list_monitors_pages()]
        return [identity.actor.type, reason, pages]


print(json.dumps([with_client(), asyncio.run(with_async_client())]))
