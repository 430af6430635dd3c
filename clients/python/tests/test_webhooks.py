"""Webhooks through `verify_webhook`: the published example, forgeries, channels and pages of the real server, and the
types against docs/reference."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from support.given import PACKAGE, REFERENCE, server
from support.site import Received, Site, site

from aloft import (
    CHANNEL_EVENT_TYPES,
    PAGE_EVENT_TYPES,
    Client,
    HttpMonitor,
    InvalidArgumentError,
    Notification,
    ServiceError,
    StatusPage,
    StatusReport,
    StatusReportUpdate,
    Subscriber,
    UnauthenticatedError,
    Webhook,
    verify_webhook,
    webhook_events,
)
from aloft._http import httpx

# The example of the Standard Webhooks reference libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
SENT_AT = 1_614_265_330
BODY = '{"test": 2432232314}'
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
HEADERS = {"webhook-id": ID, "webhook-timestamp": str(SENT_AT), "webhook-signature": SIGNED}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def refusal(changes: dict[str, Any], headers: dict[str, Any] | None = None) -> str | None:
    """Returns the reason of a rejected webhook."""
    webhook = {"body": BODY, "secret": SECRET, "now": float(SENT_AT), **changes}
    try:
        verify_webhook({**HEADERS, **(headers or {})}, **webhook)
    except ServiceError as error:
        return error.reason
    return "accepted"


def test_published_example_is_valid() -> None:
    # Its body is signed, and no event.
    assert refusal({}) == "WEBHOOK_BODY"
    assert refusal({"body": BODY.encode()}) == "WEBHOOK_BODY"


WRONG = f"v1,{encoded(b'x' * 32)}"
OTHER = f"whsec_{encoded(b'another')}"


@pytest.mark.parametrize(
    "signatures", [f"{WRONG} {SIGNED}", f"v1a,else {SIGNED} {WRONG}", f"v1,%% {SIGNED}", f"v1,ü {SIGNED}"]
)
def test_one_valid_signature_is_enough(signatures: str) -> None:
    assert refusal({}, {"webhook-signature": signatures}) == "WEBHOOK_BODY"


@pytest.mark.parametrize(
    "secret", [[OTHER, SECRET], (SECRET,), SECRET.removeprefix("whsec_"), f" {SECRET}\n"]
)
def test_one_valid_secret_is_enough(secret: Any) -> None:
    assert refusal({"secret": secret}) == "WEBHOOK_BODY"


@pytest.mark.parametrize(
    ("changes", "headers", "reason"),
    [
        ({"body": BODY.replace("4}", "5}")}, {}, "WEBHOOK_SIGNATURE"),
        ({}, {"webhook-id": "msg_other"}, "WEBHOOK_SIGNATURE"),
        ({}, {"webhook-id": ""}, "WEBHOOK_HEADERS_MISSING"),
        ({}, {"webhook-signature": ""}, "WEBHOOK_HEADERS_MISSING"),
        ({}, {"webhook-signature": None}, "WEBHOOK_HEADERS_MISSING"),
        ({}, {"webhook-signature": " ".join([WRONG] * 16 + [SIGNED])}, "WEBHOOK_SIGNATURE"),
        ({}, {"webhook-signature": SIGNED.replace("v1", "v2")}, "WEBHOOK_SIGNATURE"),
        ({}, {"webhook-timestamp": str(SENT_AT - 1)}, "WEBHOOK_SIGNATURE"),
        ({}, {"webhook-timestamp": "soon"}, "WEBHOOK_TIMESTAMP"),
        ({}, {"webhook-timestamp": "-1"}, "WEBHOOK_TIMESTAMP"),
        ({}, {"webhook-timestamp": "9" * 10_000}, "WEBHOOK_TIMESTAMP"),
        ({"secret": OTHER}, {}, "WEBHOOK_SIGNATURE"),
        ({"secret": "whsec_"}, {}, "INVALID_ARGUMENT"),
        ({"secret": "whsec_?"}, {}, "INVALID_ARGUMENT"),
        ({"secret": []}, {}, "INVALID_ARGUMENT"),
        ({"secret": None}, {}, "INVALID_ARGUMENT"),
        ({"body": {"test": 1}}, {}, "INVALID_ARGUMENT"),
        ({"now": SENT_AT + 300}, {}, "WEBHOOK_BODY"),
        ({"now": SENT_AT + 301}, {}, "WEBHOOK_TIMESTAMP"),
        ({"now": SENT_AT - 301}, {}, "WEBHOOK_TIMESTAMP"),
        ({"now": None}, {}, "WEBHOOK_TIMESTAMP"),
        ({"now": SENT_AT + 400, "tolerance": 400}, {}, "WEBHOOK_BODY"),
    ],
)
def test_any_change_is_rejected_with_a_reason(changes: Any, headers: Any, reason: str) -> None:
    assert refusal(changes, headers) == reason


@pytest.mark.parametrize(
    "headers",
    [
        {name.title(): value for name, value in HEADERS.items()},
        {name: value.encode() for name, value in HEADERS.items()},
        {name: [value] for name, value in HEADERS.items()},
    ],
)
def test_headers_have_any_form(headers: Any) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        verify_webhook(headers, BODY, SECRET, now=SENT_AT)
    assert caught.value.reason == "WEBHOOK_BODY"


def signed_headers(body: str, stamp: int) -> dict[str, str]:
    """Returns the headers of a body that is signed with the secret."""
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    mac = hmac.new(key, f"{ID}.{stamp}.{body}".encode(), hashlib.sha256).digest()
    return {"webhook-id": ID, "webhook-timestamp": str(stamp), "webhook-signature": f"v1,{encoded(mac)}"}


EVENT: dict[str, Any] = {
    "version": 1,
    "type": "channel.test",
    "data": {"channel": "chn_1", "link": None, "events": []},
}


def test_event_is_returned_with_further_fields() -> None:
    body = json.dumps({**EVENT, "more": True})
    stamp = int(time.time())
    assert verify_webhook(signed_headers(body, stamp), body, SECRET) == {**EVENT, "more": True}


@pytest.mark.parametrize(
    "event",
    [
        {**EVENT, "version": 2},
        {**EVENT, "version": "1"},
        {**EVENT, "version": True},
        {**EVENT, "version": 1.0},
        {**EVENT, "type": None},
        {**EVENT, "data": []},
        {**EVENT, "data": None},
        {"type": "channel.test", "data": {}},
        [EVENT],
        "text",
    ],
)
def test_signed_body_of_another_version_is_rejected(event: Any) -> None:
    body = json.dumps(event)
    assert refusal({"body": body}, signed_headers(body, SENT_AT)) == "WEBHOOK_BODY"


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(server()["keys"]["write"], server()["baseUrl"]) as client:
        yield client


@pytest.fixture
def receiver() -> Iterator[Site]:
    with site(204) as running:
        yield running


def secret_of(client: Client, hours: int = 1) -> str:
    return client.notification.rotate_signing_secret(overlap_hours=hours).secret


@pytest.fixture
def channel(client: Client, receiver: Site) -> Iterator[str]:
    """ID of a channel to the receiver."""
    hook = Notification(provider_type="webhook", webhook=Webhook(endpoint=f"{receiver.url}/hook"))
    made = client.notification.create_notification(notification=hook).notification
    yield made.id
    client.notification.delete_notification(id=made.id)


def received_test(client: Client, channel: str, receiver: Site) -> Received:
    """Returns a channel's test message as its receiver got it."""
    reply = client.notification.test_notification(id=channel)
    assert reply.accepted, reply
    return receiver.received.get()


