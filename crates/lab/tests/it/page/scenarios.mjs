// @ts-check
// Basic interactions with the page, one function per test.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { BEAM, changed, chartOf, columnOf, figureOf, painted, picture, stored, widths } from "./look.mjs";
import { access } from "./scenarios_access.mjs";
import { others } from "./scenarios_others.mjs";
import { tables } from "./scenarios_tables.mjs";
import { views } from "./scenarios_views.mjs";

async function drawn({ open }) {
  const page = await open();
  const charts = await page.locator(".chart").all();
  const measured = new Set(stored.results.map((result) => result.experiment));
  assert.equal(charts.length, measured.size, "a chart for each experiment with results");
  assert.equal(await page.evaluate(() => window.purlinReport.charts.length), charts.length);
  for (const chart of charts) {
    const id = await chart.getAttribute("data-experiment");
    assert.equal(await chart.getAttribute("data-chart-ready"), "true", id);
    assert.equal(await chart.getAttribute("data-contenders"), "purlin,beam,tokio", id);
    assert.ok((await chart.getAttribute("aria-label")).startsWith("Chart of "), id);
    const legend = await figureOf(page, id)
      .locator(".legend [data-contender]")
      .evaluateAll((items) => [...new Set(items.map((item) => item.dataset.contender))].sort());
    assert.deepEqual(legend, ["beam", "purlin", "tokio"], `legend of ${id}`);
    const present = new Set(stored.results.filter((result) => result.experiment === id).map((result) => result.contender));
    const colours = { purlin: "#0072b2", beam: BEAM, tokio: "#009e73" };
    for (const contender of present) {
      assert.ok((await painted(chart, colours[contender])) > 2, `${contender} is painted in ${id}`);
    }
  }
  const fit = stored.results.find((result) => result.experiment === "spawn-chain" && result.contender === "purlin" && result.fit).fit;
  // Each line of best fit is drawn from the first to the last x, according to its slope and
  // intercept. Slopes are per process, in µs.
  const ends = await page.evaluate(({ slope, intercept }) => {
    const { element, instance } = window.purlinReport.charts.find((chart) => chart.experiment.id === "spawn-chain");
    const lines = [...element.querySelectorAll("svg path[stroke-width='1.75']")].map((line) => ({
      colour: line.getAttribute("stroke"),
      points: line
        .getAttribute("d")
        .match(/[-0-9.]+/g)
        .map(Number),
    }));
    const place = (x) => instance.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [x, slope * x + intercept]);
    return { lines, expected: [...place(100), ...place(1000)] };
  }, fit);
  assert.deepEqual(ends.lines.map((line) => line.colour).sort(), ["#0072b2", "#009e73", BEAM].sort());
  const own = ends.lines.find((line) => line.colour === "#0072b2").points;
  [...own.slice(0, 2), ...own.slice(-2)].forEach((value, at) => {
    assert.ok(Math.abs(value - ends.expected[at]) < 1, `the line ends at ${own}, not ${ends.expected}`);
  });
  const fits = page.locator("section", { has: page.locator("#experiment-spawn-chain") }).locator(".fits tbody tr");
  assert.equal(await fits.count(), 3);
  assert.ok((await fits.first().textContent()).includes(`${(fit.slope * 1000).toPrecision(3)}\u00a0ns`), "the slope in ns");
}

// All labels of a chart lie within its bounds.
async function edges({ open }) {
  const page = await open();
  const cut = await page.evaluate(() =>
    window.purlinReport.charts.flatMap(({ experiment, element }) => {
      const frame = element.querySelector("svg").getBoundingClientRect();
      const words = [...element.querySelectorAll("svg text")];
      const beyond = words.filter((word) => {
        const { left, right } = word.getBoundingClientRect();
        return left < frame.left - 0.5 || right > frame.right + 0.5;
      });
      return [`${experiment.id}: ${words.length > 5}`, ...beyond.map((word) => word.textContent)];
    }),
  );
  assert.deepEqual(cut, ["bars: true", "sweep: true"]);
}

async function legend({ open }) {
  const page = await open();
  for (const id of ["spawn-chain", "ping-pong"]) {
    const chart = chartOf(page, id);
    const item = figureOf(page, id).getByRole("button", { name: "beam" });
    const before = await painted(chart, BEAM);
    assert.ok(before > 0);
    await item.click();
    assert.equal(await item.getAttribute("aria-pressed"), "false");
    assert.equal(await painted(chart, BEAM), 0, `beam is gone from ${id}`);
    assert.ok((await painted(chart, "#0072b2")) > 0, `purlin stays in ${id}`);
    await item.press("Space");
    assert.equal(await painted(chart, BEAM), before, `beam is back in ${id}`);
  }
  const absent = figureOf(page, "fork-join").locator(".legend .absent");
  assert.equal(await absent.textContent(), "tokio (no result)");
}

