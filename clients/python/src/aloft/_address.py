"""The service's addresses: the base of its RPC, and `/v1` beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ._environment import environment
from .errors import invalid

DEFAULT_BASE_URL: Final = "http://127.0.0.1:8080/rpc"
"""Default address: a server on this machine."""


@dataclass(frozen=True)
class Address:
    """Addresses without a trailing slash."""

    rpc: str
    """Base of method paths, such as `https://up.example/rpc`."""
    host: str
    """Base of `/v1`: the same without a trailing `/rpc`."""


def address_of(base_url: str | None) -> Address:
    """Returns the effective address: the given one, the environment's, or that of this machine."""
    if base_url is not None:
        return _parse(base_url, "base_url")
    return _parse(environment("SERVICE_API_URL") or DEFAULT_BASE_URL, "SERVICE_API_URL")


def _parse(given: str, name: str) -> Address:
    url = _split(given)
    if url is None:
        raise invalid(
            f"`{name}` must be an http or https address such as {DEFAULT_BASE_URL} (given: `{given}`)"
        )
    if "@" in url.netloc:
        raise invalid(f"`{name}` must not hold credentials; the API key goes into `api_key`")
    rpc = f"{url.scheme}://{url.netloc}{url.path}".rstrip("/")
    return Address(rpc=rpc, host=rpc.removesuffix("/rpc"))


def _split(given: str) -> SplitResult | None:
    """Returns the parts of an http or https address; None for anything else."""
    if any(char.isspace() or not char.isprintable() for char in given):
        return None
    try:
        url = urlsplit(given)
        # Fails for a port that is not a number up to 65535.
        has_host = bool(url.hostname) and url.port != 0
    except ValueError:
        return None
    return url if url.scheme in ("http", "https") and has_host else None
