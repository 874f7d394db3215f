// @ts-check
// Controls of a chart, and the link that stores the settings.

import assert from "node:assert/strict";
import { BEAM, changed, chartOf, figureOf, optionOf, painted, picture, seriesOf, stored } from "./look.mjs";

const choose = (page, id, name, label) => figureOf(page, id).getByLabel(name, { exact: true }).selectOption({ label });
const press = (page, id, name) => figureOf(page, id).getByRole("button", { name, exact: true }).click();

// Returns the figures of one contender by x, in the unit of the results.
function stated(id, contender) {
  const own = stored.results.filter(
    (result) => result.experiment === id && result.contender === contender && result.x !== undefined && !result.fit,
  );
  return new Map(own.map((result) => [result.x, result.median]));
}

// Percentages as OTP's viewer computes them, and their counterpart if less is better.
async function percentages({ open }) {
  const page = await open();
  for (const [id, better] of [
    ["serial-spawn", "higher"],
    ["spawn-chain", "lower"],
  ]) {
    const lines = ["purlin", "beam", "tokio"].map((contender) => stated(id, contender));
    const bounds = (x) => {
      const all = lines.map((line) => line.get(x));
      return [Math.min(...all), Math.max(...all)];
    };
    const overLeast = (x) => (lines[1].get(x) / bounds(x)[0] - 1) * 100;
    const underMost = (x) => (1 - lines[1].get(x) / bounds(x)[1]) * 100;
    const [worst, best] = better === "higher" ? [overLeast, underMost] : [underMost, overLeast];
    const [more, less] =
      better === "higher" ? ["% more than the worst", "% less than the best"] : ["% less than the worst", "% more than the best"];
    /** @type {[string, (x: number) => number][]} */
    const shares = [
      [more, worst],
      [less, best],
    ];
    for (const [label, expected] of shares) {
      await choose(page, id, "Shown as", label);
      const points = await seriesOf(page, id, "beam");
      assert.equal(points.length, lines[1].size, id);
      for (const [x, y] of points) assert.ok(Math.abs(y - expected(x)) < 1e-6, `${id} ${label} at ${x}: ${y}, not ${expected(x)}`);
      assert.match(await figureOf(page, id).locator(".hint").textContent(), /in per cent: .*value ÷/);
      assert.ok((await chartOf(page, id).getAttribute("aria-label")).includes(label), "the description says it too");
      // Hiding the best does not move the other lines.
      await press(page, id, "purlin");
      assert.deepEqual(await seriesOf(page, id, "beam"), points);
      await press(page, id, "purlin");
    }
  }
  await choose(page, "ping-pong", "Shown as", "% more than the best");
  const bars = await optionOf(page, "ping-pong");
  assert.match(bars.xAxis[0].name, /% more than the best/);
}

async function kinds({ open }) {
  const page = await open();
  const chart = chartOf(page, "spawn-chain");
  const shapes = () => chart.locator(`svg path[fill="${BEAM}"][fill-opacity="0.85"]`).count();
  assert.equal(await shapes(), 0);
  const lines = await picture(chart);
  await choose(page, "spawn-chain", "Drawn as", "Bars");
  await changed(page, chart, lines);
  assert.equal(await shapes(), 10, "a bar for each of ten points");
  const bars = await picture(chart);
  await press(page, "spawn-chain", "beam");
  await changed(page, chart, bars);
  assert.equal(await painted(chart, BEAM), 0, "the legend hides bars too");
  await press(page, "spawn-chain", "beam");
  for (const name of ["Same spacing", "Log y"]) {
    const before = await picture(chart);
    await press(page, "spawn-chain", name);
    await changed(page, chart, before);
    assert.equal(await shapes(), 10, name);
  }
  const last = await picture(chart);
  await choose(page, "spawn-chain", "Drawn as", "Lines");
  await changed(page, chart, last);
  assert.equal(await shapes(), 0);
}