async function switches({ open }) {
  const page = await open();
  const chain = chartOf(page, "spawn-chain");
  for (const name of ["Log x", "Log y"]) {
    const before = await picture(chain);
    await figureOf(page, "spawn-chain").getByRole("button", { name }).click();
    await changed(page, chain, before);
  }
  const hint = figureOf(page, "exchange").locator(".hint");
  assert.equal(await hint.textContent(), "");
  await figureOf(page, "exchange").getByRole("button", { name: "Log x" }).click();
  assert.match(await hint.textContent(), /^3 points at or below zero/);
  const serial = figureOf(page, "serial-spawn").getByRole("button", { name: "Log x" });
  assert.equal(await serial.getAttribute("aria-pressed"), "true", "a logarithmic sweep starts so");
  const bars = chartOf(page, "ping-pong");
  const before = await picture(bars);
  await figureOf(page, "ping-pong").getByRole("button", { name: "Log scale" }).click();
  await changed(page, bars, before);
}

async function tooltip({ open }) {
  const page = await open();
  const chart = chartOf(page, "spawn-chain");
  await chart.scrollIntoViewIfNeeded();
  const at = await page.evaluate(() => {
    const { element, instance } = window.purlinReport.charts.find((chart) => chart.experiment.id === "spawn-chain");
    const points = instance.getOption().series.filter((series) => series.type === "scatter");
    const value = points[1].data[5];
    const [x, y] = instance.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, value);
    const box = element.getBoundingClientRect();
    return [box.left + x, box.top + y];
  });
  await page.mouse.move(...at);
  const tip = page.locator(".tip");
  await tip.waitFor();
  assert.match(await tip.textContent(), /^beamn = 600\d+.*median of 11 samples95 %/);
}

async function keyboard({ open }) {
  const page = await open();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the results");
  let presses = 0;
  while ((await focused()) !== "Ratio") {
    await page.keyboard.press("Tab");
    presses += 1;
    assert.ok(presses < 90, "the table's headings are reached by tabbing");
  }
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "the focus can be seen");
  const ratios = async () => (await columnOf(page, 3)).map((text) => parseFloat(text));
  await page.keyboard.press("Enter");
  const up = await ratios();
  assert.deepEqual(
    up,
    [...up].sort((a, b) => a - b),
  );
  assert.equal(await page.locator("#summary th[aria-sort='ascending']").textContent(), "Ratio");
  await page.keyboard.press("Enter");
  assert.deepEqual(await ratios(), [...up].reverse());
  assert.equal(await page.locator("#summary th[aria-sort='descending']").count(), 1);
  // The heading stays visible while the table scrolls.
  await page
    .locator("#summary .sortable tbody tr")
    .nth(12)
    .evaluate((row) => row.scrollIntoView({ block: "start" }));
  const top = await page
    .locator("#summary .sortable thead th")
    .first()
    .evaluate((head) => head.getBoundingClientRect().top);
  assert.ok(top >= -1 && top < 40, `the heading stands at ${top}`);
}

async function words({ open }) {
  const page = await open();
  const trouble = await page.locator("#trouble").textContent();
  for (const text of ["2 problems", "2 invalid samples", "received 99 999 of 100 000", "gave no answer within 10 s"]) {
    assert.ok(trouble.includes(text), text);
  }
  for (const one of stored.absences) {
    const told = page.locator("section", { has: page.locator(`#experiment-${one.experiment}`) }).locator("p.hint");
    assert.ok((await told.allTextContents()).includes(`tokio ${one.message}.`), one.experiment);
    assert.ok(!trouble.includes(one.message), "nothing went wrong with it");
  }
  const row = page.locator("#summary .sortable tbody tr", { hasText: "A ring of processes" }).filter({ hasText: "tokio" });
  assert.match(await row.textContent(), /indistinguishable/);
  const rows = await page.locator("#summary .sortable tbody tr").count();
  assert.equal(rows, stored.ratios.length);
  // If more is better, twice as many means half the cost.
  const serial = page.locator("#summary .sortable tbody tr", { hasText: "Chains side by side" }).first();
  assert.match(await serial.textContent(), /worse than purlin/);
  const facts = await page.locator("#machine").textContent();
  for (const text of ["AMD EPYC 7B13", "2 cores", "8\u00a0GiB", "virtual machine", "quick", "20260"]) {
    assert.ok(facts.includes(text), text);
  }
}

async function phone({ open }) {
  for (const width of [375, 320]) {
    const page = await open({ viewport: { width, height: 740 }, hasTouch: true });
    await page.evaluate(() =>
      document.querySelectorAll("details").forEach((details) => {
        details.open = true;
      }),
    );
    const [inner, outer] = await widths(page);
    assert.ok(inner <= outer, `${inner} px of page in ${outer} px of window`);
    const box = await chartOf(page, "spawn-chain").boundingBox();
    assert.ok(box.width > 0.8 * width && box.width <= width);
  }
}

