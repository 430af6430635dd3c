// Headers of a request: what a caller gives over what the client adds, under what the protocol needs.

import { invalid } from "./errors.js";
import type { HeaderValues } from "./options.js";

/** Carries the key of a call. */
export const KEY_HEADER = "x-service-key";
/** Makes repetitions of a create one. */
export const IDEMPOTENCY_HEADER = "idempotency-key";

/** Headers in lower case, with the client's key unless the caller gives another one. */
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

/** A value that a header may have; `fetch` would only say that it failed. */
export function sendable(name: string, value: string): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw invalid(`the header \`${name}\` has a name or a value that no header may have`);
  }
  return value;
}

/** A key that nobody else will think of: 128 bits of chance, in hexadecimal. */
export function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function entries(given: HeaderValues): Iterable<readonly [string, string | undefined]> {
  return Symbol.iterator in given
    ? (given as Iterable<readonly [string, string]>)
    : Object.entries(given as Record<string, string | undefined>);
}
