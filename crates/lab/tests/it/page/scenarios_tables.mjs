// @ts-check
// Tables, and the top of the page.

import assert from "node:assert/strict";
import { columnOf, stored } from "./look.mjs";

const sectionOf = (page, id) => page.locator("section", { has: page.locator(`#experiment-${id}`) });

async function unfold(page) {
  await page.locator("details:not([open]) > summary").evaluateAll((all) => all.forEach((summary) => summary.click()));
  await page.waitForFunction(() => document.querySelectorAll(".experiment details table").length > 3);
}

// Converts a cell to a number in the smallest unit, so that "1.2 µs" sorts after "900 ns".
const UNITS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9, M: 1e6, G: 1e9 };
function size(text) {
  const found = /^(−?)([\d.\s\u202f]+)\u00a0?(ns|µs|ms|s|M|G)?/.exec(text);
  const number = Number(found[2].replace(/[\s\u202f]/g, ""));
  return (found[1] ? -1 : 1) * number * (UNITS[found[3]] || 1);
}

// Returns the content of each sortable column before and after a click on its heading, and the
// state of all headings after one click and after two.
const sorted = (table) =>
  table.evaluate((element) => {
    const column = (at) => [...element.querySelectorAll(`tbody tr > :nth-child(${at + 1})`)].map((cell) => cell.textContent);
    const heads = [...element.querySelectorAll("thead th")];
    const said = () => heads.map((head) => head.getAttribute("aria-sort"));
    return heads.flatMap((head, at) => {
      const button = head.querySelector("button");
      if (!button) return [];
      const before = column(at);
      button.click();
      const [up, once] = [column(at), said()];
      button.click();
      return [{ at, title: head.textContent, before, up, once, twice: said() }];
    });
  });

async function sorting({ open }) {
  const page = await open();
  await unfold(page);
  const tables = await page.locator("table.sortable").all();
  assert.ok(tables.length > 10, "the ratios, the fits and the figures");
  const there = (cells) => cells.filter((cell) => !["", "–", "line"].includes(cell));
  const value = (cell) => (/^[−\d]/.test(cell) ? size(cell) : cell);
  let medians = 0;
  for (const table of tables) {
    for (const { at, title, before, up, once, twice } of await sorted(table)) {
      assert.deepEqual([once[at], twice[at]], ["ascending", "descending"], title);
      assert.deepEqual([...up].sort(), before.sort(), "no row is lost");
      if (title.startsWith("Median")) {
        medians += 1;
        const figures = there(up).map(value);
        assert.deepEqual(
          figures,
          [...figures].sort((a, b) => a - b),
        );
      }
      const others = twice.filter((word, other) => other !== at && word !== null);
      assert.ok(
        others.every((word) => word === "none"),
        "one column at a time",
      );
    }
  }
  assert.ok(medians > 5, "columns of numbers are among them");
  // Sorting by keyboard keeps the focus on the heading.
  const column = (table, at) => table.locator(`tbody tr > :nth-child(${at + 1})`).allTextContents();
  const table = sectionOf(page, "serial-spawn").locator("table.sortable").last();
  const button = table.getByRole("button", { name: "Median" });
  await button.focus();
  await page.keyboard.press("Enter");
  const down = await column(table, 2);
  await page.keyboard.press("Space");
  assert.notDeepEqual(await column(table, 2), down);
  assert.ok(await button.evaluate((element) => element === document.activeElement));
}

async function strips({ open }) {
  const page = await open();
  const section = sectionOf(page, "ping-pong");
  const all = section.getByRole("img", { name: /^samples from −.* to \+.* of their median$/ });
  assert.equal(await all.count(), 3, "one for each figure");
  const { samples } = stored.results.find((result) => result.experiment === "ping-pong" && result.contender === "purlin");
  const ticks = await all.first().locator(".strip-ticks").getAttribute("d");
  assert.equal(ticks.split("M").length - 1, samples.length, "a tick for each sample");
  assert.match(await section.locator("th", { hasText: "Spread" }).textContent(), /±\d+\u00a0%/);
}

async function glance({ open }) {
  const page = await open();
  const matrix = page.locator("table.matrix");
  assert.equal(await matrix.locator("td.tint").count(), stored.ratios.length);
  const row = matrix.locator("tr", { hasText: "Throughput" }).first();
  assert.match(await row.locator("td").first().textContent(), /^6\.88\u202f× worse than purlin$/);
  const first = matrix.locator("tr", { hasText: "Ping-pong" }).locator("td").first();
  assert.match(await first.textContent(), /indistinguishable from purlin/);
  const readings = await columnOf(page, 6);
  assert.equal(readings[0], "indistinguishable from purlin");
  const figures = await sectionOf(page, "ping-pong").locator("table.sortable tbody tr").allTextContents();
  assert.match(figures[1], /^beam.*6\.77\u202f×indistinguishable from purlin/);
}

