// The patterns of scenarios: each holds for what it should and for nothing else, or no scenario would prove
// anything.
import assert from "node:assert/strict";
import { test } from "node:test";

import { at, differences, filled } from "./support/patterns.mjs";

test("each pattern holds for what it should, and for nothing else", () => {
  for (const [value, pattern, holds] of [
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, { a: "1" }, false],
    [{}, { a: null }, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1, 2], [1], false],
    [[{ a: 1, b: 2 }], [{ a: 1 }], true],
    ["mon_1", { $matches: "^mon_" }, true],
    ["chn_1", { $matches: "^mon_" }, false],
    [7, { $matches: "7" }, false],
    [7, { $type: "number" }, true],
    ["7", { $type: "number" }, false],
    [null, { $type: "object" }, false],
    [[1, 2], { $length: 2 }, true],
    [[1, 2], { $length: 3 }, false],
    [[{ a: 1 }, { a: 2, b: 3 }], { $has: { a: 2 } }, true],
    [[{ a: 1 }], { $has: { a: 2 } }, false],
    [["b", "a"], { $set: ["a", "b"] }, true],
    [["a", "a"], { $set: ["a", "b"] }, false],
    [{}, { a: { $absent: true } }, true],
    [{ a: null }, { a: { $absent: true } }, false],
    [[1, 2, 3], { $length: 3, $has: 2 }, true],
    [[1, 2, 3], { $length: 3, $has: 4 }, false],
  ]) {
    assert.equal(differences(value, pattern).length === 0, holds, JSON.stringify([value, pattern]));
  }
  assert.throws(() => differences("a", { $like: "a" }), /no pattern \$like/u);
});

test("names are filled in wherever they stand, and unknown ones are a mistake", () => {
  const names = { monitor: "mon_1", target: "http://127.0.0.1:1" };
  assert.deepEqual(
    filled({ id: "${monitor}", url: ["${target}/a"], size: 3, name: { $repeat: ["n", 3] } }, names),
    { id: "mon_1", url: ["http://127.0.0.1:1/a"], size: 3, name: "nnn" },
  );
  assert.throws(() => filled("${page}", names), /\$\{page\}/u);
  assert.equal(at({ logs: [{ id: "log_1" }] }, "logs.0.id"), "log_1");
  assert.throws(() => at({ logs: [] }, "logs.0.id"), /logs\.0\.id/u);
});
