// Opens a report page from disk in Chromium and judges one thing about it.
// node drive.mjs SCENARIO PAGE; run by page_in_browser.rs, which makes the pages.
// Waits for what should happen, never for time to pass.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { scenarios } from "./scenarios.mjs";

const [scenario, path] = process.argv.slice(2);
const LIMIT = 20_000;

const browser = await chromium.launch({
  executablePath: process.env.PURLIN_CHROMIUM || "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});

// A page that is drawn, and a record of everything it should not have done.
async function open(options) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
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
  await page.goto(address);
  await page.waitForSelector("html[data-ready='true']", { state: "attached" }).catch((error) => {
    throw new Error(`the page never became ready: ${[error.message, ...page.complaints].join("\n")}`);
  });
  opened.push(page);
  return page;
}

const opened = [];
try {
  assert.ok(scenarios[scenario], `there is no scenario ${scenario}`);
  const stored = JSON.parse(await readFile(new URL("./results.json", import.meta.url)));
  await scenarios[scenario](open, stored);
  for (const page of opened) {
    assert.deepEqual(page.complaints, [], "errors, warnings or requests of the page");
    assert.equal(await page.getByText("could not be drawn").count(), 0, "a part of the page failed");
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
}
