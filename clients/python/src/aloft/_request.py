"""Builds requests from the arguments of a call. What no message can hold is rejected by name, before anything is
sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from ._method import Method
from .errors import InvalidArgumentError, Violation, invalid

_MASK: Final = "google.protobuf.FieldMask"
_KINDS: Final = {
    FieldDescriptor.TYPE_STRING: ("a text", "texts"),
    FieldDescriptor.TYPE_INT32: ("a whole number of 32 bits", "whole numbers of 32 bits"),
    FieldDescriptor.TYPE_BOOL: ("True or False", "True or False"),
}
"""Descriptions of values, as one and as several."""


def request_of(method: Method[Any], fields: Mapping[str, object]) -> Message:
    """Returns the request with these fields, without those that are None. Raises their violations."""
    request = method.request()
    violations: list[Violation] = []
    for name, value in fields.items():
        if value is None:
            continue
        try:
            request.MergeFrom(method.request(**{name: _converted(request, name, value)}))
        except (TypeError, ValueError, AttributeError) as cause:
            violations.append(Violation(field=name, description=_explained(request, name, cause)))
    if violations:
        raise refused(method.path, violations)
    return request


def content_of(method: Method[Any], request: Message) -> bytes:
    """Returns the bytes of a request."""
    try:
        return request.SerializeToString()
    except ValueError as cause:
        raise invalid(f"the request of {method.path} cannot be written: {cause}") from cause


def refused(path: str, violations: list[Violation]) -> InvalidArgumentError:
    """Creates the error of a request with these violations."""
    text = "; ".join(f"`{it.field}` {it.description}" for it in violations)
    return invalid(f"{text} ({path})", violations)


def _converted(request: Message, name: str, value: object) -> object:
    """Returns a mask for names, and every other value as it is."""
    field = request.DESCRIPTOR.fields_by_name[name]
    if field.is_repeated and isinstance(value, (str, bytes)):
        # A text is also a sequence of texts.
        raise TypeError("it must be a list")
    if field.message_type is None or field.message_type.full_name != _MASK or isinstance(value, FieldMask):
        return value
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, Iterable) or not all(isinstance(it, str) for it in names):
        raise TypeError("a mask is a list of names")
    return FieldMask(paths=[it.strip() for it in names if it.strip()])


def _explained(request: Message, name: str, cause: Exception) -> str:
    """Describes what a field holds. The given value may be a secret, so it is not quoted."""
    field = request.DESCRIPTOR.fields_by_name[name]
    if field.message_type is not None:
        # The cause names the field inside of the message.
        kind = f"`{field.message_type.name}`"
        return f"must be a {'list of ' if field.is_repeated else ''}{kind}: {cause}"
    single, several = _KINDS.get(field.type, ("a valid value", "valid values"))
    return f"must be a list of {several}" if field.is_repeated else f"must be {single}"