async function top({ open }) {
  const page = await open();
  const care = page.getByRole("region", { name: "Read with care" });
  const few = ["the load was 3.2 on 2 cores. End what else runs.", "Ping-pong, beam: its later samples are slower."];
  assert.deepEqual(await care.locator("li").allTextContents(), few, "many of a kind are folded");
  await care.getByText("4 × outliers: None is dropped.").click();
  const all = await care.locator("li").allTextContents();
  assert.equal(all.length, 6);
  assert.equal(all[2], "Ping-pong: outliers: beam (1 of 11)", "the experiment is named once");
  await page.getByText("How it was measured").click();
  const told = await page.locator("#machine").innerText();
  for (const words of [
    "purlin lab run --profile quick --seed 20260",
    "3.2, 2, 1.5",
    "41.5\u00a0%",
    "rustc cores 0.8",
    "yes",
    "1\u00a0MiB",
    "Clock resolution\n20.0\u00a0ns",
    "Request overhead\n55.0\u00a0µs",
  ]) {
    assert.ok(told.includes(words), `${words} in ${told}`);
  }
  assert.ok(!told.includes("Steal"), "what is not known is not told");
}

// The steps of the results are defined in page_in_browser.rs.
async function ladder({ open }) {
  const page = await open();
  const title = "Acknowledged messages, then and now";
  const section = page.getByRole("region", { name: title, exact: true });
  const picture = section.getByRole("img", { name: /^Messages per second of each server, then and now, from 12.600 to 110.M/ });
  const marks = picture.locator("g.swatch:not(.then) .swatch-mark");
  assert.equal(await picture.locator(".then .swatch-mark").count(), 3 * 5);
  assert.equal(await marks.count(), 4);
  const boxes = await marks.evaluateAll((all) => all.map((mark) => mark.getBoundingClientRect().toJSON()));
  const [first, second, best] = boxes;
  assert.ok(first.x < second.x && second.x < best.x, "more stands further right");
  assert.ok(first.y < second.y && second.y < best.y, "each step below the one before");
  const heads = await section.locator("thead th").allTextContents();
  assert.deepEqual(heads, ["Server", "laptop, 2015", "Linux box, 2015", "FreeBSD in a cloud, 2015", "purlin", "beam"]);
  const cells = (rung) => section.locator("tbody tr", { hasText: rung }).locator("td").allTextContents();
  const plain = (texts) => texts.map((text) => text.replace(/[\s\u202f\u00a0]/g, ""));
  assert.deepEqual(plain(await cells("throttle")), ["90000–100000", "30000", "150000", "–", "–"]);
  assert.deepEqual(plain(await cells("request-reply")), ["22000", "20000", "26000", "15000", "14000"]);
  assert.deepEqual(plain(await cells("best")), ["–", "–", "–", "100M", "–"]);
  await page.locator("#contents").getByRole("link", { name: "Then and now" }).click();
  assert.ok(await section.getByRole("heading").evaluate((heading) => heading.getBoundingClientRect().top < innerHeight));
}

async function variants({ open }) {
  const page = await open();
  const cell = page.locator(".matrix tr", { hasText: "ack-sync-ack" }).locator("td").first();
  assert.match(await cell.textContent(), /^2.00\s× worse than purlinbuffer-64k 1.50\s× worse than purlin$/);
  await page.getByText(/^Every ratio with its interval/).click();
  const rows = page.locator("#summary .sortable tbody tr", { hasText: "ack-sync-ack" });
  assert.deepEqual((await rows.locator("td.strong").allTextContents()).map(parseFloat), [2, 1.5]);
  assert.match(await rows.last().textContent(), /beam · buffer-64k.*16.*24/);
  const heads = await page
    .getByRole("region", { name: "Acknowledged messages, then and now", exact: true })
    .locator("thead th")
    .allTextContents();
  assert.deepEqual(heads.slice(4), ["purlin", "beam", "beam · buffer-64k"]);
  const section = page.locator("section", { has: page.locator("#experiment-ack-sync-ack") });
  const figures = section.locator("tbody tr", { hasText: "buffer-64k" });
  assert.match(await figures.textContent(), /beam · buffer-64k.*1.50\s×worse than purlin/);
}

// The verdict, the sources and the control of the results are defined in page_in_browser.rs.
async function losses({ open }) {
  const page = await open();
  const heading = (name) => page.locator("#summary h3", { hasText: name });
  assert.equal(await heading("purlin is behind in 1 comparison").count(), 1);
  assert.equal(await heading("purlin is ahead in 2 comparisons").count(), 1);
  const [behind, ahead] = await page.locator("#summary ul.standing").all();
  assert.match(await behind.textContent(), /^Throughput \(purlin\): tokio 0\.500\u202f×$/);
  assert.equal(await ahead.locator("li").count(), 2);
  for (const list of [behind, ahead]) assert.ok(await list.isVisible(), "neither is folded");
  const size = (list) => list.evaluate((element) => getComputedStyle(element).fontSize);
  assert.equal(await size(behind), await size(ahead));
  const links = behind.locator("a[href^='../../']");
  const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.deepEqual(targets, ["../../contenders/purlin/src/messages.rs", "../../contenders/tokio/src/messages.rs"]);
  assert.equal(await page.locator("#summary .sortable .sources a").count(), 2 * 2, "no path outside of the contenders is a link");
  assert.match(await page.locator("#summary").textContent(), /purlin is indistinguishable in 1 comparison\./);

  await page.locator("#contents").getByRole("link", { name: "Control" }).click();
  const control = page.locator("section", { has: page.locator("#control") });
  assert.match(
    await control.textContent(),
    /purlin, tokio run the same function in tail-call: medians within 1\.50\u202f×, 1 of 1 comparison called different/,
  );
  await control.getByText("Ratios of the control").click();
  assert.match(await control.locator("tbody tr").textContent(), /^tokio.*purlin.*worse than purlin$/);
}

export const tables = { sorting, losses, strips, glance, top, ladder, variants };
