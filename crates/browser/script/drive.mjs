// Opens pages in Chromium and lets one scenario at a time operate them: one of those that `scenarios.mjs`
// beside this file exports. Reads lines of {"scenario", "page", "about"} and answers each with {"problem"}, a
// text or null. A scenario that has to have something happen outside says so with {"do": name} and goes on when
// that is done. Run by src/lib.rs. One browser serves all. Waits for what should happen, never for time to pass.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
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

// Has something done outside.
async function act(name) {
  console.log(JSON.stringify({ do: name }));
  await lines.next();
}

// Where an address belongs to: a server, or a file alone.
function origin(address) {
  const { origin: server, href } = new URL(address);
  return server === "null" ? href.split("#")[0] : server;
}

// A page that is ready, and a record of everything it should not have done. `script` runs in it before its own
// do; `at` is the fragment that it is led to once it is ready.
async function open(opened, url, { at = "", script, ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  opened.push(page);
  if (script) await page.addInitScript(script);
  page.setDefaultTimeout(LIMIT);
  page.complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`page: ${error.stack}`));
  page.on("dialog", (dialog) => dialog.accept());
  page.on("request", (request) => {
    const asked = request.url();
    if (origin(asked) !== origin(url) && !/^(data|blob):/.test(asked)) page.complaints.push(`request: ${asked}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  if (at) await page.evaluate((hash) => { location.hash = hash; }, at);
  return page;
}

// Keeps a picture for the documents, if it is asked for.
async function picture(page, name) {
  const folder = process.env.PURLIN_PICTURES;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.locator("body").screenshot({ path: `${folder}/${name}.png` });
}

async function judge({ scenario, page: where, about }) {
  const opened = [];
  const url = isAbsolute(where) ? pathToFileURL(where).href : where;
  try {
    assert.ok(scenarios[scenario], `there is no scenario ${scenario}`);
    await scenarios[scenario]({
      open: ({ url: other = url, ...options } = {}) => open(opened, other, options),
      act, picture, pictures: Boolean(process.env.PURLIN_PICTURES), about, url,
    });
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
