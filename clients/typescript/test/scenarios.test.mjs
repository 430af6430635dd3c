// Every scenario of clients/scenarios through the client against the real server: every method of every
// service, and every code and reason of an error (issue 8, point 2).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { given, scenariosFolder } from "./support/given.mjs";
import { play } from "./support/player.mjs";
import { site } from "./support/site.mjs";

const files = readdirSync(scenariosFolder).filter((name) => name.endsWith(".json"));

for (const file of files) {
  const scenario = JSON.parse(readFileSync(join(scenariosFolder, file), "utf8"));
  test(`${scenario.name}: ${scenario.about}`, async (t) => {
    const [target, receiver] = [await site(t, 200), await site(t, 204)];
    const now = new Date().toISOString().replace(/\.\d+Z$/u, "Z");
    await play(t, scenario, given[scenario.name], { target: target.url, receiver: receiver.url, now });
  });
}
