// The client's pauses between attempts, and their reasons (issue 8, point 1): full jitter, Retry-After, and
// the call's time limit. Timers are controlled, so nothing here waits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createServiceClient } from "@aloft/client";

import { badServer, json, page, refusal, reset, silence } from "./support/bad-server.mjs";
import { holdTimers } from "./support/timers.mjs";

const FOUND = json(200, { monitor: { http: { id: "mon_1" } } });
const read = (client, options) => client.monitor.v1.MonitorService.getMonitor({ id: "mon_1" }, options);

function clientOf(server, options) {
  return createServiceClient({ apiKey: "aloft_key", baseUrl: server.baseUrl, timeoutMs: 0, ...options });
}

test("pauses are random up to a doubling, limited bound", async (t) => {
  const timers = holdTimers(t);
  t.mock.method(Math, "random", () => 0.5);
  const server = await badServer(t, page(502), reset, page(504), page(503), FOUND);
  const client = clientOf(server, { retry: { attempts: 5, firstPauseMs: 1_000, longestPauseMs: 3_000 } });
  const answer = Promise.resolve(read(client));
  for (const expected of [500, 1_000, 1_500, 1_500]) {
    const pause = await timers.next();
    assert.equal(pause.delay, expected);
    pause.fire();
  }
  assert.equal((await answer).monitor.http.id, "mon_1");
  assert.deepEqual([server.asked.length, timers.count], [5, 0]);
});

test("repeated 429 waits for Retry-After plus jitter", async (t) => {
  const timers = holdTimers(t);
  t.mock.method(Math, "random", () => 0.5);
  const busy = (seconds) => refusal(429, "resource_exhausted", "RATE_LIMITED", { "retry-after": seconds });
  const server = await badServer(t, busy("7"), busy("1"), page(429, { "retry-after": "30" }), FOUND);
  const client = clientOf(server, { retry: { attempts: 4, firstPauseMs: 100, longestPauseMs: 100 } });
  const answer = Promise.resolve(read(client));
  for (const [tries, expected] of [[1, 7_050], [2, 1_050], [3, 30_050]]) {
    const pause = await timers.next();
    assert.deepEqual([server.asked.length, pause.delay], [tries, expected]);
    pause.fire();
  }
  assert.equal((await answer).monitor.http.id, "mon_1");
  assert.equal(server.asked.length, 4);
});

test("endless 429 fails with a retry time", async (t) => {
  const timers = holdTimers(t);
  const busy = refusal(429, "resource_exhausted", "RATE_LIMITED", { "retry-after": "7" });
  const server = await badServer(t, busy);
  const failed = assert.rejects(Promise.resolve(read(clientOf(server, { retry: { attempts: 3 } }))), {
    code: "resource_exhausted", reason: "RATE_LIMITED", status: 429, retryAfterMs: 7_000,
  });
  for (let tries = 1; tries < 3; tries += 1) (await timers.next()).fire();
  await failed;
  assert.deepEqual([server.asked.length, timers.count], [3, 0]);
});

test("a pause longer than the remaining time fails immediately", async (t) => {
  const timers = holdTimers(t);
  const busy = refusal(429, "resource_exhausted", "RATE_LIMITED", { "retry-after": "7" });
  const server = await badServer(t, busy);
  const error = { code: "resource_exhausted", retryAfterMs: 7_000 };
  await assert.rejects(Promise.resolve(read(clientOf(server, { timeoutMs: 5_000 }))), error);
  assert.deepEqual([server.asked.length, timers.count], [1, 0]);
});

test("a Retry-After of an hour fails immediately", async (t) => {
  const timers = holdTimers(t);
  const server = await badServer(t, refusal(503, "unavailable", "UNAVAILABLE", { "retry-after": "3600" }));
  await assert.rejects(Promise.resolve(read(clientOf(server))), { code: "unavailable", retryAfterMs: 3_600_000 });
  assert.deepEqual([server.asked.length, timers.count], [1, 0]);
});

