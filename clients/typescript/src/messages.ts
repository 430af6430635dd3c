// Messages of protobuf-es from the JSON of this library and back, for transports: texts, numbers, booleans,
// messages, instants and masks, and nothing else, since the contract has nothing else.

import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

import { invalid } from "./errors.js";

/** Values by their names. */
type Fields = Record<string, unknown>;

const TIMESTAMP = "google.protobuf.Timestamp";
const FIELD_MASK = "google.protobuf.FieldMask";
/** `FeatureSet.FieldPresence.EXPLICIT`. */
const EXPLICIT = 1;

/** An instant of RFC 3339, whose offset is not left to the place where the program runs. */
const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** What a message is made of that says what this JSON does. Throws where a value is not of its field's kind. */
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

/** The JSON of a message, with lists, totals and empty texts, as the service writes it. */
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

/** The value of a field; undefined where it is not there. */
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

/** A text, a number or a boolean; of anything else protobuf-es would only say that it failed. */
function scalar(field: DescField, value: unknown, path: string): unknown {
  switch (field.scalar) {
    case ScalarType.INT32:
      return isInt32(value) ? value : refuse(path, "a whole number of 32 bits", value);
    case ScalarType.BOOL:
      return typeof value === "boolean" ? value : refuse(path, "true or false", value);
    default:
      // What was given instead may be a secret.
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
      // As the service writes it: a fraction only where there is one.
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
  // To `Date` 30 February is a day in March.
  if (day === undefined || Number.isNaN(ms) || !new Date(day).toISOString().startsWith(day)) {
    return refuse(path, "a time of RFC 3339, such as 2026-11-21T00:00:00Z", value);
  }
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1_000_000 };
}

/** Throws what is wrong with the value at a path. */
function refuse(path: string, what: string, given?: unknown): never {
  const description = `must be ${what}${given === undefined ? "" : ` (given: \`${String(given)}\`)`}`;
  throw invalid(`\`${path}\` ${description}`, [{ field: snake(path), path, description }]);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