def test_webhook_of_server_is_verified(client: Client, channel: str, receiver: Site) -> None:
    secret = secret_of(client)
    received = received_test(client, channel, receiver)
    event = verify_webhook(received.headers, received.body, secret)
    assert event["type"] == "channel.test"
    assert event["data"]["channel"] == channel
    assert event["data"]["events"][0]["event"] == "test"
    with pytest.raises(UnauthenticatedError):
        verify_webhook(received.headers, received.body.replace(b"test", b"rest"), secret)


def test_previous_secret_is_valid_during_rotation(client: Client, channel: str, receiver: Site) -> None:
    old, new = secret_of(client), secret_of(client)
    received = received_test(client, channel, receiver)
    for secret in (old, new, [old, new]):
        assert verify_webhook(received.headers, received.body, secret)["type"] == "channel.test"
    last = secret_of(client, hours=0)
    after = received_test(client, channel, receiver)
    assert verify_webhook(after.headers, after.body, last)["type"] == "channel.test"
    with pytest.raises(UnauthenticatedError):
        verify_webhook(after.headers, after.body, new)


def test_incident_event_has_monitor_and_regions(client: Client, receiver: Site) -> None:
    secret = secret_of(client)
    with site(200) as target:
        url = f"{target.url}/status/503"
        monitor = client.monitor.create_http_monitor(
            monitor=HttpMonitor(name="Shop API", url=url, periodicity="30s", retry=0, regions=["fly-ams"])
        ).monitor.id
        hook = Notification(
            provider_type="webhook", webhook=Webhook(endpoint=receiver.url), monitor_ids=[monitor]
        )
        made = client.notification.create_notification(notification=hook).notification.id
        client.monitor.update_http_monitor(
            monitor=HttpMonitor(id=monitor, active=True), update_mask=["active"]
        )
        received = receiver.received.get()
        client.notification.delete_notification(id=made)
        client.monitor.delete_monitor(id=monitor)
    event = verify_webhook(received.headers, received.body, secret)
    assert event["type"] == "monitor.error"
    [alert] = event["data"]["events"]
    assert (alert["monitor"]["id"], alert["monitor"]["name"], alert["monitor"]["kind"]) == (
        monitor,
        "Shop API",
        "http",
    )
    region = alert["regions"][0]
    assert (region["region"], region["failing"], region["status"]) == ("fly-ams", True, 503)
    assert (alert["incident"] or "").startswith("inc_") and "503" in (alert["summary"] or "")


