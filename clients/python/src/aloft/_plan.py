"""What the attempts of each kind of call need to know."""

from __future__ import annotations

from typing import Any

from ._attempts import Traits
from ._method import Method, Repetition
from .errors import NotFoundError, ServiceError


def traits_of(method: Method[Any]) -> Traits:
    """Returns how an RPC method may be repeated."""
    return Traits(
        name=method.path,
        is_safe=method.repetition is not Repetition.ONCE,
        waits=method.waits,
        is_done=_is_not_found if method.ends else None,
    )


def _is_not_found(error: ServiceError) -> bool:
    return isinstance(error, NotFoundError)