async function spacing({ open }) {
  const page = await open();
  const at = async () => (await seriesOf(page, "serial-spawn", "purlin")).map(([x]) => x);
  assert.deepEqual(await at(), [1, 10, 100, 1000]);
  assert.ok((await chartOf(page, "serial-spawn").locator("svg text", { hasText: "peak" }).count()) > 0, "the highest point is marked");
  await press(page, "serial-spawn", "Same spacing");
  assert.deepEqual(await at(), [0, 1, 2, 3], "equal steps");
  const axis = (await optionOf(page, "serial-spawn")).xAxis[0];
  assert.deepEqual([axis.type, axis.data.map((label) => label.replace(/\s/g, ""))], ["category", ["1", "10", "100", "1000"]]);
  assert.ok(await figureOf(page, "serial-spawn").getByRole("button", { name: "Log x" }).isDisabled(), "steps have no logarithm");
  await press(page, "serial-spawn", "Same spacing");
  assert.deepEqual(await at(), [1, 10, 100, 1000]);
}

// Raw samples: translucent dots at the points of a sweep, or on a bar.
async function samples({ open }) {
  const page = await open();
  const count = async (id) =>
    (await optionOf(page, id)).series
      .filter((one) => one.type === "scatter" && one.symbolSize === 4)
      .reduce((sum, one) => sum + one.data.length, 0);
  const taken = stored.results
    .filter((result) => result.experiment === "spawn-chain" && result.x !== undefined)
    .reduce((sum, one) => sum + one.samples.length, 0);
  assert.equal(await count("spawn-chain"), 0);
  await press(page, "spawn-chain", "Samples");
  assert.equal(await count("spawn-chain"), taken);
  const before = await painted(chartOf(page, "ping-pong"), BEAM);
  const look = await picture(chartOf(page, "ping-pong"));
  await press(page, "ping-pong", "Samples");
  await changed(page, chartOf(page, "ping-pong"), look);
  assert.ok((await painted(chartOf(page, "ping-pong"), BEAM)) <= before - 11, "the dots go");
}

