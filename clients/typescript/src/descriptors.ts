// Descriptors of the contract for protobuf-es, built from the short form in `gen/messages.ts` and the table
// of methods. Only transports need them.

import {
  create,
  createFileRegistry,
  type DescMethodUnary,
  type FileRegistry,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptions_IdempotencyLevel as Level,
} from "@bufbuild/protobuf/wkt";

import { MESSAGES } from "./gen/messages.js";
import { SERVICES } from "./gen/methods.js";
import { READS, REPEATABLE, repetition } from "./method.js";

/** A file under construction. */
interface File {
  readonly package: string;
  readonly messages: string[];
}

const TYPES: Readonly<Record<string, Type>> = { bool: Type.BOOL, int32: Type.INT32, int64: Type.INT64 };

let registry: FileRegistry | undefined;

/** Returns the descriptor of the method with this path. */
export function methodOf(path: string): DescMethodUnary | undefined {
  registry ??= createFileRegistry(create(FileDescriptorSetSchema, { file: files().map(described) }));
  const [service = "", name] = path.split("/");
  return registry.getService(service)?.methods.find((method) => method.name === name) as
    DescMethodUnary | undefined;
}

/** Packages with their messages, each before the messages that use it. */
function files(): File[] {
  const files: File[] = [];
  for (const line of MESSAGES.trim().split("\n")) {
    if (line.startsWith("@")) {
      files.push({ package: line.slice(1), messages: [] });
    } else {
      files.at(-1)?.messages.push(line);
    }
  }
  return files;
}

function described(
  file: File,
  index: number,
  files: File[],
): MessageInitShape<typeof FileDescriptorProtoSchema> {
  return {
    name: `${index}.proto`,
    package: file.package,
    syntax: "proto3",
    dependency: files.slice(0, index).map((_, index) => `${index}.proto`),
    messageType: file.messages.map((line) => {
      const [name = "", ...fields] = line.split(" ");
      const oneofs = new Set(fields.flatMap((field) => /\|(\w+)/.exec(field)?.[1] ?? []));
      let number = 0;
      return {
        name,
        oneofDecl: [...oneofs].map((name) => ({ name })),
        field: fields.map((text) => {
          const field = fieldOf(text, number + 1, file.package, [...oneofs]);
          number = field.number ?? 0;
          return field;
        }),
      };
    }),
    service: SERVICES.filter(([, path]) => path.startsWith(`${file.package}.`)).map(([, path, methods]) => ({
      name: path.slice(file.package.length + 1),
      method: Object.entries(methods).map(([name, [traits]]) => ({
        name,
        inputType: `.${file.package}.${name}Request`,
        outputType: `.${file.package}.${name}Response`,
        options: { idempotencyLevel: levelOf(repetition({ traits })) },
      })),
    })),
  };
}

/** A field: a name, `?` with presence or `*` for a list, `|oneof`, `=number` unless it is the next, `:type`. */
function fieldOf(
  text: string,
  next: number,
  from: string,
  oneofs: string[],
): MessageInitShape<typeof FieldDescriptorProtoSchema> {
  const [, name = "", mark, oneof, number, kind] =
    /^(\w+)([?*]?)(?:\|(\w+))?(?:=(\d+))?(?::(.+))?$/.exec(text) ?? [];
  const scalar = kind === undefined ? Type.STRING : TYPES[kind];
  return {
    name,
    jsonName: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    number: number === undefined ? next : Number(number),
    label: mark === "*" ? Label.REPEATED : Label.OPTIONAL,
    type: scalar ?? Type.MESSAGE,
    ...(scalar === undefined && { typeName: kind?.includes(".") ? `.${kind}` : `.${from}.${kind}` }),
    ...(mark === "?" && { proto3Optional: true }),
    ...(oneof !== undefined && { oneofIndex: oneofs.indexOf(oneof) }),
  };
}

function levelOf(repetition: number): Level {
  switch (repetition) {
    case READS:
      return Level.NO_SIDE_EFFECTS;
    case REPEATABLE:
      return Level.IDEMPOTENT;
    default:
      return Level.IDEMPOTENCY_UNKNOWN;
  }
}
