// Plays a scenario (clients/scenarios/README.md) through the client: one call per step, without retries, and
// compares its outcome. patterns.mjs compares values.
import assert from "node:assert/strict";

import { createServiceClient, isServiceError } from "@aloft/client";

import { at, differences, filled } from "./patterns.mjs";

/** How long a step with `until` is repeated: longer than any action on a busy machine. */
const PATIENCE_MS = 60_000;

/** Calls of `/v1` in the client. */
const PLAIN = {
  "GET /v1/whoami": (client, _, options) => client.whoami(options),
  "DELETE /v1/api-key/{id}": (client, { id }, options) => client.revokeKey(id, options),
};

/**
 * Plays all steps in order; `given` has address and keys, `names` the values of `${…}`. With a connect-es
 * `transport`, it skips steps that alter the requests or responses of `fetch`.
 */
export async function play(t, { steps }, { baseUrl, keys }, names, transport) {
  const known = { ...names };
  for (const step of steps.filter(({ altered, instead }) => !transport || !(altered || instead))) {
    await t.test(step.name, async () => {
      const key = step.key ?? "write";
      assert.ok(key === "none" || keys[key], `there is no key \`${key}\``);
      const fetch = fetchOf(step, baseUrl);
      const client = createServiceClient({ apiKey: keys[key], baseUrl, retry: false, fetch, transport });
      const answer = await came(client, step, known);
      for (const [name, path] of Object.entries(step.save ?? {})) known[name] = at(answer, path);
    });
  }
}

/** Returns the expected response or error of a step; fails with all differences. */
async function came(client, step, known) {
  const request = filled(step.request, known);
  const pattern = filled(step.answer ?? step.error, known);
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const { answer, error } = await outcome(client, step, request);
    const wrong = wrongIn(step, answer, error, pattern);
    if (wrong.length === 0) return answer;
    if (!step.until || performance.now() > end) {
      assert.fail(`${step.call} ${JSON.stringify(request).slice(0, 500)}\n${wrong.join("\n")}`);
    }
  }
}

async function outcome(client, step, request) {
  const options = step.idempotencyKey ? { idempotencyKey: step.idempotencyKey } : {};
  try {
    const plain = PLAIN[step.call];
    const answer = await (plain ? plain(client, request, options) : method(client, step.call)(request, options));
    return { answer: answer ?? {} };
  } catch (error) {
    // Any other exception is a fault of the client.
    if (!isServiceError(error)) throw error;
    return { error };
  }
}

function wrongIn(step, answer, error, pattern) {
  if (step.answer) {
    return error
      ? [`it failed: ${error.code} ${error.reason}: ${error.message}`]
      : differences(answer, pattern, "answer");
  }
  if (!error) return [`it did not fail: ${JSON.stringify(answer).slice(0, 500)}`];
  const { code, reason, status, message, requestId, retryAfterMs } = error;
  const violations = error.violations.map(({ field }) => field);
  const wrong = differences({ code, reason, status, message, requestId, retryAfterMs, violations }, pattern, "error");
  return wrong.length === 0 ? [] : [...wrong, `message: ${message}`];
}

/** Returns the client's method for a call such as `status_page.v1.StatusPageService/GetStatusPage`. */
export function method(client, call) {
  const [service, name] = call.split("/");
  const path = service.split(".").map((word) => word.replaceAll(/_(\w)/gu, (_, letter) => letter.toUpperCase()));
  const found = path.reduce((inner, word) => inner?.[word], client);
  const camel = name[0].toLowerCase() + name.slice(1);
  assert.equal(typeof found?.[camel], "function", `the client has no ${path.join(".")}.${camel}`);
  return (request, options) => found[camel](request, options);
}

/** Sends the requests of a step, altered on the way, or answered instead of the server. */
function fetchOf({ altered, instead }, baseUrl) {
  if (instead) {
    const body = typeof instead.body === "string" ? instead.body : JSON.stringify(instead.body);
    return async () => new Response(body, instead);
  }
  if (!altered) return undefined;
  return (url, init) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(altered.headers ?? {})) headers.set(name, value);
    const { method = "POST", body = init.body } = altered;
    return fetch(altered.path ? baseUrl + altered.path : url, { ...init, method, headers, body });
  };
}
