// An empty project with the published package: packed, and installed from the tarball without the network,
// with its dependencies packed from the installed ones.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { manifest, packageFolder } from "./given.mjs";

const execute = promisify(execFile);
const sources = fileURLToPath(new URL("../package", import.meta.url));

/** Runs a program to its end and returns its output. A failure contains all of it. */
export async function run(program, args, options = {}) {
  try {
    const { stdout } = await execute(program, args, { maxBuffer: 16 * 1024 * 1024, ...options });
    return stdout;
  } catch (error) {
    const output = [error.stdout ?? "", error.stderr ?? error];
    throw new Error([`${program} ${args.join(" ")}`, ...output].join("\n"), { cause: error });
  }
}

/** Creates the project; `end` deletes it. */
export async function project() {
  const folder = await mkdtemp(join(tmpdir(), "aloft-client-"));
  const [tarballs, empty] = [join(folder, "tarballs"), join(folder, "project")];
  await mkdir(tarballs);
  await mkdir(empty);
  const pack = (folders, destination) =>
    run("npm", ["pack", "--ignore-scripts", "--pack-destination", destination, ...folders], { cwd: packageFolder });
  await pack(["."], tarballs);
  const [tarball] = (await readdir(tarballs)).map((name) => join(tarballs, name));
  const dependencies = Object.keys(manifest.dependencies);
  await pack(dependencies.map((name) => join(packageFolder, "node_modules", name)), tarballs);
  const all = (await readdir(tarballs)).map((name) => join(tarballs, name));
  await writeFile(join(empty, "package.json"), JSON.stringify({ name: "empty", version: "1.0.0", private: true }));
  const quiet = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await run("npm", ["install", ...quiet, ...all], { cwd: empty });
  await cp(sources, empty, { recursive: true });
  return { folder: empty, tarball, end: () => rm(folder, { recursive: true, force: true }) };
}
