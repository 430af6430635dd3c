// Compares the types with real requests and responses: the example of every method in `clients/scenarios`,
// and the server's response to it in `docs/reference/responses`. The compiler checks them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

const ANSWERS = "../../docs/reference/responses";
const SCENARIOS = "../scenarios";

interface Scenario {
  readonly steps: readonly {
    readonly call?: string;
    readonly example?: boolean;
    readonly request?: object;
  }[];
}

/** JSON files in a folder; tests run in the package's folder. */
function files(folder: string): unknown[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.map((name): unknown => JSON.parse(readFileSync(join(folder, name), "utf8")));
}

/** The client's path of a contract method. */
function typeOf(method: string): string {
  const [, name = "", version, service, call = ""] = /^(\w+)\.(\w+)\.(\w+)\/(\w+)$/.exec(method) ?? [];
  const client = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return `Services["${client}"]["${version}"]["${service}"]["${call.charAt(0).toLowerCase()}${call.slice(1)}"]`;
}

test("requests and responses of every method match the types", (t) => {
  const answers = files(ANSWERS).flatMap((file) => Object.entries(file as Record<string, object>));
  const steps = files(SCENARIOS).flatMap((file) => (file as Scenario).steps);
  const requests = steps.flatMap(({ call, example, request }) => (example && call ? [[call, request]] : []));
  assert.ok(answers.length > 70 && requests.length > 70, `${answers.length} and ${requests.length}`);

  const lines = [
    'import type { Services } from "../../src/index.js";',
    "type Asked<Call extends (...given: never[]) => unknown> = Parameters<Call>[0];",
    "type Answered<Call extends (...given: never[]) => unknown> = Awaited<ReturnType<Call>>;",
    ...answers.map(
      ([call, json], at) => `export const a${at}: Answered<${typeOf(call)}> = ${JSON.stringify(json)};`,
    ),
    ...requests.map(
      ([call, json], at) =>
        `export const r${at}: Asked<${typeOf(call as string)}> = ${JSON.stringify(json)};`,
    ),
  ];
  const folder = mkdtempSync("build/examples-");
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "examples.ts"), lines.join("\n"));
  const options = {
    extends: "../../tsconfig.json",
    compilerOptions: { noEmit: true, rootDir: "../.." },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  let output = "";
  try {
    execFileSync(process.execPath, [tsc, "--project", folder], { encoding: "utf8" });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  assert.equal(output, "");
});
