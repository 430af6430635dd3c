// Messages of protobuf-es from the JSON of this library and back, for transports: texts, numbers, booleans,
// messages, instants and masks, and nothing else, since the contract has nothing else.

import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

/** Values by their names. */
type Fields = Record<string, unknown>;

const TIMESTAMP = "google.protobuf.Timestamp";
const FIELD_MASK = "google.protobuf.FieldMask";
/** `FeatureSet.FieldPresence.EXPLICIT`. */
const EXPLICIT = 1;

/** What a message is made of that says what this JSON does. Throws where an instant is none. */
export function initOf(desc: DescMessage, json: object): object {
  const init: Fields = {};
  for (const field of desc.fields) {
    const value = (json as Fields)[field.jsonName];
    if (value !== undefined && value !== null) {
      init[field.localName] = Array.isArray(value)
        ? value.map((element: unknown) => written(field, element))
        : written(field, value);
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

function written(field: DescField, value: unknown): unknown {
  switch (field.message?.typeName) {
    case undefined:
      return value;
    case TIMESTAMP:
      return instant(field.jsonName, String(value));
    case FIELD_MASK:
      return { paths: String(value).split(",").filter(Boolean).map(snake) };
    default:
      return typeof value === "object" && value !== null ? initOf(field.message!, value) : value;
  }
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

function instant(name: string, text: string): { seconds: bigint; nanos: number } {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new Error(
      `\`${name}\` must be a time of RFC 3339, such as 2026-11-21T00:00:00Z (given: \`${text}\`)`,
    );
  }
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1_000_000 };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
