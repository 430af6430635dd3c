// Servers that are down, slow, cut off, or not ours: the client's error for each, and its number of attempts
// (issue 8, point 2). No call is unintentionally executed twice.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createServiceClient, isServiceError } from "@aloft/client";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

import {
  badServer,
  cutOff,
  dribbling,
  empty,
  endless,
  json,
  nobody,
  page,
  refusal,
  reset,
  silence,
  stuck,
  truncated,
} from "./support/bad-server.mjs";
import { holdTimers } from "./support/timers.mjs";

/** Three attempts without a pause between them. */
const THRICE = { attempts: 3, firstPauseMs: 0 };
const KEY = "aloft_key";

/** A read, an idempotent change, a create with its key, and a call that must not be executed twice. */
const CALLS = {
  read: (client, options) => client.monitor.v1.MonitorService.getMonitor({ id: "mon_1" }, options),
  change: (client, options) => client.monitor.v1.MonitorService.deleteMonitor({ id: "mon_1" }, options),
  create: (client, options) =>
    client.monitor.v1.MonitorService.createTcpMonitor(
      { monitor: { name: "Database", uri: "db.example.com:5432", periodicity: "1m" } },
      options,
    ),
  trigger: (client, options) => client.monitor.v1.MonitorService.triggerMonitor({ id: "mon_1" }, options),
};

/** The expected error of a call. */
async function errorOf(call) {
  const error = await Promise.resolve(call).then(
    (answer) => assert.fail(`it was answered: ${JSON.stringify(answer)}`),
    (error) => error,
  );
  assert.ok(isServiceError(error), `not an error of the client: ${error?.stack ?? error}`);
  return error;
}

test("failures of bad servers are recognised, and retried if safe", async (t) => {
  const thrice = { read: 3, change: 3, create: 3, trigger: 1 };
  const always = { read: 3, change: 3, create: 3, trigger: 3 };
  const once = { read: 1, change: 1, create: 1, trigger: 1 };
  for (const [name, answer, code, tries] of [
    ["resets the connection", reset, "unavailable", thrice],
    ["breaks off in the middle", truncated, "unavailable", thrice],
    ["is a proxy without its server", page(502), "unavailable", thrice],
    ["is a proxy whose server is away", page(503), "unavailable", thrice],
    ["is a proxy whose server is slow", page(504), "unavailable", thrice],
    ["cannot now", refusal(503, "unavailable", "UNAVAILABLE"), "unavailable", thrice],
    ["meets others", refusal(409, "aborted", "CONFLICT"), "aborted", thrice],
    ["names a stale revision", refusal(409, "aborted", "REVISION_MISMATCH"), "aborted", once],
    ["has too many callers", refusal(429, "resource_exhausted", "RATE_LIMITED"), "resource_exhausted", always],
    ["is a proxy with too many callers", page(429), "resource_exhausted", always],
    ["answers a page with 200", page(200), "internal", once],
    ["answers half a text", cutOff, "internal", once],
    ["answers a text that is no object", json(200, "hello"), "internal", once],
    ["answers an object that is no JSON", json(200, {}, { "content-type": "text/html" }), "internal", once],
    ["answers nothing with 204", empty(204), "internal", once],
    ["answers nothing with 200", empty(200), "internal", once],
    ["fails", refusal(500, "internal", "INTERNAL"), "internal", once],
    ["is a proxy that wants a password", page(401), "unauthenticated", once],
    ["is a proxy that lets nobody in", page(403), "permission_denied", once],
    ["is another server", page(404), "unimplemented", once],
    ["is a proxy that takes less", page(413), "resource_exhausted", once],
    ["sends elsewhere", page(302, { location: "https://elsewhere.example/" }), "unknown", once],
    ["is a teapot", page(418), "unknown", once],
    ["finds nothing", refusal(404, "not_found", "NOT_FOUND"), "not_found", once],
    ["takes no such message", refusal(413, "resource_exhausted", "PAYLOAD_TOO_LARGE"), "resource_exhausted", once],
  ]) {
    for (const kind of Object.keys(CALLS)) {
      await t.test(`one that ${name}: ${kind}`, async (t) => {
        const server = await badServer(t, answer);
        const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
        const error = await errorOf(CALLS[kind](client));
        assert.equal(error.code, code, error.message);
        assert.equal(server.asked.length, tries[kind]);
      });
    }
  }
});

