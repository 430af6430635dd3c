"""A transport of the HTTP library between a client and its server: it records, changes and replaces."""

from __future__ import annotations

import ssl
from collections.abc import Callable

from aloft._http import httpx

Change = Callable[[httpx.Request], "httpx.Request | httpx.Response"]

TLS = ssl.create_default_context()
"""Loading certificates takes longer than a test, so clients share them."""


def unchanged(request: httpx.Request) -> httpx.Request:
    """Sends a request as it is."""
    return request


class Intercept(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Passes requests on, or answers them itself."""

    def __init__(self, change: Change = unchanged, lost: int = 0) -> None:
        self.asked: list[httpx.Request] = []
        """The client's requests."""
        self.answered: list[int] = []
        """The server's statuses."""
        self._change = change
        self._lost = lost
        """Number of first responses that do not arrive."""
        self._sync = httpx.HTTPTransport(verify=TLS)
        self._async = httpx.AsyncHTTPTransport(verify=TLS)

    @property
    def methods(self) -> list[str]:
        """Names of the called methods."""
        return [request.url.path.rsplit("/", 1)[-1] for request in self.asked]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        changed = self._change(request)
        if isinstance(changed, httpx.Response):
            return changed
        response = self._sync.handle_request(changed)
        if self._loses(response, request):
            response.read()
            raise httpx.ReadError("reset", request=request)
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        changed = self._change(request)
        if isinstance(changed, httpx.Response):
            return changed
        response = await self._async.handle_async_request(changed)
        if self._loses(response, request):
            await response.aread()
            raise httpx.ReadError("reset", request=request)
        return response

    def close(self) -> None:
        self._sync.close()

    async def aclose(self) -> None:
        await self._async.aclose()

    def _loses(self, response: httpx.Response, request: httpx.Request) -> bool:
        self.answered.append(response.status_code)
        return len(self.answered) <= self._lost


def altered(request: httpx.Request, base_url: str, changes: dict[str, object]) -> httpx.Request:
    """Returns a request with the changes of a scenario."""
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    content = request.content
    body = changes.get("body")
    if isinstance(body, str):
        # Scenarios contain JSON, and this client sends protobuf.
        content = body.encode()
        headers["content-type"] = "application/json"
    given = changes.get("headers")
    headers |= given if isinstance(given, dict) else {}
    path = changes.get("path")
    url = f"{base_url}{path}" if isinstance(path, str) else request.url
    method = changes.get("method", request.method)
    return httpx.Request(str(method), url, headers=headers, content=content, extensions=request.extensions)
