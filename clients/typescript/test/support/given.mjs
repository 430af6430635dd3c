// Inputs of the tests: addresses and keys of servers that the Rust test runs
// (crates/cli/tests/client/main.rs), and the folders of packages for tests.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Servers by name: each has its `baseUrl`, its `host` (the same without /rpc), and keys by name (`write`,
 * `read`, `other`, …). Scenarios have the names of their files, everything else is `server`.
 */
export const given = JSON.parse(variable("ALOFT_CLIENT_TESTS"));

/** Folder of the tools from `cargo xtask setup`. */
export const tools = process.env.ALOFT_TOOLS_DIR || path("../../../../.tools");

/** Folder of the package under test. */
export const packageFolder = path("../..");

/** The package's manifest. */
export const manifest = JSON.parse(readFileSync(path("../../package.json"), "utf8"));

/** Folder of the scenarios. */
export const scenariosFolder = path("../../../scenarios");

function path(relative) {
  return fileURLToPath(new URL(relative, import.meta.url));
}

function variable(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo test -p aloft --test client\``);
  return value;
}
