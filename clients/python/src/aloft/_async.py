"""Makes calls with async, over an async client of the HTTP library, on asyncio or trio."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeVar

import anyio

from ._attempts import Attempts
from ._clock import Clock
from ._http import httpx
from ._method import Method, Reply
from ._options import NO_OPTIONS, CallOptions, Settings
from ._pages import next_fields
from ._plan import traits_of
from ._refusal import Answer
from ._wire import (
    ANSWER_BYTES_MAX,
    REFUSAL_BYTES_MAX,
    Sent,
    call_of,
    failure,
    is_whole,
    message_of,
    too_large,
)
from .errors import FailedPreconditionError, ServiceError, invalid

Result = TypeVar("Result")


class AsyncCaller:
    """Makes the calls of an async client."""

    def __init__(self, settings: Settings, http_client: httpx.AsyncClient, clock: Clock) -> None:
        self.settings = settings
        self._http = http_client
        self._clock = clock

    async def call(
        self, method: Method[Reply], fields: Mapping[str, object], options: CallOptions | None
    ) -> Reply:
        """Calls an RPC method with these fields of its request."""
        options = options or NO_OPTIONS
        sent = call_of(self.settings, method, fields, options)
        attempts = Attempts(self.settings, traits_of(method), options, self._clock)
        answered = await self.tried(attempts, sent, lambda answer: message_of(method, sent, answer))
        return method.response() if answered is None else answered

    async def pages(
        self, method: Method[Reply], fields: Mapping[str, object], options: CallOptions | None
    ) -> AsyncIterator[Reply]:
        """Calls a list method for each of its pages."""
        rest: Mapping[str, object] | None = fields
        token = ""
        while rest is not None:
            page = await self.call(method, rest, options)
            yield page
            rest, token = next_fields(method, fields, page, token)

    async def tried(self, attempts: Attempts, sent: Sent, read: Callable[[Answer], Result]) -> Result | None:
        """Makes attempts until one succeeds, another one would not help, or the time is over.

        Returns None if the call has succeeded and its response was lost.
        """
        if self._http.is_closed:
            raise FailedPreconditionError("the client is closed; create another one", method=sent.method)
        while True:
            attempts.begin()
            try:
                return read(await self._in_time(attempts, sent))
            except ServiceError as error:
                pause = attempts.pause_after(error)
            if pause is None:
                return None
            await self._clock.sleep_async(pause)

    async def _in_time(self, attempts: Attempts, sent: Sent) -> Answer:
        remaining = attempts.remaining()
        with anyio.move_on_after(math.inf if remaining is None else remaining):
            return await self._exchange(sent, remaining)
        raise attempts.expired() from attempts.last

    async def _exchange(self, sent: Sent, remaining: float | None) -> Answer:
        begun = False
        try:
            request = self._http.build_request(
                sent.verb,
                sent.url,
                headers=sent.with_time(remaining),
                content=sent.content,
                # The whole attempt has a time limit, so its parts need none.
                timeout=httpx.Timeout(None),
            )
            # A redirect would send the key to its target.
            response = await self._http.send(request, stream=True, follow_redirects=False)
            begun = True
            try:
                return await self._read(sent, response)
            finally:
                await response.aclose()
        except httpx.LocalProtocolError:
            # Its text may quote a header, such as the key.
            raise invalid("a header of the request cannot be sent") from None
        except (httpx.RequestError, httpx.InvalidURL) as cause:
            raise failure(cause, begun, sent) from cause

    async def _read(self, sent: Sent, response: httpx.Response) -> Answer:
        """Reads a response, or the beginning of a foreign one, which may never end."""
        whole = is_whole(sent, response.status_code, response.headers)
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if not whole and len(content) >= REFUSAL_BYTES_MAX:
                break
            if len(content) > ANSWER_BYTES_MAX:
                raise too_large(sent, response.status_code)
        return Answer(response.status_code, response.headers, bytes(content))
