"""The target of monitors and the receiver of channels: on loopback, in a thread, until their test ends."""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


class Site:
    """A server that returns a status for every path and 418 for `/status/418`, and never responds at `/silent`."""

    def __init__(self, status: int) -> None:
        self.received: queue.Queue[Received] = queue.Queue()
        self._over = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                site.received.put(Received(self.path, dict(self.headers), self.rfile.read(length)))
                if self.path.startswith("/silent"):
                    site._over.wait()
                    self.close_connection = True
                    return
                asked = re.fullmatch(r"/status/(\d{3})", self.path)
                self.send_response(int(asked[1]) if asked else status)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_POST = do_HEAD = do_PUT = _answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def site(status: int) -> Iterator[Site]:
    """Runs one."""
    running = Site(status)
    try:
        yield running
    finally:
        running.close()
