// One try of a call over a transport of connect-es: messages of protobuf-es between the caller's JSON and
// the wire. Loaded with the first such call only, because it brings protobuf-es and the descriptors along.

import { createFileRegistry, type DescMethodUnary, type FileRegistry, fromBinary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";

import type { Deadline } from "./deadline.js";
import { bytesOf, type Detail, said } from "./details.js";
import { ERROR_CODES, invalid, ServiceError } from "./errors.js";
import { DESCRIPTORS } from "./gen/descriptors.js";
import { retryAfterOf, withAdvice } from "./refusal.js";

let registry: FileRegistry | undefined;

/** Makes one try. Answers the JSON of the answer; throws what went wrong. */
export async function unary(
  transport: Transport,
  path: string,
  request: object,
  headers: Record<string, string>,
  deadline: Deadline,
): Promise<object> {
  const method = find(path);
  const message = parsed(method, request, path);
  try {
    const { signal, remainingMs } = deadline;
    const answer = await transport.unary(method, signal, remainingMs, headers, message);
    // Lists, totals and empty texts are there, as in the service's own JSON.
    return toJson(method.output, answer.message, { alwaysEmitImplicit: true }) as object;
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : told(ConnectError.from(error), path);
  }
}

function find(path: string): DescMethodUnary {
  registry ??= createFileRegistry(fromBinary(FileDescriptorSetSchema, bytesOf(DESCRIPTORS)));
  const [service = "", name] = path.split("/");
  const method = registry.getService(service)?.methods.find((method) => method.name === name);
  if (method?.methodKind !== "unary") {
    throw new ServiceError(`the contract has no method ${path}`, { code: "internal", method: path });
  }
  return method as DescMethodUnary;
}

function parsed(method: DescMethodUnary, request: object, path: string) {
  try {
    // What stands for nothing in JSON, such as `undefined`, is not there; dates are texts.
    return fromJson(method.input, JSON.parse(JSON.stringify(request)) as JsonValue);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`${why} (${path})`, [], cause);
  }
}

function told(error: ConnectError, path: string): ServiceError {
  const details = said(error.details.filter((detail): detail is Detail & { value: Uint8Array } => "type" in detail));
  return new ServiceError(withAdvice(error.rawMessage, details.reason), {
    retryAfterMs: retryAfterOf(error.metadata),
    requestId: error.metadata.get("x-request-id") ?? undefined,
    ...details,
    code: ERROR_CODES[error.code - 1] ?? "unknown",
    method: path,
    cause: error.cause ?? error,
  });
}
