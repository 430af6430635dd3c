"""Bad servers: each returns the given responses in order, then repeats the last one, and records its requests."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from google.rpc import error_details_pb2 as rpc  # type: ignore[import-untyped, unused-ignore]

Headers = Mapping[str, str]
NONE: Headers = {}
Behaviour = Callable[["BadServer", socket.socket], None]


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]


def answer(status: int, body: bytes, headers: Headers) -> Behaviour:
    """A whole response."""

    def respond(_: BadServer, connection: socket.socket) -> None:
        connection.sendall(head(status, {"content-length": str(len(body)), **headers}) + body)

    return respond


def head(status: int, headers: Headers) -> bytes:
    """The beginning of a response."""
    lines = [f"HTTP/1.1 {status} it", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join([*lines, "connection: close", "", ""])).encode()


def json_of(status: int, body: Any, headers: Headers = NONE) -> Behaviour:
    """JSON with this status."""
    return answer(status, json.dumps(body).encode(), {"content-type": "application/json", **headers})


def message(body: Message) -> Behaviour:
    """A successful response."""
    return answer(200, body.SerializeToString(), {"content-type": "application/proto"})


def refusal(status: int, code: str, reason: str, headers: Headers = NONE) -> Behaviour:
    """An error of the real server, with its reason."""
    info = rpc.ErrorInfo(reason=reason, domain="aloft").SerializeToString()
    value = base64.b64encode(info).decode().rstrip("=")
    details = [{"type": "google.rpc.ErrorInfo", "value": value}]
    return json_of(status, {"code": code, "message": f"it is {code}", "details": details}, headers)


def page(status: int, headers: Headers = NONE) -> Behaviour:
    """A page of a proxy in front of the server."""
    text = f"<!doctype html><title>{status}</title><h1>The proxy has an opinion</h1>"
    return answer(status, text.encode(), {"content-type": "text/html; charset=utf-8", **headers})


def empty(status: int, kind: str = "application/proto; charset=utf-8") -> Behaviour:
    """A status without a body."""
    return answer(status, b"", {"content-type": kind})


def endless(text: str) -> Behaviour:
    """A page that never ends."""

    def respond(server: BadServer, connection: socket.socket) -> None:
        connection.sendall(head(502, {"content-type": "text/html"}))
        much = text.encode() * 10_000
        while not server.over.is_set():
            connection.sendall(much)

    return respond


def silence(server: BadServer, connection: socket.socket) -> None:
    """No response, forever."""
    server.over.wait()


def stuck(server: BadServer, connection: socket.socket) -> None:
    """The beginning of a response, and then nothing more."""
    connection.sendall(head(200, {"content-type": "application/proto", "content-length": "1000"}) + b"\n")
    server.over.wait()


def truncated(_: BadServer, connection: socket.socket) -> None:
    """The beginning of a response, and then the end of the connection."""
    connection.sendall(head(200, {"content-type": "application/proto", "content-length": "1000"}) + b"\n")


def dribbling(body: Message) -> Behaviour:
    """A response, byte by byte."""

    def respond(_: BadServer, connection: socket.socket) -> None:
        content = body.SerializeToString()
        kind = {"content-type": "application/proto", "content-length": str(len(content))}
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head(200, kind) + content:
            connection.sendall(bytes([byte]))

    return respond


def cut_off(_: BadServer, connection: socket.socket) -> None:
    """A complete response with half a message."""
    connection.sendall(head(200, {"content-type": "application/proto", "content-length": "2"}) + b"\n\x7f")


def reset(_: BadServer, connection: socket.socket) -> None:
    """The end of the connection without a response."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class BadServer:
    """A server with these responses, in a thread."""

    def __init__(self, behaviours: tuple[Behaviour, ...]) -> None:
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self._behaviours = behaviours
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.base_url = f"{self.origin}/rpc"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Ends it."""
        self.over.set()
        # Wakes the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                asked = _read(connection)
                behaviour = self._behaviours[min(len(self.asked), len(self._behaviours) - 1)]
                self.asked.append(asked)
                behaviour(self, connection)
            except OSError:
                # The client ended the connection.
                return


def _read(connection: socket.socket) -> Asked:
    stream = connection.makefile("rb")
    line = stream.readline()
    if not line:
        raise ConnectionError("the client ended the connection")
    method, path, _ = line.decode().split(" ")
    headers: dict[str, str] = {}
    for line in iter(stream.readline, b"\r\n"):
        name, value = line.decode("latin-1").split(":", 1)
        headers[name.strip().lower()] = value.strip()
    stream.read(int(headers.get("content-length", 0)))
    return Asked(method, path, headers)


@contextmanager
def bad_server(*behaviours: Behaviour) -> Iterator[BadServer]:
    """Runs one."""
    server = BadServer(behaviours)
    try:
        yield server
    finally:
        server.close()


def nobody() -> str:
    """Returns an address without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/rpc"
