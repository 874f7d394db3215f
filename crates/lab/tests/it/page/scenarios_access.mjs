// @ts-check
// Accessibility: keyboard, screen reader, print, and very many points.

import assert from "node:assert/strict";
import { chartOf, figureOf, stored, widths } from "./look.mjs";

// The accessibility tree that the browser provides.
async function tree({ open }) {
  const page = await open();
  await page.getByText("Add results of others").click();
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const seen = nodes.filter((node) => !node.ignored).map((node) => ({ role: node.role?.value, name: node.name?.value || "" }));
  const named = (role) => seen.filter((node) => node.role === role).map((node) => node.name);
  const charts = named("image").filter((name) => name.startsWith("Chart of "));
  const measured = stored.experiments.filter(({ id }) => stored.results.some((result) => result.experiment === id));
  assert.equal(charts.length, measured.length);
  for (const { title } of measured) {
    const name = charts.find((each) => each.startsWith(`Chart of ${title}: `));
    assert.match(name, /rom best to worst: .*\d.*\. The table of figures below says the same\.$/, title);
  }
  assert.ok(
    charts.some((name) => name.includes("At n = 1\u202f000, from best to worst: purlin 102\u00a0µs, tokio 216\u00a0µs, beam 750\u00a0µs.")),
  );
  for (const role of ["button", "combobox", "textbox", "link", "table", "region", "group"]) {
    const names = named(role);
    assert.ok(names.length > 0, role);
    if (role !== "group")
      assert.ok(
        names.every((name) => name.trim() !== ""),
        `every ${role} has a name`,
      );
  }
  for (const role of ["main", "navigation", "banner"]) assert.equal(named(role).length, 1, role);
  // The name follows the visible lines.
  await figureOf(page, "ping-pong").getByRole("button", { name: "beam" }).click();
  assert.ok(!(await chartOf(page, "ping-pong").getAttribute("aria-label")).includes("beam"));
}

// Tab visits every control once and then leaves the page, and the focus is always visible.
async function keys({ open }) {
  // The controls work with the keyboard alone.
  const first = await open();
  const figure = figureOf(first, "spawn-chain");
  await figure.getByLabel("Shown as", { exact: true }).focus();
  await first.keyboard.press("ArrowDown");
  await first.waitForFunction(() => location.hash === "#?spawn-chain=worst");
  await figure.getByRole("button", { name: "Log y" }).focus();
  await first.keyboard.press("Space");
  await first.waitForFunction(() => location.hash === "#?spawn-chain=worst,ylog");
  assert.equal(await first.evaluate(() => document.activeElement.textContent), "Log y", "the focus stays");
  // WHY a separate page: Chromium may apply the loss of focus late, which would clear the focus of a later step.
  const page = await open();
  const due = await page.evaluate(() => {
    window.passed = [];
    document.addEventListener("focusin", (event) => {
      const target = /** @type {HTMLInputElement} */ (event.target);
      const mark = target.type === "file" ? target.parentElement : target;
      const seen = getComputedStyle(mark).outlineStyle === "none" ? "unseen: " : "";
      window.passed.push(seen + [...document.querySelectorAll("*")].indexOf(target));
    });
    const all = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("*")]);
    return all
      .filter(
        (stop) =>
          stop.matches("a[href], button, select, input, textarea, summary, [tabindex='0']") &&
          !stop.disabled &&
          stop.checkVisibility({ visibilityProperty: true }) &&
          (stop.tagName === "SUMMARY" || !stop.closest("details:not([open])")),
      )
      .map((stop) => String(all.indexOf(stop)));
  });
  assert.ok(due.length > 40, `${due.length} stops`);
  for (let presses = 0; presses <= due.length; presses += 1) await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.activeElement === document.body);
  assert.deepEqual(await page.evaluate(() => window.passed), due, "every stop is reached once, in order, and is seen");
}

async function still({ open }) {
  const page = await open({ reducedMotion: "reduce" });
  await figureOf(page, "spawn-chain").getByRole("button", { name: "Log y" }).click();
  await page.locator("nav a").last().click();
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
}

