// Compiles the unit tests with what they test, types among it, and runs them.

import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const built = join(root, "build", "unit");

rmSync(built, { recursive: true, force: true });
execFileSync(process.execPath, [tsc, "--project", join(root, "tsconfig.unit.json")], { stdio: "inherit" });
const folder = join(built, "test", "unit");
const tests = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
execFileSync(process.execPath, ["--test", ...tests.map((name) => join(folder, name))], { stdio: "inherit", cwd: root });
