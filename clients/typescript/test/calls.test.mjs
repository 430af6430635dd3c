// Calls of the real server: pages, timeouts, signals, lost responses, and keys (issue 8, point 2).
import assert from "node:assert/strict";
import { test } from "node:test";

import { createServiceClient } from "@aloft/client";

import { given } from "./support/given.mjs";
import { site } from "./support/site.mjs";

const { baseUrl, keys } = given.server;
const MONITORS = 5;

/** A client that counts its requests by method name. */
function counting(options) {
  const asked = [];
  const send = (url, init) => {
    asked.push(String(url).split("?")[0].split("/").pop());
    return fetch(url, init);
  };
  return { asked, client: createServiceClient({ apiKey: keys.write, baseUrl, fetch: send, ...options }) };
}

function paused(name) {
  return { monitor: { name, uri: "db.example.com:5432", periodicity: "1h" } };
}

test("awaiting a list gives its first page, iterating gives all", async (t) => {
  const { asked, client } = counting();
  const service = client.monitor.v1.MonitorService;
  const names = Array.from({ length: MONITORS }, (_, at) => `page ${at}`);
  const made = [];
  // Lists return the newest first.
  for (const name of names.toReversed()) made.push((await service.createTcpMonitor(paused(name))).monitor.id);
  t.after(async () => {
    for (const id of made) await service.deleteMonitor({ id });
  });
  asked.length = 0;

  const first = await service.listMonitors({ limit: 2 });
  assert.deepEqual(first.tcpMonitors.map(({ name }) => name), names.slice(0, 2));
  assert.equal(first.totalSize, MONITORS);
  assert.equal(asked.length, 1);

  const sizes = [];
  const seen = [];
  for await (const page of service.listMonitors({ limit: 2 })) {
    sizes.push(page.tcpMonitors.length);
    seen.push(...page.tcpMonitors.map(({ name }) => name));
  }
  assert.deepEqual([seen, sizes, asked.length], [names, [2, 2, 1], 4]);

  for await (const page of service.listMonitors({ limit: 2 })) {
    assert.equal(page.tcpMonitors.length, 2);
    break;
  }
  assert.equal(asked.length, 5, "who stops asks for no more");

  const list = service.listMonitors({ limit: 3 });
  assert.equal(asked.length, 5, "nothing is asked before somebody wants it");
  const [page] = await Promise.all([list, list]);
  for await (const one of list) assert.ok(one.tcpMonitors.length >= 2);
  assert.deepEqual([page.tcpMonitors.length, asked.length], [3, 7]);
});

test("an error ends the iteration of pages", async () => {
  const client = createServiceClient({ apiKey: keys.write, baseUrl });
  const walk = async () => {
    for await (const page of client.monitor.v1.MonitorService.listMonitors({ limit: 0 })) assert.fail(page);
  };
  await assert.rejects(walk(), (error) => error.code === "invalid_argument" && error.violations[0].field === "limit");
});

test("a timeout ends a call", async (t) => {
  const target = await site(t, 200);
  const { asked, client } = counting();
  const service = client.monitor.v1.MonitorService;
  const silent = { name: "Silence", url: `${target.url}/silent`, periodicity: "1h", retry: 0 };
  const { monitor } = await service.createHttpMonitor({ monitor: silent });
  t.after(() => service.deleteMonitor({ id: monitor.id }));
  const late = Promise.resolve(service.triggerMonitor({ id: monitor.id }, { timeoutMs: 200 }));
  await assert.rejects(late, { code: "deadline_exceeded" });
  assert.equal(asked.filter((method) => method === "TriggerMonitor").length, 1);
});

test("a signal ends a call", async (t) => {
  const target = await site(t, 200);
  const { asked, client } = counting();
  const service = client.monitor.v1.MonitorService;
  const silent = { name: "Silence", url: `${target.url}/silent`, periodicity: "1h", retry: 0 };
  const { monitor } = await service.createHttpMonitor({ monitor: silent });
  t.after(() => service.deleteMonitor({ id: monitor.id }));
  const ending = new AbortController();
  const visited = target.next();
  const call = Promise.resolve(service.triggerMonitor({ id: monitor.id }, { signal: ending.signal }));
  const failed = assert.rejects(call, { code: "canceled" });
  await visited;
  ending.abort();
  await failed;

  asked.length = 0;
  const before = service.getMonitor({ id: monitor.id }, { signal: AbortSignal.abort() });
  await assert.rejects(Promise.resolve(before), { code: "canceled" });
  assert.deepEqual(asked, [], "nothing is asked for who has left");
});

test("a lost response creates nothing twice", async () => {
  const answers = [];
  // The server executes the call, and its response is lost, once.
  const losing = async (url, init) => {
    const answer = await fetch(url, init);
    answers.push(answer.status);
    if (answers.length > 1) return answer;
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
  };
  const client = createServiceClient({
    apiKey: keys.write, baseUrl, fetch: losing, retry: { attempts: 3, firstPauseMs: 0 },
  });
  const service = client.monitor.v1.MonitorService;
  const { monitor } = await service.createTcpMonitor(paused("once"));
  assert.deepEqual(answers, [200, 200]);
  const { tcpMonitors } = await service.listMonitors({ limit: 100 });
  assert.deepEqual(tcpMonitors.filter(({ name }) => name === "once").map(({ id }) => id), [monitor.id]);
  await service.deleteMonitor({ id: monitor.id });
});

test("each create has its own idempotency key", async () => {
  const client = createServiceClient({ apiKey: keys.write, baseUrl });
  const service = client.monitor.v1.MonitorService;
  const made = await Promise.all([1, 2, 3].map(() => service.createTcpMonitor(paused("same"))));
  const ids = made.map(({ monitor }) => monitor.id);
  assert.equal(new Set(ids).size, 3);
  const options = { idempotencyKey: "calls-test-same" };
  const same = await Promise.all([1, 2].map(() => service.createTcpMonitor(paused("same"), options)));
  assert.equal(same[0].monitor.id, same[1].monitor.id);
  for (const id of new Set([...ids, same[0].monitor.id])) await service.deleteMonitor({ id });
});

test("a mask may be a list of names", async () => {
  const client = createServiceClient({ apiKey: keys.write, baseUrl });
  const service = client.monitor.v1.MonitorService;
  const { monitor } = await service.createTcpMonitor(paused("before"));
  const changed = await service.updateTcpMonitor({
    monitor: { id: monitor.id, name: "after", retry: 1 },
    updateMask: ["name", "retry"],
  });
  assert.deepEqual([changed.monitor.name, changed.monitor.retry, changed.monitor.periodicity], ["after", 1, "1h"]);
  await service.deleteMonitor({ id: monitor.id });
});

test("a read key revokes itself and nothing else", async () => {
  // spec: §4.2, §5.7
  const reader = createServiceClient({ apiKey: keys.spare, baseUrl });
  const { actor } = await reader.whoami();
  const writer = createServiceClient({ apiKey: keys.write, baseUrl });
  const { actor: other } = await writer.whoami();
  await assert.rejects(reader.revokeKey(other.keyId), {
    code: "permission_denied", reason: "KEY_READ_ONLY", status: 403,
  });
  assert.equal(await reader.revokeKey(actor.keyId), undefined);
  await assert.rejects(reader.whoami(), { code: "unauthenticated", reason: "KEY_REVOKED", status: 401 });
  await assert.rejects(writer.revokeKey("../monitors"), { code: "not_found" });
});
