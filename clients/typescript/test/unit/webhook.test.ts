// The signature against the published example, and the event types against docs/reference.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  CHANNEL_EVENT_TYPES,
  type ChannelEvent,
  type IncidentEvent,
  isServiceError,
  type MaintenanceEvent,
  type MonitorEvent,
  PAGE_EVENT_TYPES,
  type PageWebhook,
  type PageEvent,
  type ReportEvent,
  verifyWebhook,
} from "../../src/index.js";

// The example of the Standard Webhooks reference libraries.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const SENT_AT = 1_614_265_330;
const WEBHOOK = {
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": String(SENT_AT),
    "webhook-signature": SIGNED,
  },
  body: '{"test": 2432232314}',
  secret: SECRET,
  now: SENT_AT * 1_000,
};

/** Reason of a rejected webhook, whose body is signed but not an event. */
async function refusal(changes: object, headers: object = {}): Promise<string> {
  try {
    await verifyWebhook({ ...WEBHOOK, ...changes, headers: { ...WEBHOOK.headers, ...headers } });
    return "accepted";
  } catch (error) {
    assert.ok(isServiceError(error));
    return String(error.reason);
  }
}

test("the published example is valid", async () => {
  assert.equal(await refusal({}), "WEBHOOK_BODY");
});

test("one valid signature and one valid secret are enough", async () => {
  const wrong = `v1,${btoa("x".repeat(32))}`;
  for (const signatures of [`${wrong} ${SIGNED}`, `v1a,else ${SIGNED} ${wrong}`, `v1,%% ${SIGNED}`]) {
    assert.equal(await refusal({}, { "webhook-signature": signatures }), "WEBHOOK_BODY", signatures);
  }
  assert.equal(await refusal({ secret: [`whsec_${btoa("another")}`, SECRET] }), "WEBHOOK_BODY");
  assert.equal(await refusal({ secret: SECRET.slice("whsec_".length) }), "WEBHOOK_BODY");
});

test("any change of a signed webhook is rejected with a reason", async () => {
  const seconds = (offset: number) => ({ now: (SENT_AT + offset) * 1_000 });
  for (const [changes, headers, reason] of [
    [{ body: '{"test": 2432232315}' }, {}, "WEBHOOK_SIGNATURE"],
    [{}, { "webhook-id": "msg_other" }, "WEBHOOK_SIGNATURE"],
    [{}, { "webhook-signature": "" }, "WEBHOOK_HEADERS_MISSING"],
    [{}, { "webhook-timestamp": "soon" }, "WEBHOOK_TIMESTAMP"],
    [{ secret: `whsec_${btoa("another")}` }, {}, "WEBHOOK_SIGNATURE"],
    [{ secret: "whsec_" }, {}, "INVALID_ARGUMENT"],
    [{ secret: [] }, {}, "INVALID_ARGUMENT"],
    [seconds(300), {}, "WEBHOOK_BODY"],
    [seconds(301), {}, "WEBHOOK_TIMESTAMP"],
    [seconds(-301), {}, "WEBHOOK_TIMESTAMP"],
    [{ ...seconds(400), toleranceSeconds: 400 }, {}, "WEBHOOK_BODY"],
  ] as const) {
    assert.equal(await refusal(changes, headers), reason, JSON.stringify([changes, headers]));
  }
});

/** Result of a body that is signed with the secret. */
async function signed(body: string): Promise<string> {
  const [id, time] = [WEBHOOK.headers["webhook-id"], WEBHOOK.headers["webhook-timestamp"]];
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
  return refusal({ body }, { "webhook-signature": `v1,${mac}` });
}

test("a signed body of another version is rejected", async () => {
  const [type, data] = ["channel.test", { channel: "chn_1", link: null, events: [] }];
  assert.equal(await signed(JSON.stringify({ version: 1, type, data, more: true })), "accepted");
  for (const event of [
    { version: 2, type, data },
    { version: "1", type, data },
    { type, data },
    { version: 1, data },
    { version: 1, type, data: [] },
    { version: 1, type, data: null },
    [{ version: 1, type, data }],
  ]) {
    assert.equal(await signed(JSON.stringify(event)), "WEBHOOK_BODY", JSON.stringify(event));
  }
});

