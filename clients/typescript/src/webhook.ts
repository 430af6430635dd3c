// Verifies webhooks of the service and returns their events. Signatures are those of Standard Webhooks; see
// docs/reference/webhook.md.

import { invalid, ServiceError, type WebhookReason } from "./errors.js";
import { isObject, objectOf } from "./refusal.js";
import type { WebhookEvent } from "./webhook-events.js";

/** A request to a webhook receiver. */
export interface WebhookRequest {
  /** Its headers: those of `fetch`, or a Node object. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Its body as received, before any JSON parsing. */
  readonly body: string | Uint8Array;
  /** The secret, `whsec_…`; several during a rotation. */
  readonly secret: string | readonly string[];
  /** Maximum difference between its time and this clock, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Current time in milliseconds since 1970. Defaults to `Date.now()`. */
  readonly now?: number | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The format version of `WebhookEvent`. */
const VERSION = 1;
/** Maximum difference between a request's time and ours, in seconds. */
const TOLERANCE_SECONDS = 300;
/** Maximum number of signatures to check: a workspace has at most five secrets at once. */
const SIGNATURES_MAX = 16;

/**
 * Returns the event of a webhook after verifying its signature and its time. Throws a {@link ServiceError}
 * with `unauthenticated` and a reason if it is forged or old: respond with 401, which is final. Any other
 * error is not the request's fault, such as an invalid secret, or an event of a newer version
 * (`WEBHOOK_BODY`): respond with 500, and it is sent again.
 *
 * The same event may arrive more than once, with the same header `webhook-id`.
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

/** Returns the bytes of a version 1 signature; undefined for others. */
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
