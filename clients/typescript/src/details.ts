// The details of an error: messages of google.rpc in protobuf, of which four are read. Field numbers as in
// proto/google/rpc/error_details.proto.

import { BinaryReader } from "@bufbuild/protobuf/wire";

import type { Violation } from "./errors.js";

/** A detail as received. */
export interface Detail {
  /** Full name of the message. */
  readonly type: string;
  readonly value: Uint8Array;
}

/** The content of details. */
export interface ErrorDetails {
  reason?: string;
  violations?: Violation[];
  requestId?: string;
  retryAfterMs?: number;
}

/** Returns the content of these details, without unknown or broken ones. */
export function decodeDetails(details: readonly Detail[]): ErrorDetails {
  const found: ErrorDetails = {};
  for (const { type, value } of details) {
    try {
      READERS[type.slice(type.lastIndexOf("/") + 1)]?.(found, value);
    } catch {
      // An unreadable detail is ignored; the error itself remains.
    }
  }
  return found;
}

/** Decodes the bytes of a detail in JSON: base64, with or without padding. */
export function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

const READERS: Readonly<Record<string, (found: ErrorDetails, bytes: Uint8Array) => void>> = {
  "google.rpc.ErrorInfo": (found, bytes) => {
    fields(bytes, { 1: (reader) => (found.reason = reader.string()) });
  },
  "google.rpc.RequestInfo": (found, bytes) => {
    fields(bytes, { 1: (reader) => (found.requestId = reader.string()) });
  },
  "google.rpc.BadRequest": (found, bytes) => {
    const violations: Violation[] = (found.violations ??= []);
    fields(bytes, { 1: (reader) => violations.push(violation(reader.bytes())) });
  },
  "google.rpc.RetryInfo": (found, bytes) => {
    fields(bytes, { 1: (reader) => (found.retryAfterMs = milliseconds(reader.bytes())) });
  },
};

function violation(bytes: Uint8Array): Violation {
  let [field, description] = ["", ""];
  fields(bytes, { 1: (reader) => (field = reader.string()), 2: (reader) => (description = reader.string()) });
  return { field, path: camel(field), description };
}

/** Reads a google.protobuf.Duration. */
function milliseconds(bytes: Uint8Array): number {
  let [seconds, nanos] = [0, 0];
  fields(bytes, {
    1: (reader) => (seconds = Number(reader.int64())),
    2: (reader) => (nanos = reader.int32()),
  });
  return seconds * 1_000 + Math.ceil(nanos / 1_000_000);
}

/** Returns a path in the names of this library's objects. */
function camel(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function fields(
  bytes: Uint8Array,
  readers: Readonly<Record<number, (reader: BinaryReader) => unknown>>,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    const read = readers[field];
    if (read === undefined) {
      reader.skip(wireType, field);
    } else {
      read(reader);
    }
  }
}