test("a refused connection is retried for every call", async () => {
  const baseUrl = await nobody();
  for (const kind of Object.keys(CALLS)) {
    let asked = 0;
    const counting = (...args) => ((asked += 1), fetch(...args));
    const client = createServiceClient({ apiKey: KEY, baseUrl, retry: THRICE, fetch: counting });
    const error = await errorOf(CALLS[kind](client));
    assert.deepEqual([kind, error.code, error.status, asked], [kind, "unavailable", undefined, 3]);
    assert.match(error.message, /127\.0\.0\.1/u);
  }
});

test("a network failure over a transport is unavailable and retried if safe", async (t) => {
  const thrice = { read: 3, change: 3, create: 3, trigger: 1 };
  for (const [name, transportOf] of Object.entries({
    Connect: createConnectTransport,
    "gRPC-Web": createGrpcWebTransport,
  })) {
    for (const [what, answer] of Object.entries({ reset, truncated })) {
      for (const kind of Object.keys(CALLS)) {
        const server = await badServer(t, answer);
        const transport = transportOf({ baseUrl: server.baseUrl });
        const client = createServiceClient({ apiKey: KEY, transport, retry: THRICE });
        const error = await errorOf(CALLS[kind](client));
        const came = [name, what, kind, error.code, server.asked.length];
        assert.deepEqual(came, [name, what, kind, "unavailable", thrice[kind]], error.message);
      }
    }
    const baseUrl = await nobody();
    for (const kind of Object.keys(CALLS)) {
      let asked = 0;
      const counting = (...args) => ((asked += 1), fetch(...args));
      const transport = transportOf({ baseUrl, fetch: counting });
      const error = await errorOf(CALLS[kind](createServiceClient({ apiKey: KEY, transport, retry: THRICE })));
      assert.deepEqual([name, kind, error.code, asked], [name, kind, "unavailable", 3], error.message);
    }
  }
});

test("a retried delete that finds nothing succeeds", async (t) => {
  const gone = refusal(404, "not_found", "NOT_FOUND");
  const clientOf = (server) => createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
  for (const lost of [reset, truncated, page(502)]) {
    const server = await badServer(t, lost, gone);
    assert.deepEqual(await CALLS.change(clientOf(server)), {});
    assert.equal(server.asked.length, 2);
  }
  const limited = refusal(429, "resource_exhausted", "RATE_LIMITED");
  const putOff = refusal(503, "unavailable", "UNAVAILABLE", { "retry-after": "0" });
  for (const nothingDone of [limited, putOff]) {
    const error = await errorOf(CALLS.change(clientOf(await badServer(t, nothingDone, gone))));
    assert.equal(error.code, "not_found", "nothing was deleted by the first try");
  }
  // The others have a response that a retry cannot provide.
  assert.equal((await errorOf(CALLS.read(clientOf(await badServer(t, reset, gone))))).code, "not_found");
  const update = clientOf(await badServer(t, reset, gone)).statusReport.v1.StatusReportService;
  assert.equal((await errorOf(update.deleteStatusReportUpdate({ id: "upd_1" }))).code, "not_found");
});

test("a lost response to a key's own revocation is a success", async (t) => {
  const apiKey = "aloft_0000000000001_secret";
  const revoked = json(401, { detail: "the key was revoked", reason: "KEY_REVOKED" });
  const revoking = async (id, ...answers) => {
    const server = await badServer(t, ...answers);
    return createServiceClient({ apiKey, baseUrl: server.baseUrl, retry: THRICE }).revokeKey(id);
  };
  assert.equal(await revoking("key_0000000000001", reset, revoked), undefined);
  const expected = { code: "unauthenticated", reason: "KEY_REVOKED" };
  await assert.rejects(revoking("key_0000000000001", revoked), expected, "it was revoked before");
  await assert.rejects(revoking("key_0000000000002", reset, revoked), expected, "another key was meant");
});

test("only the beginning of a foreign response is read", async (t) => {
  for (const [answer, shown] of [
    [endless("<p>"), /that is empty/u],
    [endless("<"), /“<<</u],
    [endless("<style"), /that is empty/u],
    [endless("words "), /“words words .*…”/u],
  ]) {
    const server = await badServer(t, answer);
    const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: false, timeoutMs: 0 });
    const error = await errorOf(CALLS.read(client));
    assert.equal(error.code, "unavailable");
    assert.match(error.message, shown);
  }
});

