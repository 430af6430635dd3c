// Errors as callers see them: one class, a code that is a word, a reason that never changes, and a guard
// for each code. What an answer says of an error is read in `refusal.ts`.

import type { KnownReason } from "./gen/words.js";

/** Every code, in the order of their numbers in gRPC and Connect, from 1 on. */
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

/** What kind of error it is. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a call failed, in a word that does not change; a newer service may have others. */
export type ErrorReason = KnownReason | WebhookReason | (string & {});

/** Why `verifyWebhook` refused a request. */
export type WebhookReason =
  "WEBHOOK_HEADERS_MISSING" | "WEBHOOK_TIMESTAMP" | "WEBHOOK_SIGNATURE" | "WEBHOOK_BODY";

/** A field of a request that breaks a rule. */
export interface Violation {
  /** Path from the request on in the names of the contract, such as `monitor.degraded_at`. */
  readonly field: string;
  /** The same path in the names of the objects of this library, such as `monitor.degradedAt`. */
  readonly path: string;
  /** What was given and what is allowed. */
  readonly description: string;
}

/** What an error is made of; see {@link ServiceError}. */
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

/** Why a call failed, or why none could be made. The only error that this library throws. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  /** What kind of error it is, such as `not_found`. */
  readonly code: ErrorCode;
  /** Why, in a word that does not change; absent where the service did not answer itself. */
  readonly reason: ErrorReason | undefined;
  /** The fields that break rules; empty for other errors. */
  readonly violations: readonly Violation[];
  /** Names the request in the log of the service; absent where the service did not answer. */
  readonly requestId: string | undefined;
  /** Status of the answer in HTTP; absent without an answer. */
  readonly status: number | undefined;
  /** How long to wait before the next try, in milliseconds; absent where nobody said. */
  readonly retryAfterMs: number | undefined;
  /** What was called, such as `monitor.v1.MonitorService/GetMonitor`. */
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

  /** Holds for errors of every copy of this library; of a class that extends this one, for its own alone. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== ServiceError) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** A {@link ServiceError} of one code. */
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

/** Whether nobody knows what went wrong, such as an unexpected answer of a proxy. */
export function isUnknown(error: unknown): error is ErrorOf<"unknown"> {
  return has(error, "unknown");
}

/** Whether the request breaks rules; `violations` says which fields. */
export function isInvalidArgument(error: unknown): error is ErrorOf<"invalid_argument"> {
  return has(error, "invalid_argument");
}

/** Whether the time for the call was over; `cause` is why its last try failed, where one did. */
export function isDeadlineExceeded(error: unknown): error is ErrorOf<"deadline_exceeded"> {
  return has(error, "deadline_exceeded");
}

/** Whether there is no such thing in the workspace. */
export function isNotFound(error: unknown): error is ErrorOf<"not_found"> {
  return has(error, "not_found");
}

/** Whether something else has a value already that must be unique. */
export function isAlreadyExists(error: unknown): error is ErrorOf<"already_exists"> {
  return has(error, "already_exists");
}

/** Whether the key may not do that, such as a read-only key that changes something. */
export function isPermissionDenied(error: unknown): error is ErrorOf<"permission_denied"> {
  return has(error, "permission_denied");
}

/** Whether there were too many calls (`retryAfterMs` says how long to wait), or the request is too large. */
export function isResourceExhausted(error: unknown): error is ErrorOf<"resource_exhausted"> {
  return has(error, "resource_exhausted");
}

/** Whether things do not stand as they would have to for this call. */
export function isFailedPrecondition(error: unknown): error is ErrorOf<"failed_precondition"> {
  return has(error, "failed_precondition");
}

/** Whether somebody else changed it at the same time; reading it again and repeating helps. */
export function isAborted(error: unknown): error is ErrorOf<"aborted"> {
  return has(error, "aborted");
}

/** Whether something is past its end. */
export function isOutOfRange(error: unknown): error is ErrorOf<"out_of_range"> {
  return has(error, "out_of_range");
}

/** Whether the service has no such method; also what a wrong address answers. */
export function isUnimplemented(error: unknown): error is ErrorOf<"unimplemented"> {
  return has(error, "unimplemented");
}

/** Whether the service failed, or what came back was no answer. */
export function isInternal(error: unknown): error is ErrorOf<"internal"> {
  return has(error, "internal");
}

/** Whether the service did not answer, or cannot now; trying again may help. */
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

/** An error of a request that was not sent, with what is wrong with it. */
export function invalid(message: string, violations?: readonly Violation[], cause?: unknown): ServiceError {
  return new ServiceError(message, {
    code: "invalid_argument",
    reason: "INVALID_ARGUMENT",
    violations,
    cause,
  });
}