async function sheets({ open }) {
  const page = await open({ colorScheme: "dark", viewport: { width: 700, height: 1000 } });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const told = await page.evaluate(() => ({
    controls: [...document.querySelectorAll(".controls, nav, .actions, #others")].filter((each) => each.checkVisibility()).length,
    ground: getComputedStyle(document.body).backgroundColor,
    whole: [...document.querySelectorAll("figure, tbody tr")].every((each) => getComputedStyle(each).breakInside === "avoid"),
    cut: [...document.querySelectorAll(".scroller")]
      .filter((each) => each.firstElementChild.getBoundingClientRect().width > each.clientWidth + 1)
      .map((each) => each.getAttribute("aria-label")),
    charts: [...document.querySelectorAll(".chart")].every((each) => each.querySelector("svg").clientWidth <= each.clientWidth),
  }));
  assert.deepEqual(told, { controls: 0, ground: "rgb(255, 255, 255)", whole: true, cut: [], charts: true });
  const [inner, outer] = await widths(page);
  assert.ok(inner <= outer);
}

// The number of shapes drawn for very many points depends on the width of the chart and not on their number, and a
// change of a setting redraws the chart once.
async function many({ open }) {
  const page = await open();
  const figure = figureOf(page, "many");
  const chart = chartOf(page, "many");
  assert.match(await figure.locator(".hint").textContent(), /so many points/);
  assert.deepEqual([await chart.locator("canvas").count(), await chart.locator("svg *").count()], [1, 0]);
  await page.evaluate(() => {
    const { instance } = window.purlinReport.charts[0];
    const draw = instance.setOption.bind(instance);
    instance.setOption = (...given) => {
      window.drawn = (window.drawn || 0) + 1;
      draw(...given);
    };
  });
  // Each line has between `due` and `most` corners. The library thins the lines in one of the next frames.
  const thinned = (lines, most) =>
    page.waitForFunction(
      ([due, limit]) => {
        const { instance } = window.purlinReport.charts[0];
        const all = instance.getModel().getSeries();
        const corners = all.filter((one) => one.subType === "line").map((line) => line.getData().count());
        return corners.length === due && corners.every((count) => count > 100 && count < limit);
      },
      [lines, most],
    );
  const width = await chart.evaluate((element) => element.clientWidth);
  assert.ok(width < 1200, `a chart of ${width} px`);
  let drawn = 0;
  /** @type {[string, number][]} */
  const choices = [
    ["Log x", 3],
    ["beam", 2],
    ["Samples", 2],
    ["Same spacing", 2],
  ];
  for (const [name, lines] of choices) {
    await figure.getByRole("button", { name, exact: true }).click();
    drawn += 1;
    await thinned(lines, 1.2 * width).catch((error) => assert.fail(`${name}: ${error.message}`));
    assert.equal(await page.evaluate(() => window.drawn), drawn, name);
  }
  await figure.getByLabel("Shown as").selectOption({ index: 1 });
  await page.getByText("Table of figures (9\u202f000 rows)").click();
  const table = page.locator("table.sortable").last();
  await table.locator("tbody tr").first().waitFor();
  assert.equal(await table.locator("tbody tr").count(), 300, "the first of them");
  await table.getByRole("button", { name: "Median" }).click();
  assert.equal(await table.locator("tbody tr").count(), 300, "still the first of them");
  assert.match(await table.getByRole("button", { name: /^Show all 9.000 rows/ }).textContent(), /first 300$/);
  // The tooltip still works.
  await figure.getByLabel("Shown as").selectOption({ index: 0 });
  await figure.getByRole("button", { name: "Same spacing" }).click();
  const at = await page.evaluate(() => {
    const { element, instance } = window.purlinReport.charts[0];
    element.scrollIntoView({ block: "center" });
    const box = element.getBoundingClientRect();
    const [x, y] = instance.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [1, 0.263]);
    return [box.left + x, box.top + y];
  });
  await page.mouse.move(at[0] + 30, at[1]);
  await page.mouse.move(...at);
  await page.locator(".tip", { hasText: "purlin" }).waitFor();
}

export const access = { tree, keys, still, sheets, many };
