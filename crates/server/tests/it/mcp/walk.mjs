// Walks all tools with the protocol's official client, as an assistant would on a day with an outage. The test
// passes the folder of the packages, the URL, two keys, and IDs of what no tool creates. Prints a line of JSON.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { packages, url, keys, page, component, channel } = JSON.parse(process.argv[2]);
const require = createRequire(packages + "/");
const load = async (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

async function connect(key) {
  const client = new Client({ name: "walk", version: "1" });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

const reader = await connect(keys.read);
const writer = await connect(keys.write);
const called = new Set();

async function call(name, args = {}) {
  called.add(name);
  const result = await writer.callTool({ name, arguments: args });
  assert.equal(result.isError, false, `${name}: ${JSON.stringify(result.content)}`);
  assert.deepEqual(JSON.parse(result.content[1].text), result.structuredContent, name);
  return result.structuredContent;
}

await call("whoami");
await call("list_regions");
await call("list_probes");

const down = { periodicity: "1h", active: true, retry: 0 };
const http = (await call("create_http_monitor", { monitor: { name: "Shop", url: "http://localhost:1/", ...down } })).monitor.id;
const tcp = (await call("create_tcp_monitor", { monitor: { name: "Mail", uri: "localhost:1", ...down } })).monitor.id;
const dns = (await call("create_dns_monitor", { monitor: { name: "Name", uri: "localhost", ...down } })).monitor.id;
const waiting = { name: "Backup", interval: 3600, active: true };
const heartbeat = (await call("create_heartbeat_monitor", { monitor: waiting })).monitor.id;
await call("update_heartbeat_monitor", { monitor: { id: heartbeat, grace: 600 } });
await call("rotate_heartbeat_url", { id: heartbeat });
await call("update_http_monitor", { monitor: { id: http, tags: ["shop"] } });
await call("update_tcp_monitor", { monitor: { id: tcp, timeout: 5000 } });
await call("update_dns_monitor", { monitor: { id: dns, name: "Our name" } });
assert.equal((await call("pause_monitor", { id: dns, notify: true })).monitor.active, false);
assert.equal((await call("resume_monitor", { id: dns })).monitor.active, true);

await call("trigger_monitor", { id: http });
const broken = await call("list_broken");
assert.ok(broken.brokenMonitors.some((it) => it.id === http), JSON.stringify(broken));
assert.equal((await call("list_monitors", { tags: ["shop"] })).totalSize, 1);
assert.equal((await call("get_monitor", { id: http })).monitor.http.status, "error");
assert.equal((await call("get_monitor_status", { id: http })).status, "error");
await call("get_monitor_summary", { id: http });
const logs = await call("list_response_logs", { id: http });
await call("get_response_log", { monitorId: http, id: logs.logs[0].id });

const [incident] = (await call("list_incidents", { state: "open", monitorId: http })).incidents;
await call("get_incident", { id: incident.id });
await call("acknowledge_incident", { id: incident.id });
await call("comment_incident", { id: incident.id, text: "The port is closed.", idempotencyKey: "1" });

await call("list_status_pages");
await call("get_status_page", { id: page });
await call("get_status_page_overview", { id: page });
await call("list_components", { pageId: page });
await call("list_component_groups", { pageId: page });
const created = await call("create_status_report", {
  statusReport: { pageId: page, title: "Shop down", components: [{ componentId: component, impact: "down" }] },
  update: { status: "investigating", text: "We look into it." },
  notify: false,
});
const report = created.statusReport.id;
await call("update_status_report", { statusReport: { id: report, title: "Shop unavailable" } });
await call("add_status_report_update", { id: report, update: { status: "resolved", text: "It works." }, notify: false });
assert.equal((await call("get_status_report", { id: report })).statusReport.updates.length, 2);
await call("list_status_reports", { pageId: page });

const window = { title: "Upgrade", monitorIds: [tcp], startsAt: "2027-01-01T00:00:00Z", duration: "1h" };
const maintenance = (await call("create_maintenance", { maintenance: window, notify: true })).maintenance.id;
await call("list_maintenances");
await call("delete_maintenance", { id: maintenance, notify: true });

await call("list_channels");
assert.equal((await call("test_channel", { id: channel, notify: true })).accepted, false);
await call("resolve_incident", { id: incident.id, notify: true });
await call("delete_monitor", { id: dns, notify: true });

const listed = (await writer.listTools()).tools.map((tool) => tool.name);
const refused = await reader.callTool({ name: "delete_monitor", arguments: { id: tcp } });
assert.equal(refused.isError, true);
const readable = (await reader.listTools()).tools.map((tool) => tool.name);
const answer = { server: writer.getServerVersion().name, missed: listed.filter((name) => !called.has(name)), readable: readable.length };
process.stdout.write(JSON.stringify(answer) + "\n");
await reader.close();
await writer.close();
