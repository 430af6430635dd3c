// Objects as protobuf-es messages, for transports: a value of the wrong kind is rejected by path, as in the
// server, and not by an error of protobuf-es.

import assert from "node:assert/strict";
import { test } from "node:test";

import { methodOf } from "../../src/descriptors.js";
import { isServiceError } from "../../src/errors.js";
import { initOf } from "../../src/messages.js";

/** Violations of a request; none if it can be sent. */
function wrong(path: string, request: object): string {
  try {
    initOf(methodOf(path)!.input, request);
    return "nothing";
  } catch (error) {
    assert.ok(isServiceError(error) && error.code === "invalid_argument", String(error));
    assert.equal(error.reason, "INVALID_ARGUMENT");
    const [violation] = error.violations;
    return `${violation?.field}: ${violation?.description}`;
  }
}

const logs = (from: unknown) => wrong("monitor.v1.MonitorService/ListResponseLogs", { id: "mon_1", from });

test("a time without a zone is rejected", () => {
  for (const time of [
    "2026-11-21T00:00:00Z",
    "2026-11-21T00:00:00.125Z",
    "2026-11-21T00:00:00.123456789+01:00",
    "2024-02-29T23:59:59-11:30",
  ]) {
    assert.equal(logs(time), "nothing", time);
  }
  for (const time of [
    "2026-11-21T00:00:00",
    "2026-11-21",
    "2026-11-21 00:00:00Z",
    "21 Nov 2026 00:00:00 GMT",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "1",
    "",
    1_795_219_200_000,
  ]) {
    const problem = "from: must be a time of RFC 3339, such as 2026-11-21T00:00:00Z";
    assert.equal(logs(time), `${problem} (given: \`${time}\`)`);
  }
});

test("a value of the wrong kind is rejected", () => {
  const list = (request: object) => wrong("monitor.v1.MonitorService/ListMonitors", request);
  const create = (monitor: unknown) => wrong("monitor.v1.MonitorService/CreateHttpMonitor", { monitor });
  assert.equal(list({ limit: 5, pageToken: "" }), "nothing");
  assert.equal(create({ degradedAt: -(2 ** 31), retry: 2 ** 31 - 1, regions: [], headers: [{}] }), "nothing");
  for (const [message, expected] of [
    [list({ limit: "5" }), "limit: must be a whole number of 32 bits (given: `5`)"],
    [list({ limit: 2 ** 31 }), "limit: must be a whole number of 32 bits (given: `2147483648`)"],
    [create({ degradedAt: 0.5 }), "monitor.degraded_at: must be a whole number of 32 bits (given: `0.5`)"],
    [create({ active: "yes" }), "monitor.active: must be true or false (given: `yes`)"],
    [create({ url: 5 }), "monitor.url: must be a text"],
    [create({ regions: ["fly-ams", 5] }), "monitor.regions[1]: must be a text"],
    [create({ regions: "fly-ams" }), "monitor.regions: must be a list (given: `fly-ams`)"],
    [create({ headers: [{}, { key: 5 }] }), "monitor.headers[1].key: must be a text"],
    [create([]), "monitor: must be an object (given: ``)"],
  ] as const) {
    assert.equal(message, expected);
  }
});
