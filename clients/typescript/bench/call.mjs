// Measures a call against plain `fetch` with JSON on loopback: both in one run, alternating, against a server
// in its own process that responds immediately. It also measures a client over connect-web's transport, for
// docs/decisions/0037. Fails above the bound of issue 8. Needs `npm run build`.
//
//     node bench/call.mjs                         # a server that answers the same each time
//     node bench/call.mjs http://…/rpc aloft_…    # a real one with a monitor at least

import { fork } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import { createServiceClient } from "@aloft/client";
import { createConnectTransport } from "@connectrpc/connect-web";

const PERCENT_MAX = 15;
const ROUNDS = 3_000;
const WARM_UP_ROUNDS = 1_000;

const MONITOR = {
  id: "mon_0000000000001",
  name: "API",
  url: "https://example.com/health",
  periodicity: "30s",
  method: "GET",
  body: "",
  timeout: 45000,
  retry: 3,
  followRedirects: true,
  active: true,
  public: false,
  regions: ["fly-ams", "fly-iad", "fly-sin"],
  headers: [{ key: "accept", value: "application/json" }],
  statusCodeAssertions: [{ target: 200, comparator: "eq" }],
  bodyAssertions: [],
  headerAssertions: [],
  status: "active",
  effectiveDegradedAt: 30000,
  resolvedRegions: ["fly-ams", "fly-iad", "fly-sin"],
  createdAt: "2026-11-21T14:35:00Z",
  updatedAt: "2026-11-21T14:35:00.125Z",
};
const SERVICE = "monitor.v1.MonitorService";

if (process.argv[2] === "serve") {
  serve();
} else {
  const [baseUrl, apiKey] = process.argv[2] === undefined ? await started() : process.argv.slice(2);
  await measure(baseUrl, apiKey);
  process.exit();
}

/** Returns a monitor, or as many as requested. */
function serve() {
  const list = (limit) => ({
    httpMonitors: Array(limit).fill(MONITOR),
    tcpMonitors: [],
    dnsMonitors: [],
    totalSize: limit,
    nextPageToken: "",
  });
  const answers = new Map([
    ["GetMonitor", () => ({ monitor: { http: MONITOR } })],
    ["ListMonitors", ({ limit }) => list(limit)],
  ]);
  const known = new Map();
  const server = createServer((request, response) => {
    let body = "";
    request
      .on("data", (chunk) => (body += chunk))
      .on("end", () => {
        const key = request.url + body;
        const json =
          known.get(key) ?? JSON.stringify(answers.get(request.url.split("/").at(-1))(JSON.parse(body)));
        known.set(key, json);
        response
          .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(json) })
          .end(json);
      });
  });
  server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}/rpc`));
}

async function started() {
  const child = fork(fileURLToPath(import.meta.url), ["serve"]);
  process.on("exit", () => child.kill());
  return [await new Promise((resolve) => child.once("message", resolve)), "aloft_key"];
}

async function measure(baseUrl, apiKey) {
  const client = createServiceClient({ baseUrl, apiKey }).monitor.v1.MonitorService;
  const connect = createServiceClient({ baseUrl, apiKey, transport: createConnectTransport({ baseUrl }) })
    .monitor.v1.MonitorService;
  const plain = async (method, request) => {
    const response = await fetch(`${baseUrl}/${SERVICE}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-key": apiKey },
      body: JSON.stringify(request),
    });
    return await response.json();
  };
  const { httpMonitors } = await client.listMonitors({ limit: 1 });
  const id = httpMonitors[0].id;
  let worst = 0;
  console.log("µs a call, median    fetch   client          connect-web's transport");
  for (const [name, method, request] of [
    ["getMonitor", "GetMonitor", { id }],
    ["listMonitors, 1", "ListMonitors", { limit: 1 }],
    ["listMonitors, 50", "ListMonitors", { limit: 50 }],
  ]) {
    const own = method.charAt(0).toLowerCase() + method.slice(1);
    const [base, ours, other] = await medians([
      () => plain(method, request),
      () => client[own](request),
      () => connect[own](request),
    ]);
    const over = (value) =>
      `${value.toFixed(1).padStart(8)} ${`${value < base ? "" : "+"}${((value / base - 1) * 100).toFixed(1)} %`.padStart(8)}`;
    console.log(name.padEnd(18), base.toFixed(1).padStart(8), over(ours), "   ", over(other));
    worst = Math.max(worst, (ours / base - 1) * 100);
  }
  if (worst > PERCENT_MAX) {
    console.error(`past the bound: ${worst.toFixed(1)} % over fetch, at most ${PERCENT_MAX}`);
    process.exitCode = 1;
  }
}

/** The median of each variant's calls, in microseconds. The variants alternate call by call. */
async function medians(ways) {
  const times = ways.map(() => []);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (let turn = 0; turn < ways.length; turn += 1) {
      const index = (round + WARM_UP_ROUNDS + turn) % ways.length;
      const begun = performance.now();
      await ways[index]();
      if (round >= 0) {
        times[index].push((performance.now() - begun) * 1_000);
      }
    }
  }
  return times.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]);
}
