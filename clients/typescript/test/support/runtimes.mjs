// Runtimes that are not commands with an output: a browser with a page of its own origin, and workerd, which
// serves requests. Both end with their test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { createInterface } from "node:readline";

import { tools } from "./given.mjs";

/** For each runtime from npm, the package with its program for this machine; installed without scripts. */
const PROGRAMS = {
  bun: `@oven/bun-${process.platform}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun`,
  deno: `@deno/${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}/deno`,
  workerd: `@cloudflare/workerd-${process.platform}-${process.arch === "arm64" ? "arm64" : "64"}/bin/workerd`,
};

/** The program of a runtime. */
export function runtime(name) {
  return join(tools, "client", name, "node_modules", PROGRAMS[name]);
}

/** Returns the result of these files' `globalThis.smoke` in Chromium. */
export async function inChromium(t, files, settings) {
  const { chromium } = createRequire(join(tools, "browser/"))("playwright-core");
  // Only this test uses it, and its sandbox needs permissions that containers lack.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  const browser = await chromium.launch({ executablePath: program(), args });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(await pageOf(t, files), { waitUntil: "load" });
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
  return page.evaluate((settings) => globalThis.smoke(settings), settings);
}

const PAGE = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/stdin.js"></script>';

/** The address of a page that loads these files as modules. */
async function pageOf(t, files) {
  const texts = new Map(files.map(({ path, text }) => [`/${basename(path)}`, text]));
  const server = createServer((request, response) => {
    const text = texts.get(request.url);
    response.setHeader("content-type", text ? "text/javascript" : "text/html");
    response.end(text ?? PAGE);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** The name of Chromium on this machine. */
function program() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const places = process.env.PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error("these tests start Chromium: run `cargo xtask setup`");
  return found;
}

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")],
                              compatibilityDate = "2025-01-01")),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Returns a worker's response to a request with these settings. */
export async function inWorkerd(t, worker, settings) {
  const folder = await mkdtemp(join(tmpdir(), "aloft-workerd-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "config.capnp"), CONFIG);
  await writeFile(join(folder, "worker.js"), worker);
  // It reports its port on its control channel.
  const stdio = ["ignore", "inherit", "inherit", "pipe"];
  const child = spawn(runtime("workerd"), ["serve", "--control-fd=3", "config.capnp"], { cwd: folder, stdio });
  t.after(async () => {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  });
  for await (const line of createInterface({ input: child.stdio[3] })) {
    const message = JSON.parse(line);
    if (message.event !== "listen") continue;
    const answer = await fetch(`http://127.0.0.1:${message.port}/`, { method: "POST", body: JSON.stringify(settings) });
    if (!answer.ok) throw new Error(`the worker answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
  throw new Error("workerd ended before it listened");
}
