// Builds `dist`: ES modules and CommonJS, each with its own types. The previous build stays until the new one
// is complete, for programs that run it meanwhile.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

mkdirSync(join(root, "build"), { recursive: true });
const made = mkdtempSync(join(root, "build", "dist-"));
try {
  for (const [project, folder, type] of [
    ["tsconfig.json", "esm", "module"],
    ["tsconfig.cjs.json", "cjs", "commonjs"],
  ]) {
    const out = join(made, folder);
    execFileSync(process.execPath, [tsc, "--project", join(root, project), "--outDir", out], {
      stdio: "inherit",
    });
    writeFileSync(join(out, "package.json"), `${JSON.stringify({ type, sideEffects: false })}\n`);
  }
  rmSync(join(root, "dist"), { recursive: true, force: true });
  renameSync(made, join(root, "dist"));
} finally {
  rmSync(made, { recursive: true, force: true });
}
