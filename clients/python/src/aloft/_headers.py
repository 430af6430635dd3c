"""Headers of a request: the caller's override the client's, and those of the protocol override both."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from .errors import invalid

KEY_HEADER: Final = "x-service-key"
"""Carries the key of a call."""
IDEMPOTENCY_HEADER: Final = "idempotency-key"
"""Makes retries of a create idempotent."""

HeaderValues: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Headers by name, or as pairs."""

_NAME: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
# ASCII only: the HTTP libraries encode other characters differently, and fail with an error that quotes them.
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


def headers_of(api_key: str | None, given: HeaderValues | None) -> dict[str, str]:
    """Returns headers in lower case, with the client's key unless the caller gives another one."""
    headers: dict[str, str] = {}
    if api_key is not None:
        headers[KEY_HEADER] = api_key
    if given is not None:
        for name, value in dict(given).items():
            headers[sendable_name(name)] = sendable(name, value)
    return headers


def sendable_name(name: object) -> str:
    """Returns a header's name in lower case."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise invalid(f"the header `{name}` has a name that no header may have")
    return name.lower()


def sendable(name: str, value: object) -> str:
    """Checks a header's value. The value may be a secret, so the error does not quote it."""
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise invalid(f"the header `{name}` has a value that no header may have")
    # Blanks around a value do not belong to it, and some HTTP libraries refuse them.
    return value.strip(" \t")


def random_key() -> str:
    """Creates a random key: 128 bits in hexadecimal."""
    return secrets.token_hex(16)
