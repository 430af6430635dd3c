// One attempt of a call over `fetch`: Connect's unary protocol with JSON, and the plain requests of `/v1`. It
// sends and returns the caller's JSON without conversion. Protocol:
// <https://connectrpc.com/docs/protocol#unary-request>

import { ServiceError } from "./errors.js";
import type { Fetch } from "./options.js";
import { type Answer, objectOf, refusal } from "./refusal.js";

/** A request. */
export interface Sent {
  readonly verb: "DELETE" | "GET" | "POST";
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Name of the method, for errors. */
  readonly method: string;
}

/** Maximum number of bytes to read of a response that is not JSON. Errors of the service are smaller. */
const REFUSAL_BYTES_MAX = 1024 * 1024;

/** Sends a request and returns its response: an object, or undefined for a DELETE. Throws the failure. */
export async function send(fetch: Fetch | undefined, sent: Sent): Promise<object | undefined> {
  const answer = await exchange(fetch ?? globalThis.fetch, sent);
  if (answer.status === 204 && sent.verb === "DELETE") {
    return undefined;
  }
  const body = isJson(answer) ? objectOf(answer.text) : undefined;
  if (body === undefined) {
    throw refusal(answer, sent.method, sent.url);
  }
  return body;
}

/** Whether it may be a response of the service: others return 200 too, in any format. */
function isJson({ status, headers }: Pick<Answer, "status" | "headers">): boolean {
  return status === 200 && /^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

async function exchange(fetch: Fetch | undefined, sent: Sent): Promise<Answer> {
  if (fetch === undefined) {
    throw new ServiceError("there is no global `fetch` here; give the option `fetch`", {
      code: "failed_precondition",
    });
  }
  const { verb, headers, body, signal } = sent;
  let begun = false;
  try {
    // A redirect would send the key to its target.
    const init: RequestInit = { method: verb, headers, signal, redirect: "manual" };
    const response = await fetch(sent.url, body === undefined ? init : { ...init, body });
    begun = true;
    const text = await (isJson(response) ? response.text() : beginning(response));
    return { status: response.status, headers: response.headers, text };
  } catch (cause) {
    throw signal.aborted ? signal.reason : failure(cause, begun, sent);
  }
}

/** Reads the beginning of a foreign response, which may never end. */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    return "";
  }
  const decoder = new TextDecoder();
  let text = "";
  for (let left = REFUSAL_BYTES_MAX; left > 0; ) {
    const { done, value } = await reader.read();
    if (done) {
      return text + decoder.decode();
    }
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  // The rest of the response is ignored, and so are errors of cancelling it.
  reader.cancel().catch(() => undefined);
  return text;
}

/** Returns the reason of a missing response. */
function failure(cause: unknown, begun: boolean, sent: Sent): ServiceError {
  const what = begun ? `the answer of ${sent.url} broke off` : `cannot reach ${sent.url}`;
  return new ServiceError(`${what}: ${deepest(cause)}`, { code: "unavailable", method: sent.method, cause });
}

/** Returns the most specific cause: runtimes hide it behind “fetch failed”. */
function deepest(cause: unknown): string {
  let [at, message] = [cause, "no reason was given"];
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    const { code } = at as { code?: unknown };
    message = at.message || (typeof code === "string" ? code : at.name);
    at = at.cause;
  }
  return message;
}
