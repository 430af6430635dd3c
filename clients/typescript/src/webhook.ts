// Webhooks of the service: whether a request is from it, and what it tells. Signatures are those of
// Standard Webhooks; see docs/reference/webhook.md.

import { invalid, ServiceError, type WebhookReason } from "./errors.js";
import { isObject, objectOf } from "./refusal.js";
import type { WebhookEvent } from "./webhook-events.js";

/** A request that a receiver of webhooks got. */
export interface WebhookRequest {
  /** Its headers: those of `fetch`, or an object as Node has it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Its body as it arrived, before anything read it as JSON. */
  readonly body: string | Uint8Array;
  /** The secret, `whsec_…`; several while one is being replaced. */
  readonly secret: string | readonly string[];
  /** How far its time may be from this clock, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** What this clock shows, in milliseconds since 1970. Left out, it is `Date.now()`. */
  readonly now?: number | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The version of the form that `WebhookEvent` is. */
const VERSION = 1;
/** How far the time of a request may be from ours, in seconds. */
const TOLERANCE_SECONDS = 300;
/** Most signatures that are looked at: a workspace has at most five secrets at once. */
const SIGNATURES_MAX = 16;

/**
 * What a webhook tells, once it is certain that it comes from the service: signed with the secret, and
 * sent a moment ago. Throws a {@link ServiceError} otherwise, `unauthenticated` with a reason: answer it with
 * 401, which is final. Whatever else is thrown is no fault of the request, such as a secret that is none, or an
 * event of a newer version (`WEBHOOK_BODY`): answer it with 500, and it is sent again.
 *
 * The same event may arrive more than once: its header `webhook-id` is the same then.
 */
export async function verifyWebhook(webhook: WebhookRequest): Promise<WebhookEvent> {
  const [id, stamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(webhook.headers, name),
  );
  if (!id || !stamp || !signatures) {
    const message =
      "the request lacks `webhook-id`, `webhook-timestamp` or `webhook-signature`: it is no webhook";
    throw refused("WEBHOOK_HEADERS_MISSING", message);
  }
  checkTime(stamp, webhook);
  const body = typeof webhook.body === "string" ? new TextEncoder().encode(webhook.body) : webhook.body;
  if (!(body instanceof Uint8Array)) {
    throw invalid(
      "`body` must be the body as it arrived, a string or a Uint8Array: read it before it is parsed",
    );
  }
  const secrets = typeof webhook.secret === "string" ? [webhook.secret] : (webhook.secret ?? []);
  const keys = secrets.length === 0 ? [keyOf("")] : secrets.map(keyOf);
  if (!(await isSigned(joined(`${id}.${stamp}.`, body), signatures, keys))) {
    throw refused(
      "WEBHOOK_SIGNATURE",
      "no signature is right: another secret, or the body is not as it arrived",
    );
  }
  return eventOf(body);
}

function checkTime(stamp: string, webhook: WebhookRequest): void {
  const tolerance = webhook.toleranceSeconds ?? TOLERANCE_SECONDS;
  const away = (webhook.now ?? Date.now()) / 1_000 - Number(stamp);
  if (!/^\d+$/.test(stamp) || !(Math.abs(away) <= tolerance)) {
    throw refused(
      "WEBHOOK_TIMESTAMP",
      `the request is not of the last ${tolerance} seconds: it may be a repetition`,
    );
  }
}

async function isSigned(signed: Bytes, signatures: string, keys: readonly Bytes[]): Promise<boolean> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) {
    throw new ServiceError("there is no Web Crypto here (`crypto.subtle`), which verifies signatures", {
      code: "failed_precondition",
    });
  }
  const given = signatures.split(" ").slice(0, SIGNATURES_MAX).flatMap(signatureOf);
  for (const bytes of keys) {
    const key = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of given) {
      // Compares in constant time.
      if (await subtle.verify("HMAC", key, signature, signed)) {
        return true;
      }
    }
  }
  return false;
}

/** The bytes of a signature of version 1; none of others. */
function signatureOf(text: string): Bytes[] {
  const bytes = text.startsWith("v1,") ? unbase64(text.slice(3)) : undefined;
  return bytes === undefined ? [] : [bytes];
}

function keyOf(secret: string): Bytes {
  const bytes = unbase64(secret.trim().replace(/^whsec_/, ""));
  if (bytes === undefined || bytes.length === 0) {
    throw invalid("`secret` must be `whsec_` and base64, as it was shown when it was rotated");
  }
  return bytes;
}

function unbase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(head: string, body: Uint8Array): Bytes {
  const first = new TextEncoder().encode(head);
  const whole = new Uint8Array(first.length + body.length);
  whole.set(first);
  whole.set(body, first.length);
  return whole;
}

function eventOf(body: Uint8Array): WebhookEvent {
  const event = objectOf(new TextDecoder().decode(body));
  const isKnown =
    event?.["version"] === VERSION && typeof event["type"] === "string" && isObject(event["data"]);
  if (!isKnown) {
    throw invalidBody("the body is signed, and is no event of a version that is known here");
  }
  return event as unknown as WebhookEvent;
}

function headerOf(headers: WebhookRequest["headers"], name: string): string | undefined {
  if (typeof headers.get === "function") {
    return (headers as Headers).get(name) ?? undefined;
  }
  const given = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const found = given[name] ?? given[Object.keys(given).find((key) => key.toLowerCase() === name) ?? name];
  return typeof found === "string" ? found : found?.join(" ");
}

function refused(reason: WebhookReason, message: string): ServiceError {
  return new ServiceError(message, { code: "unauthenticated", reason });
}

function invalidBody(message: string): ServiceError {
  return new ServiceError(message, { code: "invalid_argument", reason: "WEBHOOK_BODY" });
}
