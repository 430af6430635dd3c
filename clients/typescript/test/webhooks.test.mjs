// Webhooks as the real server sends them, through `verifyWebhook` (issue 8, point 1): channels, pages, two
// secrets during a rotation, and what is forged.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createServiceClient, verifyWebhook } from "@aloft/client";

import { given } from "./support/given.mjs";
import { site } from "./support/site.mjs";

const { baseUrl, keys } = given.server;
const client = createServiceClient({ apiKey: keys.write, baseUrl });
const { NotificationService } = client.notification.v1;

/** A channel that tells a receiver of this test, and a signing secret of the workspace. */
async function told(t, options = {}) {
  const receiver = await site(t, 204);
  const { secret } = await NotificationService.rotateSigningSecret({ overlapHours: 1 });
  const webhook = { endpoint: `${receiver.url}/hook` };
  const { notification } = await NotificationService.createNotification({
    notification: { providerType: "webhook", webhook, ...options },
  });
  t.after(() => NotificationService.deleteNotification({ id: notification.id }));
  return { receiver, secret, channel: notification.id };
}

/** A test of a channel as its receiver got it. */
async function tested({ receiver, channel }) {
  const coming = receiver.next();
  const { accepted, answer } = await NotificationService.testNotification({ id: channel });
  assert.ok(accepted, answer);
  return coming;
}

test("what the server sends is verified, in every form that headers and bodies have", async (t) => {
  const scene = await told(t);
  const { headers, body } = await tested(scene);
  for (const form of [headers, new Headers(headers)]) {
    for (const text of [body, new TextEncoder().encode(body), Buffer.from(body)]) {
      const event = await verifyWebhook({ headers: form, body: text, secret: scene.secret });
      assert.deepEqual([event.version, event.type, event.data.channel], [1, "channel.test", scene.channel]);
      assert.equal(event.data.events[0].event, "test");
    }
  }
});

test("what is forged, changed, old or signed by others is refused", async (t) => {
  const scene = await told(t);
  const { headers, body } = await tested(scene);
  const { secret } = scene;
  const seconds = Number(headers["webhook-timestamp"]);
  const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const changed = (change) => ({ ...headers, ...change });
  const earlier = changed({ "webhook-timestamp": `${seconds - 1}` });
  const without = (name) => Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name));
  for (const [what, input, reason] of [
    ["another body", { headers, body: body.replace("test", "rest"), secret }, "WEBHOOK_SIGNATURE"],
    ["another id", { headers: changed({ "webhook-id": "other" }), body, secret }, "WEBHOOK_SIGNATURE"],
    ["another time", { headers: earlier, body, secret }, "WEBHOOK_SIGNATURE"],
    ["another secret", { headers, body, secret: other }, "WEBHOOK_SIGNATURE"],
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

test("during a rotation the secret before holds too", async (t) => {
  const scene = await told(t);
  const { secret } = await NotificationService.rotateSigningSecret({ overlapHours: 1 });
  const { headers, body } = await tested(scene);
  assert.ok(headers["webhook-signature"].split(" ").length >= 2, headers["webhook-signature"]);
  for (const known of [secret, scene.secret, [secret, scene.secret]]) {
    assert.equal((await verifyWebhook({ headers, body, secret: known })).type, "channel.test");
  }
  const { secret: last } = await NotificationService.rotateSigningSecret({ overlapHours: 0 });
  const after = await tested(scene);
  assert.equal((await verifyWebhook({ ...after, secret: last })).type, "channel.test");
  await assert.rejects(verifyWebhook({ ...after, secret }), { reason: "WEBHOOK_SIGNATURE" });
});

test("an incident is told with its monitor, its regions and why", async (t) => {
  const target = await site(t, 200);
  const { MonitorService } = client.monitor.v1;
  const url = `${target.url}/status/503`;
  const { monitor } = await MonitorService.createHttpMonitor({
    monitor: { name: "Shop API", url, periodicity: "30s", retry: 0, regions: ["fly-ams"] },
  });
  t.after(() => MonitorService.deleteMonitor({ id: monitor.id }));
  const { receiver, secret } = await told(t, { monitorIds: [monitor.id] });
  const coming = receiver.next();
  await MonitorService.updateHttpMonitor({ monitor: { id: monitor.id, active: true }, updateMask: "active" });
  const event = await verifyWebhook({ ...(await coming), secret });
  assert.equal(event.type, "monitor.error");
  const [{ monitor: named, incident, regions, why }] = event.data.events;
  assert.deepEqual([named.id, named.name, named.kind], [monitor.id, "Shop API", "http"]);
  assert.deepEqual([regions[0].region, regions[0].failing, regions[0].status], ["fly-ams", true, 503]);
  assert.match(incident, /^inc_/u);
  assert.match(why, /503/u);
});

test("subscribers of a page are told by the same signature", async (t) => {
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