/** An object with every field of its type, as the compiler verifies. */
const MONITOR_EVENT: MonitorEvent = {
  event: "error",
  at: null,
  workspace: "",
  monitor: { id: "", name: "", kind: "http", target: "", method: null },
  incident: null,
  began_at: null,
  duration_ms: 0,
  close_reason: null,
  reminder: 0,
  summary: null,
  regions: [{ region: "fly-ams", place: null, failing: true, reason: null, status: null, latency_ms: null }],
};
const CHANNEL_EVENT: ChannelEvent = {
  version: 1,
  type: "monitor.error",
  timestamp: null,
  data: { channel: "", link: null, events: [MONITOR_EVENT] },
};

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
}

test("the type of channel webhooks has the fields of its schema", () => {
  const schema = JSON.parse(reference("webhook.schema.json")) as Schema;
  const fieldsOf = (value: unknown, at: Schema, path: string): void => {
    const here = at.$ref === undefined ? at : (schema.$defs?.[at.$ref.split("/").at(-1)!] ?? at);
    if (Array.isArray(value)) {
      fieldsOf(value[0], here.items ?? {}, `${path}[]`);
    } else if (typeof value === "object" && value !== null && here.properties !== undefined) {
      assert.deepEqual(Object.keys(value).sort(), Object.keys(here.properties).sort(), path);
      Object.entries(value).forEach(([name, inner]) =>
        fieldsOf(inner, here.properties![name]!, `${path}.${name}`),
      );
    }
  };
  fieldsOf(CHANNEL_EVENT, schema, "event");
  assert.deepEqual(schema.properties?.["type"]?.enum, CHANNEL_EVENT_TYPES);
});

/** The example of docs/reference/page-webhook.md, checked against the type by the compiler. */
const PAGE_EVENT: PageWebhook = {
  version: 1,
  type: "page.incident.opened",
  timestamp: "2026-11-21T14:35:00.000Z",
  data: {
    subscriber: "sub_0000000000009",
    page: { id: "page_0000000000002", title: "Acme", link: "https://up.example/status/acme" },
    events: [
      {
        type: "page.incident.opened",
        at: "2026-11-21T14:35:00.000Z",
        components: [{ id: "cmp_0000000000003", name: "API" }],
        incident: { id: "inc_0000000000007", began_at: "2026-11-21T14:35:00.000Z" },
      },
    ],
  },
};

test("the type of page webhooks accepts the documented example", () => {
  const page = reference("page-webhook.md");
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1];
  assert.deepEqual(JSON.parse(example ?? ""), PAGE_EVENT);
  const documented = new Set(page.match(/page\.[a-z]+\.[a-z]+/g));
  assert.deepEqual([...documented].sort(), [...PAGE_EVENT_TYPES].sort());
});

/** Objects with every field of their types, as the compiler verifies. */
const PAGE_EVENTS: Readonly<Record<string, object>> = {
  report: { id: "", update: "", title: "", status: "resolved", text: "" } satisfies ReportEvent["report"],
  maintenance: {
    id: "",
    title: "",
    description: null,
    from: null,
    until: null,
  } satisfies MaintenanceEvent["maintenance"],
  incident: { id: "", began_at: null } satisfies IncidentEvent["incident"],
  component: { id: "", name: "" } satisfies PageEvent["components"][number],
};

test("the types of page events have the fields of their schema", () => {
  const schema = JSON.parse(reference("page-webhook.schema.json")) as Schema;
  for (const [name, value] of Object.entries(PAGE_EVENTS)) {
    assert.deepEqual(
      Object.keys(value).sort(),
      Object.keys(schema.$defs?.[name]?.properties ?? {}).sort(),
      name,
    );
  }
  assert.deepEqual(schema.properties?.["type"]?.enum, [...PAGE_EVENT_TYPES, "page.digest"]);
});

/** A file of the reference; tests run in the package's folder. */
function reference(name: string): string {
  return readFileSync(`../../docs/reference/${name}`, "utf8");
}
