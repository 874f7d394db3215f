// @ts-check
// Results added by the reader.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { chartOf, figureOf, picture, seriesOf, stored } from "./look.mjs";

const fixture = (name) => readFile(new URL(`./${name}`, import.meta.url), "utf8");
const lines = (page, id) => figureOf(page, id).locator("button[data-contender]").allTextContents();
const said = (page) => page.locator("#add-problem").textContent();

async function paste(page, text) {
  await page.locator("#others").evaluate((details) => {
    details.open = true;
  });
  // Simulates a paste: typed text cannot contain a carriage return.
  await page.getByLabel("Text to add").evaluate((field, value) => {
    field.value = value;
  }, text);
  await page.getByRole("button", { name: "Add the text" }).click();
}

const graph = (page, label) => figureOf(page, "signals").getByLabel("Graph").selectOption({ label });

async function pasted({ open }) {
  const page = await open();
  const own = await page.locator(".chart").count();
  assert.equal(await chartOf(page, "signals").count(), 0);
  const text = await fixture("two_runs.txt");
  await paste(page, text);
  assert.equal(await said(page), "");
  assert.equal(await page.getByLabel("Text to add").inputValue(), "", "the field is free for the next");
  const titles = new Set([...text.matchAll(/^Scenario: (.*), Spawn/gm)].map(([, title]) => title));
  assert.deepEqual(
    await figureOf(page, "signals")
      .getByLabel("Graph")
      .locator("option")
      .evaluateAll((options) => options.map((option) => option.title)),
    [...titles],
  );
  assert.deepEqual(await lines(page, "signals"), ["25 · off_heap", "Ver: 2 26 · off_heap"]);
  assert.deepEqual(await seriesOf(page, "signals", "25 · off_heap"), [
    [1, 2.122486416527],
    [2, 3.478835182096],
    [4, 3.852898985834],
  ]);
  assert.deepEqual(
    (await seriesOf(page, "signals", "Ver: 2 26 · off_heap")).map(([x]) => x),
    [1, 2, 4, 8],
  );
  await graph(page, "Send throughput · exit signals of size 10 · 500\u00a0ms");
  assert.deepEqual(await lines(page, "signals"), ["26 · off_heap"], "only the second run has this one");
  assert.match(await page.evaluate(() => location.hash), /signals=g\d$/);
  // The same text again: every title is now a repetition.
  await paste(page, text);
  assert.deepEqual((await lines(page, "signals")).sort(), ["26 · off_heap", "Ver: 2 26 · off_heap"]);
  for (const name of ["Pasted text 1", "Pasted text 2"]) {
    await page.getByRole("button", { name: `Remove ${name}` }).click();
  }
  assert.equal(await chartOf(page, "signals").count(), 0, "what was added is gone");
  assert.ok(own > 0);
  assert.equal(await page.locator(".chart").count(), own, "the page's own charts are there");
}

async function forms({ open }) {
  const looks = [];
  const page = await open();
  for (const name of ["default.txt", "crlf.txt"]) {
    await paste(page, await fixture(name));
    assert.equal(await said(page), "", name);
    looks.push(await picture(chartOf(page, "signals")));
    await page.getByRole("button", { name: /^Remove Pasted text / }).click();
  }
  assert.ok(looks[0] === looks[1], "CRLF and blank lines are no part of the figures");
  await paste(page, await fixture("large.txt"));
  await paste(page, await fixture("switching.txt"));
  assert.equal(await said(page), "");
  const points = await seriesOf(page, "signals", "source-0f1e2d3c4b · off_heap");
  assert.deepEqual(
    points.map(([x]) => x),
    [1, 2, 4, 8, 15, 16, 31, 32, 47, 48, 63, 64],
  );
  assert.equal(points[3][1], 3.400843845102);
  await graph(
    page,
    "Receive throughput · 49.9995\u00a0% exit signals of size 1, 49.9995\u00a0% messages of size 1, switching queues · 100\u00a0ms",
  );
  assert.equal((await seriesOf(page, "signals", "25 · off_heap")).length, 3);
}