test("the time limit ends pauses too, with the last failure as its cause", async (t) => {
  const timers = holdTimers(t);
  t.mock.method(Math, "random", () => 0);
  const server = await badServer(t, page(502));
  const client = clientOf(server, { timeoutMs: 90_000, retry: { attempts: 4, firstPauseMs: 100 } });
  const failed = assert.rejects(Promise.resolve(read(client)), (error) => {
    assert.deepEqual([error.code, error.cause.code, error.cause.status], ["deadline_exceeded", "unavailable", 502]);
    return true;
  });
  await timers.next((delay) => delay < 90_000);
  (await timers.next((delay) => delay === 90_000)).fire();
  await failed;
  assert.deepEqual([server.asked.length, timers.count], [1, 0]);
});

test("a timeout signal has the last failure as its cause", async (t) => {
  const timers = holdTimers(t);
  const server = await badServer(t, page(502));
  const ending = new AbortController();
  const failed = assert.rejects(Promise.resolve(read(clientOf(server), { signal: ending.signal })), (error) => {
    assert.deepEqual([error.code, error.cause.code], ["deadline_exceeded", "unavailable"]);
    return true;
  });
  await timers.next();
  ending.abort(new DOMException("", "TimeoutError"));
  await failed;
});

test("triggerMonitor has its own time limit, other calls a minute", async (t) => {
  const timers = holdTimers(t);
  const server = await badServer(t, silence);
  const { MonitorService } = createServiceClient({ apiKey: "aloft_key", baseUrl: server.baseUrl }).monitor.v1;
  for (const [call, expected] of [
    [MonitorService.triggerMonitor, 150_000],
    [MonitorService.getMonitor, 60_000],
  ]) {
    const failed = assert.rejects(Promise.resolve(call({ id: "mon_1" })), { code: "deadline_exceeded" });
    const timer = await timers.next();
    assert.equal(timer.delay, expected);
    timer.fire();
    await failed;
  }
});

test("the server gets the remaining time of the call", async (t) => {
  const timers = holdTimers(t);
  // A wall clock that goes back an hour at each reading.
  let wall = Date.now();
  t.mock.method(Date, "now", () => (wall -= 3_600_000));
  const server = await badServer(t, page(502), FOUND);
  const answer = Promise.resolve(read(clientOf(server, { timeoutMs: 10_000, retry: { firstPauseMs: 10 } })));
  (await timers.next((delay) => delay < 10_000)).fire();
  await answer;
  const timeouts = server.asked.map(({ headers }) => Number(headers["connect-timeout-ms"]));
  assert.equal(timeouts.length, 2);
  assert.ok(timeouts.every((ms) => ms > 0 && ms <= 10_000), timeouts.join(" "));
});

test("aborting a call in a pause ends it immediately", async (t) => {
  const timers = holdTimers(t);
  const server = await badServer(t, page(502));
  const ending = new AbortController();
  const call = read(clientOf(server), { signal: ending.signal });
  const failed = assert.rejects(Promise.resolve(call), { code: "canceled" });
  await timers.next();
  ending.abort();
  await failed;
  assert.deepEqual([server.asked.length, timers.count], [1, 0]);
});

test("attempts of a create share one idempotency key, creates do not", async (t) => {
  const made = json(200, { monitor: { id: "mon_1" } });
  const server = await badServer(t, reset, page(502), made, made, made);
  const client = clientOf(server, { retry: { attempts: 3, firstPauseMs: 0 } });
  const monitor = { name: "Database", uri: "db.example.com:5432", periodicity: "1m" };
  const { createTcpMonitor } = client.monitor.v1.MonitorService;
  await createTcpMonitor({ monitor });
  await createTcpMonitor({ monitor });
  await createTcpMonitor({ monitor }, { idempotencyKey: "deploy-42" });
  const keys = server.asked.map(({ headers }) => headers["idempotency-key"]);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.ok(keys.every((key) => key?.length > 0) && keys[3] !== keys[0], keys.join(" "));
  assert.equal(keys[4], "deploy-42");
  assert.ok(keys[0].length >= 16 && keys[0].length <= 256, keys[0]);
  const reading = await badServer(t, FOUND);
  await read(clientOf(reading));
  assert.equal(reading.asked[0].headers["idempotency-key"], undefined);
});
