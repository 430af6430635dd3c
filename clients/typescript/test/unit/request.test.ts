// Validation of requests and of settings, and the decision to retry a call.

import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "../../src/address.js";
import { Deadline } from "../../src/deadline.js";
import { environment } from "../../src/environment.js";
import { isServiceError, ServiceError } from "../../src/errors.js";
import { headersOf } from "../../src/headers.js";
import { CREATES, type Method } from "../../src/method.js";
import { checked, written } from "../../src/request.js";
import { mayHelp, pauseOf } from "../../src/retry.js";

const METHOD: Method = {
  path: "monitor.v1.MonitorService/CreateHttpMonitor",
  traits: CREATES,
  request: { monitor: { name: 1, degradedAt: 1, headers: { key: 1, value: 1 } }, updateMask: 1 },
};

function messageOf(work: () => unknown): string {
  try {
    work();
    return "nothing";
  } catch (error) {
    assert.ok(isServiceError(error) && error.code === "invalid_argument", String(error));
    return error.message.replace(` (${METHOD.path})`, "");
  }
}

test("unknown fields are rejected by path, with a solution", () => {
  for (const [request, message] of [
    [{ monitor: { name: "a", headers: [{ key: "k" }], unset: undefined }, other: undefined }, "nothing"],
    [{ monitor: { degraded_at: 1 } }, "`monitor.degraded_at` is not a field; did you mean `degradedAt`?"],
    [
      { monitor: { headers: [{}, { k: 1 }] } },
      "`monitor.headers[1].k` is not a field; expected one of key, value",
    ],
    [{ constructor: 1 }, "`constructor` is not a field; expected one of monitor, updateMask"],
    ["all", "`request` must be an object"],
    [[], "`request` must be an object"],
  ] as const) {
    assert.equal(
      messageOf(() => checked(METHOD, request)),
      message,
    );
  }
});

test("a number that JSON writes as null is rejected at any depth", () => {
  const of = (monitor: object) => messageOf(() => checked(METHOD, { monitor }));
  assert.equal(of({ degradedAt: Number.NaN }), "`monitor.degradedAt` must be a finite number");
  assert.equal(of({ degradedAt: [1, -Infinity] }), "`monitor.degradedAt[1]` must be a finite number");
  assert.equal(of({ headers: [{}, { value: 1 / 0 }] }), "`monitor.headers[1].value` must be a finite number");
  assert.equal(of({ headers: [Number.NaN] }), "`monitor.headers[0]` must be a finite number");
  assert.equal(
    messageOf(() => checked(METHOD, { monitor: Number.NaN })),
    "`monitor` must be a finite number",
  );
  assert.equal(of({ degradedAt: 0 }), "nothing");
});

test("a mask may be a list, and the caller's object does not change", () => {
  const request = { monitor: {}, updateMask: ["name", "degradedAt"] };
  assert.deepEqual(checked(METHOD, request), { monitor: {}, updateMask: "name,degradedAt" });
  assert.deepEqual(request.updateMask, ["name", "degradedAt"]);
});

test("values that JSON cannot express are rejected before sending", () => {
  assert.match(
    messageOf(() => written(METHOD.path, { monitor: { degradedAt: 1n } })),
    /cannot be written as JSON/,
  );
});

test("an address is an http URL, with or without /rpc", () => {
  for (const [given, rpc, host] of [
    ["http://127.0.0.1:8080/rpc", "http://127.0.0.1:8080/rpc", "http://127.0.0.1:8080"],
    ["https://up.example/aloft/rpc/", "https://up.example/aloft/rpc", "https://up.example/aloft"],
    ["https://up.example", "https://up.example", "https://up.example"],
    ["https://up.example/rpc?to=nowhere#x", "https://up.example/rpc", "https://up.example"],
  ] as const) {
    assert.deepEqual(addressOf(given), { rpc, host });
  }
  for (const given of ["up.example/rpc", "ftp://up.example", "/rpc", "http://", "localhost:8080"]) {
    assert.match(
      messageOf(() => addressOf(given)),
      /`baseUrl` must be an http or https address/,
    );
  }
  assert.doesNotMatch(
    messageOf(() => addressOf("https://me:hunter2@up.example/rpc")),
    /hunter2/,
  );
});