test("a server that recovers causes no error", async (t) => {
  for (const answer of [reset, truncated, page(502), refusal(429, "resource_exhausted", "RATE_LIMITED")]) {
    const server = await badServer(t, answer, answer, json(200, { monitor: { http: { id: "mon_1" } } }));
    const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
    const { monitor } = await CALLS.read(client);
    assert.deepEqual([monitor.http.id, server.asked.length], ["mon_1", 3]);
  }
});

test("a refusal before execution is retried for every call", async (t) => {
  const later = refusal(503, "unavailable", "UNAVAILABLE", { "retry-after": "0" });
  const server = await badServer(t, later, json(200, { results: [] }));
  const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
  assert.deepEqual((await CALLS.trigger(client)).results, []);
  assert.equal(server.asked.length, 2);
});

test("every call is sent once without retries", async (t) => {
  const server = await badServer(t, page(502));
  const without = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: false });
  await errorOf(CALLS.read(without));
  assert.equal(server.asked.length, 1);
  const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
  await errorOf(CALLS.read(client, { retry: false }));
  assert.equal(server.asked.length, 2);
  await errorOf(CALLS.read(without, { retry: { attempts: 2, firstPauseMs: 0 } }));
  assert.equal(server.asked.length, 4);
});

test("a silent server fails at the call's time limit", async (t) => {
  const timers = holdTimers(t);
  for (const answer of [silence, stuck]) {
    const server = await badServer(t, answer);
    const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, timeoutMs: 100 });
    const visited = server.next();
    const failed = errorOf(CALLS.read(client));
    await visited;
    (await timers.next((delay) => delay === 100)).fire();
    const error = await failed;
    assert.deepEqual([error.code, server.asked.length], ["deadline_exceeded", 1]);
    assert.match(error.message, /100 ms/u);
  }
});

test("a slow response is read to its end", async (t) => {
  const name = "Shop API ".repeat(20);
  const server = await badServer(t, dribbling({ monitor: { http: { id: "mon_1", name } } }));
  const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl });
  assert.equal((await CALLS.read(client)).monitor.http.name, name);
  assert.equal(server.asked.length, 1);
});

test("unknown response fields are kept", async (t) => {
  const newer = { monitor: { http: { id: "mon_1", colour: "blue" } }, forecast: { rain: true } };
  const server = await badServer(t, json(200, newer));
  const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl });
  assert.equal((await CALLS.read(client)).monitor.http.id, "mon_1");
  const unheard = refusal(400, "invalid_argument", "MOON_IS_FULL");
  const refusing = await badServer(t, unheard);
  const error = await errorOf(CALLS.read(createServiceClient({ apiKey: KEY, baseUrl: refusing.baseUrl })));
  assert.deepEqual([error.code, error.reason, error.violations], ["invalid_argument", "MOON_IS_FULL", []]);
});

test("a foreign page is an error with a hint", async (t) => {
  const server = await badServer(t, page(200));
  const error = await errorOf(CALLS.read(createServiceClient({ apiKey: KEY, baseUrl: server.origin })));
  assert.match(error.message, /baseUrl/u);
  const moved = await badServer(t, page(301, { location: "https://elsewhere.example/rpc" }));
  const expected = await errorOf(CALLS.read(createServiceClient({ apiKey: KEY, baseUrl: moved.baseUrl })));
  assert.match(expected.message, /https:\/\/elsewhere\.example\/rpc/u);
  assert.equal(moved.asked.length, 1);
});

test("the endpoints of /v1 treat bad servers in the same way", async (t) => {
  for (const [answer, code, tries] of [
    [reset, "unavailable", 3],
    [page(502), "unavailable", 3],
    [page(404), "unimplemented", 1],
    [page(429), "resource_exhausted", 3],
    [page(200), "internal", 1],
  ]) {
    const server = await badServer(t, answer);
    const client = createServiceClient({ apiKey: KEY, baseUrl: server.baseUrl, retry: THRICE });
    const error = await errorOf(client.whoami());
    assert.deepEqual([error.code, server.asked.length], [code, tries], error.message);
    assert.equal(server.asked[0].path, "/v1/whoami");
  }
});