async function malformed({ open }) {
  const page = await open();
  const whole = await fixture("default.txt");
  const title = whole.split("\n").find((line) => line.startsWith("Scenario:"));
  /** @type {[string, RegExp][]} */
  const cases = [
    [await fixture("broken_off.txt"), /line 18: the record that begins in line 18 breaks off/],
    [whole.replace("25; 2122486.416527;", "25; two million;"), /line 12: "two million" is no throughput/],
    [whole.replace("; 1; 2; 4$", "; 1; 2; 2$"), /line 11: "2" is no number of senders, or is there twice/],
    [whole.replace("; 3852898.985834$", "$"), /line 12: "25" has 2 values and 3 are due/],
    [whole.replace("\n; 1; 2; 4$", ""), /line 11: the numbers of senders are due here/],
    [`${title}\n; 1$\n`, /line 1: the scenario has no line of values/],
    ["Scenario: my own, Spawn Options=[]$\n; 1$\na; 1.0$\n", /line 1: no scenario of parallel_messages_SUITE/],
    [`${title}\n; 1$\na; 1.0$\na; 2.0$\n`, /line 4: "a" is in this graph already/],
    ["; 1; 2$\n", /line 1: a record that belongs to no scenario/],
    [`${title.replace("Throughput", "Thr$oughput")}\n`, /line 1: a \$ within the line/],
    ["hello", /line 1: this is neither JSON nor the text of OTP's suite/],
    ['{"schema": 1,\n"results": [\n!]}', /line 3: this is neither JSON/],
    ['{"schema": 3, "results": []}', /no results of purlin lab/],
    ["  \n", /nothing to add/],
  ];
  for (const [text, words] of cases) {
    await paste(page, text);
    assert.match(await said(page), words);
    assert.equal(await page.locator("#added li").count(), 0, "it is not added");
  }
  assert.equal(await page.getByRole("alert").count(), 1, "it is said aloud");
  await paste(page, whole);
  assert.equal(await said(page), "", "a good text takes the message away");
}

function drop(page, files) {
  return page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, text } of given) transfer.items.add(new File([text], name));
    const event = (kind) => new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event("dragover"));
    const marked = document.documentElement.classList.contains("dropping");
    document.body.dispatchEvent(event("drop"));
    return marked;
  }, files);
}

async function files({ open }) {
  const page = await open();
  const own = await picture(chartOf(page, "spawn-chain"));
  const results = stored.results.filter((result) => result.experiment === "spawn-chain");
  const text = JSON.stringify({ ...stored, results, started: "2026-11-22T17:30:00Z" });
  assert.ok(
    await drop(page, [
      { name: "results.json", text },
      { name: "otp.txt", text: await fixture("default.txt") },
      { name: "bad.json", text: "{" },
    ]),
  );
  await page.locator("#added li").nth(1).waitFor();
  assert.match(await said(page), /^bad.json, line 1: /);
  assert.deepEqual(
    await lines(page, "spawn-chain"),
    ["21 Nov 09:00", "22 Nov 17:30"].flatMap((when) => ["purlin", "beam", "tokio"].map((name) => `${when} ${name}`)),
  );
  assert.equal(await chartOf(page, "signals").count(), 1);
  await page.getByRole("button", { name: "Remove results.json" }).click();
  await page.getByRole("button", { name: "Remove otp.txt" }).click();
  assert.deepEqual(await lines(page, "spawn-chain"), ["purlin", "beam", "tokio"]);
  assert.ok(own === (await picture(chartOf(page, "spawn-chain"))), "as it was before");
  await page
    .getByLabel("Choose files")
    .setInputFiles({ name: "mine.txt", mimeType: "text/plain", buffer: Buffer.from(await fixture("crlf.txt")) });
  await page.getByRole("button", { name: "Remove mine.txt" }).waitFor();
  assert.equal(await chartOf(page, "signals").count(), 1);
}

async function covered({ open }) {
  const page = await open({
    script: () => {
      Object.defineProperty(Document.prototype, "fullscreenEnabled", { get: () => false });
    },
  });
  await figureOf(page, "spawn-chain").getByRole("button", { name: "Full screen" }).click();
  await drop(page, [{ name: "otp.txt", text: await fixture("default.txt") }]);
  await page.locator("#added li").waitFor({ state: "attached" });
  assert.equal(await page.locator("html.covered").count(), 0, "the page is seen again");
}

async function shared({ open }) {
  const page = await open();
  assert.deepEqual(await seriesOf(page, "signals", "beam · off_heap"), [
    [1, 1],
    [2, 2],
    [4, 4],
  ]);
  await paste(page, await fixture("default.txt"));
  assert.deepEqual(await lines(page, "signals"), ["beam · off_heap", "25 · off_heap"]);
  assert.deepEqual(
    await seriesOf(page, "signals", "beam · off_heap"),
    [
      [1, 2],
      [2, 4],
      [4, 8],
    ],
    "as OTP computes it",
  );
  await figureOf(page, "signals").getByLabel("Figure", { exact: true }).selectOption({ label: "send throughput" });
  assert.deepEqual(await lines(page, "signals"), ["beam · off_heap"], "the other computation is ours alone");
}

export const others = { paste: pasted, forms, malformed, files, covered, shared };
