// The client over connect-es transports (issue 8, point 1): every scenario over gRPC-Web in protobuf, and
// over others, whose calls, responses and errors equal those over `fetch`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createServiceClient, isInvalidArgument, isNotFound } from "@aloft/client";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";

import { given, scenariosFolder } from "./support/given.mjs";
import { play } from "./support/player.mjs";
import { site } from "./support/site.mjs";

for (const file of readdirSync(scenariosFolder).filter((name) => name.endsWith(".json"))) {
  const scenario = JSON.parse(readFileSync(join(scenariosFolder, file), "utf8"));
  // gRPC has its own status, so no error has an HTTP status.
  for (const { error } of scenario.steps) if (error) delete error.status;
  test(`${scenario.name} over gRPC-Web`, async (t) => {
    const [target, receiver] = [await site(t, 200), await site(t, 204)];
    const now = new Date().toISOString().replace(/\.\d+Z$/u, "Z");
    const names = { target: target.url, receiver: receiver.url, now };
    const there = given[scenario.name];
    await play(t, scenario, there, names, createGrpcWebTransport({ baseUrl: there.baseUrl }));
  });
}

for (const [name, transportOf] of Object.entries({
  "Connect in binary": ({ baseUrl }) => createConnectTransport({ baseUrl, useBinaryFormat: true }),
  "Connect in JSON by GET": ({ baseUrl }) => createConnectTransport({ baseUrl, useHttpGet: true }),
  "gRPC-Web in JSON": ({ baseUrl }) => createGrpcWebTransport({ baseUrl, useBinaryFormat: false }),
})) {
  test(`calls, answers and errors come through ${name}`, async () => {
    const { baseUrl, keys } = given.server;
    const plain = createServiceClient({ apiKey: keys.write, baseUrl });
    const client = createServiceClient({ apiKey: keys.write, baseUrl, transport: transportOf({ baseUrl }) });
    const [service, same] = [client.monitor.v1.MonitorService, plain.monitor.v1.MonitorService];
    const { monitor } = await service.createTcpMonitor({
      monitor: { name: "Database", uri: "db.example.com:5432", periodicity: "1m", timeout: 0 },
    });
    const { id } = monitor;
    assert.deepEqual(await service.getMonitor({ id }), await same.getMonitor({ id }));
    assert.deepEqual(await service.listMonitors({ limit: 1 }), await same.listMonitors({ limit: 1 }));
    const change = { monitor: { id, retry: 0 }, updateMask: ["retry", "timeout"] };
    assert.deepEqual((await service.updateTcpMonitor(change)).monitor.timeout, 45_000);
    await service.deleteMonitor({ id });
    const [gone, wrong] = await Promise.all([
      Promise.resolve(service.getMonitor({ id })).catch((error) => error),
      Promise.resolve(service.listMonitors({ limit: 0 })).catch((error) => error),
    ]);
    assert.ok(isNotFound(gone) && gone.reason === "NOT_FOUND" && gone.requestId.length > 0, gone.stack);
    assert.ok(isInvalidArgument(wrong), wrong.stack);
    assert.deepEqual(wrong.violations.map(({ field }) => field), ["limit"]);
  });
}
