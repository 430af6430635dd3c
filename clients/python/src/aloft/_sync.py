"""Makes calls without async, over a client of the HTTP library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

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


class Caller:
    """Makes the calls of a client."""

    def __init__(self, settings: Settings, http_client: httpx.Client, clock: Clock) -> None:
        self.settings = settings
        self._http = http_client
        self._clock = clock

    def call(self, method: Method[Reply], fields: Mapping[str, object], options: CallOptions | None) -> Reply:
        """Calls an RPC method with these fields of its request."""
        options = options or NO_OPTIONS
        sent = call_of(self.settings, method, fields, options)
        attempts = Attempts(self.settings, traits_of(method), options, self._clock)
        answered = self.tried(attempts, sent, lambda answer: message_of(method, sent, answer))
        return method.response() if answered is None else answered

    def pages(
        self, method: Method[Reply], fields: Mapping[str, object], options: CallOptions | None
    ) -> Iterator[Reply]:
        """Calls a list method for each of its pages."""
        rest: Mapping[str, object] | None = fields
        token = ""
        while rest is not None:
            page = self.call(method, rest, options)
            yield page
            rest, token = next_fields(method, fields, page, token)

    def tried(self, attempts: Attempts, sent: Sent, read: Callable[[Answer], Result]) -> Result | None:
        """Makes attempts until one succeeds, another one would not help, or the time is over.

        Returns None if the call has succeeded and its response was lost.
        """
        if self._http.is_closed:
            raise FailedPreconditionError("the client is closed; create another one", method=sent.method)
        while True:
            attempts.begin()
            try:
                return read(self._exchange(attempts, sent))
            except ServiceError as error:
                pause = attempts.pause_after(error)
            if pause is None:
                return None
            self._clock.sleep(pause)

    def _exchange(self, attempts: Attempts, sent: Sent) -> Answer:
        remaining = attempts.remaining()
        timeout = httpx.Timeout(remaining)
        begun = False
        try:
            request = self._http.build_request(
                sent.verb,
                sent.url,
                headers=sent.with_time(remaining),
                content=sent.content,
                timeout=timeout,
            )
            # A redirect would send the key to its target.
            response = self._http.send(request, stream=True, follow_redirects=False)
            begun = True
            try:
                # The rest of the response has the rest of the time.
                limits: dict[str, Any] = request.extensions.get("timeout", {})
                limits["read"] = attempts.remaining()
                return self._read(attempts, sent, response)
            finally:
                response.close()
        except httpx.TimeoutException as cause:
            if attempts.remaining() is None:
                # The system gave up, and the call has no limit.
                raise failure(cause, begun, sent) from cause
            raise attempts.expired() from attempts.last or cause
        except httpx.LocalProtocolError:
            # Its text may quote a header, such as the key.
            raise invalid("a header of the request cannot be sent") from None
        except (httpx.RequestError, httpx.InvalidURL) as cause:
            raise failure(cause, begun, sent) from cause

    def _read(self, attempts: Attempts, sent: Sent, response: httpx.Response) -> Answer:
        """Reads a response, or the beginning of a foreign one, which may never end."""
        whole = is_whole(sent, response.status_code, response.headers)
        content = bytearray()
        for chunk in response.iter_bytes():
            attempts.check_time()
            content += chunk
            if not whole and len(content) >= REFUSAL_BYTES_MAX:
                break
            if len(content) > ANSWER_BYTES_MAX:
                raise too_large(sent, response.status_code)
        return Answer(response.status_code, response.headers, bytes(content))