// A secondary figure of the same run can be drawn.
async function figures({ open }) {
  const page = await open();
  const id = "serial-spawn";
  await choose(page, id, "Figure", "latency p99");
  assert.match((await optionOf(page, id)).yAxis[0].name, /^latency p99 \(/);
  assert.deepEqual(
    (await seriesOf(page, id, "beam")).map(([, y]) => y),
    [21, 22],
  );
  assert.equal(await figureOf(page, id).locator(".absent").count(), 2, "who has no such figure keeps its place");
  await choose(page, id, "Figure", "processes created and ended");
  assert.equal((await seriesOf(page, id, "purlin")).length, 4);
}

// The link contains all settings, and a page opened by it looks the same.
async function link({ open, url }) {
  const page = await open();
  const hash = () => page.evaluate(() => location.hash);
  assert.equal(await hash(), "", "the usual view needs no words");
  await choose(page, "spawn-chain", "Shown as", "% less than the worst");
  await choose(page, "spawn-chain", "Drawn as", "Bars");
  await press(page, "spawn-chain", "Log y");
  await press(page, "spawn-chain", "beam");
  await press(page, "serial-spawn", "Same spacing");
  await page.getByRole("button", { name: "Dark" }).click();
  assert.equal(await hash(), "#?theme=dark&spawn-chain=worst,bars,ylog,-beam&serial-spawn=same");
  await page.locator("nav a[href='#experiment-serial-spawn']").click();
  await page.waitForFunction(() => location.hash.startsWith("#experiment-serial-spawn?theme=dark"));
  const kept = await hash();
  const again = await open({ url: url + kept });
  assert.equal(await picture(chartOf(again, "spawn-chain")), await picture(chartOf(page, "spawn-chain")));
  assert.equal(await figureOf(again, "spawn-chain").getByRole("button", { name: "beam" }).getAttribute("aria-pressed"), "false");
  assert.equal(await again.evaluate(() => document.documentElement.dataset.theme), "dark");
  const top = await again.locator("#experiment-serial-spawn").evaluate((title) => title.getBoundingClientRect().top);
  assert.ok(top > -5 && top < 500, `the link leads to its place: ${top}`);
  assert.equal(await hash(), kept);
  // Resets all settings, one after the other.
  await choose(page, "spawn-chain", "Shown as", "time");
  await choose(page, "spawn-chain", "Drawn as", "Lines");
  await press(page, "spawn-chain", "Log y");
  await press(page, "spawn-chain", "beam");
  await press(page, "serial-spawn", "Same spacing");
  await page.getByRole("button", { name: "Dark" }).click();
  assert.equal(await hash(), "#experiment-serial-spawn");
  // Another link in the same window.
  await page.evaluate(() => {
    location.hash = "#?spawn-chain=-tokio";
  });
  await figureOf(page, "spawn-chain").locator("button[aria-pressed='false']", { hasText: "tokio" }).waitFor();
}

// A link with only an anchor scrolls to it, and a reload restores the scroll position.
async function places({ open, url }) {
  const page = await open({ url: `${url}#experiment-serial-spawn` });
  const top = () => page.locator("#experiment-serial-spawn").evaluate((title) => title.getBoundingClientRect().top);
  assert.ok((await top()) > -5 && (await top()) < 500, `the link leads to its place: ${await top()}`);
  await page.evaluate(() => window.scrollBy(0, -700));
  const before = await page.evaluate(() => window.scrollY);
  assert.ok(before > 0);
  await page.waitForFunction((place) => history.state === place, before);
  await page.evaluate(() => document.getElementById("theme").click());
  await page.reload();
  await page.waitForSelector("html[data-ready='true']", { state: "attached" });
  // Charts that come into view shift the content below them by some lines each; the place is still
  // nearer than the anchor, 700 pixels below.
  await page.waitForFunction((place) => Math.abs(window.scrollY - place) < 350, before);
}

async function badLinks({ open, url }) {
  const plain = await picture(chartOf(await open(), "spawn-chain"));
  for (const hash of [
    "#nowhere?spawn-chain=g99,m77,nonsense,-,%E0%A4%A&__proto__=worst",
    "#%%%?theme=pink&=&&x&constructor=toString,__proto__",
  ]) {
    const page = await open({ url: url + hash });
    assert.equal(await picture(chartOf(page, "spawn-chain")), plain, hash);
  }
}

async function copy({ open }) {
  const page = await open();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await choose(page, "ping-pong", "Shown as", "% more than the best");
  const button = figureOf(page, "ping-pong").getByRole("button", { name: "Copy link" });
  await button.click();
  await page.getByRole("status").filter({ hasText: "Link copied" }).waitFor({ state: "attached" });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.startsWith("file://") && copied.endsWith("#experiment-ping-pong?ping-pong=best"), copied);
  // If the clipboard is refused, the link is shown for copying by hand.
  const poor = await open();
  await poor.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
  });
  await poor.locator(".actions").getByRole("button", { name: "Copy link" }).click();
  const field = poor.getByLabel("The link to copy");
  assert.match(await field.inputValue(), /^file:.*#$/);
}

async function covering({ open }) {
  const page = await open({
    script: () => {
      Object.defineProperty(Document.prototype, "fullscreenEnabled", { get: () => false });
    },
  });
  const figure = figureOf(page, "spawn-chain");
  const before = (await chartOf(page, "spawn-chain").boundingBox()).height;
  await figure.getByRole("button", { name: "Full screen" }).click();
  const box = await figure.boundingBox();
  assert.deepEqual([box.x, box.y, Math.round(box.width), box.height], [0, 0, 1280, 900]);
  for (let at = 0; at < 20; at += 1) {
    await page.keyboard.press("Tab");
    assert.ok(await figure.evaluate((element) => element.contains(document.activeElement)), "the focus stays on what is seen");
  }
  await page.keyboard.press("Escape");
  const handle = await chartOf(page, "spawn-chain").elementHandle();
  await page.waitForFunction(([element, height]) => element.clientHeight === height, [handle, Math.round(before)]);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Full screen", "and goes back to its button");
}

export const views = { percentages, kinds, spacing, samples, figures, link, places, "bad-links": badLinks, copy, covering };
