// The published package (issue 8, point 2): installed from its tarball into an empty project, checked by the
// strictest TypeScript, and run under Node, in Chromium, Deno, Bun and workerd.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

import { given, packageFolder, tools } from "./support/given.mjs";
import { project, run } from "./support/project.mjs";
import { inChromium, inWorkerd, runtime } from "./support/runtimes.mjs";

const { baseUrl, keys } = given.server;
/** Issue 8: the whole library with one service used, minified and compressed. */
const BUNDLE_BYTES_MAX = 35_000;
/** Folder of the last TypeScript before the compiler's rewrite. */
const OLDER_TYPESCRIPT = join(tools, "client/typescript");
const CAME = {
  made: "1m",
  found: true,
  gone: ["not_found", "NOT_FOUND", 404, "string"],
  stranger: "KEY_MISSING",
  scopes: ["write"],
  ended: "canceled",
  webhook: ["channel.test", "unauthenticated", "WEBHOOK_SIGNATURE"],
};

let empty;
before(async () => {
  empty = await project();
});
after(() => empty.end());

/** A tool that `cargo xtask setup` installed, by the name of its program. */
const tool = (name) => join(tools, "client", name, "node_modules/.bin", name);
const settings = (name) => ({ baseUrl, key: keys.write, name });

/** The program that runs the smoke test and prints its result. */
async function main(file, name, importing = 'import { smoke } from "./smoke.mjs";') {
  const call = `smoke(${JSON.stringify(settings(name))})`;
  const text = `${importing}\n${call}.then((it) => console.log(JSON.stringify(it)));\n`;
  await writeFile(join(empty.folder, file), text);
}

async function bundle(entry, options) {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: empty.folder },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    outdir: empty.folder,
    logLevel: "silent",
    ...options,
  });
  return outputFiles;
}

test("its declarations pass strict in projects of every kind", async (t) => {
  const text = await readFile(join(empty.folder, "types.ts"), "utf8");
  for (const [kind, file, compilerOptions] of [
    ["ESM", "types.mts", { module: "nodenext", moduleResolution: "nodenext" }],
    ["CommonJS", "types.cts", { module: "node16", moduleResolution: "node16" }],
    ["a bundler's", "types.ts", { module: "esnext", moduleResolution: "bundler" }],
  ]) {
    await writeFile(join(empty.folder, file), text);
    const config = join(empty.folder, `${file}.json`);
    const strict = {
      strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
      noEmit: true, target: "es2022", lib: ["es2022", "dom"], types: [],
    };
    await writeFile(config, JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, files: [file] }));
    await t.test(kind, () => checked(packageFolder, config));
    // The widespread version is slower, so it checks only one of the three.
    if (kind === "ESM") await t.test(`${kind}, by an older compiler`, () => checked(OLDER_TYPESCRIPT, config));
  }
});

/** Runs the compiler in a folder. */
async function checked(folder, config) {
  const tsc = join(folder, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [tsc, "-p", config], { cwd: empty.folder });
}

test("publint and @arethetypeswrong/cli find nothing", async () => {
  await run(tool("publint"), ["--strict", empty.tarball]);
  await run(tool("attw"), [empty.tarball, "--no-color", "--no-emoji"]);
});

test("the tarball has exactly the used files", async () => {
  const listed = (await run("tar", ["-tzf", empty.tarball])).trim().split("\n");
  const known = /^package\/(dist\/(esm|cjs)\/.*\.(js|d\.ts|json)|(README|CHANGELOG)\.md|LICENSE|package\.json)$/u;
  assert.deepEqual(listed.filter((name) => !known.test(name)), []);
  for (const name of ["README.md", "LICENSE", "dist/esm/index.js", "dist/cjs/index.d.ts"]) {
    assert.ok(listed.includes(`package/${name}`), name);
  }
});

test("it runs under Node as ESM", async () => {
  await main("main.mjs", "node-esm");
  assert.deepEqual(JSON.parse(await run(process.execPath, ["main.mjs"], { cwd: empty.folder })), CAME);
});

test("it runs under Node as CommonJS", async () => {
  const [{ text }] = await bundle('export * from "./smoke.mjs"', { format: "cjs", packages: "external" });
  await writeFile(join(empty.folder, "smoke.cjs"), text);
  await main("main.cjs", "node-cjs", 'const { smoke } = require("./smoke.cjs");');
  assert.match(text, /require\("@aloft\/client"\)/u);
  assert.deepEqual(JSON.parse(await run(process.execPath, ["main.cjs"], { cwd: empty.folder })), CAME);
});

test("a bundle with one service is within its size limit", async () => {
  const entry = `import { createServiceClient } from "@aloft/client";
    const client = createServiceClient();
    console.log(await client.monitor.v1.MonitorService.listMonitors({}));`;
  // In one file: includes the code that is only loaded for a transport.
  const [{ contents }] = await bundle(entry, { minify: true, platform: "browser" });
  const bytes = gzipSync(contents, { level: 9 }).length;
  assert.ok(bytes <= BUNDLE_BYTES_MAX, `${bytes} bytes`);
  console.log(`the bundle has ${bytes} bytes`);
});

test("it runs in Chromium, on a page of another origin", async (t) => {
  const entry = 'import { smoke } from "./smoke.mjs"; globalThis.smoke = smoke;';
  const files = await bundle(entry, { platform: "browser", splitting: true });
  assert.deepEqual(await inChromium(t, files, settings("chromium")), CAME);
});

test("it runs under Deno without permission to read the environment", async () => {
  await main("main.mjs", "deno");
  const allowed = ["--no-prompt", "--no-remote", "--node-modules-dir=manual", "--allow-net=127.0.0.1"];
  const env = { ...process.env, DENO_DIR: join(empty.folder, ".deno"), DENO_NO_UPDATE_CHECK: "1" };
  const printed = await run(runtime("deno"), ["run", ...allowed, "main.mjs"], { cwd: empty.folder, env });
  assert.deepEqual(JSON.parse(printed), CAME);
});

test("it runs under Bun", async () => {
  await main("main.mjs", "bun");
  assert.deepEqual(JSON.parse(await run(runtime("bun"), ["run", "main.mjs"], { cwd: empty.folder })), CAME);
});

test("it runs under workerd", async (t) => {
  const entry = `import { smoke } from "./smoke.mjs";
    export default { fetch: async (request) => Response.json(await smoke(await request.json())) };`;
  const [{ text }] = await bundle(entry, { conditions: ["workerd", "worker", "browser"] });
  assert.deepEqual(await inWorkerd(t, text, settings("workerd")), CAME);
});
