// Webhooks from the real server through `verifyWebhook` (issue 8, point 1): channels, pages, two secrets
// during a rotation, forgeries, and the receivers that pages print.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Server } from "node:http";
import { join } from "node:path";
import { test } from "node:test";

import { createServiceClient, ServiceError, verifyWebhook } from "@aloft/client";

import { given, packageFolder } from "./support/given.mjs";
import { site } from "./support/site.mjs";

const { baseUrl, keys } = given.server;
const client = createServiceClient({ apiKey: keys.write, baseUrl });
const { NotificationService } = client.notification.v1;

/** A channel to a receiver of this test, and a signing secret of the workspace. */
async function createChannel(t, options = {}) {
  const receiver = await site(t, 204);
  const { secret } = await NotificationService.rotateSigningSecret({ overlapHours: 1 });
  const webhook = { endpoint: `${receiver.url}/hook` };
  const { notification } = await NotificationService.createNotification({
    notification: { providerType: "webhook", webhook, ...options },
  });
  t.after(() => NotificationService.deleteNotification({ id: notification.id }));
  return { receiver, secret, channel: notification.id };
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A receiver's response status to a signed event. */
async function posted(url, event, changes = {}) {
  const [id, stamp, body] = ["msg_1", `${Math.floor(Date.now() / 1000)}`, JSON.stringify(event)];
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${stamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": `v1,${mac}`, ...changes };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** Pages that print a receiver, relative to the package's folder. */
const PRINTED = ["README.md", "../../docs/guides/alerts.md", "../../docs/reference/webhook.md"];

/** Runs the receiver that a page prints at a free port, and returns its address. */
async function printed(t, page, secret) {
  const text = readFileSync(join(packageFolder, page), "utf8");
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/gu)].map(([, block]) => block);
  const [receiver, ...others] = blocks.filter((block) => block.includes("verifyWebhook"));
  assert.ok(receiver && others.length === 0, `${page} prints one receiver`);
  mkdirSync(join(packageFolder, "build"), { recursive: true });
  const folder = mkdtempSync(join(packageFolder, "build", "receiver-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "receiver.mjs"), receiver);
  const { WEBHOOK_SECRET: before } = process.env;
  process.env.WEBHOOK_SECRET = secret;
  t.after(() => {
    if (before === undefined) delete process.env.WEBHOOK_SECRET;
    else process.env.WEBHOOK_SECRET = before;
  });
  const { listen } = Server.prototype;
  let server;
  const anywhere = t.mock.method(Server.prototype, "listen", function (port) {
    assert.equal(port, 9000);
    server = listen.call(this, 0, "127.0.0.1");
    return server;
  });
  await import(join(folder, "receiver.mjs"));
  anywhere.mock.restore();
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  if (!server.listening) await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A channel's test message as its receiver got it. */
async function tested({ receiver, channel }) {
  const coming = receiver.next();
  const { accepted, answer } = await NotificationService.testNotification({ id: channel });
  assert.ok(accepted, answer);
  return coming;
}

test("webhooks are verified with every form of headers and body", async (t) => {
  const channel = await createChannel(t);
  const { headers, body } = await tested(channel);
  for (const form of [headers, new Headers(headers)]) {
    for (const text of [body, new TextEncoder().encode(body), Buffer.from(body)]) {
      const event = await verifyWebhook({ headers: form, body: text, secret: channel.secret });
      assert.deepEqual([event.version, event.type, event.data.channel], [1, "channel.test", channel.channel]);
      assert.equal(event.data.events[0].event, "test");
    }
  }
});

test("forged, changed, old or foreign webhooks are rejected", async (t) => {
  const channel = await createChannel(t);
  const { headers, body } = await tested(channel);
  const { secret } = channel;
  const seconds = Number(headers["webhook-timestamp"]);
  const changed = (change) => ({ ...headers, ...change });
  const earlier = changed({ "webhook-timestamp": `${seconds - 1}` });
  const without = (name) => Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name));
  for (const [what, input, reason] of [
    ["another body", { headers, body: body.replace("test", "rest"), secret }, "WEBHOOK_SIGNATURE"],
    ["another id", { headers: changed({ "webhook-id": "other" }), body, secret }, "WEBHOOK_SIGNATURE"],
    ["another time", { headers: earlier, body, secret }, "WEBHOOK_SIGNATURE"],
    ["another secret", { headers, body, secret: SECRET }, "WEBHOOK_SIGNATURE"],
    ["another version", { headers: changed({ "webhook-signature": "v2,abc" }), body, secret }, "WEBHOOK_SIGNATURE"],
    ["an old one", { headers, body, secret, now: (seconds + 301) * 1000 }, "WEBHOOK_TIMESTAMP"],
    ["one of the future", { headers, body, secret, now: (seconds - 301) * 1000 }, "WEBHOOK_TIMESTAMP"],
    ["no time", { headers: changed({ "webhook-timestamp": "soon" }), body, secret }, "WEBHOOK_TIMESTAMP"],
    ["no id", { headers: without("webhook-id"), body, secret }, "WEBHOOK_HEADERS_MISSING"],
    ["no signature", { headers: without("webhook-signature"), body, secret }, "WEBHOOK_HEADERS_MISSING"],
  ]) {
    await assert.rejects(verifyWebhook(input), { code: "unauthenticated", reason }, what);
  }
  await assert.rejects(verifyWebhook({ headers, body, secret: "whsec_?" }), { code: "invalid_argument" });
});

test("the previous secret is valid during a rotation", async (t) => {
  const channel = await createChannel(t);
  const { secret } = await NotificationService.rotateSigningSecret({ overlapHours: 1 });
  const { headers, body } = await tested(channel);
  assert.ok(headers["webhook-signature"].split(" ").length >= 2, headers["webhook-signature"]);
  for (const known of [secret, channel.secret, [secret, channel.secret]]) {
    assert.equal((await verifyWebhook({ headers, body, secret: known })).type, "channel.test");
  }
  const { secret: last } = await NotificationService.rotateSigningSecret({ overlapHours: 0 });
  const after = await tested(channel);
  assert.equal((await verifyWebhook({ ...after, secret: last })).type, "channel.test");
  await assert.rejects(verifyWebhook({ ...after, secret }), { reason: "WEBHOOK_SIGNATURE" });
});

for (const page of PRINTED) {
  test(`the receiver of ${page} refuses for good what is forged, and nothing else`, async (t) => {
    const url = await printed(t, page, SECRET);
    t.mock.method(console, "error", () => {});
    const log = t.mock.method(console, "log", () => {});
    const event = {
      version: 1, type: "monitor.error", timestamp: null,
      data: { channel: "chn_1", link: null, events: [{ monitor: { name: "Shop API" }, summary: "it answered 503" }] },
    };
    assert.deepEqual([await posted(url, event), log.mock.callCount()], [204, 1]);
    assert.equal(await posted(url, event, { "webhook-signature": "v1,Zm9yZ2Vk" }), 401);
    assert.equal(log.mock.callCount(), 1, "a forged event has no effect");
    // 5xx is sent again; any other status would lose the alert.
    assert.equal(await posted(url, { ...event, version: 2 }), 500, "of a newer server");
    log.mock.mockImplementation(() => {
      throw new ServiceError("the key of what is called from here ended", { code: "unauthenticated" });
    });
    assert.equal(await posted(url, event), 500, "what is made of it fails");
  });
}

test("an incident event has its monitor, regions and reason", async (t) => {
  const target = await site(t, 200);
  const { MonitorService } = client.monitor.v1;
  const url = `${target.url}/status/503`;
  const { monitor } = await MonitorService.createHttpMonitor({
    monitor: { name: "Shop API", url, periodicity: "30s", retry: 0, regions: ["fly-ams"] },
  });
  t.after(() => MonitorService.deleteMonitor({ id: monitor.id }));
  const { receiver, secret } = await createChannel(t, { monitorIds: [monitor.id] });
  const coming = receiver.next();
  await MonitorService.updateHttpMonitor({ monitor: { id: monitor.id, active: true }, updateMask: "active" });
  const event = await verifyWebhook({ ...(await coming), secret });
  assert.equal(event.type, "monitor.error");
  const [{ monitor: named, incident, regions, summary }] = event.data.events;
  assert.deepEqual([named.id, named.name, named.kind], [monitor.id, "Shop API", "http"]);
  assert.deepEqual([regions[0].region, regions[0].failing, regions[0].status], ["fly-ams", true, 503]);
  assert.match(incident, /^inc_/u);
  assert.match(summary, /503/u);
});

test("webhooks of pages have the same signature", async (t) => {
  const receiver = await site(t, 204);
  const { secret } = await NotificationService.rotateSigningSecret({ overlapHours: 1 });
  const { StatusPageService } = client.statusPage.v1;
  const { statusPage } = await StatusPageService.createStatusPage({
    statusPage: { title: "Acme Status", slug: "acme-webhooks" },
  });
  t.after(() => StatusPageService.deleteStatusPage({ id: statusPage.id }));
  const subscriber = { pageId: statusPage.id, webhookUrl: `${receiver.url}/news` };
  await StatusPageService.addSubscriber({ subscriber });
  const coming = receiver.next();
  await client.statusReport.v1.StatusReportService.createStatusReport({
    statusReport: { pageId: statusPage.id, title: "Checkout is slow" },
    update: { status: "investigating", text: "We are looking into it." },
  });
  const event = await verifyWebhook({ ...(await coming), secret });
  assert.match(event.type, /report/u);
  assert.match(JSON.stringify(event.data), /Checkout is slow/u);
});
