// A call with all its attempts: time limit, headers and retries are the same over `fetch` (`wire.ts`) and
// over a transport (`over-transport.ts`).

import { Deadline } from "./deadline.js";
import { isNotFound, ServiceError } from "./errors.js";
import { WAITING_CALL_MS } from "./gen/limits.js";
import { headersOf, IDEMPOTENCY_HEADER, randomKey, sendable } from "./headers.js";
import { CREATES, ENDS, is, type Method, ONCE, repetition, WAITS } from "./method.js";
import { type CallOptions, type Retry, retryOf, type Settings, timeOf } from "./options.js";
import { checked, written } from "./request.js";
import { mayBeDone, mayHelp, pauseOf } from "./retry.js";
import { send } from "./wire.js";

/** Default time limit of a call, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Calls an RPC method and returns the JSON of the response. */
export async function call(
  settings: Settings,
  method: Method,
  request: unknown,
  options: CallOptions,
): Promise<object> {
  const message = checked(method, request);
  const headers = headersOf(settings.apiKey, options.headers);
  if (repetition(method) === CREATES) {
    const given = options.idempotencyKey ?? headers[IDEMPOTENCY_HEADER];
    headers[IDEMPOTENCY_HEADER] = given === undefined ? randomKey() : sendable(IDEMPOTENCY_HEADER, given);
  }
  const attempt = settings.transport === undefined ? overFetch : overTransport;
  const traits: Traits = {
    name: method.path,
    isSafe: repetition(method) !== ONCE,
    waits: is(method, WAITS),
    isDone: is(method, ENDS) ? isNotFound : undefined,
  };
  const made = attempt(settings, method, message, headers);
  return (await tried(settings, traits, options, made)) ?? {};
}

/** The parameters of a call's attempts. */
export interface Traits {
  /** Name of the method, for errors. */
  readonly name: string;
  /** Whether it may be executed twice. */
  readonly isSafe: boolean;
  /** Whether it waits for checks. */
  readonly waits: boolean;
  /** Whether this error shows that an earlier attempt with a lost response has succeeded. */
  readonly isDone?: ((error: unknown) => boolean) | undefined;
}

/** Makes one attempt. */
export type Attempt = (deadline: Deadline) => Promise<object | undefined>;

/** Makes attempts until one succeeds, another one would not help, or the time is over. */
export async function tried(
  settings: Settings,
  { name, isSafe, waits, isDone }: Traits,
  options: CallOptions,
  attempt: Attempt,
): Promise<object | undefined> {
  const timeoutMs =
    timeOf(options.timeoutMs) ?? settings.timeoutMs ?? (waits ? WAITING_CALL_MS : TIMEOUT_MS);
  const retry: Retry = retryOf(options.retry) ?? settings.retry;
  const deadline = new Deadline(name, timeoutMs, options.signal);
  let isUnclear = false;
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        deadline.signal.throwIfAborted();
        return await deadline.race(attempt(deadline));
      } catch (error) {
        if (isUnclear && isDone?.(error)) {
          return undefined;
        }
        await again(error, isSafe, tries, retry, deadline);
        isUnclear ||= mayBeDone(error);
      }
    }
  } finally {
    deadline.stop();
  }
}

/** Waits for the next attempt, or throws the error if there is none. */
async function again(
  error: unknown,
  isSafe: boolean,
  tries: number,
  retry: Retry,
  deadline: Deadline,
): Promise<void> {
  if (deadline.signal.aborted || tries >= retry.attempts) {
    throw error;
  }
  if (!(error instanceof ServiceError) || !mayHelp(error, isSafe)) {
    throw error;
  }
  const pause = pauseOf(error, tries, retry);
  if (pause === undefined || pause >= (deadline.remainingMs ?? Infinity)) {
    throw error;
  }
  deadline.failed(error);
  await deadline.pause(pause);
}

function overFetch(
  settings: Settings,
  method: Method,
  message: object,
  headers: Record<string, string>,
): Attempt {
  const url = `${settings.address.rpc}/${method.path}`;
  const body = written(method.path, message);
  headers["content-type"] = "application/json";
  headers["connect-protocol-version"] = "1";
  return (deadline) => {
    const remaining = deadline.remainingMs;
    if (remaining !== undefined) {
      headers["connect-timeout-ms"] = String(remaining);
    }
    return send(settings.fetch, {
      verb: "POST",
      url,
      headers,
      body,
      signal: deadline.signal,
      method: method.path,
    });
  };
}

/** The code of transports is many times this library, so it is loaded only for callers with one. */
function overTransport(
  settings: Settings,
  method: Method,
  message: object,
  headers: Record<string, string>,
): Attempt {
  return async (deadline) => {
    const { unary } = await import("./over-transport.js");
    return unary(settings.transport!, method.path, message, headers, deadline);
  };
}
