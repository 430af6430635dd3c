// Builds `dist`: ES modules and CommonJS, each with its own types beside it.

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = createRequire(import.meta.url).resolve("typescript/package.json").replace(/package\.json$/, "bin/tsc");

rmSync(join(root, "dist"), { recursive: true, force: true });
for (const [project, folder, type] of [
  ["tsconfig.json", "esm", "module"],
  ["tsconfig.cjs.json", "cjs", "commonjs"],
]) {
  execFileSync(process.execPath, [tsc, "--project", join(root, project)], { stdio: "inherit" });
  writeFileSync(join(root, "dist", folder, "package.json"), `${JSON.stringify({ type, sideEffects: false })}\n`);
}
