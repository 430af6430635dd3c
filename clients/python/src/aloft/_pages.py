"""The way from a page of a list to the next one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._method import Method
from .errors import InternalError


def next_fields(
    method: Method[Any], fields: Mapping[str, object], page: Any, token: str
) -> tuple[Mapping[str, object] | None, str]:
    """Returns the fields of the request for the page after this one, or None after the last, and its token.

    `token` is the token that led to this page.
    """
    following: str = page.next_page_token
    if not following:
        return None, ""
    if following == token:
        raise InternalError("the service gave out the same page twice", method=method.path)
    # The token already contains the position of an offset.
    rest = {name: value for name, value in fields.items() if name != "offset"}
    return {**rest, "page_token": following}, following
