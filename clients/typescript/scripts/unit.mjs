// Compiles and type-checks the unit tests with the code under test, and runs them in a folder of their own,
// because two runs may be concurrent.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const node = (...args) => execFileSync(process.execPath, args, { stdio: "inherit", cwd: root });

mkdirSync(join(root, "build"), { recursive: true });
const built = mkdtempSync(join(root, "build", "unit-"));
try {
  node(tsc, "--project", "tsconfig.unit.json", "--outDir", built);
  const folder = join(built, "test", "unit");
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
  node("--test", ...tests.map((name) => join(folder, name)));
} finally {
  rmSync(built, { recursive: true, force: true });
}
