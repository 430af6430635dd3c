// Types of webhook bodies: of channels as in docs/reference/webhook.schema.json, of status pages as in
// docs/reference/page-webhook.md. A test compares them. A version only gains fields.

import type { MonitorKind, Region, ReportStatus } from "./gen/words.js";

/** The body of a webhook, by its `type`. */
export type WebhookEvent = ChannelEvent | PageWebhook;

/** The event types of channels. */
export const CHANNEL_EVENT_TYPES = [
  "monitor.error",
  "monitor.degraded",
  "monitor.still_degraded",
  "monitor.recovered",
  "monitor.digest",
  "channel.test",
] as const;

/** The event types of subscribers of a status page, without digests. */
export const PAGE_EVENT_TYPES = [
  "page.report.opened",
  "page.report.updated",
  "page.report.resolved",
  "page.maintenance.scheduled",
  "page.maintenance.started",
  "page.maintenance.completed",
  "page.incident.opened",
  "page.incident.closed",
] as const;

/** The body for a channel of the kind `webhook`. */
export interface ChannelEvent {
  /** Version of this format. */
  version: 1;
  /** Event type; `monitor.digest` is a digest of several events of one minute. */
  type: (typeof CHANNEL_EVENT_TYPES)[number];
  /** Time of the event, RFC 3339; for a digest, of its last event. */
  timestamp: string | null;
  data: {
    /** ID of the channel, `chn_…`. */
    channel: string;
    /** Link to a public page; null without one, and for tests. */
    link: string | null;
    /** One event, or those of a digest, oldest first. */
    events: MonitorEvent[];
  };
}

/** An event of a monitor. */
export interface MonitorEvent {
  /** Event type. */
  event: "error" | "degraded" | "still_degraded" | "recovered" | "test";
  /** Time of the event. */
  at: string | null;
  /** Name of the workspace. */
  workspace: string;
  /** The monitor at that time. */
  monitor: EventMonitor;
  /** Identifier of the incident, `inc_…`; null outside one. The same in `error`,
   * `still_degraded` and `recovered`. */
  incident: string | null;
  /** Start of the state that it reports. */
  began_at: string | null;
  /** Duration of that state so far, in milliseconds. */
  duration_ms: number;
  /** Reason of the closing, only for `recovered`. */
  close_reason: null | "recovered" | "degraded" | "paused" | "deleted" | "resolved";
  /** 0 for the first message, then the number of the reminder. */
  reminder: number;
  /** Reason, as a sentence. */
  summary: string | null;
  /** The latest observation of each region, failing ones first. */
  regions: EventRegion[];
}

/** A monitor in an event. */
export interface EventMonitor {
  /** ID, `mon_…`. */
  id: string;
  /** Name. */
  name: string;
  /** Kind of check. */
  kind: MonitorKind;
  /** URL, `host:port` or domain name, without credentials. */
  target: string;
  /** Method of the request; only for `http`. */
  method: string | null;
}

/** The observation of a region in an event. */
export interface EventRegion {
  /** Name, such as `fly-ams`. */
  region: Region;
  /** The probe, if it stands in for the region or serves several, such as `this server`; otherwise null. */
  place: string | null;
  /** Whether its check failed. */
  failing: boolean;
  /** Reason why it was not a success. */
  reason: string | null;
  /** HTTP status of the response; only for `http`. */
  status: number | null;
  /** Duration of the whole exchange, in milliseconds. */
  latency_ms: number | null;
}

/** The body for a subscriber of a status page. */
export interface PageWebhook {
  /** Version of this format. */
  version: 1;
  /** Event type; `page.digest` is a digest of several incidents of a minute. */
  type: (typeof PAGE_EVENT_TYPES)[number] | "page.digest";
  /** Time of the last event, RFC 3339. */
  timestamp: string | null;
  data: {
    /** The recipient, `sub_…`. */
    subscriber: string;
    /** The page; with a link if the server has a public address. */
    page: { id: string; title: string; link: string | null };
    /** One event, or those of a digest, oldest first. */
    events: PageEvent[];
  };
}

/** An event of a status page. */
export type PageEvent = ReportEvent | MaintenanceEvent | IncidentEvent;

/** The common fields of page events. */
interface BasePageEvent<Type extends (typeof PAGE_EVENT_TYPES)[number]> {
  type: Type;
  /** Time of the event, RFC 3339. */
  at: string | null;
  /** The affected components; empty: the whole page. */
  components: { id: string; name: string }[];
}

/** An event of a report. */
export interface ReportEvent extends BasePageEvent<
  "page.report.opened" | "page.report.updated" | "page.report.resolved"
> {
  /** The report with its latest update; `text` is Markdown. */
  report: { id: string; update: string; title: string; status: ReportStatus; text: string };
}

/** An event of a maintenance. */
export interface MaintenanceEvent extends BasePageEvent<
  "page.maintenance.scheduled" | "page.maintenance.started" | "page.maintenance.completed"
> {
  /** The maintenance with the affected window. */
  maintenance: {
    id: string;
    title: string;
    description: string | null;
    from: string | null;
    until: string | null;
  };
}

/** An event of an incident. */
export interface IncidentEvent extends BasePageEvent<"page.incident.opened" | "page.incident.closed"> {
  incident: { id: string; began_at: string | null };
}
