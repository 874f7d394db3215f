// Opens the page of a node in Chromium and lets one scenario operate it. Reads lines of
// {"scenario", "url", "about"} and answers each with {"problem"}, a text or null. A scenario that has to
// have something happen in the node says so with {"do": name} and goes on when that is done. Run by
// browser.rs. Waits for what should happen, never for time to pass.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { scenarios } from "./scenarios.mjs";

const LIMIT = 30_000;

const browser = await chromium.launch({
  executablePath: process.env.PURLIN_CHROMIUM || "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Has the node do something.
async function act(name) {
  console.log(JSON.stringify({ do: name }));
  await lines.next();
}

// A page, and a record of everything it should not have done.
async function open(address, opened, { at = "", ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: "light", ...options });
  opened.push(page);
  page.setDefaultTimeout(LIMIT);
  const origin = new URL(address).origin;
  page.complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`page: ${error.stack}`));
  page.on("dialog", (dialog) => dialog.accept());
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith("blob:")) page.complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  if (at) await page.evaluate((hash) => { location.hash = hash; }, at);
  return page;
}

// Keeps a picture for the guide, if it is asked for.
async function picture(page, name) {
  const folder = process.env.PURLIN_PICTURES;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.locator("body").screenshot({ path: `${folder}/${name}.png` });
}

async function judge({ scenario, url, about }) {
  const opened = [];
  try {
    assert.ok(scenarios[scenario], `there is no scenario ${scenario}`);
    await scenarios[scenario]({ open: (options) => open(options?.url ?? url, opened, options), act, picture, pictures: Boolean(process.env.PURLIN_PICTURES), about, url });
    for (const page of opened) assert.deepEqual(page.complaints, page.expected ?? [], "errors, warnings or requests of the page");
    return null;
  } catch (error) {
    const texts = await Promise.all(opened.map((page) => page.locator("main").innerText({ timeout: 1000 }).catch(() => "")));
    return `${error.stack}\n${opened.flatMap((page) => page.complaints).join("\n")}\n${texts.join("\n").slice(0, 2000)}`;
  } finally {
    for (const page of opened) await page.close();
  }
}

for (;;) {
  const { value, done } = await lines.next();
  if (done) break;
  console.log(JSON.stringify({ problem: await judge(JSON.parse(value)) }));
}
await browser.close();
