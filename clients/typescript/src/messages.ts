// Converts between this library's JSON and protobuf-es messages, for transports. It supports strings,
// numbers, booleans, messages, instants and masks, because the contract uses nothing else.

import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

import { invalid } from "./errors.js";

/** Values by name. */
type Fields = Record<string, unknown>;

const TIMESTAMP = "google.protobuf.Timestamp";
const FIELD_MASK = "google.protobuf.FieldMask";
/** `FeatureSet.FieldPresence.EXPLICIT`. */
const EXPLICIT = 1;

/** An RFC 3339 instant. Its offset is required, so it does not depend on the local time zone. */
const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns the initializer of a message from this JSON. Throws if a value is not of its field's kind. */
export function initOf(desc: DescMessage, json: object, path = ""): object {
  const init: Fields = {};
  for (const field of desc.fields) {
    const value = (json as Fields)[field.jsonName];
    if (value !== undefined && value !== null) {
      init[field.localName] = whole(field, value, path + field.jsonName);
    }
  }
  return init;
}

/**
 * Returns the JSON of a message as the service writes it: with empty lists, zero totals and empty strings.
 */
export function jsonOf(desc: DescMessage, message: Message): object {
  const json: Fields = {};
  for (const field of desc.fields) {
    const value = valueOf(field, message as unknown as Fields);
    if (value !== undefined) {
      json[field.jsonName] = Array.isArray(value)
        ? value.map((element: unknown) => read(field, element))
        : read(field, value);
    }
  }
  return json;
}

/** Returns the value of a field; undefined if it is absent. */
function valueOf(field: DescField, message: Fields): unknown {
  if (field.oneof !== undefined) {
    const chosen = message[field.oneof.localName] as { case?: string; value?: unknown } | undefined;
    return chosen?.case === field.localName ? chosen.value : undefined;
  }
  const isThere = field.presence !== EXPLICIT || Object.hasOwn(message, field.localName);
  return isThere ? message[field.localName] : undefined;
}

function whole(field: DescField, value: unknown, path: string): unknown {
  if (field.fieldKind !== "list") {
    return written(field, value, path);
  }
  if (!Array.isArray(value)) {
    return refuse(path, "a list", value);
  }
  return value.map((element: unknown, index) => written(field, element, `${path}[${index}]`));
}

function written(field: DescField, value: unknown, path: string): unknown {
  switch (field.message?.typeName) {
    case undefined:
      return scalar(field, value, path);
    case TIMESTAMP:
      return instant(value, path);
    case FIELD_MASK:
      return { paths: String(value).split(",").filter(Boolean).map(snake) };
    default:
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return refuse(path, "an object", value);
      }
      return initOf(field.message!, value, `${path}.`);
  }
}

/** Converts a string, a number or a boolean. For other values, protobuf-es would fail without a reason. */
function scalar(field: DescField, value: unknown, path: string): unknown {
  switch (field.scalar) {
    case ScalarType.INT32:
      return isInt32(value) ? value : refuse(path, "a whole number of 32 bits", value);
    case ScalarType.BOOL:
      return typeof value === "boolean" ? value : refuse(path, "true or false", value);
    default:
      // The given value may be a secret, so it is not quoted.
      return typeof value === "string" ? value : refuse(path, "a text");
  }
}

function isInt32(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31;
}

function read(field: DescField, value: unknown): unknown {
  switch (field.message?.typeName) {
    case undefined:
      return value;
    case TIMESTAMP: {
      const { seconds, nanos } = value as { seconds: bigint; nanos: number };
      // As the service writes it: without a fraction of zero.
      return new Date(Number(seconds) * 1_000 + nanos / 1_000_000).toISOString().replace(".000Z", "Z");
    }
    case FIELD_MASK:
      return (value as { paths: string[] }).paths.join(",");
    default:
      return jsonOf(field.message!, value as Message);
  }
}

function instant(value: unknown, path: string): { seconds: bigint; nanos: number } {
  const [, day] = INSTANT.exec(String(value)) ?? [];
  const ms = Date.parse(String(value));
  // `Date` turns 30 February into a day in March.
  if (day === undefined || Number.isNaN(ms) || !new Date(day).toISOString().startsWith(day)) {
    return refuse(path, "a time of RFC 3339, such as 2026-11-21T00:00:00Z", value);
  }
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1_000_000 };
}

/** Throws the violation of the value at a path. */
function refuse(path: string, what: string, given?: unknown): never {
  const description = `must be ${what}${given === undefined ? "" : ` (given: \`${String(given)}\`)`}`;
  throw invalid(`\`${path}\` ${description}`, [{ field: snake(path), path, description }]);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