test("an environment that throws or is missing is ignored", (t) => {
  const deno = (get: (name: string) => string | undefined) => ({
    value: { env: { get } },
    configurable: true,
  });
  t.after(() => Reflect.deleteProperty(globalThis, "Deno"));
  Object.defineProperty(
    globalThis,
    "Deno",
    deno(() => {
      throw new Error("no leave");
    }),
  );
  assert.equal(environment("ALOFT_NOT_SET"), undefined);
  Object.defineProperty(
    globalThis,
    "Deno",
    deno(() => " value "),
  );
  assert.equal(environment("ALOFT_NOT_SET"), "value");
});

test("safe failures are retried and nothing executes twice", () => {
  const error = (parts: object) => new ServiceError("", { code: "unavailable", ...parts });
  const refused = {
    cause: new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) }),
  };
  for (const [parts, safe, unsafe] of [
    [{}, true, false],
    [refused, true, true],
    [{ reason: "UNAVAILABLE", retryAfterMs: 10 }, true, true],
    [{ retryAfterMs: 10 }, true, false],
    [{ reason: "UNAVAILABLE" }, true, false],
    [{ code: "resource_exhausted", reason: "RATE_LIMITED" }, true, true],
    [{ code: "resource_exhausted", status: 429 }, true, true],
    [{ code: "resource_exhausted", reason: "PAYLOAD_TOO_LARGE", status: 413 }, false, false],
    [{ code: "aborted", reason: "CONFLICT" }, true, false],
    [{ code: "internal" }, false, false],
    [{ code: "not_found" }, false, false],
  ] as const) {
    const shown = JSON.stringify(parts);
    assert.deepEqual([mayHelp(error(parts), true), mayHelp(error(parts), false)], [safe, unsafe], shown);
  }
});

test("a pause adds growing, bounded jitter to Retry-After", () => {
  const retry = { attempts: 9, firstPauseMs: 100, longestPauseMs: 250 };
  const pause = (tries: number, retryAfterMs?: number) =>
    pauseOf(new ServiceError("", { code: "unavailable", retryAfterMs }), tries, retry);
  for (const [tries, bound] of [
    [1, 100],
    [2, 200],
    [3, 250],
    [8, 250],
  ] as const) {
    const pauses = Array.from({ length: 200 }, () => pause(tries)!);
    assert.ok(
      pauses.every((it) => it >= 0 && it < bound),
      `${tries}`,
    );
    assert.ok(
      pauses.some((it) => it > bound / 4),
      "it is not always none",
    );
  }
  assert.ok(pause(1, 5_000)! >= 5_000);
  assert.equal(pause(1, 60_001), undefined);
});

test("a call's headers override the client's, and invalid ones are rejected unquoted", () => {
  const forms = [
    new Headers({ "X-Service-Key": "other" }),
    { "X-Service-Key": "other" },
    [["X-SERVICE-KEY", "other"]],
  ];
  for (const given of forms as Headers[]) {
    assert.deepEqual(headersOf("key", given), { "x-service-key": "other" });
  }
  assert.deepEqual(headersOf("key", { "x-service-key": undefined }), { "x-service-key": "key" });
  const bad: Record<string, string>[] = [{ "x-a": "hunter2\n" }, { "x-a": "hunter2…" }, { "x a": "hunter2" }];
  for (const given of [...bad, { "": "hunter2" }]) {
    const message = messageOf(() => headersOf("key", given));
    assert.match(message, /^the header `.*` has a name or a value/);
    assert.doesNotMatch(message, /hunter2/);
  }
});

test("a subclass of the error matches its own instances only", () => {
  class Mine extends ServiceError {}
  const [mine, other] = [new Mine("", { code: "internal" }), new ServiceError("", { code: "internal" })];
  assert.deepEqual([mine instanceof Mine, mine instanceof ServiceError], [true, true]);
  assert.deepEqual([other instanceof Mine, other instanceof ServiceError], [false, true]);
});

test("a timeout signal ends a call with deadline_exceeded, others with canceled", () => {
  const ended = (reason: unknown) => {
    const deadline = new Deadline("method", 1_000, AbortSignal.abort(reason));
    const error: unknown = deadline.signal.reason;
    assert.ok(isServiceError(error));
    return error.code;
  };
  assert.equal(ended(new DOMException("", "TimeoutError")), "deadline_exceeded");
  assert.equal(ended(undefined), "canceled");
  assert.equal(ended("enough"), "canceled");
});
