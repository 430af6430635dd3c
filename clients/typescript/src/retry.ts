// Decides whether and when a failed call is retried. `call.ts` retries it.

import { ServiceError } from "./errors.js";
import type { Retry } from "./options.js";

/** Longest Retry-After to wait for, in milliseconds. The caller should know of a longer one. */
const RETRY_AFTER_MS_MAX = 60_000;

/** Messages and codes of runtimes for a failed connection: nothing was sent. */
const NEVER_CONNECTED =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused/;

/** Maximum depth of the search in causes of errors. */
const CAUSES_MAX = 5;

/** Whether a retry may help and executes nothing twice. `isSafe` says that the call may be executed twice. */
export function mayHelp(error: ServiceError, isSafe: boolean): boolean {
  switch (error.code) {
    case "resource_exhausted":
      // A request that is too large stays too large.
      return error.reason === "RATE_LIMITED" || error.status === 429 || error.retryAfterMs !== undefined;
    case "unavailable":
      return isSafe || !mayBeDone(error);
    case "aborted":
      // The same revision stays outdated.
      return isSafe && error.reason !== "REVISION_MISMATCH";
    default:
      return false;
  }
}

/** Whether a call with this failure may have been executed, with only its response missing. */
export function mayBeDone(error: unknown): boolean {
  const isUnclear = error instanceof ServiceError && error.code === "unavailable";
  return isUnclear && !wasRefused(error) && !neverConnected(error.cause);
}

/** Returns the pause before the next attempt in milliseconds; undefined if it is too long. */
export function pauseOf(error: ServiceError, tries: number, retry: Retry): number | undefined {
  const asked = error.retryAfterMs ?? 0;
  if (asked > RETRY_AFTER_MS_MAX) {
    return undefined;
  }
  const bound = Math.min(retry.longestPauseMs, retry.firstPauseMs * 2 ** (tries - 1));
  return asked + Math.random() * bound;
}

/** Whether the service itself says that it did nothing, and when to retry. */
function wasRefused(error: ServiceError): boolean {
  return error.reason !== undefined && error.retryAfterMs !== undefined;
}

/** Whether an error of `fetch` shows that no connection was made. */
export function neverConnected(cause: unknown, depth = 0): boolean {
  if (typeof cause !== "object" || cause === null || depth > CAUSES_MAX) {
    return false;
  }
  const { code, cause: deeper } = cause as { code?: unknown; cause?: unknown };
  return (typeof code === "string" && NEVER_CONNECTED.test(code)) || neverConnected(deeper, depth + 1);
}
