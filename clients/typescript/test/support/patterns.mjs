// Expectations of scenarios (clients/scenarios/README.md): compares a value with a pattern and describes the
// differences. player.mjs plays scenarios.
import { isDeepStrictEqual } from "node:util";

/** Patterns by name: each returns the difference of a value, or nothing. */
const PATTERNS = {
  $matches: (value, text, path) =>
    typeof value === "string" && new RegExp(text, "u").test(value)
      ? []
      : [`${path} does not match ${text}: ${shown(value)}`],
  $type: (value, type, path) =>
    typeOf(value) === type ? [] : [`${path} is no ${type}: ${shown(value)}`],
  $length: (value, length, path) =>
    value?.length === length ? [] : [`${path} has not the length ${length}: ${shown(value)}`],
  $has: (value, item, path) =>
    Array.isArray(value) && value.some((one) => differences(one, item).length === 0)
      ? []
      : [`${path} has no ${shown(item)}: ${shown(value)}`],
  $set: (value, items, path) => {
    const inOrder = (list) => [...list].map((one) => JSON.stringify(one)).sort();
    return Array.isArray(value) && isDeepStrictEqual(inOrder(value), inOrder(items))
      ? []
      : [`${path} is not the set ${shown(items)}: ${shown(value)}`];
  },
  $absent: (value, _, path) => (value === undefined ? [] : [`${path} is there: ${shown(value)}`]),
};

/** Returns the differences of `value` from `pattern`, one per line; `path` is its position. */
export function differences(value, pattern, path = "it") {
  if (Array.isArray(pattern)) return listDifferences(value, pattern, path);
  if (typeOf(pattern) !== "object") {
    return isDeepStrictEqual(value, pattern) ? [] : [`${path} is ${shown(value)}, not ${shown(pattern)}`];
  }
  const names = Object.keys(pattern);
  if (names.some((name) => name.startsWith("$"))) {
    return names.flatMap((name) => known(name)(value, pattern[name], path));
  }
  if (typeOf(value) !== "object") return [`${path} is no object: ${shown(value)}`];
  return names.flatMap((name) => differences(value[name], pattern[name], `${path}.${name}`));
}

/** Returns `value` with `${name}` replaced in all its texts, and `$repeat` expanded. */
export function filled(value, names) {
  if (typeof value === "string") {
    return value.replaceAll(/\$\{(\w+)\}/gu, (_, name) => {
      if (!(name in names)) throw new Error(`nothing is called \${${name}} here`);
      return names[name];
    });
  }
  if (Array.isArray(value)) return value.map((item) => filled(item, names));
  if (typeOf(value) !== "object") return value;
  if ("$repeat" in value) return value.$repeat[0].repeat(value.$repeat[1]);
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, filled(it, names)]));
}

/** Returns the value at a path such as `logs.0.id`. */
export function at(value, path) {
  const found = path.split(".").reduce((inner, name) => inner?.[name], value);
  if (found === undefined) throw new Error(`there is no ${path} in ${shown(value)}`);
  return found;
}

function listDifferences(value, pattern, path) {
  if (!Array.isArray(value)) return [`${path} is no list: ${shown(value)}`];
  if (value.length !== pattern.length) {
    return [`${path} has ${value.length} items, not ${pattern.length}: ${shown(value)}`];
  }
  return pattern.flatMap((item, index) => differences(value[index], item, `${path}[${index}]`));
}

function known(name) {
  if (!(name in PATTERNS)) throw new Error(`there is no pattern ${name}`);
  return PATTERNS[name];
}

function typeOf(value) {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}

function shown(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
