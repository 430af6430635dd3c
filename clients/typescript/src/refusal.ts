// What an answer says that is no success: of the service in Connect's words, of `/v1` in those of RFC 9457,
// or of somebody in between, who says it in a page.

import { bytesOf, type Detail, said } from "./details.js";
import { ERROR_CODES, type ErrorCode, ServiceError } from "./errors.js";

/** An answer that was read: to its end, or as far as an error is. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Most characters that a message repeats of a page. */
const SHOWN_MAX = 160;
/** Most characters of a page that are looked at for these: pages are made by strangers, of any length. */
const LOOKED_AT_MAX = 8_192;

/** What of a page is not said to people. What is not closed goes on to the end, so nothing is read twice. */
const MARKUP = /<(style|script)\b[\s\S]*?(?:<\/\1>|$)|<[a-z!/][^<>]*(?:>|$)/gi;

/** The codes of statuses that came without words of the service. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "internal",
  401: "unauthenticated",
  403: "permission_denied",
  404: "unimplemented",
  408: "deadline_exceeded",
  413: "resource_exhausted",
  429: "resource_exhausted",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

/** The error that this answer is, of a call of `method` at `url`. */
export function refusal(answer: Answer, method: string, url: string): ServiceError {
  const body = objectOf(answer.text);
  if (typeof body?.["code"] === "string") {
    return ofService(body, answer, method);
  }
  if (typeof body?.["detail"] === "string") {
    return ofProblem(body, answer, method);
  }
  return ofStranger(answer, method, url);
}

/** An object in JSON; undefined where it is something else. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is an object as JSON has them. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether somebody must be told how to give a key, and how. */
export function withAdvice(message: string, reason: string | undefined): string {
  return reason === "KEY_MISSING"
    ? `${message}; give the option \`apiKey\`, or set SERVICE_API_KEY`
    : message;
}

/** What a Retry-After asks for, in milliseconds; undefined where it is none (RFC 9110 §10.2.3). */
export function retryAfterOf(headers: Headers): number | undefined {
  const given = headers.get("retry-after")?.trim();
  if (!given) {
    return undefined;
  }
  const ms = /^\d+$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function ofService(body: Record<string, unknown>, answer: Answer, method: string): ServiceError {
  const details = said(detailsOf(body["details"]));
  const message = textOf(body["message"]) ?? `the service answered ${String(body["code"])}`;
  return new ServiceError(withAdvice(message, details.reason), {
    retryAfterMs: retryAfterOf(answer.headers),
    requestId: requestIdOf(answer),
    ...details,
    code: ERROR_CODES.find((code) => code === body["code"]) ?? codeOf(answer.status),
    status: answer.status,
    method,
  });
}

function ofProblem(body: Record<string, unknown>, answer: Answer, method: string): ServiceError {
  const reason = textOf(body["reason"]);
  const missing = answer.status === 404 && reason === "NOT_FOUND";
  return new ServiceError(withAdvice(String(body["detail"]), reason), {
    code: missing ? "not_found" : answer.status === 500 ? "internal" : codeOf(answer.status),
    reason,
    requestId: textOf(body["requestId"]) ?? requestIdOf(answer),
    status: answer.status,
    retryAfterMs: retryAfterOf(answer.headers),
    method,
  });
}

function ofStranger(answer: Answer, method: string, url: string): ServiceError {
  const { status, headers } = answer;
  const location = headers.get("location");
  const type = headers.get("content-type")?.split(";")[0] || "nothing that says its type";
  const shown =
    status === 0 || location !== null
      ? `a redirect to ${location ?? "elsewhere"}`
      : `${type}${excerpt(answer.text)}`;
  const message = `${url} answered ${status || "with"} ${shown}, which is not the service; is \`baseUrl\` right?`;
  return new ServiceError(message, {
    // A success that is no answer is nobody's.
    code: status >= 200 && status < 300 ? "internal" : codeOf(status),
    requestId: requestIdOf(answer),
    status: status || undefined,
    retryAfterMs: retryAfterOf(headers),
    method,
  });
}

/** The beginning of what a page says to people. */
function excerpt(text: string): string {
  const bare = text.slice(0, LOOKED_AT_MAX).replace(MARKUP, " ");
  const words = bare.replace(/\s+/g, " ").trim();
  const shown = words.length > SHOWN_MAX ? `${words.slice(0, SHOWN_MAX)}…` : words;
  return shown === "" ? " that is empty" : ` “${shown}”`;
}

function codeOf(status: number): ErrorCode {
  return CODES[status] ?? "unknown";
}

function requestIdOf(answer: Answer): string | undefined {
  return answer.headers.get("x-request-id") ?? undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function detailsOf(value: unknown): Detail[] {
  const details: unknown[] = Array.isArray(value) ? value : [];
  return details.flatMap((detail) => {
    const { type, value } = (detail ?? {}) as { type?: unknown; value?: unknown };
    return typeof type === "string" && typeof value === "string" ? [{ type, value: bytes(value) }] : [];
  });
}

/** What is no base64 is nothing. */
function bytes(base64: string): Uint8Array {
  try {
    return bytesOf(base64);
  } catch {
    return new Uint8Array();
  }
}
