"""Key and base address from option, environment, both or neither (spec §5.3, §5.4), and the address of the calls."""

from __future__ import annotations

from typing import Any

import pytest
from support.given import server
from support.intercept import Intercept
from support.styles import Style

from aloft import (
    DEFAULT_BASE_URL,
    AsyncClient,
    CallOptions,
    Client,
    InvalidArgumentError,
    ListRegionsResponse,
    Retry,
    UnauthenticatedError,
)
from aloft._headers import headers_of, sendable
from aloft._http import httpx

IDENTITY = {
    "name": "Acme",
    "slug": "acme",
    "plan": "none",
    "actor": {"type": "apiKey", "keyId": "key_1", "scopes": []},
}


def recording() -> Intercept:
    """A transport that records its requests, and answers with nothing of its own."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "DELETE":
            return httpx.Response(204)
        if request.url.path.endswith("/whoami"):
            return httpx.Response(200, json=IDENTITY)
        content = ListRegionsResponse().SerializeToString()
        return httpx.Response(200, content=content, headers={"content-type": "application/proto"})

    return Intercept(answer)


def asked(style: Style, act: Any, **options: Any) -> httpx.Request:
    transport = recording()
    style.call(act, transport=transport, **{"api_key": "aloft_key", **options})
    return transport.asked[0]


def whoami(client: Any) -> Any:
    return client.whoami()


def regions(client: Any) -> Any:
    return client.region.list_regions()


def test_option_sets_the_key(style: Style) -> None:
    given = server()
    options = {"api_key": given["keys"]["read"], "base_url": given["baseUrl"]}
    assert style.call(whoami, **options).actor.scopes == ("read",)
    assert style.call(lambda client: client.monitor.list_monitors(), **options).total_size >= 0


@pytest.mark.parametrize("given", [None, "", "  "])
def test_key_defaults_to_that_of_environment(
    style: Style, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", f" {server()['keys']['read']} ")
    identity = style.call(whoami, base_url=server()["baseUrl"], api_key=given)
    assert identity.actor.scopes == ("read",)


def test_option_overrides_key_of_environment(style: Style, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", server()["keys"]["read"])
    identity = style.call(whoami, base_url=server()["baseUrl"], api_key=server()["keys"]["write"])
    assert identity.actor.scopes == ("write",)


def test_call_without_key_fails_with_advice(style: Style) -> None:
    for act in (whoami, regions):
        with pytest.raises(UnauthenticatedError, match="SERVICE_API_KEY") as caught:
            style.call(act, base_url=server()["baseUrl"])
        assert (caught.value.reason, caught.value.status) == ("KEY_MISSING", 401)


@pytest.mark.parametrize("form", ["lower", "upper", "pairs"])
def test_headers_may_carry_a_key(style: Style, form: str) -> None:
    key = server()["keys"]["read"]
    headers: Any = {
        "lower": {"x-service-key": key},
        "upper": {"X-Service-Key": key},
        "pairs": [("x-service-key", key)],
    }
    options = CallOptions(headers=headers[form])
    base_url = server()["baseUrl"]
    assert style.call(lambda client: client.whoami(options=options), base_url=base_url).actor.scopes == (
        "read",
    )
    assert style.call(lambda client: client.region.list_regions(options=options), base_url=base_url).regions


def test_key_of_call_overrides_that_of_client(style: Style) -> None:
    given = server()
    options = CallOptions(headers={"x-service-key": given["keys"]["other"]})
    settings = {"api_key": given["keys"]["read"], "base_url": given["baseUrl"]}
    mine = style.call(whoami, **settings)
    other = style.call(lambda client: client.whoami(options=options), **settings)
    assert mine.slug != other.slug


@pytest.mark.parametrize(
    ("act", "method", "url"),
    [
        (regions, "POST", "https://up.example/rpc/region.v1.RegionService/ListRegions"),
        (whoami, "GET", "https://up.example/v1/whoami"),
        (lambda client: client.revoke_key("key_1"), "DELETE", "https://up.example/v1/api-key/key_1"),
        (lambda client: client.revoke_key("../a b"), "DELETE", "https://up.example/v1/api-key/..%2Fa%20b"),
    ],
)
def test_each_request_has_key_and_user_agent(style: Style, act: Any, method: str, url: str) -> None:
    request = asked(style, act, base_url="https://up.example/rpc")
    assert (request.method, str(request.url)) == (method, url)
    assert request.headers["x-service-key"] == "aloft_key"
    assert request.headers["user-agent"].startswith("aloft-python/0.")
    assert "authorization" not in request.headers


def test_user_agent_may_be_replaced(style: Style) -> None:
    options = CallOptions(headers={"User-Agent": "mine", "Content-Type": "text/plain"})
    request = asked(style, lambda client: client.region.list_regions(options=options))
    assert request.headers["user-agent"] == "mine"
    assert request.headers["content-type"] == "application/proto"


def test_address_comes_from_option_environment_default(style: Style, monkeypatch: pytest.MonkeyPatch) -> None:
    def base(**options: Any) -> str:
        return str(asked(style, regions, **options).url).replace("/region.v1.RegionService/ListRegions", "")

    assert base() == DEFAULT_BASE_URL == "http://127.0.0.1:8080/rpc"
    assert base(base_url="https://up.example/rpc/") == "https://up.example/rpc"
    assert base(base_url="https://up.example/rpc?a=b#c") == "https://up.example/rpc"
    assert base(base_url="http://[::1]:81/rpc") == "http://[::1]:81/rpc"
    monkeypatch.setenv("SERVICE_API_URL", "https://staging.example/rpc")
    assert base() == base(base_url="") == "https://staging.example/rpc"
    # spec: §5.4
    assert base(base_url="https://up.example/rpc") == "https://up.example/rpc"


def test_address_of_environment_is_used_for_v1(style: Style, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_URL", server()["baseUrl"])
    monkeypatch.setenv("SERVICE_API_KEY", server()["keys"]["write"])
    assert style.call(whoami).actor.type == "apiKey"
    assert len(style.call(regions).regions) == 28


def test_server_may_be_at_a_path(style: Style) -> None:
    assert (
        str(asked(style, whoami, base_url="https://example.com/up/rpc").url)
        == "https://example.com/up/v1/whoami"
    )
    # Services also respond at the root of the host.
    options = {"api_key": server()["keys"]["read"], "base_url": server()["host"]}
    assert len(style.call(regions, **options).regions) == 28
    assert style.call(whoami, **options).actor.scopes == ("read",)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"base_url": "up.example/rpc"}, "base_url"),
        ({"base_url": "ftp://up.example/rpc"}, "base_url"),
        ({"base_url": "https://ada:secret@up.example/rpc"}, "credentials"),
        ({"base_url": "https://up.example:99999/rpc"}, "base_url"),
        ({"base_url": "https:///rpc"}, "base_url"),
        ({"base_url": "https://up example/rpc"}, "base_url"),
        ({"base_url": 8080}, "base_url"),
        ({"api_key": "two words"}, "API key"),
        ({"api_key": "schlüssel"}, "API key"),
        ({"api_key": b"aloft_key"}, "api_key"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": "5"}, "timeout"),
        ({"retry": 3}, "retry"),
        ({"retry": True}, "retry"),
        ({"http_client": "https://proxy.example"}, "http_client"),
    ],
)
def test_invalid_setting_is_rejected_at_creation(kind: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidArgumentError, match=named) as caught:
        kind(**options)
    assert caught.value.reason == "INVALID_ARGUMENT"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "create",
    [
        lambda: Retry(attempts=0),
        lambda: Retry(first_pause=-1),
        lambda: Retry(longest_pause=float("nan")),
        lambda: CallOptions(timeout=-1),
        lambda: CallOptions(retry=2),  # type: ignore[arg-type]
    ],
)
def test_invalid_option_is_rejected_at_creation(create: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        create()


@pytest.mark.parametrize("headers", [{"a b": "c"}, {"a": "b\r\nc: d"}, {"a": "…"}, {"a": 1}])
def test_invalid_header_is_rejected_before_sending(style: Style, headers: Any) -> None:
    transport = recording()
    options = CallOptions(headers=headers)
    with pytest.raises(InvalidArgumentError, match="header"):
        style.call(lambda client: client.whoami(options=options), transport=transport)
    assert transport.asked == []


def test_environment_with_invalid_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_URL", "up.example")
    with pytest.raises(InvalidArgumentError, match="SERVICE_API_URL"):
        Client()


def test_header_values_are_ascii_without_blanks() -> None:
    # HTTP libraries refuse other values with errors that quote them.
    assert sendable("x-service-key", " aloft_key\t") == "aloft_key"
    for value in ("aloft_secr\u00e9t", "aloft_\u2026", "a\nb"):
        with pytest.raises(InvalidArgumentError) as caught:
            sendable("x-service-key", value)
        assert value not in repr(caught.value)


def test_headers_from_an_iterator_last() -> None:
    options = CallOptions(headers=iter([("x-service-key", "aloft_other")]))
    assert options.headers is not None
    for _ in range(2):
        assert headers_of(None, options.headers) == {"x-service-key": "aloft_other"}
