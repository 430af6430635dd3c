// What people may set, of a client and of one call, and how it is read: options before environment, blank
// as missing, mistakes refused when the client is made. What is done with it belongs to `call.ts`.

import type { Transport } from "@connectrpc/connect";

import { type Address, addressOf } from "./address.js";
import { environment } from "./environment.js";
import { invalid } from "./errors.js";

/** How a client is made. Everything may be left out. */
export interface ClientOptions {
  /** The API key. Left out or blank, it is the environment's `SERVICE_API_KEY`. */
  readonly apiKey?: string | undefined;
  /**
   * Address of the service, which usually ends in `/rpc`. Left out or blank, it is the environment's
   * `SERVICE_API_URL`, or `http://127.0.0.1:8080/rpc`.
   */
  readonly baseUrl?: string | undefined;
  /**
   * A transport of connect-es that calls go through, in place of `fetch`: gRPC in Node, a router in
   * tests. `whoami` and `revokeKey` are no RPC, and go to `baseUrl` by `fetch` all the same.
   */
  readonly transport?: Transport | undefined;
  /** What sends requests. Left out, it is the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /**
   * Time for a call with all its tries, in milliseconds; 0 is no limit. Left out, it is a minute, and for
   * `triggerMonitor`, which waits for its checks, as long as the longest of them may take: 150 seconds.
   */
  readonly timeoutMs?: number | undefined;
  /** How calls are tried again; `false` is never. */
  readonly retry?: RetryOptions | false | undefined;
}

/** What is set for one call. */
export interface CallOptions {
  /** As in {@link ClientOptions}, for this call. */
  readonly timeoutMs?: number | undefined;
  /**
   * Ends the call, which then fails with the code `canceled`; one of `AbortSignal.timeout` with
   * `deadline_exceeded`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the request. `x-service-key` is another key for this call. */
  readonly headers?: HeaderValues | undefined;
  /**
   * Makes repetitions of a create one with it: who sends the same key again gets what the first call
   * made. Left out, it is random per call, and the same for all its tries.
   */
  readonly idempotencyKey?: string | undefined;
  /** As in {@link ClientOptions}, for this call. */
  readonly retry?: RetryOptions | false | undefined;
}

/**
 * How a call is tried again that failed. Tried again is what was refused for too many calls (429), or found
 * nobody there (`unavailable`: no connection, no answer, 502 to 504) or somebody else at work (`aborted`, apart from
 * `REVISION_MISMATCH`, which the same call would meet again); a fault of the service (`internal`) would only be one
 * again. Reads, changes that may be made twice and creates (by their idempotency key) are tried again in each of
 * these cases, all others only where nothing was done: after 429, without a connection, or where the service says so
 * by a Retry-After of its own.
 *
 * A delete whose answer was lost and whose next try finds nothing has succeeded.
 *
 * Pauses are random up to a bound that doubles with each try (full jitter). A Retry-After of at most a minute
 * is waited for in full, and the pause comes on top; a longer one ends the call.
 */
export interface RetryOptions {
  /** Most tries, with the first. Default 4. */
  readonly attempts?: number | undefined;
  /** Bound of the pause before the second try, in milliseconds. Default 200. */
  readonly firstPauseMs?: number | undefined;
  /** Bound of every pause, in milliseconds. Default 5000. */
  readonly longestPauseMs?: number | undefined;
}

/** What sends a request, as the global `fetch` does. */
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

/** Headers in any of the usual forms. */
export type HeaderValues =
  Headers | Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

/** Options as they hold. */
export interface Settings {
  readonly apiKey: string | undefined;
  readonly address: Address;
  readonly transport: Transport | undefined;
  readonly fetch: Fetch | undefined;
  /** Undefined: the method's own. */
  readonly timeoutMs: number | undefined;
  readonly retry: Retry;
}

/** How calls are tried again. */
export type Retry = { readonly [Name in keyof RetryOptions]-?: number };

const RETRY: Retry = { attempts: 4, firstPauseMs: 200, longestPauseMs: 5_000 };
const NO_RETRY: Retry = { ...RETRY, attempts: 1 };

/** Reads the options; throws what is wrong with them. */
export function settingsOf(options: ClientOptions): Settings {
  const apiKey = given(options.apiKey) ?? environment("SERVICE_API_KEY");
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid("the API key holds characters that no key has; copy it again");
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

/** A time-out as given; throws where it is none. */
export function timeOf(timeoutMs: number | undefined): number | undefined {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    throw invalid(`\`timeoutMs\` must be a number of milliseconds, 0 for no limit (given: \`${timeoutMs}\`)`);
  }
  return timeoutMs;
}

/** How to try again as given; undefined where nothing was. */
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

/** A text that says something. */
function given(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