def test_webhooks_of_pages_have_the_same_signature(client: Client, receiver: Site) -> None:
    secret = secret_of(client)
    page = client.status_page.create_status_page(
        status_page=StatusPage(title="Acme Status", slug="acme-webhooks")
    ).status_page.id
    client.status_page.add_subscriber(subscriber=Subscriber(page_id=page, webhook_url=f"{receiver.url}/news"))
    client.status_report.create_status_report(
        status_report=StatusReport(page_id=page, title="Checkout is slow"),
        update=StatusReportUpdate(status="investigating", text="We are looking into it."),
    )
    received = receiver.received.get()
    client.status_page.delete_status_page(id=page)
    event = verify_webhook(received.headers, received.body, secret)
    assert event["type"] == "page.report.opened"
    [opened] = event["data"]["events"]
    assert opened["type"] == "page.report.opened" and opened["report"]["title"] == "Checkout is slow"


def fields_of(kind: Any) -> set[str]:
    return set(get_type_hints(kind))


def test_types_of_channels_have_the_fields_of_schema() -> None:
    schema = json.loads((REFERENCE / "webhook.schema.json").read_text())
    found = {name: set(part["properties"]) for name, part in schema["$defs"].items() if "properties" in part}
    event = webhook_events
    assert fields_of(event.ChannelEvent) == set(schema["properties"])
    assert fields_of(event.ChannelData) == set(schema["properties"]["data"]["properties"])
    for kind in (event.MonitorEvent, event.EventMonitor, event.EventRegion):
        assert fields_of(kind) in found.values(), kind
    assert list(CHANNEL_EVENT_TYPES) == schema["properties"]["type"]["enum"]


def test_types_of_pages_have_the_fields_of_schema() -> None:
    schema = json.loads((REFERENCE / "page-webhook.schema.json").read_text())
    event = webhook_events
    kinds = {
        "report": event.EventReport,
        "maintenance": event.EventMaintenance,
        "incident": event.EventIncident,
        "component": event.EventComponent,
    }
    for name, kind in kinds.items():
        assert fields_of(kind) == set(schema["$defs"][name]["properties"]), name
    assert schema["properties"]["type"]["enum"] == [*PAGE_EVENT_TYPES, "page.digest"]
    documented = set(re.findall(r"page\.[a-z]+\.[a-z]+", (REFERENCE / "page-webhook.md").read_text()))
    assert documented == set(PAGE_EVENT_TYPES)


def test_printed_receiver_refuses_only_forgeries(tmp_path: Path) -> None:
    blocks = re.findall(r"```py\n([\s\S]*?)```", (PACKAGE / "README.md").read_text())
    [program] = [block for block in blocks if "verify_webhook" in block]
    # The system selects a free port, and the program prints it.
    listening = program.replace(
        'HTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()',
        'server = HTTPServer(("127.0.0.1", 0), Receiver)\n'
        "print(server.server_port, flush=True)\nserver.serve_forever()\n",
    )
    assert listening != program
    (tmp_path / "receiver.py").write_text(listening)
    command = [sys.executable, "-W", "error", "receiver.py"]
    variables = {**os.environ, "WEBHOOK_SECRET": SECRET, "PYTHONPATH": str(PACKAGE / "src")}
    with subprocess.Popen(
        command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        alert = {"monitor": {"name": "Shop API"}, "summary": "it answered 503"}
        event = {**EVENT, "type": "monitor.error", "data": {**EVENT["data"], "events": [alert]}}

        def posted(content: Any, changes: dict[str, str] | None = None) -> tuple[int, str]:
            body = json.dumps(content)
            headers = {**signed_headers(body, int(time.time())), **(changes or {})}
            assert process.stdout is not None
            status = httpx.post(f"http://127.0.0.1:{port}/", content=body, headers=headers).status_code
            return status, process.stdout.readline()

        assert posted(event) == (204, "Shop API it answered 503\n")
        status, line = posted(event, {"webhook-signature": WRONG})
        assert (status, line[:8]) == (401, "refused:")
        # 5xx is sent again; any other status would lose the alert.
        status, line = posted({**event, "version": 2})
        assert (status, line[:12]) == (500, "not handled:")
        status, line = posted({**event, "data": {"events": [{}]}})
        assert (status, line[:12]) == (500, "not handled:")
        process.kill()
