// Headers of a request: the caller's override the client's, and those of the protocol override both.

import { invalid } from "./errors.js";
import type { HeaderValues } from "./options.js";

/** Carries the key of a call. */
export const KEY_HEADER = "x-service-key";
/** Makes retries of a create idempotent. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

/** Returns headers in lower case, with the client's key unless the caller gives another one. */
export function headersOf(
  apiKey: string | undefined,
  given: HeaderValues | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) {
    headers[KEY_HEADER] = apiKey;
  }
  if (given !== undefined) {
    for (const [name, value] of entries(given)) {
      if (value !== undefined) {
        headers[name.toLowerCase()] = sendable(name, value);
      }
    }
  }
  return headers;
}

/** Checks a header's value; `fetch` would only fail without a reason. */
export function sendable(name: string, value: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw invalid(`the header \`${name}\` has a name or a value that no header may have`);
  }
  return value;
}

/** Creates a random key: 128 bits in hexadecimal. */
export function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function entries(given: HeaderValues): Iterable<readonly [string, string | undefined]> {
  return Symbol.iterator in given
    ? (given as Iterable<readonly [string, string]>)
    : Object.entries(given as Record<string, string | undefined>);
}
