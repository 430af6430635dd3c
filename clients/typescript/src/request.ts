// Validates requests before they are sent. Unknown fields are rejected by name, because the server would
// reject them too. So are values that JSON writes as null, which clears a setting. Masks are converted to
// their JSON form.

import { invalid, type ServiceError, type Violation } from "./errors.js";
import type { Method, Shape } from "./method.js";

/** Returns a request as sent; throws its violations. */
export function checked(method: Method, given: unknown): object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw refused(method, [{ field: "request", path: "request", description: "must be an object" }]);
  }
  const violations: Violation[] = [];
  walk(given, method.request, "", violations);
  if (violations.length > 0) {
    throw refused(method, violations);
  }
  const mask = (given as { updateMask?: unknown }).updateMask;
  return Array.isArray(mask) ? { ...given, updateMask: mask.join(",") } : given;
}

/** Returns the JSON of a request; throws if there is none, for example for a bigint. */
export function written(path: string, request: object): string {
  try {
    return JSON.stringify(request);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`the request of ${path} cannot be written as JSON: ${why}`, [], cause);
  }
}

function walk(given: object, shape: Shape, path: string, violations: Violation[]): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) {
      continue;
    }
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const where = path + name;
    if (field === undefined) {
      violations.push({ field: where, path: where, description: `is not a field; ${wayOut(name, shape)}` });
    } else {
      inside(value, field, where, violations);
    }
  }
}

/** Returns the violations of a value and of its contents. */
function inside(value: unknown, shape: 1 | Shape, where: string, violations: Violation[]): void {
  if (Array.isArray(value)) {
    value.forEach((element: unknown, index) => inside(element, shape, `${where}[${index}]`, violations));
  } else if (isUnspoken(value)) {
    violations.push({ field: where, path: where, description: "must be a finite number" });
  } else if (shape !== 1 && typeof value === "object" && value !== null) {
    walk(value, shape, `${where}.`, violations);
  }
}

/** Whether it is a number that JSON cannot express. */
function isUnspoken(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}

function wayOut(name: string, shape: Shape): string {
  const plain = (name: string) => name.replaceAll("_", "").toLowerCase();
  const known = Object.keys(shape);
  const meant = known.find((other) => plain(other) === plain(name));
  if (meant !== undefined) {
    return `did you mean \`${meant}\`?`;
  }
  return known.length === 0 ? "the message has none" : `expected one of ${known.join(", ")}`;
}

function refused(method: Method, violations: Violation[]): ServiceError {
  const text = violations.map(({ path, description }) => `\`${path}\` ${description}`).join("; ");
  return invalid(`${text} (${method.path})`, violations);
}
