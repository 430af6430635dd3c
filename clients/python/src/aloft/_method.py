"""The run-time description of a method; the generated modules have them all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from google.protobuf.message import Message

Reply = TypeVar("Reply", bound=Message)


class Repetition(Enum):
    """How a method may be retried."""

    ONCE = "once"
    """It may not be executed twice."""
    READS = "reads"
    """It changes nothing."""
    REPEATABLE = "repeatable"
    """A second execution has no further effect."""
    CREATES = "creates"
    """It creates something, once per idempotency key."""


@dataclass(frozen=True)
class Method(Generic[Reply]):
    """A method of the service."""

    path: str
    """Path below the base address without a leading slash, such as `monitor.v1.MonitorService/GetMonitor`."""
    request: type[Message]
    response: type[Reply]
    repetition: Repetition
    waits: bool = False
    """Whether the call waits for checks."""
    ends: bool = False
    """Whether it deletes something and its response is empty, so `not_found` shows that it is done."""
