// Options of a client and of a call. Explicit options precede the environment, blank counts as missing, and
// invalid options fail when the client is created. `call.ts` uses them.

import type { Transport } from "@connectrpc/connect";

import { type Address, addressOf } from "./address.js";
import { environment } from "./environment.js";
import { invalid } from "./errors.js";

/** Options of a client. All are optional. */
export interface ClientOptions {
  /** API key. If omitted or blank, `SERVICE_API_KEY` from the environment. */
  readonly apiKey?: string | undefined;
  /**
   * Address of the service, which usually ends in `/rpc`. If omitted or blank, `SERVICE_API_URL` from the
   * environment, or `http://127.0.0.1:8080/rpc`.
   */
  readonly baseUrl?: string | undefined;
  /**
   * A connect-es transport to use instead of `fetch`: gRPC in Node, a router in tests. `whoami` and
   * `revokeKey` are not RPC methods and always use `fetch` with `baseUrl`.
   */
  readonly transport?: Transport | undefined;
  /** The function that sends requests. Defaults to the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /**
   * Time limit of a call with all its attempts, in milliseconds; 0 disables it. Defaults to a minute, and for
   * `triggerMonitor`, which waits for its checks, to their maximum of 150 seconds.
   */
  readonly timeoutMs?: number | undefined;
  /** Retry policy; `false` disables retries. */
  readonly retry?: RetryOptions | false | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** As in {@link ClientOptions}, for this call. */
  readonly timeoutMs?: number | undefined;
  /**
   * Aborts the call, which then fails with the code `canceled`; with `deadline_exceeded` for
   * `AbortSignal.timeout`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the request. `x-service-key` replaces the key for this call. */
  readonly headers?: HeaderValues | undefined;
  /**
   * Idempotency key of a create: a retry with the same key returns the result of the first call. Defaults to
   * a random key per call, shared by its attempts.
   */
  readonly idempotencyKey?: string | undefined;
  /** As in {@link ClientOptions}, for this call. */
  readonly retry?: RetryOptions | false | undefined;
}

/**
 * Retry policy of failed calls. Retried failures are rate limits (429), an unreachable service
 * (`unavailable`: no connection, no response, 502 to 504) and concurrent changes (`aborted`, except
 * `REVISION_MISMATCH`: the same revision stays outdated). Internal errors (`internal`) are not, because the fault
 * would recur. Reads, idempotent methods and creates (by their idempotency key) are retried in each of these cases.
 * Others are retried only if nothing was done: after 429, without a connection, or if the service sends its own
 * Retry-After.
 *
 * A delete whose response was lost and whose retry finds nothing has succeeded.
 *
 * Pauses are random up to a bound that doubles with each attempt (full jitter). A Retry-After of at most a
 * minute is added in full; a longer one ends the call.
 */
export interface RetryOptions {
  /** Maximum number of attempts, including the first. Default 4. */
  readonly attempts?: number | undefined;
  /** Bound of the pause before the second attempt, in milliseconds. Default 200. */
  readonly firstPauseMs?: number | undefined;
  /** Bound of every pause, in milliseconds. Default 5000. */
  readonly longestPauseMs?: number | undefined;
}

/** A function that sends a request, like the global `fetch`. */
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** Headers in any of the usual forms. */
export type HeaderValues =
  Headers | Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

/** The effective options. */
export interface Settings {
  readonly apiKey: string | undefined;
  readonly address: Address;
  readonly transport: Transport | undefined;
  readonly fetch: Fetch | undefined;
  /** Undefined: the method's own. */
  readonly timeoutMs: number | undefined;
  readonly retry: Retry;
}

/** The retry policy. */
export type Retry = { readonly [Name in keyof RetryOptions]-?: number };

const RETRY: Retry = { attempts: 4, firstPauseMs: 200, longestPauseMs: 5_000 };
const NO_RETRY: Retry = { ...RETRY, attempts: 1 };

/** Reads the options; throws if one is invalid. */
export function settingsOf(options: ClientOptions): Settings {
  const apiKey = given(options.apiKey) ?? environment("SERVICE_API_KEY");
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid("invalid character in the API key; copy it again");
  }
  return {
    apiKey,
    address: addressOf(given(options.baseUrl)),
    transport: options.transport,
    fetch: options.fetch,
    timeoutMs: timeOf(options.timeoutMs),
    retry: retryOf(options.retry) ?? RETRY,
  };
}

/** Returns the given timeout; throws if it is invalid. */
export function timeOf(timeoutMs: number | undefined): number | undefined {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    throw invalid(`\`timeoutMs\` must be a number of milliseconds, 0 for no limit (given: \`${timeoutMs}\`)`);
  }
  return timeoutMs;
}

/** Returns the given retry policy; undefined without one. */
export function retryOf(retry: RetryOptions | false | undefined): Retry | undefined {
  if (retry === undefined || retry === false) {
    return retry === false ? NO_RETRY : undefined;
  }
  const merged = {
    attempts: retry.attempts ?? RETRY.attempts,
    firstPauseMs: retry.firstPauseMs ?? RETRY.firstPauseMs,
    longestPauseMs: retry.longestPauseMs ?? RETRY.longestPauseMs,
  };
  for (const [name, value] of Object.entries(merged)) {
    if (!(value >= (name === "attempts" ? 1 : 0))) {
      throw invalid(`\`retry.${name}\` must be a number, attempts from 1 on (given: \`${value}\`)`);
    }
  }
  return merged;
}

/** Returns a string that is not blank. */
function given(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