async function themes({ open }) {
  const look = (page) =>
    page.evaluate(() => [
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector(".chart svg text")).fill,
    ]);
  const light = await open({ colorScheme: "light" });
  const dark = await open({ colorScheme: "dark" });
  const [day, night] = [await look(light), await look(dark)];
  assert.notEqual(day[0], night[0], "the ground differs");
  assert.notEqual(day[1], night[1], "the charts differ");
  const button = light.getByRole("button", { name: "Dark" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  assert.deepEqual(await look(light), night);
  await button.click();
  assert.deepEqual(await look(light), day);
}

async function paper({ open }) {
  const page = await open({ colorScheme: "dark" });
  const folded = () => page.locator("details:not([open])").count();
  const before = await folded();
  assert.ok(before > 0);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper"));
  const dark = await ground();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await folded(), 0);
  assert.notEqual(await ground(), dark);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await folded(), before);
  assert.equal(await ground(), dark);
  assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
}

async function download({ open }) {
  const page = await open();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Raw JSON" }).click()]);
  assert.equal(file.suggestedFilename(), "purlin-lab.json");
  assert.deepEqual(JSON.parse(await readFile(await file.path(), "utf8")), stored);
}

async function fullscreen({ open }) {
  const page = await open();
  const figure = figureOf(page, "spawn-chain");
  const chart = chartOf(page, "spawn-chain");
  const before = (await chart.boundingBox()).height;
  await figure.getByRole("button", { name: "Full screen" }).click();
  await figure.getByRole("button", { name: "Leave full screen" }).click();
  await page.waitForFunction(() => document.fullscreenElement === null);
  const handle = await chart.elementHandle();
  await page.waitForFunction(([element, height]) => element.clientHeight === height, [handle, Math.round(before)]);
}

async function hostile({ open }) {
  const page = await open();
  const charts = await page.locator(".chart").count();
  assert.ok(charts > 0);
  for (const chart of await page.locator(".chart").all()) {
    await chart.hover({ position: { x: 300, y: 60 } });
  }
  assert.equal(await page.evaluate(() => window.hostile), undefined, "nothing of it ran");
  assert.equal(await page.locator("img").count(), 0, "nothing of it became an element");
  assert.ok((await page.locator("#trouble").textContent()).includes("</script><img src=x onerror="), "it is shown as text");
  assert.equal(await page.evaluate(() => document.scripts.length), 4);
  const narrow = await open({ viewport: { width: 375, height: 740 } });
  const [inner, outer] = await widths(narrow);
  assert.ok(inner <= outer, `long words stay within ${outer} px`);
}

async function several({ open }) {
  const page = await open();
  const items = await figureOf(page, "spawn-chain").locator("button[data-contender]").allTextContents();
  assert.deepEqual(
    items,
    ["21 Nov 09:00", "22 Nov 17:30"].flatMap((when) => ["purlin", "beam", "tokio"].map((name) => `${when} ${name}`)),
  );
  const colours = await figureOf(page, "spawn-chain")
    .locator(".legend .swatch")
    .evaluateAll((swatches) => new Set(swatches.map((swatch) => swatch.style.getPropertyValue("--light"))).size);
  assert.equal(colours, 6, "each has its own colour");
  const [inner, outer] = await widths(page);
  assert.ok(inner <= outer);
}

async function empty({ open }) {
  const page = await open();
  assert.match(await page.locator("#lead").textContent(), /No results/);
  assert.equal(await page.locator(".chart").count(), 0);
}

// If the browser cannot decompress the page, or its text is truncated, the page shows a message.
async function packed({ open }) {
  const told = async (script) => {
    const page = await open({ script });
    page.complaints.splice(0);
    assert.equal(await page.locator(".chart").count(), 0);
    return page.locator("#trouble").textContent();
  };
  assert.match(await told("delete window.DecompressionStream"), /^Nothing is drawn: this browser cannot unpack .* Chrome .* 80/);
  assert.match(await told("const whole = atob; window.atob = (text) => whole(text).slice(0, 99);"), /^Nothing is drawn: /);
}

async function alone({ open }) {
  const page = await open();
  assert.match(await page.locator("#summary").textContent(), /no ratio/);
  const measured = new Set(stored.results.filter((result) => result.contender === "beam").map((result) => result.experiment));
  assert.equal(await page.locator(".chart[data-chart-ready='true'][data-contenders='beam']").count(), measured.size);
}

async function odd({ open }) {
  const page = await open();
  assert.ok((await page.locator("#experiments section").count()) >= 3);
  assert.ok((await page.locator(".chart[data-chart-ready='true']").count()) >= 1);
}

export const scenarios = {
  drawn,
  edges,
  legend,
  switches,
  tooltip,
  keyboard,
  words,
  phone,
  themes,
  paper,
  download,
  fullscreen,
  hostile,
  several,
  empty,
  packed,
  alone,
  odd,
  ...access,
  ...others,
  ...tables,
  ...views,
};
