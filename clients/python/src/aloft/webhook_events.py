"""Types of webhook bodies: of channels as in docs/reference/webhook.schema.json, of status pages as in
docs/reference/page-webhook.md. A test compares them. A version only gains fields."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, TypedDict

from .gen.words import MonitorKind, Region, ReportStatus

ChannelEventType: TypeAlias = Literal[
    "monitor.error",
    "monitor.degraded",
    "monitor.still_degraded",
    "monitor.recovered",
    "monitor.digest",
    "channel.test",
]
"""The event types of channels; `monitor.digest` is a digest of several events of one minute."""

CHANNEL_EVENT_TYPES: Final[tuple[ChannelEventType, ...]] = (
    "monitor.error",
    "monitor.degraded",
    "monitor.still_degraded",
    "monitor.recovered",
    "monitor.digest",
    "channel.test",
)
"""The event types of channels."""

ReportEventType: TypeAlias = Literal["page.report.opened", "page.report.updated", "page.report.resolved"]
MaintenanceEventType: TypeAlias = Literal[
    "page.maintenance.scheduled", "page.maintenance.started", "page.maintenance.completed"
]
IncidentEventType: TypeAlias = Literal["page.incident.opened", "page.incident.closed"]
PageEventType: TypeAlias = ReportEventType | MaintenanceEventType | IncidentEventType
"""The event types of subscribers of a status page, without digests."""

PAGE_EVENT_TYPES: Final[tuple[PageEventType, ...]] = (
    "page.report.opened",
    "page.report.updated",
    "page.report.resolved",
    "page.maintenance.scheduled",
    "page.maintenance.started",
    "page.maintenance.completed",
    "page.incident.opened",
    "page.incident.closed",
)
"""The event types of subscribers of a status page, without digests."""


class EventMonitor(TypedDict):
    """A monitor in an event."""

    id: str
    """ID, `mon_…`."""
    name: str
    """Name."""
    kind: MonitorKind
    """Kind of check."""
    target: str
    """URL, `host:port` or domain name, without credentials."""
    method: str | None
    """Method of the request; only for `http`."""


class EventRegion(TypedDict):
    """The observation of a region in an event."""

    region: Region
    """Name, such as `fly-ams`."""
    place: str | None
    """The probe, if it stands in for the region or serves several, such as `this server`; otherwise None."""
    failing: bool
    """Whether its check failed."""
    reason: str | None
    """Reason why it was not a success."""
    status: int | None
    """HTTP status of the response; only for `http`."""
    latency_ms: int | None
    """Duration of the whole exchange, in milliseconds."""


class MonitorEvent(TypedDict):
    """An event of a monitor."""

    event: Literal["error", "degraded", "still_degraded", "recovered", "test"]
    """Event type."""
    at: str | None
    """Time of the event."""
    workspace: str
    """Name of the workspace."""
    monitor: EventMonitor
    """The monitor at that time."""
    incident: str | None
    """ID of the incident, `inc_…`; None outside one. `error`, `still_degraded` and `recovered` have the same."""
    began_at: str | None
    """Start of the state that it reports."""
    duration_ms: int
    """Duration of that state so far, in milliseconds."""
    close_reason: Literal["recovered", "degraded", "paused", "deleted", "resolved"] | None
    """Reason of the closing, only for `recovered`."""
    reminder: int
    """0 for the first message, then the number of the reminder."""
    summary: str | None
    """Reason, as a sentence."""
    regions: list[EventRegion]
    """The latest observation of each region, failing ones first."""


class ChannelData(TypedDict):
    """The content of a body for a channel."""

    channel: str
    """ID of the channel, `chn_…`."""
    link: str | None
    """Link to a public page; None without one, and for tests."""
    events: list[MonitorEvent]
    """One event, or those of a digest, oldest first."""


class ChannelEvent(TypedDict):
    """The body for a channel of the kind `webhook`."""

    version: Literal[1]
    """Version of this format."""
    type: ChannelEventType
    """Event type."""
    timestamp: str | None
    """Time of the event, RFC 3339; for a digest, of its last event."""
    data: ChannelData
    """Its content."""


class EventComponent(TypedDict):
    """A component in an event of a page."""

    id: str
    """ID, `cmp_…`."""
    name: str
    """Name."""


class EventReport(TypedDict):
    """A report with its latest update."""

    id: str
    """ID of the report, `rpt_…`."""
    update: str
    """ID of the update, `upd_…`."""
    title: str
    """Title."""
    status: ReportStatus
    """Status."""
    text: str
    """Text of the update, as Markdown."""


EventMaintenance = TypedDict(
    "EventMaintenance",
    # `from` is no name in Python.
    {"id": str, "title": str, "description": str | None, "from": str | None, "until": str | None},
)
"""A maintenance with the affected window."""


class EventIncident(TypedDict):
    """An incident in an event of a page."""

    id: str
    """ID, `inc_…`."""
    began_at: str | None
    """Start."""


class ReportEvent(TypedDict):
    """An event of a report."""

    type: ReportEventType
    """Event type."""
    at: str | None
    """Time of the event, RFC 3339."""
    components: list[EventComponent]
    """The affected components; empty: the whole page."""
    report: EventReport
    """The report."""


class MaintenanceEvent(TypedDict):
    """An event of a maintenance."""

    type: MaintenanceEventType
    """Event type."""
    at: str | None
    """Time of the event, RFC 3339."""
    components: list[EventComponent]
    """The affected components; empty: the whole page."""
    maintenance: EventMaintenance
    """The maintenance."""


class IncidentEvent(TypedDict):
    """An event of an incident."""

    type: IncidentEventType
    """Event type."""
    at: str | None
    """Time of the event, RFC 3339."""
    components: list[EventComponent]
    """The affected components; empty: the whole page."""
    incident: EventIncident
    """The incident."""


PageEvent: TypeAlias = ReportEvent | MaintenanceEvent | IncidentEvent
"""An event of a status page."""


class EventPage(TypedDict):
    """A status page in an event."""

    id: str
    """ID, `page_…`."""
    title: str
    """Title."""
    link: str | None
    """Address, if the server has a public one."""


class PageData(TypedDict):
    """The content of a body for a subscriber."""

    subscriber: str
    """The recipient, `sub_…`."""
    page: EventPage
    """The page."""
    events: list[PageEvent]
    """One event, or those of a digest, oldest first."""


class PageWebhook(TypedDict):
    """The body for a subscriber of a status page."""

    version: Literal[1]
    """Version of this format."""
    type: PageEventType | Literal["page.digest"]
    """Event type; `page.digest` is a digest of several incidents of a minute."""
    timestamp: str | None
    """Time of the last event, RFC 3339."""
    data: PageData
    """Its content."""


WebhookEvent: TypeAlias = ChannelEvent | PageWebhook
"""The body of a webhook, by its `type`."""
