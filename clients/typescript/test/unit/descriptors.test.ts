// Compares the descriptors from the short form with those from the server's reflection.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { createFileRegistry, type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";

import { methodOf } from "../../src/descriptors.js";

const SET = fromBinary(
  FileDescriptorSetSchema,
  readFileSync("../../crates/proto/src/gen/descriptors.bin"),
);

/** Everything that affects the wire and the JSON. */
function shape(field: DescField) {
  const { name, number, jsonName, fieldKind, scalar, presence, oneof, message } = field;
  return {
    name,
    number,
    jsonName,
    fieldKind,
    scalar,
    presence,
    oneof: oneof?.name,
    message: message?.typeName,
  };
}

/** The fields of a message and of all nested messages, by full name. */
function fields(message: DescMessage, into = new Map<string, unknown>()): Map<string, unknown> {
  for (const field of message.fields) {
    const name = `${message.typeName}.${field.name}`;
    if (!into.has(name)) {
      into.set(name, shape(field));
      if (field.message !== undefined) {
        fields(field.message, into);
      }
    }
  }
  return into;
}

test("every method has the messages and the fields of the contract", () => {
  let methods = 0;
  for (const service of createFileRegistry(SET)) {
    if (service.kind !== "service" || service.typeName.startsWith("grpc.")) {
      continue;
    }
    for (const theirs of service.methods) {
      const name: string = `${service.typeName}/${theirs.name}`;
      const ours = methodOf(name);
      assert.ok(ours, name);
      assert.equal(Level[ours.idempotency], Level[theirs.idempotency], name);
      assert.deepEqual(
        [ours.input.typeName, ours.output.typeName],
        [theirs.input.typeName, theirs.output.typeName],
      );
      assert.deepEqual(fields(ours.input), fields(theirs.input), name);
      assert.deepEqual(fields(ours.output), fields(theirs.output), name);
      methods += 1;
    }
  }
  assert.ok(methods > 70, `${methods} methods`);
});
