// Errors for callers: one class, a code as a string, a stable reason, and a guard for each code. `refusal.ts`
// reads errors from responses.

import type { KnownReason } from "./gen/words.js";

/** Every code, in the order of its number in gRPC and Connect, from 1 on. */
export const ERROR_CODES = [
  "canceled",
  "unknown",
  "invalid_argument",
  "deadline_exceeded",
  "not_found",
  "already_exists",
  "permission_denied",
  "resource_exhausted",
  "failed_precondition",
  "aborted",
  "out_of_range",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
  "unauthenticated",
] as const;

/** The code of an error. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The stable reason of a failed call. A newer service may have others. */
export type ErrorReason = KnownReason | WebhookReason | (string & {});

/** The reason why `verifyWebhook` rejected a request. */
export type WebhookReason =
  "WEBHOOK_HEADERS_MISSING" | "WEBHOOK_TIMESTAMP" | "WEBHOOK_SIGNATURE" | "WEBHOOK_BODY";

/** A field of a request that violates a rule. */
export interface Violation {
  /** Path from the request on in the contract's names, such as `monitor.degraded_at`. */
  readonly field: string;
  /** The same path in this library's names, such as `monitor.degradedAt`. */
  readonly path: string;
  /** The given value and the allowed values. */
  readonly description: string;
}

/** The parts of an error; see {@link ServiceError}. */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly reason?: ErrorReason | undefined;
  readonly violations?: readonly Violation[] | undefined;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly method?: string | undefined;
  readonly cause?: unknown;
}

/** Shared by all copies of this library in a program, as ESM and as CommonJS. */
const BRAND = Symbol.for("@aloft/client.ServiceError");

/** The failure of a call, before or after it was sent. The only error that this library throws. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  /** Code of the error, such as `not_found`. */
  readonly code: ErrorCode;
  /** Stable reason. Absent if the service did not respond itself. */
  readonly reason: ErrorReason | undefined;
  /** The fields that violate rules; empty for other errors. */
  readonly violations: readonly Violation[];
  /** ID of the request in the service's log. Absent without a response of the service. */
  readonly requestId: string | undefined;
  /** HTTP status of the response. Absent without a response. */
  readonly status: number | undefined;
  /** Wait before the next attempt, in milliseconds. Absent if unspecified. */
  readonly retryAfterMs: number | undefined;
  /** Name of the method, such as `monitor.v1.MonitorService/GetMonitor`. */
  readonly method: string | undefined;

  constructor(message: string, parts: ErrorParts) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = parts.code;
    this.reason = parts.reason;
    this.violations = parts.violations ?? [];
    this.requestId = parts.requestId;
    this.status = parts.status;
    this.retryAfterMs = parts.retryAfterMs;
    this.method = parts.method;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Accepts errors of every copy of this library. A subclass only accepts its own instances. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== ServiceError) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** A {@link ServiceError} with one code. */
export type ErrorOf<Code extends ErrorCode> = ServiceError & { readonly code: Code };

/** Whether it is an error of this library. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof ServiceError;
}

function has<Code extends ErrorCode>(error: unknown, code: Code): error is ErrorOf<Code> {
  return isServiceError(error) && error.code === code;
}

/** Whether the call was ended by its `AbortSignal`. */
export function isCanceled(error: unknown): error is ErrorOf<"canceled"> {
  return has(error, "canceled");
}

/** Whether the cause is unknown, such as an unexpected response of a proxy. */
export function isUnknown(error: unknown): error is ErrorOf<"unknown"> {
  return has(error, "unknown");
}

/** Whether the request violates rules; `violations` names the fields. */
export function isInvalidArgument(error: unknown): error is ErrorOf<"invalid_argument"> {
  return has(error, "invalid_argument");
}

/** Whether the call ran out of time; `cause` is the failure of its last attempt, if there was one. */
export function isDeadlineExceeded(error: unknown): error is ErrorOf<"deadline_exceeded"> {
  return has(error, "deadline_exceeded");
}

/** Whether the workspace has no such thing. */
export function isNotFound(error: unknown): error is ErrorOf<"not_found"> {
  return has(error, "not_found");
}

/** Whether something else already has a value that must be unique. */
export function isAlreadyExists(error: unknown): error is ErrorOf<"already_exists"> {
  return has(error, "already_exists");
}

/** Whether the key lacks the permission, such as a read-only key that changes something. */
export function isPermissionDenied(error: unknown): error is ErrorOf<"permission_denied"> {
  return has(error, "permission_denied");
}

/** Whether there were too many calls (`retryAfterMs` is the wait), or the request is too large. */
export function isResourceExhausted(error: unknown): error is ErrorOf<"resource_exhausted"> {
  return has(error, "resource_exhausted");
}

/** Whether the state does not allow this call. */
export function isFailedPrecondition(error: unknown): error is ErrorOf<"failed_precondition"> {
  return has(error, "failed_precondition");
}

/** Whether it was modified concurrently; fetch it and retry. */
export function isAborted(error: unknown): error is ErrorOf<"aborted"> {
  return has(error, "aborted");
}

/** Whether something is past its end. */
export function isOutOfRange(error: unknown): error is ErrorOf<"out_of_range"> {
  return has(error, "out_of_range");
}

/** Whether the service lacks the method, which also happens at a wrong address. */
export function isUnimplemented(error: unknown): error is ErrorOf<"unimplemented"> {
  return has(error, "unimplemented");
}

/** Whether the service failed, or the response was invalid. */
export function isInternal(error: unknown): error is ErrorOf<"internal"> {
  return has(error, "internal");
}

/** Whether the service did not respond, or cannot now; a retry may help. */
export function isUnavailable(error: unknown): error is ErrorOf<"unavailable"> {
  return has(error, "unavailable");
}

/** Whether data was lost. */
export function isDataLoss(error: unknown): error is ErrorOf<"data_loss"> {
  return has(error, "data_loss");
}

/** Whether the key is missing, unknown, expired or revoked. */
export function isUnauthenticated(error: unknown): error is ErrorOf<"unauthenticated"> {
  return has(error, "unauthenticated");
}

/** Creates an error for an invalid request that was not sent. */
export function invalid(message: string, violations?: readonly Violation[], cause?: unknown): ServiceError {
  return new ServiceError(message, {
    code: "invalid_argument",
    reason: "INVALID_ARGUMENT",
    violations,
    cause,
  });
}
