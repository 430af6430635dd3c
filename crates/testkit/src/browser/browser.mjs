// Headless Chromium for tests. The test passes the folder of the packages. The process reads commands as
// lines of JSON, and prints a response with the same id for each. It exits when stdin ends.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { packages, program } = JSON.parse(process.argv[2]);
const require = createRequire(packages + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
// Only tests use it, and its sandbox needs privileges that containers lack.
const args = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"];
// Longer than anything takes on a busy machine, and shorter than the test waits.
const timeout = 100_000;
const browser = await chromium.launch({ executablePath: program, args, timeout });

/** Open tabs by number, each with its requested URLs and its complaints. */
const tabs = new Map();

const commands = {
  async open({ width, height, dark, scripts, language, timeZone, print, cookie, origin }) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      javaScriptEnabled: scripts,
      locale: language,
      timezoneId: timeZone,
      reducedMotion: "reduce",
    });
    if (cookie) {
      const [name, value] = cookie.split(/=(.*)/s);
      await context.addCookies([{ name, value, url: origin }]);
    }
    context.setDefaultTimeout(timeout);
    const page = await context.newPage();
    if (print) await page.emulateMedia({ media: "print" });
    const tab = { context, page, asked: [], complaints: [] };
    page.on("request", (request) => tab.asked.push(request.url()));
    page.on("pageerror", (error) => tab.complaints.push(String(error)));
    page.on("console", (line) => {
      if (line.type() === "error" || line.type() === "warning") tab.complaints.push(line.text());
    });
    tabs.set(tabs.size, tab);
    return tabs.size - 1;
  },
  async prepare({ page }, { code }) {
    await page.addInitScript(code);
    return null;
  },
  async visit({ page }, { url }) {
    const answer = await page.goto(url, { waitUntil: "load" });
    return answer.status();
  },
  async evaluate({ page }, { code }) {
    return page.evaluate(code);
  },
  async until({ page }, { code, millis }) {
    // The page's policy forbids the browser's own way to wait for a code text.
    for (const end = Date.now() + millis; Date.now() < end; await page.waitForTimeout(50)) {
      // Evaluating fails during a navigation. Try again on the next page.
      const value = await page.evaluate(code).catch(() => null);
      if (value) return value;
    }
    throw new Error(`condition was not met: ${code}`);
  },
  async click({ page }, { selector }) {
    await page.click(selector);
    await page.waitForLoadState("load");
  },
  async fill({ page }, { selector, value }) {
    await page.fill(selector, value);
  },
  async drag({ page }, { source, target }) {
    const { width, height } = await page.locator(target).first().boundingBox();
    await page.dragAndDrop(source, target, { targetPosition: { x: width / 2, y: height / 4 } });
  },
  async press({ page }, { key }) {
    await page.keyboard.press(key);
  },
  async authenticator({ context, page }) {
    const session = await context.newCDPSession(page);
    await session.send("WebAuthn.enable");
    const options = {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    };
    await session.send("WebAuthn.addVirtualAuthenticator", { options });
  },
  async picture({ page }, { file }) {
    await page.screenshot({ path: file, fullPage: true });
  },
  async audit({ page }) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((it) => it.html).slice(0, 3).join(" ")}`);
  },
  async frames({ page }) {
    const texts = page.frames().slice(1).map((frame) => frame.evaluate("document.body.innerText").catch(() => ""));
    return Promise.all(texts);
  },
  async asked({ asked }) {
    return asked;
  },
  async complaints({ complaints }) {
    return complaints;
  },
  async close({ context }) {
    await context.close();
  },
};

say({ ready: browser.version() });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, tab, command, ...rest } = JSON.parse(line);
  const work = tab === undefined ? commands[command](rest) : commands[command](tabs.get(tab), rest);
  work.then(
    (value) => say({ id, value: value ?? null }),
    (error) => say({ id, error: String(error) }),
  );
}
await browser.close();
