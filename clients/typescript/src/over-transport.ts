// One attempt of a call over a connect-es transport. Loaded with the first such call only, because it
// includes protobuf-es.

import type { Transport } from "@connectrpc/connect";

import type { Deadline } from "./deadline.js";
import { methodOf } from "./descriptors.js";
import { type Detail, decodeDetails } from "./details.js";
import { ERROR_CODES, ServiceError } from "./errors.js";
import { initOf, jsonOf } from "./messages.js";
import { retryAfterOf, withAdvice } from "./refusal.js";
import { written } from "./request.js";
import { neverConnected } from "./retry.js";

/** The used fields of a ConnectError, from any copy of connect-es in a program. */
interface Refused {
  readonly code: number;
  readonly rawMessage: string;
  readonly metadata: Headers;
  readonly details: readonly object[];
  readonly cause?: unknown;
}

/** Makes one attempt and returns the JSON of the response; throws the failure. */
export async function unary(
  transport: Transport,
  path: string,
  request: object,
  headers: Record<string, string>,
  deadline: Deadline,
): Promise<object> {
  const method = methodOf(path);
  if (method === undefined) {
    throw new ServiceError(`the contract has no method ${path}`, { code: "internal", method: path });
  }
  // Values that JSON omits are omitted here too, and dates become strings.
  const message = initOf(method.input, JSON.parse(written(path, request)) as object);
  try {
    const { signal, remainingMs } = deadline;
    const answer = await transport.unary(
      method,
      signal,
      remainingMs,
      headers,
      message as Record<string, unknown>,
    );
    return jsonOf(method.output, answer.message);
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : toServiceError(error, path);
  }
}

function toServiceError(error: unknown, path: string): ServiceError {
  if (!isRefused(error)) {
    const why = error instanceof Error ? error.message : String(error);
    return new ServiceError(`the transport failed: ${why}`, { code: "unknown", method: path, cause: error });
  }
  const details = decodeDetails(
    error.details.filter((detail): detail is Detail => "type" in detail && "value" in detail),
  );
  return new ServiceError(withAdvice(error.rawMessage, details.reason), {
    retryAfterMs: retryAfterOf(error.metadata),
    requestId: error.metadata.get("x-request-id") ?? undefined,
    ...details,
    code: isOfNetwork(error) ? "unavailable" : (ERROR_CODES[error.code - 1] ?? "unknown"),
    method: path,
    cause: error,
  });
}

/** Whether the connection failed: connect-es reports an error of `fetch` as an unknown one. */
function isOfNetwork({ code, cause }: Refused): boolean {
  const name = cause instanceof Error ? cause.name : undefined;
  return ERROR_CODES[code - 1] === "unknown" && (name === "TypeError" || neverConnected(cause));
}

function isRefused(error: unknown): error is Refused {
  return error instanceof Error && error.name === "ConnectError" && "rawMessage" in error;
}
