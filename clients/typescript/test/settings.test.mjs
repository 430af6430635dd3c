// Key and base address from option, environment, both or neither (spec §5.3, §5.4; issue 8, point 2), and the
// address of the calls.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createServiceClient } from "@aloft/client";

import { given } from "./support/given.mjs";

const { baseUrl, host, keys } = given.server;

/** Sets environment variables for one test. */
function environment(t, variables) {
  const before = { ...process.env };
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  });
  for (const [name, value] of Object.entries(variables)) process.env[name] = value;
}

/** A `fetch` that records its requests and returns nothing of its own. */
function recording(answer = {}) {
  const asked = [];
  const send = async (url, init) => {
    asked.push({ url: String(url), headers: new Headers(init?.headers) });
    return Response.json(answer);
  };
  return { asked, send };
}

test("the option sets the key", async () => {
  const client = createServiceClient({ apiKey: keys.read, baseUrl });
  assert.deepEqual((await client.whoami()).actor.scopes, ["read"]);
  assert.ok(Array.isArray((await client.monitor.v1.MonitorService.listMonitors({})).httpMonitors));
});

test("the key defaults to the environment's", async (t) => {
  environment(t, { SERVICE_API_KEY: keys.read });
  assert.deepEqual((await createServiceClient({ baseUrl }).whoami()).actor.scopes, ["read"]);
  assert.deepEqual((await createServiceClient({ baseUrl, apiKey: "" }).whoami()).actor.scopes, ["read"]);
});

test("the option's key overrides the environment's", async (t) => {
  environment(t, { SERVICE_API_KEY: keys.read });
  assert.deepEqual((await createServiceClient({ baseUrl, apiKey: keys.write }).whoami()).actor.scopes, ["write"]);
});

test("a call without a key fails, and headers may carry one", async () => {
  const client = createServiceClient({ baseUrl });
  const list = (options) => Promise.resolve(client.monitor.v1.MonitorService.listMonitors({}, options));
  await assert.rejects(list(), { code: "unauthenticated", reason: "KEY_MISSING", status: 401 });
  await assert.rejects(client.whoami(), { code: "unauthenticated", reason: "KEY_MISSING", status: 401 });
  for (const headers of [
    { "x-service-key": keys.read },
    { "X-Service-Key": keys.read },
    new Headers({ "x-service-key": keys.read }),
    [["x-service-key", keys.read]],
  ]) {
    assert.ok(Array.isArray((await list({ headers })).tcpMonitors));
    assert.deepEqual((await client.whoami({ headers })).actor.scopes, ["read"]);
  }
});

test("a call's key overrides the client's", async () => {
  const client = createServiceClient({ apiKey: keys.read, baseUrl });
  const mine = await client.whoami();
  const other = await client.whoami({ headers: { "x-service-key": keys.other } });
  assert.notEqual(other.slug, mine.slug);
});

test("the key is sent with every request and nothing else", async () => {
  const { asked, send } = recording({ httpMonitors: [], tcpMonitors: [], dnsMonitors: [], nextPageToken: "" });
  const client = createServiceClient({ apiKey: "aloft_key", baseUrl: "https://up.example/rpc", fetch: send });
  await client.monitor.v1.MonitorService.listMonitors({});
  await client.whoami();
  await client.revokeKey("key_1");
  assert.deepEqual(
    asked.map(({ url, headers }) => [url.split("?")[0], headers.get("x-service-key"), headers.get("authorization")]),
    [
      ["https://up.example/rpc/monitor.v1.MonitorService/ListMonitors", "aloft_key", null],
      ["https://up.example/v1/whoami", "aloft_key", null],
      ["https://up.example/v1/api-key/key_1", "aloft_key", null],
    ],
  );
});

test("the base address comes from option, environment or default", async (t) => {
  const asked = async (options) => {
    const { asked, send } = recording({ regions: [] });
    const client = createServiceClient({ apiKey: "aloft_key", fetch: send, ...options });
    await client.region.v1.RegionService.listRegions({});
    return asked[0].url.split("?")[0].replace("/region.v1.RegionService/ListRegions", "");
  };
  assert.equal(await asked({}), "http://127.0.0.1:8080/rpc");
  assert.equal(await asked({ baseUrl: "https://up.example/rpc/" }), "https://up.example/rpc");
  environment(t, { SERVICE_API_URL: "https://staging.example/rpc" });
  assert.equal(await asked({}), "https://staging.example/rpc");
  assert.equal(await asked({ baseUrl: "" }), "https://staging.example/rpc");
  // spec: §5.4
  assert.equal(await asked({ baseUrl: "https://up.example/rpc" }), "https://up.example/rpc");
});

test("the environment's address is used, for /v1 too", async (t) => {
  environment(t, { SERVICE_API_URL: baseUrl, SERVICE_API_KEY: keys.write });
  const client = createServiceClient();
  assert.ok(Array.isArray((await client.monitor.v1.MonitorService.listMonitors()).dnsMonitors));
  assert.deepEqual((await client.whoami()).actor.type, "apiKey");
});

test("a server may be at a path of its host", async () => {
  const { asked, send } = recording({ name: "Acme" });
  const client = createServiceClient({ apiKey: "aloft_key", baseUrl: "https://example.com/up/rpc", fetch: send });
  await client.whoami();
  assert.equal(asked[0].url, "https://example.com/up/v1/whoami");
  // Services also respond at the root of the host.
  const atRoot = createServiceClient({ apiKey: keys.read, baseUrl: host });
  assert.equal((await atRoot.region.v1.RegionService.listRegions({})).regions.length, 28);
  assert.deepEqual((await atRoot.whoami()).actor.scopes, ["read"]);
});

test("invalid settings are rejected when the client is created", () => {
  for (const options of [
    { baseUrl: "up.example/rpc" },
    { baseUrl: "ftp://up.example/rpc" },
    { baseUrl: "https://ada:secret@up.example/rpc" },
    { apiKey: "two words" },
    { timeoutMs: -1 },
    { timeoutMs: Number.NaN },
    { retry: { attempts: 0 } },
  ]) {
    assert.throws(() => createServiceClient(options), { code: "invalid_argument" }, JSON.stringify(options));
  }
});
