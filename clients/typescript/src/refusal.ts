// Reads the error of an unsuccessful response: from the service in Connect's format, from `/v1` in that of
// RFC 9457, or from an intermediary in any format.

import { bytesOf, type Detail, decodeDetails } from "./details.js";
import { ERROR_CODES, type ErrorCode, ServiceError } from "./errors.js";

/** A response that was read: completely, or as far as an error needs. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Maximum number of characters of a page that a message quotes. */
const SHOWN_MAX = 160;
/**
 * Maximum number of characters of a page that are scanned for these, because strangers' pages have any
 * length.
 */
const LOOKED_AT_MAX = 8_192;

/** Invisible parts of a page. An unclosed part extends to the end, so nothing is scanned twice. */
const MARKUP = /<(style|script)\b[\s\S]*?(?:<\/\1>|$)|<[a-z!/][^<>]*(?:>|$)/gi;

/** Codes of statuses without an error of the service. */
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

/** Returns the error of this response to a call of `method` at `url`. */
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

/** Parses a JSON object; undefined for anything else. */
export function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Explains how to give a key, if one is missing. */
export function withAdvice(message: string, reason: string | undefined): string {
  return reason === "KEY_MISSING"
    ? `${message}; give the option \`apiKey\`, or set SERVICE_API_KEY`
    : message;
}

/** Returns the wait of a Retry-After in milliseconds; undefined if it is invalid (RFC 9110 §10.2.3). */
export function retryAfterOf(headers: Headers): number | undefined {
  const given = headers.get("retry-after")?.trim();
  if (!given) {
    return undefined;
  }
  const ms = /^\d+$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function ofService(body: Record<string, unknown>, answer: Answer, method: string): ServiceError {
  const details = decodeDetails(detailsOf(body["details"]));
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
    // A success without a valid response is not from the service.
    code: status >= 200 && status < 300 ? "internal" : codeOf(status),
    requestId: requestIdOf(answer),
    status: status || undefined,
    retryAfterMs: retryAfterOf(headers),
    method,
  });
}

/** Returns the beginning of a page's visible text. */
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

/** Invalid base64 is ignored. */
function bytes(base64: string): Uint8Array {
  try {
    return bytesOf(base64);
  } catch {
    return new Uint8Array();
  }
}
