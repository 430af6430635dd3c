// The patterns of scenarios: each matches exactly what it should, because scenarios would otherwise prove
// nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { scenariosFolder } from "./support/given.mjs";
import { at, differences, filled } from "./support/patterns.mjs";

/** The table for players of every language. */
const TABLE = JSON.parse(readFileSync(join(scenariosFolder, "schema/patterns.json"), "utf8"));

test("each pattern matches exactly what it should", () => {
  for (const { value, pattern, holds } of TABLE) {
    assert.equal(differences(value, pattern).length === 0, holds, JSON.stringify([value, pattern]));
  }
  assert.throws(() => differences("a", { $like: "a" }), /no pattern \$like/u);
});

test("names are replaced everywhere, and unknown ones fail", () => {
  const names = { monitor: "mon_1", target: "http://127.0.0.1:1" };
  assert.deepEqual(
    filled({ id: "${monitor}", url: ["${target}/a"], size: 3, name: { $repeat: ["n", 3] } }, names),
    { id: "mon_1", url: ["http://127.0.0.1:1/a"], size: 3, name: "nnn" },
  );
  assert.throws(() => filled("${page}", names), /\$\{page\}/u);
  assert.equal(at({ logs: [{ id: "log_1" }] }, "logs.0.id"), "log_1");
  assert.throws(() => at({ logs: [] }, "logs.0.id"), /logs\.0\.id/u);
});
