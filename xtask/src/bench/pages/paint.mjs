// Measures Chromium's first contentful paint of a page and of an empty page, in turns, each in a new window.
// The first visit of each does not count. `paint.mjs PACKAGES PROGRAM LOOKS URL [COOKIE]` prints a line of JSON.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const [packages, program, looks, page, cookie] = process.argv.slice(2);
const { chromium } = createRequire(packages + "/")("playwright-core");

const server = createServer((_, answer) => {
  answer.setHeader("content-type", "text/html");
  answer.end("<!doctype html><title>Empty</title><p>Empty");
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const urls = { page, empty: `http://127.0.0.1:${server.address().port}/` };
const args = ["--no-sandbox", "--disable-dev-shm-usage"];
const browser = await chromium.launch({ executablePath: program, args });

const look = async (url) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  if (cookie && url === page) {
    const [name, value] = cookie.split("=");
    await context.addCookies([{ name, value, url }]);
  }
  const tab = await context.newPage();
  await tab.goto(url, { waitUntil: "load" });
  const painted = await tab.evaluate(async () => {
    for (;;) {
      const [entry] = performance.getEntriesByName("first-contentful-paint");
      if (entry) return entry.startTime;
      await new Promise((later) => setTimeout(later, 10));
    }
  });
  await context.close();
  return painted;
};

const seen = { page: [], empty: [] };
for (let round = 0; round <= Number(looks); round += 1) {
  for (const [name, url] of Object.entries(urls)) {
    const painted = await look(url);
    if (round > 0) seen[name].push(painted);
  }
}
process.stdout.write(JSON.stringify(seen) + "\n");
await browser.close();
server.close();
