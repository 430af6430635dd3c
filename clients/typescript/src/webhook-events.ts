// What webhooks carry, as TypeScript: of channels by docs/reference/webhook.schema.json, of status pages by
// docs/reference/page-webhook.md; a test holds both. Fields are only ever added to a version.

import type { MonitorKind, Region, ReportStatus } from "./gen/words.js";

/** What a webhook tells, by its `type`. */
export type WebhookEvent = ChannelEvent | PageEvent;

/** The types of what channels are told. */
export const CHANNEL_EVENT_TYPES = [
  "monitor.error",
  "monitor.degraded",
  "monitor.still_degraded",
  "monitor.recovered",
  "monitor.storm",
  "channel.test",
] as const;

/** The types of what subscribers of a status page are told, one by one. */
export const PAGE_NEWS_TYPES = [
  "page.report.opened",
  "page.report.updated",
  "page.report.resolved",
  "page.maintenance.announced",
  "page.maintenance.begun",
  "page.maintenance.over",
  "page.incident.opened",
  "page.incident.closed",
] as const;

/** What a channel of the kind `webhook` is told. */
export interface ChannelEvent {
  /** Version of this form. */
  version: 1;
  /** What happened; `monitor.storm` is several events of one minute together. */
  type: (typeof CHANNEL_EVENT_TYPES)[number];
  /** When it happened, RFC 3339; of a storm, when its last event did. */
  timestamp: string | null;
  data: {
    /** Identifier of the channel, `chn_…`. */
    channel: string;
    /** Where people see more; null where there is nothing that everybody may see, and for tests. */
    link: string | null;
    /** One event, or those of a storm, oldest first. */
    events: MonitorEvent[];
  };
}

/** What happened to a monitor. */
export interface MonitorEvent {
  /** What happened. */
  event: "error" | "degraded" | "still_degraded" | "recovered" | "test";
  /** When it happened. */
  at: string | null;
  /** Name of the workspace. */
  workspace: string;
  /** The monitor as it was then. */
  monitor: EventMonitor;
  /** Identifier of the incident, `inc_…`; null outside one. The same in `error`,
   * `still_degraded` and `recovered`. */
  incident: string | null;
  /** When what it tells of began. */
  began_at: string | null;
  /** How long it lasted, or lasts, in milliseconds. */
  lasted_ms: number;
  /** What ended it, only with `recovered`. */
  closed: null | "recovered" | "degraded" | "paused" | "deleted" | "resolved";
  /** 0 when it is told the first time, then the number of the reminder. */
  reminder: number;
  /** Why, as a sentence. */
  why: string | null;
  /** What each region saw last, failing ones first. */
  regions: EventRegion[];
}

/** A monitor as an event tells of it. */
export interface EventMonitor {
  /** Identifier, `mon_…`. */
  id: string;
  /** Its name. */
  name: string;
  /** Kind of check. */
  kind: MonitorKind;
  /** URL, `host:port` or domain name, without credentials. */
  target: string;
  /** Method of the request; only `http`. */
  method: string | null;
}

/** What a region saw, as an event tells of it. */
export interface EventRegion {
  /** Its name, such as `fly-ams`. */
  region: Region;
  /** The probe, where it stands in for the region or serves several, such as `this server`; else null. */
  place: string | null;
  /** Whether its check failed. */
  failing: boolean;
  /** Why it was no success. */
  reason: string | null;
  /** Status of the answer; only `http`. */
  status: number | null;
  /** Whole exchange, in milliseconds. */
  latency_ms: number | null;
}

/** What a subscriber of a status page is told. */
export interface PageEvent {
  /** Version of this form. */
  version: 1;
  /** What happened; `page.storm` where several incidents of a minute come together. */
  type: (typeof PAGE_NEWS_TYPES)[number] | "page.storm";
  /** When the last of it happened, RFC 3339. */
  timestamp: string | null;
  data: {
    /** Whom it is for, `sub_…`. */
    subscriber: string;
    /** The page; its link where the server has a public address. */
    page: { id: string; title: string; link: string | null };
    /** One, or several of a storm, oldest first. */
    news: PageNews[];
  };
}

/** One thing that happened on a status page. */
export type PageNews = ReportNews | MaintenanceNews | IncidentNews;

/** What all news have. */
interface News<Type extends (typeof PAGE_NEWS_TYPES)[number]> {
  type: Type;
  /** When it happened, RFC 3339. */
  at: string | null;
  /** What it is about; none: the whole page. */
  components: { id: string; name: string }[];
}

/** News of a report. */
export interface ReportNews extends News<
  "page.report.opened" | "page.report.updated" | "page.report.resolved"
> {
  /** The report with its latest update; `text` is Markdown. */
  report: { id: string; update: string; title: string; status: ReportStatus; text: string };
}

/** News of a maintenance. */
export interface MaintenanceNews extends News<
  "page.maintenance.announced" | "page.maintenance.begun" | "page.maintenance.over"
> {
  /** The maintenance with the window that it is about. */
  maintenance: {
    id: string;
    title: string;
    description: string | null;
    from: string | null;
    until: string | null;
  };
}

/** News of an incident. */
export interface IncidentNews extends News<"page.incident.opened" | "page.incident.closed"> {
  incident: { id: string; began_at: string | null };
}
