// Opens report pages from disk in Chromium and judges one thing about each.
// Reads lines of {"scenario","page"} and answers each with {"problem"}, a text
// or null; run by page_in_browser.rs, which makes the pages. One browser
// serves all. Waits for what should happen, never for time to pass.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { scenarios } from "./scenarios.mjs";

const LIMIT = 20_000;

const browser = await chromium.launch({
  executablePath: process.env.PURLIN_CHROMIUM || "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const stored = JSON.parse(await readFile(new URL("./results.json", import.meta.url)));

// A page that is drawn, and a record of everything it should not have done.
async function open(path, opened, { hash = "", script, ...options }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  opened.push(page);
  if (script) await page.addInitScript(script);
  page.setDefaultTimeout(LIMIT);
  const address = pathToFileURL(path).href;
  page.complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`page: ${error.stack}`));
  page.on("request", (request) => {
    const own = request.url().split("#")[0] === address || /^(data|blob):/.test(request.url());
    if (!own) page.complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address + hash);
  await page.waitForSelector("html[data-ready='true']", { state: "attached" }).catch((error) => {
    throw new Error(`the page never became ready: ${[error.message, ...page.complaints].join("\n")}`);
  });
  return page;
}

async function judge({ scenario, page: path }) {
  const opened = [];
  try {
    assert.ok(scenarios[scenario], `there is no scenario ${scenario}`);
    await scenarios[scenario]((options = {}) => open(path, opened, options), stored);
    for (const page of opened) {
      assert.deepEqual(page.complaints, [], "errors, warnings or requests of the page");
      assert.equal(await page.getByText("could not be drawn").count(), 0, "a part of the page failed");
    }
    return null;
  } catch (error) {
    return error.stack;
  } finally {
    for (const page of opened) await page.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ problem: await judge(JSON.parse(line)) }));
}
await browser.close();
