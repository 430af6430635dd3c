// The types, checked by the compiler: each line after `@ts-expect-error` must be rejected.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  type CallOptions,
  createServiceClient,
  type GetMonitorResponse,
  type HttpMonitor,
  type HttpMonitorInput,
  isInvalidArgument,
  LIMITS,
  type NotificationInput,
  type Periodicity,
  PERIODICITIES,
  type Region,
  REGIONS,
  type TcpMonitor,
  type UpdateComponentRequest,
  type UpdateHttpMonitorRequest,
  type UpdateNotificationRequest,
  type UpdateTcpMonitorRequest,
} from "../../src/index.js";

/** Whether two types are equal. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

const yes = <T extends true>(value: T): T => value;

test("enumerated values are literals, and limits are numbers", () => {
  yes<Same<Periodicity, "30s" | "1m" | "5m" | "10m" | "30m" | "1h">>(true);
  yes<Same<(typeof LIMITS)["monitor"]["name"]["max"], 256>>(true);
  yes<Same<HttpMonitor["timeout"], number>>(true);
  yes<Same<HttpMonitor["createdAt"], string>>(true);
  yes<Same<(typeof REGIONS)[number], Region>>(true);
  assert.equal(PERIODICITIES.length, 6);
  assert.deepEqual(LIMITS.httpMonitor.headers.max, 20);
});

test("required fields are required, and unknown ones rejected", () => {
  const fine: HttpMonitorInput = {
    name: "API",
    url: "https://example.com/",
    periodicity: "30s",
    regions: REGIONS,
  };
  const undecided: HttpMonitorInput = { ...fine, description: undefined };
  // @ts-expect-error a URL is required
  const without: HttpMonitorInput = { name: "API", periodicity: "30s" };
  // @ts-expect-error seven seconds is not a periodicity
  const often: HttpMonitorInput = { ...fine, periodicity: "7s" };
  // @ts-expect-error the status is an output
  const status: HttpMonitorInput = { ...fine, status: "active" };
  // @ts-expect-error numbers are not bigints
  const large: HttpMonitorInput = { ...fine, timeout: 1n };
  assert.deepEqual(
    [undecided, without, often, status, large].map(({ name }) => name),
    Array(5).fill("API"),
  );
});

test("an update is complete, or has a mask", () => {
  const whole: UpdateHttpMonitorRequest = {
    monitor: { id: "mon_1", name: "API", url: "https://example.com/", periodicity: "30s" },
  };
  const part: UpdateHttpMonitorRequest = {
    monitor: { id: "mon_1", retry: 0 },
    updateMask: ["retry", "description"],
  };
  const text: UpdateHttpMonitorRequest = { monitor: { id: "mon_1", retry: 0 }, updateMask: "retry" };
  // @ts-expect-error without a mask, omitted arguments would be cleared
  const forgotten: UpdateHttpMonitorRequest = { monitor: { id: "mon_1", retry: 0 } };
  // @ts-expect-error no argument has this name
  const misspelt: UpdateHttpMonitorRequest = { monitor: { id: "mon_1" }, updateMask: ["retries"] };
  // @ts-expect-error the id is missing
  const nobodys: UpdateHttpMonitorRequest = { monitor: { retry: 0 }, updateMask: ["retry"] };
  const fixed: UpdateComponentRequest = { component: { id: "cmp_1", name: "API" } };
  const channel: UpdateNotificationRequest = {
    notification: { id: "chn_1", name: "On call" },
    updateMask: ["name"],
  };
  assert.equal([whole, part, text, forgotten, misspelt, nobodys, fixed, channel].length, 8);
});

test("a response can be sent back, except secrets hidden from read keys", () => {
  const tcp = (monitor: TcpMonitor): UpdateTcpMonitorRequest => ({
    monitor: { ...monitor, name: "Another" },
  });
  const http = ({ id, regions }: HttpMonitor): UpdateHttpMonitorRequest => ({
    monitor: { id, regions: [...regions, "fly-fra"] },
    updateMask: ["regions"],
  });
  // @ts-expect-error header values are optional
  const blind = (monitor: HttpMonitor): UpdateHttpMonitorRequest => ({ monitor: { ...monitor, retry: 0 } });
  assert.deepEqual(
    [tcp, http, blind].map((it) => typeof it),
    Array(3).fill("function"),
  );
});

test("a channel has the block of its kind", () => {
  const fine: NotificationInput = { providerType: "webhook", webhook: { endpoint: "https://example.com/" } };
  // @ts-expect-error the block is of another kind
  const other: NotificationInput = { providerType: "slack", webhook: { endpoint: "https://example.com/" } };
  // @ts-expect-error the block is missing
  const none: NotificationInput = { providerType: "slack" };
  assert.deepEqual(
    [fine, other, none].map(({ providerType }) => providerType),
    ["webhook", "slack", "slack"],
  );
});

test("the kind of a monitor narrows its type", () => {
  const target = ({ monitor }: GetMonitorResponse): string => {
    if (monitor.http) {
      return monitor.http.url;
    }
    if (monitor.tcp) {
      return monitor.tcp.uri;
    }
    return monitor.dns ? monitor.dns.uri : monitor.heartbeat.name;
  };
  assert.equal(typeof target, "function");
});

test("methods have the contract's names, and empty requests may be omitted", () => {
  const calls = (options: CallOptions) => {
    const { monitor, statusPage } = createServiceClient();
    void monitor.v1.MonitorService.listMonitors();
    void monitor.v1.MonitorService.listMonitors({ limit: 1 }, options);
    // @ts-expect-error the id is required
    void monitor.v1.MonitorService.getMonitor();
    // @ts-expect-error there is no such method
    void statusPage.v1.StatusPageService.createMonitor({});
  };
  assert.equal(typeof calls, "function");
});

test("a guard narrows the code", () => {
  const codeOf = (error: unknown) => {
    if (isInvalidArgument(error)) {
      yes<Same<typeof error.code, "invalid_argument">>(true);
      return error.violations.map(({ path }) => path);
    }
    return [];
  };
  assert.deepEqual(codeOf(new Error("other")), []);
});
