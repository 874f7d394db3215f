// @ts-check
// Browser driver: opens pages in Chromium and runs the scenarios that `scenarios.mjs` in this folder exports.
//
// Started by src/driver.rs with the path of a socket, at which it listens. A test connects, receives the greeting
// {"ready": true}, and sends lines of {"scenario", "page", "about", "pictures"}; the answer to each is {"problem"}, a
// text or null. A scenario that needs the test to act sends {"do": name} and continues at the next line. One browser
// serves all connections, each page in a separate context. The driver exits ten seconds after its last connection.
// Scenarios wait for events, never for time to pass.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { isAbsolute } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
// @ts-ignore: the crate under test provides this file.
import { scenarios } from "./scenarios.mjs";

// WHY: a guard against hanging, more than a hundred times what any step takes.
const HANG = 120_000;
// WHY real time: how long the browser is kept for the next test. A later test starts another one.
const KEPT = 10_000;

const browser = await chromium.launch({
  executablePath: process.env.PURLIN_CHROMIUM,
  timeout: HANG,
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
// A promise that a scenario did not await must not end the other scenarios.
process.on("unhandledRejection", (error) => console.error(error));
// The driver is useless without the browser.
browser.on("disconnected", () => process.exit(1));

// Origin of an address: the server, or the file itself.
function origin(address) {
  const { origin: server, href } = new URL(address);
  return server === "null" ? href.split("#")[0] : server;
}

// Opens a page, waits until it is ready, and records its errors, warnings and foreign requests. `script` runs in the
// page before its own scripts; `at` is the fragment to open once the page is ready.
/** @param {Record<string, any>} wishes */
async function open(opened, url, wishes = {}) {
  const { at = "", script, ...options } = wishes;
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  opened.push(page);
  page.setDefaultTimeout(HANG);
  if (script) await page.addInitScript(script);
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
  if (at)
    await page.evaluate((hash) => {
      location.hash = hash;
    }, at);
  return page;
}

// Saves a picture for the documents, if pictures are requested.
async function picture(folder, page, name) {
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.locator("body").screenshot({ path: `${folder}/${name}.png` });
}

async function judge({ scenario, page: where, about, pictures }, opened, act) {
  const url = isAbsolute(where) ? pathToFileURL(where).href : where;
  try {
    assert.ok(scenarios[scenario], `there is no scenario ${scenario}`);
    await scenarios[scenario]({
      open: ({ url: other = url, ...options } = {}) => open(opened, other, options),
      picture: (page, name) => picture(pictures, page, name),
      act,
      pictures: Boolean(pictures),
      about,
      url,
    });
    for (const page of opened) assert.deepEqual(page.complaints, page.expected ?? [], "errors, warnings or requests of the page");
    return null;
  } catch (error) {
    const texts = await Promise.all(
      opened.map((page) =>
        page
          .locator("main")
          .innerText({ timeout: 1000 })
          .catch(() => ""),
      ),
    );
    return `${error.stack}\n${opened.flatMap((page) => page.complaints).join("\n")}\n${texts.join("\n").slice(0, 2000)}`;
  } finally {
    close(opened);
  }
}

// Closes pages in the background.
function close(opened) {
  for (const page of opened.splice(0)) page.close().catch(console.error);
}

// Serves one connection until the test closes it.
async function serve(socket) {
  const opened = [];
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const tell = (words) => socket.write(`${JSON.stringify(words)}\n`);
  const act = async (name) => {
    tell({ do: name });
    assert.ok(!(await lines.next()).done, "the test has gone");
  };
  // If the test disconnects, closing the pages ends its scenario.
  socket.on("close", () => close(opened));
  tell({ ready: true });
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return;
    tell({ problem: await judge(JSON.parse(value), opened, act) });
  }
}

let connections = 0;
let clock;
function rest() {
  clock = setTimeout(() => {
    // A client that connects at this moment receives no greeting, and starts another driver.
    server.close();
    process.exit(0);
  }, KEPT);
}

const server = createServer((socket) => {
  connections += 1;
  clearTimeout(clock);
  socket.on("error", () => {});
  socket.on("close", () => {
    connections -= 1;
    if (connections === 0) rest();
  });
  serve(socket).catch((error) => socket.destroy(error));
});
server.listen(process.argv[2], () => console.log("listening"));
rest();
