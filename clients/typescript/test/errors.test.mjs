// Errors of the client: a guard for each code, and the content of each error (issue 8, points 1 and 2).
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import * as client from "@aloft/client";

import { given } from "./support/given.mjs";

const { baseUrl, keys } = given.server;

/** The service's HTTP status for each code (Connect's table). */
const STATUS = {
  canceled: 499, unknown: 500, invalid_argument: 400, deadline_exceeded: 504, not_found: 404, already_exists: 409,
  permission_denied: 403, resource_exhausted: 429, failed_precondition: 400, aborted: 409, out_of_range: 400,
  unimplemented: 501, internal: 500, unavailable: 503, data_loss: 500, unauthenticated: 401,
};

/** The guard of a code, by its name. */
const guardOf = (code) => client[`is${code.replaceAll(/(?:^|_)(\w)/gu, (_, letter) => letter.toUpperCase())}`];

test("each code has a guard that matches only its errors", async () => {
  assert.deepEqual([...client.ERROR_CODES].sort(), Object.keys(STATUS).sort());
  for (const [code, status] of Object.entries(STATUS)) {
    const answer = async () => Response.json({ code, message: `it is ${code}` }, { status });
    const caller = client.createServiceClient({ apiKey: "aloft_key", fetch: answer, retry: false });
    const error = await Promise.resolve(caller.region.v1.RegionService.listRegions({})).catch((error) => error);
    assert.ok(error instanceof client.ServiceError && error instanceof Error, code);
    assert.deepEqual([error.code, error.status], [code, status]);
    assert.match(error.message, new RegExp(`it is ${code}`, "u"));
    const holding = client.ERROR_CODES.filter((other) => guardOf(other)(error));
    assert.deepEqual(holding, [code]);
  }
  for (const other of client.ERROR_CODES) {
    for (const stranger of [new Error(other), { code: other }, other, null, undefined]) {
      assert.equal(guardOf(other)(stranger), false);
    }
  }
});

test("errors of the service have every detail", async () => {
  const caller = client.createServiceClient({ apiKey: keys.write, baseUrl });
  const wrong = { name: "", url: "nowhere", periodicity: "1m", degradedAt: -1 };
  const call = caller.monitor.v1.MonitorService.createHttpMonitor({ monitor: wrong }, {
    headers: { "x-request-id": "client-tests-1" },
  });
  const error = await Promise.resolve(call).catch((error) => error);
  assert.ok(client.isInvalidArgument(error));
  assert.deepEqual(
    [error.name, error.code, error.reason, error.status, error.requestId, error.retryAfterMs, error.method],
    ["ServiceError", "invalid_argument", "INVALID_ARGUMENT", 400, "client-tests-1", undefined,
      "monitor.v1.MonitorService/CreateHttpMonitor"],
  );
  const fields = error.violations.map(({ field, path }) => [field, path]).sort();
  assert.deepEqual(fields, [
    ["monitor.degraded_at", "monitor.degradedAt"], ["monitor.name", "monitor.name"], ["monitor.url", "monitor.url"],
  ]);
  for (const { description } of error.violations) assert.ok(description.length > 0);
  assert.match(error.stack, /errors\.test\.mjs/u);
});

test("no error shows the key", async () => {
  const secret = keys.unknown;
  const caller = client.createServiceClient({ apiKey: secret, baseUrl });
  const error = await caller.whoami().catch((error) => error);
  assert.ok(client.isUnauthenticated(error));
  const { inspect } = await import("node:util");
  assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(secret));
  assert.ok(!inspect(caller, { depth: 10, showHidden: true }).includes(secret));
});

test("an unknown field is rejected before anything is sent", async () => {
  const send = async () => assert.fail("it was sent");
  const caller = client.createServiceClient({ apiKey: "aloft_key", fetch: send });
  const monitor = { id: "mon_1", urll: "https://a.example" };
  const call = caller.monitor.v1.MonitorService.updateHttpMonitor({ monitor });
  const error = await Promise.resolve(call).catch((error) => error);
  assert.ok(client.isInvalidArgument(error), error?.message);
  assert.deepEqual(error.violations.map(({ field }) => field), ["monitor.urll"]);
});

test("errors of the ESM and CommonJS copies are equal", async () => {
  const common = createRequire(import.meta.url)("@aloft/client");
  const caller = common.createServiceClient({ apiKey: "aloft_key", baseUrl });
  const error = await caller.whoami().catch((error) => error);
  assert.notEqual(common.ServiceError, client.ServiceError);
  assert.ok(client.isUnauthenticated(error) && error instanceof client.ServiceError);
});
