"""Errors of the client: a class for each code, and the content of each error."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any

import pytest
from support.given import server
from support.intercept import Intercept
from support.styles import Style

import aloft
from aloft import CallOptions, HttpMonitor, InvalidArgumentError, ServiceError
from aloft._http import httpx
from aloft.errors import ERRORS

STATUS = {
    # The service's HTTP status for each code (Connect's table).
    "canceled": 499,
    "unknown": 500,
    "invalid_argument": 400,
    "deadline_exceeded": 504,
    "not_found": 404,
    "already_exists": 409,
    "permission_denied": 403,
    "resource_exhausted": 429,
    "failed_precondition": 400,
    "aborted": 409,
    "out_of_range": 400,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "data_loss": 500,
    "unauthenticated": 401,
}


def error_of(style: Style, act: Any, **options: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        style.call(act, retry=False, **options)
    return caught.value


@pytest.mark.parametrize("code", STATUS)
def test_each_code_has_a_class(style: Style, code: str) -> None:
    body = {"code": code, "message": f"it is {code}"}
    answers = Intercept(lambda _: httpx.Response(STATUS[code], json=body))
    error = error_of(
        style, lambda client: client.region.list_regions(), transport=answers, api_key="aloft_key"
    )
    assert (error.code, error.status, str(error), error.message) == (
        code,
        STATUS[code],
        *2 * (f"it is {code}",),
    )
    assert type(error) is ERRORS[code] and type(error).__module__ == "aloft.errors"
    assert getattr(aloft, type(error).__name__) is type(error)


def test_classes_and_codes_are_one_to_one() -> None:
    assert set(ERRORS) == set(STATUS)
    assert len(set(ERRORS.values())) == len(STATUS)


def test_errors_of_service_have_every_detail(style: Style) -> None:
    wrong = HttpMonitor(name="", url="nowhere", periodicity="1m", degraded_at=-1)
    options = CallOptions(headers={"x-request-id": "client-tests-1"})
    given = server()
    error = error_of(
        style,
        lambda client: client.monitor.create_http_monitor(monitor=wrong, options=options),
        api_key=given["keys"]["write"],
        base_url=given["baseUrl"],
    )
    assert isinstance(error, InvalidArgumentError)
    assert (error.reason, error.status, error.request_id, error.retry_after, error.method) == (
        "INVALID_ARGUMENT",
        400,
        "client-tests-1",
        None,
        "monitor.v1.MonitorService/CreateHttpMonitor",
    )
    fields = sorted(violation.field for violation in error.violations)
    assert fields == ["monitor.degraded_at", "monitor.name", "monitor.url"]
    assert all(violation.description for violation in error.violations)


def test_no_error_shows_the_key(style: Style) -> None:
    secret = server()["keys"]["unknown"]
    error = error_of(style, lambda client: client.whoami(), api_key=secret, base_url=server()["baseUrl"])
    assert error.code == "unauthenticated"
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    assert secret not in shown


def test_no_setting_shows_the_key() -> None:
    client = aloft.Client("aloft_secret")
    options = CallOptions(headers={"x-service-key": "aloft_secret"})
    assert "aloft_secret" not in repr([client, vars(client), client._caller.settings, options])
    client.close()


@pytest.mark.parametrize(
    ("act", "field", "expected"),
    [
        (lambda client: client.monitor.list_monitors(limit="1"), "limit", "a whole number of 32 bits"),
        (lambda client: client.monitor.list_monitors(limit=2**31), "limit", "a whole number of 32 bits"),
        (lambda client: client.monitor.list_monitors(tags="api"), "tags", "a list of texts"),
        (lambda client: client.monitor.get_monitor(id=1), "id", "a text"),
        (lambda client: client.monitor.get_monitor(id="\ud800"), "id", "a text"),
        (lambda client: client.monitor.create_tcp_monitor(monitor={"urll": "a"}), "monitor", "urll"),
        (lambda client: client.monitor.create_tcp_monitor(monitor=HttpMonitor()), "monitor", "`TcpMonitor`"),
        (
            lambda client: client.monitor.update_tcp_monitor(monitor={}, update_mask=[1]),
            "update_mask",
            "a mask is a list of names",
        ),
    ],
)
def test_invalid_value_is_rejected_before_sending(style: Style, act: Any, field: str, expected: str) -> None:
    transport = Intercept()
    error = error_of(style, act, transport=transport, api_key="aloft_key")
    assert (error.code, error.reason) == ("invalid_argument", "INVALID_ARGUMENT")
    assert [violation.field for violation in error.violations] == [field]
    assert expected in str(error)
    assert transport.asked == []


@pytest.mark.parametrize("key_id", ["", ".", "..", None])
def test_revocation_needs_an_id(style: Style, key_id: Any) -> None:
    transport = Intercept()
    error = error_of(
        style, lambda client: client.revoke_key(key_id), transport=transport, api_key="aloft_key"
    )
    assert error.code == "invalid_argument" and "key_id" in str(error)
    assert transport.asked == []


def test_unknown_argument_is_a_type_error(style: Style) -> None:
    with pytest.raises(TypeError, match="colour"):
        style.call(lambda client: client.monitor.list_monitors(colour="blue"), api_key="aloft_key")
    with pytest.raises(ValueError, match="urll"):
        HttpMonitor(urll="https://a.example")  # type: ignore[call-arg]


def test_closed_client_fails_with_the_way_out() -> None:
    with aloft.Client("aloft_key") as client:
        pass
    with pytest.raises(aloft.FailedPreconditionError, match="closed; create another one"):
        client.region.list_regions()


@pytest.mark.parametrize("copied", [copy.copy, lambda it: pickle.loads(pickle.dumps(it))])
def test_errors_are_copied_with_all_parts(copied: Any) -> None:
    violation = aloft.Violation(field="monitor.name", description="must not be empty")
    error = InvalidArgumentError(
        "it is wrong", reason="A", violations=[violation], status=400, retry_after=1.5
    )
    other = copied(error)
    assert type(other) is InvalidArgumentError and vars(other) == vars(error) and str(other) == "it is wrong"
