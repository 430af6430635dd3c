"""The clients: every service under its package's name, with and without async."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal

from ._async import AsyncCaller
from ._attempts import Attempts
from ._clock import Clock
from ._http import httpx
from ._options import NO_OPTIONS, CallOptions, Retry, settings_of
from ._sync import Caller
from .errors import invalid
from .gen.services import AsyncServices, Services
from .identity import Identity, PlainCall, identity_of, revocation_call, whoami_call


class Client(Services):
    """All services of one address. It may be used by several threads.

    It sends nothing before its first call. Without a key, each call must carry one in its headers. Close it, or use it
    in a `with` statement, to close its connections.

    ```python
    with Client(api_key="…", base_url="https://up.example/rpc") as client:
        page = client.monitor.list_monitors()
    ```
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        retry: Retry | Literal[False] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Creates a client. Raises InvalidArgumentError for an invalid option.

        Args:
            api_key: API key. If omitted or blank, `SERVICE_API_KEY` from the environment.
            base_url: Address of the service, which usually ends in `/rpc`. If omitted or blank, `SERVICE_API_URL` from
                the environment, or `http://127.0.0.1:8080/rpc`.
            timeout: Time limit of a call with all its attempts, in seconds; 0 disables it. Defaults to a minute, and
                for `trigger_monitor`, which waits for its checks, to their maximum of 150 seconds.
            retry: Retry policy; False disables retries.
            http_client: Client of the HTTP library that sends requests, for proxies or certificates of your own. Close
                it yourself.
        """
        settings = settings_of(api_key, base_url, timeout, retry)
        if http_client is not None and not isinstance(http_client, httpx.Client):
            raise invalid(f"`http_client` must be a `{httpx.__name__}.Client`")
        self._owns_http = http_client is None
        self._http = httpx.Client() if http_client is None else http_client
        self._clock = Clock()
        self._caller = Caller(settings, self._http, self._clock)
        super().__init__(self._caller)

    def whoami(self, *, options: CallOptions | None = None) -> Identity:
        """Returns the identity and the scopes of the key."""
        call = whoami_call(self._caller.settings, options or NO_OPTIONS)
        return identity_of(self._plain(call, options), call.sent.method)

    def revoke_key(self, key_id: str, *, options: CallOptions | None = None) -> None:
        """Revokes a key of the workspace by its ID, `key_…`. A read-only key may revoke only itself.

        Revoking a revoked key has no effect; for the call's own key, a retry gets `unauthenticated`.
        """
        self._plain(revocation_call(self._caller.settings, key_id, options or NO_OPTIONS), options)

    def close(self) -> None:
        """Closes its connections. The client cannot be used afterwards."""
        if self._owns_http:
            self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _plain(self, call: PlainCall, options: CallOptions | None) -> dict[str, Any] | None:
        attempts = Attempts(self._caller.settings, call.traits, options or NO_OPTIONS, self._clock)
        return self._caller.tried(attempts, call.sent, call.read)


class AsyncClient(AsyncServices):
    """All services of one address, for asyncio and trio.

    It sends nothing before its first call. Without a key, each call must carry one in its headers. Close it, or use it
    in an `async with` statement, to close its connections. A cancelled task ends its call at once.

    ```python
    async with AsyncClient(api_key="…", base_url="https://up.example/rpc") as client:
        page = await client.monitor.list_monitors()
    ```
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        retry: Retry | Literal[False] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Creates a client. Raises InvalidArgumentError for an invalid option. The arguments are those of `Client`."""
        settings = settings_of(api_key, base_url, timeout, retry)
        if http_client is not None and not isinstance(http_client, httpx.AsyncClient):
            raise invalid(f"`http_client` must be a `{httpx.__name__}.AsyncClient`")
        self._owns_http = http_client is None
        self._http = httpx.AsyncClient() if http_client is None else http_client
        self._clock = Clock()
        self._caller = AsyncCaller(settings, self._http, self._clock)
        super().__init__(self._caller)

    async def whoami(self, *, options: CallOptions | None = None) -> Identity:
        """Returns the identity and the scopes of the key."""
        call = whoami_call(self._caller.settings, options or NO_OPTIONS)
        return identity_of(await self._plain(call, options), call.sent.method)

    async def revoke_key(self, key_id: str, *, options: CallOptions | None = None) -> None:
        """Revokes a key of the workspace by its ID, `key_…`. A read-only key may revoke only itself.

        Revoking a revoked key has no effect; for the call's own key, a retry gets `unauthenticated`.
        """
        await self._plain(revocation_call(self._caller.settings, key_id, options or NO_OPTIONS), options)

    async def aclose(self) -> None:
        """Closes its connections. The client cannot be used afterwards."""
        if self._owns_http:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _plain(self, call: PlainCall, options: CallOptions | None) -> dict[str, Any] | None:
        attempts = Attempts(self._caller.settings, call.traits, options or NO_OPTIONS, self._clock)
        return await self._caller.tried(attempts, call.sent, call.read)
