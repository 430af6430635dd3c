"""Both clients behind one interface, so that each test runs with each of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio

from aloft import AsyncClient, Client
from aloft._http import httpx

from .intercept import TLS, Intercept

Act = Callable[[Any], Any]


class Style:
    """A client without async, or the async one on asyncio or trio."""

    def __init__(self, name: str) -> None:
        self.name = name

    def call(self, act: Act, *, transport: Intercept | None = None, **options: Any) -> Any:
        """Returns what `act` returns for a client with these options: a response, or a list of pages."""
        if self.name == "sync":
            return self._call(act, transport, options)
        backend = "trio" if self.name == "trio" else "asyncio"
        return anyio.run(self._call_async, act, transport, options, backend=backend)

    def _call(self, act: Act, transport: Intercept | None, options: dict[str, Any]) -> Any:
        with httpx.Client(transport=transport, verify=TLS) as http_client:
            return self._result(act(Client(http_client=http_client, **options)))

    def _result(self, result: Any) -> Any:
        return list(result) if inspect.isgenerator(result) else result

    async def _call_async(self, act: Act, transport: Intercept | None, options: dict[str, Any]) -> Any:
        async with httpx.AsyncClient(transport=transport, verify=TLS) as http_client:
            return await self._result_async(act(AsyncClient(http_client=http_client, **options)))

    async def _result_async(self, result: Any) -> Any:
        if inspect.isasyncgen(result):
            return [page async for page in result]
        return await result if inspect.isawaitable(result) else result
