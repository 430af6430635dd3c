"""Servers that are down, slow, cut off, or not ours: the client's error for each, and its number of attempts. No call
is unintentionally executed twice."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from support.bad_server import (
    Behaviour,
    bad_server,
    cut_off,
    dribbling,
    empty,
    endless,
    json_of,
    message,
    nobody,
    page,
    refusal,
    reset,
    silence,
    stuck,
    truncated,
)
from support.intercept import Intercept
from support.styles import Act, Style

from aloft import (
    CallOptions,
    GetMonitorResponse,
    HttpMonitor,
    Monitor,
    Retry,
    ServiceError,
    TcpMonitor,
    TriggerMonitorResponse,
)

KEY = "aloft_key"
THRICE = Retry(attempts=3, first_pause=0)
"""Three attempts without a pause between them."""

CALLS: dict[str, Act] = {
    # A read, an idempotent change, a create with its key, and a call that must not be executed twice.
    "read": lambda client: client.monitor.get_monitor(id="mon_1"),
    "change": lambda client: client.monitor.delete_monitor(id="mon_1"),
    "create": lambda client: client.monitor.create_tcp_monitor(
        monitor=TcpMonitor(name="Database", uri="db.example.com:5432", periodicity="1m")
    ),
    "trigger": lambda client: client.monitor.trigger_monitor(id="mon_1"),
}
FOUND = message(GetMonitorResponse(monitor=Monitor(http=HttpMonitor(id="mon_1"))))
GONE = refusal(404, "not_found", "NOT_FOUND")

THRICE_IF_SAFE = {"read": 3, "change": 3, "create": 3, "trigger": 1}
THRICE_ALWAYS = {"read": 3, "change": 3, "create": 3, "trigger": 3}
ONCE = {"read": 1, "change": 1, "create": 1, "trigger": 1}

FAULTS: list[tuple[str, Behaviour, str, dict[str, int]]] = [
    ("resets the connection", reset, "unavailable", THRICE_IF_SAFE),
    ("breaks off in the middle", truncated, "unavailable", THRICE_IF_SAFE),
    ("is a proxy without its server", page(502), "unavailable", THRICE_IF_SAFE),
    ("is a proxy whose server is away", page(503), "unavailable", THRICE_IF_SAFE),
    ("is a proxy whose server is slow", page(504), "unavailable", THRICE_IF_SAFE),
    ("cannot now", refusal(503, "unavailable", "UNAVAILABLE"), "unavailable", THRICE_IF_SAFE),
    ("meets others", refusal(409, "aborted", "CONFLICT"), "aborted", THRICE_IF_SAFE),
    ("names a stale revision", refusal(409, "aborted", "REVISION_MISMATCH"), "aborted", ONCE),
    (
        "has too many callers",
        refusal(429, "resource_exhausted", "RATE_LIMITED"),
        "resource_exhausted",
        THRICE_ALWAYS,
    ),
    ("is a proxy with too many callers", page(429), "resource_exhausted", THRICE_ALWAYS),
    ("answers a page with 200", page(200), "internal", ONCE),
    ("answers half a message", cut_off, "internal", ONCE),
    ("answers JSON", json_of(200, {"monitor": {}}), "internal", ONCE),
    ("answers a message as a page", empty(200, "text/html"), "internal", ONCE),
    ("answers nothing with 204", empty(204), "internal", ONCE),
    ("fails", refusal(500, "internal", "INTERNAL"), "internal", ONCE),
    ("is a proxy that wants a password", page(401), "unauthenticated", ONCE),
    ("is a proxy that lets nobody in", page(403), "permission_denied", ONCE),
    ("is another server", page(404), "unimplemented", ONCE),
    ("is a proxy that takes less", page(413), "resource_exhausted", ONCE),
    ("sends elsewhere", page(302, {"location": "https://elsewhere.example/"}), "unknown", ONCE),
    ("is a teapot", page(418), "unknown", ONCE),
    ("finds nothing", GONE, "not_found", ONCE),
    (
        "takes no such message",
        refusal(413, "resource_exhausted", "PAYLOAD_TOO_LARGE"),
        "resource_exhausted",
        ONCE,
    ),
]


def error_of(style: Style, act: Act, **options: Any) -> ServiceError:
    """Returns the error of a call."""
    with pytest.raises(ServiceError) as caught:
        style.call(act, **{"api_key": KEY, "retry": THRICE, **options})
    return caught.value


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(
    ("behaviour", "code", "tries"), [it[1:] for it in FAULTS], ids=[it[0] for it in FAULTS]
)
def test_fault_is_recognised_and_retried_if_safe(
    style: Style, behaviour: Behaviour, code: str, tries: dict[str, int], kind: str
) -> None:
    with bad_server(behaviour) as server:
        error = error_of(style, CALLS[kind], base_url=server.base_url)
        assert (error.code, len(server.asked)) == (code, tries[kind]), error


@pytest.mark.parametrize("kind", CALLS)
def test_refused_connection_is_retried_for_every_call(style: Style, kind: str) -> None:
    transport = Intercept()
    error = error_of(style, CALLS[kind], base_url=nobody(), transport=transport)
    assert (error.code, error.status, len(transport.asked)) == ("unavailable", None, 3)
    assert "127.0.0.1" in str(error)


@pytest.mark.parametrize("lost", [reset, truncated, page(502)])
def test_retried_delete_that_finds_nothing_succeeds(style: Style, lost: Behaviour) -> None:
    with bad_server(lost, GONE) as server:
        style.call(CALLS["change"], api_key=KEY, base_url=server.base_url, retry=THRICE)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "nothing_done",
    [
        refusal(429, "resource_exhausted", "RATE_LIMITED"),
        refusal(503, "unavailable", "UNAVAILABLE", {"retry-after": "0"}),
    ],
)
def test_delete_refused_before_not_found_fails(style: Style, nothing_done: Behaviour) -> None:
    with bad_server(nothing_done, GONE) as server:
        assert error_of(style, CALLS["change"], base_url=server.base_url).code == "not_found"


def test_lost_responses_with_content_stay_not_found(style: Style, stack: ExitStack) -> None:
    # A retry cannot provide them.
    server = stack.enter_context(bad_server(reset, GONE))
    assert error_of(style, CALLS["read"], base_url=server.base_url).code == "not_found"
    server = stack.enter_context(bad_server(reset, GONE))
    error = error_of(
        style,
        lambda client: client.status_report.delete_status_report_update(id="upd_1"),
        base_url=server.base_url,
    )
    assert error.code == "not_found"


REVOKED = json_of(401, {"detail": "the key was revoked", "reason": "KEY_REVOKED"})


@pytest.mark.parametrize(
    ("key_id", "behaviours", "succeeds"),
    [
        ("key_0000000000001", (reset, REVOKED), True),
        # It was revoked before.
        ("key_0000000000001", (REVOKED,), False),
        # Another key was meant.
        ("key_0000000000002", (reset, REVOKED), False),
    ],
)
def test_lost_response_to_own_revocation_succeeds(
    style: Style, key_id: str, behaviours: tuple[Behaviour, ...], succeeds: bool
) -> None:
    def revoke(client: Any) -> Any:
        return client.revoke_key(key_id)

    options: dict[str, Any] = {"api_key": "aloft_0000000000001_secret", "retry": THRICE}
    with bad_server(*behaviours) as server:
        if succeeds:
            assert style.call(revoke, base_url=server.base_url, **options) is None
        else:
            error = error_of(style, revoke, base_url=server.base_url, **options)
            assert (error.code, error.reason) == ("unauthenticated", "KEY_REVOKED")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<p>", "that is empty"),
        ("<", "“<<<"),
        ("<style", "that is empty"),
        ("words ", "“words words "),
    ],
)
def test_only_beginning_of_foreign_response_is_read(style: Style, text: str, shown: str) -> None:
    with bad_server(endless(text)) as server:
        error = error_of(style, CALLS["read"], base_url=server.base_url, retry=False, timeout=0)
        assert error.code == "unavailable"
        assert shown in str(error)
        assert len(str(error)) < 400


@pytest.mark.parametrize(
    "behaviour", [reset, truncated, page(502), refusal(429, "resource_exhausted", "RATE_LIMITED")]
)
def test_server_that_recovers_causes_no_error(style: Style, behaviour: Behaviour) -> None:
    with bad_server(behaviour, behaviour, FOUND) as server:
        response = style.call(CALLS["read"], api_key=KEY, base_url=server.base_url, retry=THRICE)
        assert (response.monitor.http.id, len(server.asked)) == ("mon_1", 3)


def test_refusal_before_execution_is_retried_always(style: Style) -> None:
    later = refusal(503, "unavailable", "UNAVAILABLE", {"retry-after": "0"})
    with bad_server(later, message(TriggerMonitorResponse())) as server:
        style.call(CALLS["trigger"], api_key=KEY, base_url=server.base_url, retry=THRICE)
        assert len(server.asked) == 2


def test_every_call_is_sent_once_without_retries(style: Style) -> None:
    with bad_server(page(502)) as server:

        def read(retry: Any) -> Act:
            return lambda client: client.monitor.get_monitor(id="mon_1", options=CallOptions(retry=retry))

        error_of(style, CALLS["read"], base_url=server.base_url, retry=False)
        assert len(server.asked) == 1
        error_of(style, read(False), base_url=server.base_url, retry=THRICE)
        assert len(server.asked) == 2
        error_of(style, read(Retry(attempts=2, first_pause=0)), base_url=server.base_url, retry=False)
        assert len(server.asked) == 4


@pytest.mark.parametrize("behaviour", [silence, stuck])
def test_silent_server_fails_at_the_time_limit(style: Style, behaviour: Behaviour) -> None:
    with bad_server(behaviour) as server:
        error = error_of(style, CALLS["read"], base_url=server.base_url, timeout=0.2)
        assert error.code == "deadline_exceeded"
        assert "0.2 s" in str(error)
        # On a busy machine, the time may be over before the request arrives.
        assert len(server.asked) <= 1


def test_slow_response_is_read_to_its_end(style: Style) -> None:
    name = "Shop API " * 20
    monitor = GetMonitorResponse(monitor=Monitor(http=HttpMonitor(id="mon_1", name=name)))
    with bad_server(dribbling(monitor)) as server:
        response = style.call(CALLS["read"], api_key=KEY, base_url=server.base_url)
        assert (response.monitor.http.name, len(server.asked)) == (name, 1)


def test_unknown_reasons_are_kept(style: Style) -> None:
    with bad_server(refusal(400, "invalid_argument", "MOON_IS_FULL")) as server:
        error = error_of(style, CALLS["read"], base_url=server.base_url)
        assert (error.code, error.reason, error.violations) == ("invalid_argument", "MOON_IS_FULL", ())


def test_unknown_code_becomes_that_of_its_status(style: Style) -> None:
    with bad_server(json_of(404, {"code": "lost_in_space", "message": "it is lost"})) as server:
        error = error_of(style, CALLS["read"], base_url=server.base_url)
        assert (error.code, str(error)) == ("unimplemented", "it is lost")


def test_broken_details_are_ignored(style: Style) -> None:
    details = [
        {"type": "google.rpc.ErrorInfo", "value": "!"},
        {"type": "google.rpc.BadRequest", "value": "/w"},
        {"type": "google.rpc.RetryInfo"},
        "text",
        None,
    ]
    body = {"code": "not_found", "message": "it is gone", "details": details}
    with bad_server(json_of(404, body)) as server:
        error = error_of(style, CALLS["read"], base_url=server.base_url)
        assert (error.code, error.reason, error.violations, error.retry_after) == (
            "not_found",
            None,
            (),
            None,
        )


def test_foreign_page_is_an_error_with_a_hint(style: Style, stack: ExitStack) -> None:
    server = stack.enter_context(bad_server(page(200)))
    error = error_of(style, CALLS["read"], base_url=server.origin)
    assert "base_url" in str(error) and "The proxy has an opinion" in str(error)


def test_redirect_is_not_followed(style: Style, stack: ExitStack) -> None:
    elsewhere = stack.enter_context(bad_server(FOUND))
    moved = stack.enter_context(bad_server(page(307, {"location": f"{elsewhere.base_url}/it"})))
    error = error_of(style, CALLS["read"], base_url=moved.base_url)
    assert f"a redirect to {elsewhere.base_url}/it" in str(error)
    assert (len(moved.asked), len(elsewhere.asked)) == (1, 0)


@pytest.mark.parametrize(
    ("behaviour", "code", "tries"),
    [
        (reset, "unavailable", 3),
        (page(502), "unavailable", 3),
        (page(404), "unimplemented", 1),
        (page(429), "resource_exhausted", 3),
        (page(200), "internal", 1),
        (json_of(200, {"name": "Acme"}), "internal", 1),
        (json_of(200, []), "internal", 1),
    ],
)
def test_v1_treats_bad_servers_the_same(style: Style, behaviour: Behaviour, code: str, tries: int) -> None:
    with bad_server(behaviour) as server:
        error = error_of(style, lambda client: client.whoami(), base_url=server.base_url)
        assert (error.code, len(server.asked)) == (code, tries), error
        assert server.asked[0].path == "/v1/whoami"
