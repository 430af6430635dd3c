// Whether a call that failed is tried again, and when. Making it belongs to `call.ts`.

import { ServiceError } from "./errors.js";
import type { Retry } from "./options.js";

/** Longest Retry-After that is waited for, in milliseconds: past that the caller should know. */
const RETRY_AFTER_MS_MAX = 60_000;

/** What runtimes call it when no connection was made: nothing was sent then. */
const NEVER_CONNECTED =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused/;

/** How deep causes of errors are looked into. */
const CAUSES_MAX = 5;

/** Whether trying again may help, and does nothing twice; `isSafe` says that the call may be made twice. */
export function mayHelp(error: ServiceError, isSafe: boolean): boolean {
  switch (error.code) {
    case "resource_exhausted":
      // A request that is too large stays too large.
      return error.reason === "RATE_LIMITED" || error.status === 429 || error.retryAfterMs !== undefined;
    case "unavailable":
      return isSafe || !mayBeDone(error);
    case "aborted":
      // The same revision stays stale.
      return isSafe && error.reason !== "REVISION_MISMATCH";
    default:
      return false;
  }
}

/** Whether a call that failed like this may have been carried out: only its answer is missing. */
export function mayBeDone(error: unknown): boolean {
  const isUnclear = error instanceof ServiceError && error.code === "unavailable";
  return isUnclear && !wasRefused(error) && !neverConnected(error.cause);
}

/** How long to wait before the next try, in milliseconds; undefined where it is too long to be waited for. */
export function pauseOf(error: ServiceError, tries: number, retry: Retry): number | undefined {
  const asked = error.retryAfterMs ?? 0;
  if (asked > RETRY_AFTER_MS_MAX) {
    return undefined;
  }
  const bound = Math.min(retry.longestPauseMs, retry.firstPauseMs * 2 ** (tries - 1));
  return asked + Math.random() * bound;
}

/** Whether the service itself says that it did nothing, and when to come back. */
function wasRefused(error: ServiceError): boolean {
  return error.reason !== undefined && error.retryAfterMs !== undefined;
}

/** Whether a failure of `fetch` says that nobody was reached. */
export function neverConnected(cause: unknown, depth = 0): boolean {
  if (typeof cause !== "object" || cause === null || depth > CAUSES_MAX) {
    return false;
  }
  const { code, cause: deeper } = cause as { code?: unknown; cause?: unknown };
  return (typeof code === "string" && NEVER_CONNECTED.test(code)) || neverConnected(deeper, depth + 1);
}
