// Measures the library in a program that uses one service, bundled for a browser, minified and compressed. It
// measures chunks, as bundlers of web sites create them, and one file, as for Workers, which includes the
// code for a `transport`. Fails above the bound of issue 8. Needs `npm run build`.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

import { build } from "esbuild";

const BYTES_MAX = 35_000;
const folder = dirname(fileURLToPath(import.meta.url));

const PROGRAMS = {
  "one service": `
    import { createServiceClient } from "@aloft/client";
    const { httpMonitors } = await createServiceClient().monitor.v1.MonitorService.listMonitors({});
    console.log(httpMonitors);`,
  "one service, errors, limits and webhooks": `
    import { createServiceClient, isNotFound, LIMITS, PERIODICITIES, verifyWebhook } from "@aloft/client";
    const client = createServiceClient();
    await client.monitor.v1.MonitorService.getMonitor({ id: "mon_1" }).catch(isNotFound);
    console.log(LIMITS, PERIODICITIES, verifyWebhook);`,
};

let worst = 0;
console.log("program".padEnd(42), "form".padEnd(12), "minified", "   gzip", " brotli");
for (const [name, contents] of Object.entries(PROGRAMS)) {
  for (const [form, splitting] of [
    ["chunks", true],
    ["one file", false],
  ]) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      splitting,
      format: "esm",
      platform: "browser",
      target: "es2022",
      outdir: "out",
      write: false,
    });
    // The immediately loaded code: the entry and its imports, without the code for a \`transport\`.
    const loaded = splitting ? atOnce(outputFiles) : outputFiles;
    const sizes = [0, 0, 0];
    for (const { contents } of loaded) {
      sizes[0] += contents.length;
      sizes[1] += gzipSync(contents, { level: 9 }).length;
      sizes[2] += brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
    }
    worst = Math.max(worst, sizes[1]);
    console.log(name.padEnd(42), form.padEnd(12), ...sizes.map((size) => String(size).padStart(7)));
  }
}
if (worst > BYTES_MAX) {
  console.error(`past the bound: ${worst} bytes with gzip, at most ${BYTES_MAX}`);
  process.exitCode = 1;
}

/** The entry and the chunks that it imports statically. */
function atOnce(files) {
  const byName = new Map(files.map((file) => [file.path.split("/").at(-1), file]));
  const found = new Set();
  const visit = (name) => {
    const file = byName.get(name);
    if (file === undefined || found.has(file)) {
      return;
    }
    found.add(file);
    for (const [, other] of file.text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) {
      visit(other);
    }
  };
  visit("stdin.js");
  return [...found];
}
