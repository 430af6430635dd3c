"""Plays a scenario (clients/scenarios/README.md) through a client: one call per step, without retries, and compares its
outcome. patterns.py compares values."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import Message

from aloft import CallOptions, Identity, ServiceError
from aloft._http import httpx
from aloft.gen import messages

from .intercept import Intercept, altered
from .patterns import ABSENT, at, differences, filled
from .styles import Style

_PATIENCE: Final = 60.0
"""How long a step with `until` is repeated, in seconds: longer than any action on a busy machine."""


def play(
    style: Style, scenario: Mapping[str, Any], given: Mapping[str, Any], names: Mapping[str, str]
) -> int:
    """Plays all steps in order, and returns their number.

    `given` has address and keys, `names` the values of `${…}`.
    """
    known = dict(names)
    for step in scenario["steps"]:
        try:
            answer = _came(style, step, given, known)
        except AssertionError as error:
            raise AssertionError(f"{scenario['name']}: {step['name']}: {error}") from None
        for name, path in step.get("save", {}).items():
            known[name] = at(answer, path)
    return len(scenario["steps"])


def _came(style: Style, step: Mapping[str, Any], given: Mapping[str, Any], known: Mapping[str, str]) -> Any:
    """Returns the expected response or error of a step; fails with all differences."""
    request = filled(step["request"], known)
    kind = "answer" if "answer" in step else "error"
    pattern = filled(step[kind], known)
    end = time.monotonic() + _PATIENCE
    while True:
        outcome = _outcome(style, step, given, request)
        wrong = _wrong_in(kind, outcome, pattern)
        if not wrong:
            return outcome.get("answer")
        if not step.get("until") or time.monotonic() > end:
            raise AssertionError("\n".join([step["call"], str(request)[:500], *wrong]))


def _outcome(style: Style, step: Mapping[str, Any], given: Mapping[str, Any], request: Any) -> dict[str, Any]:
    key = step.get("key", "write")
    options = CallOptions(idempotency_key=step.get("idempotencyKey"))
    transport = _transport_of(step, given["baseUrl"])
    try:
        answer = style.call(
            lambda client: called(client, step["call"], request, options),
            transport=transport,
            api_key=None if key == "none" else given["keys"][key],
            base_url=given["baseUrl"],
            retry=False,
        )
    except ServiceError as error:
        return {"error": error}
    return {"answer": as_json(answer)}


def _wrong_in(kind: str, outcome: Mapping[str, Any], pattern: Any) -> list[str]:
    error = outcome.get("error")
    if kind == "answer":
        failed = error is not None
        return [f"it failed: {error!r}"] if failed else differences(outcome["answer"], pattern, "answer")
    if error is None:
        return [f"it did not fail: {str(outcome['answer'])[:500]}"]
    wrong = differences(_parts_of(error), pattern, "error")
    return [*wrong, f"message: {error.message}"] if wrong else []


def _parts_of(error: ServiceError) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "code": error.code,
        "reason": error.reason,
        "status": error.status,
        "message": error.message,
        "requestId": error.request_id,
        "retryAfterMs": None if error.retry_after is None else error.retry_after * 1_000,
        "violations": [violation.field for violation in error.violations],
    }
    return {name: ABSENT if value is None else value for name, value in parts.items()}


def called(client: Any, call: str, request: dict[str, Any], options: CallOptions) -> Any:
    """Calls a method such as `status_page.v1.StatusPageService/GetStatusPage` through the client."""
    if call == "GET /v1/whoami":
        return client.whoami(options=options)
    if call == "DELETE /v1/api-key/{id}":
        return client.revoke_key(request["id"], options=options)
    service, method = call.split("/")
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", method).lower()
    message = json_format.ParseDict(request, getattr(messages, f"{method}Request")())
    fields = {
        field.name + ("_" if field.name == "from" else ""): getattr(message, field.name)
        for field, _ in message.ListFields()
    }
    function = getattr(getattr(client, service.split(".")[0]), name)
    for argument, parameter in inspect.signature(function).parameters.items():
        # A scenario may leave out what the client requires.
        if parameter.default is inspect.Parameter.empty and argument not in fields:
            fields[argument] = getattr(message, argument)
    return function(**fields, options=options)


def as_json(answer: Any) -> Any:
    """Returns the JSON of a response."""
    if isinstance(answer, Message):
        return json_format.MessageToDict(answer, always_print_fields_with_no_presence=True)
    if isinstance(answer, Identity):
        actor = {
            "type": answer.actor.type,
            "keyId": answer.actor.key_id,
            "scopes": list(answer.actor.scopes),
        }
        return {"name": answer.name, "slug": answer.slug, "plan": answer.plan, "actor": actor}
    return {} if answer is None else answer


def _transport_of(step: Mapping[str, Any], base_url: str) -> Intercept | None:
    """Returns what alters the requests of a step on the way, or answers instead of the server."""
    if "instead" in step:
        instead = step["instead"]
        return Intercept(lambda _: _response_of(instead))
    if "altered" in step:
        changes = step["altered"]
        return Intercept(lambda request: altered(request, base_url, changes))
    return None


def _response_of(instead: Mapping[str, Any]) -> httpx.Response:
    body = instead["body"]
    if isinstance(body, str):
        return httpx.Response(instead["status"], headers=instead["headers"], content=body.encode())
    return httpx.Response(instead["status"], json=body, headers=instead["headers"])
