// What a reader without a mouse, without eyes, with a sheet of paper or with
// very many figures finds.

import assert from "node:assert/strict";
import { chartOf, figureOf, stored, widths } from "./look.mjs";

// What a screen reader is told: the tree that the browser gives it.
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
  assert.ok(charts.some((name) => name.includes("At n = 1\u202f000, from best to worst: purlin 102\u00a0µs, tokio 216\u00a0µs, beam 750\u00a0µs.")));
  for (const role of ["button", "combobox", "textbox", "link", "table", "region", "group"]) {
    const names = named(role);
    assert.ok(names.length > 0, role);
    if (role !== "group") assert.ok(names.every((name) => name.trim() !== ""), `every ${role} has a name`);
  }
  for (const role of ["main", "navigation", "banner"]) assert.equal(named(role).length, 1, role);
  // The name follows what is shown.
  await figureOf(page, "ping-pong").getByRole("button", { name: "beam" }).click();
  assert.ok(!(await chartOf(page, "ping-pong").getAttribute("aria-label")).includes("beam"));
}

// Tab goes through everything once and out again, and the focus is always seen.
async function keys({ open }) {
  const page = await open();
  const due = await page.evaluate(() => [...document.querySelectorAll("a[href], button, select, input, textarea, summary, [tabindex='0']")]
    .filter((stop) => !stop.disabled && stop.checkVisibility({ visibilityProperty: true }) && (stop.tagName === "SUMMARY" || !stop.closest("details:not([open])"))).length);
  const step = () => page.evaluate(() => {
    const stop = document.activeElement;
    if (stop === document.body) return "out";
    if (stop.dataset.passed) return `again: ${stop.outerHTML.slice(0, 120)}`;
    stop.dataset.passed = "yes";
    const mark = stop.type === "file" ? stop.parentElement : stop;
    return getComputedStyle(mark).outlineStyle === "none" ? `unseen: ${stop.outerHTML.slice(0, 120)}` : "seen";
  });
  let passed = 0;
  for (; passed <= due; passed += 1) {
    await page.keyboard.press("Tab");
    const found = await step();
    if (found === "out") break;
    assert.equal(found, "seen");
  }
  assert.equal(passed, due, "every stop is reached once");
  // The keys of the keyboard alone work the controls.
  const figure = figureOf(page, "spawn-chain");
  await figure.getByLabel("Shown as", { exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => location.hash === "#?spawn-chain=worst");
  await figure.getByRole("button", { name: "Log y" }).focus();
  await page.keyboard.press("Space");
  await page.waitForFunction(() => location.hash === "#?spawn-chain=worst,ylog");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Log y", "the focus stays");
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
    cut: [...document.querySelectorAll(".scroller")].filter((each) => each.firstElementChild.offsetWidth > each.clientWidth + 1)
      .map((each) => each.getAttribute("aria-label")),
    charts: [...document.querySelectorAll(".chart")].every((each) => each.querySelector("svg").clientWidth <= each.clientWidth),
  }));
  assert.deepEqual(told, { controls: 0, ground: "rgb(255, 255, 255)", whole: true, cut: [], charts: true });
  const [inner, outer] = await widths(page);
  assert.ok(inner <= outer);
}

// CLOCK: the browser's own, for what is asked is whether its frames come.
// The bounds are wide, because the machine may do much else.
async function many({ open }) {
  const LONGEST = 3000;
  const FRAMES = 8;
  const page = await open({
    script: () => {
      window.tasks = [];
      new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((task) => task.duration)))
        .observe({ type: "longtask", buffered: true });
    },
  });
  const settled = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const figure = figureOf(page, "many");
  assert.match(await figure.locator(".hint").textContent(), /so many points/);
  assert.ok((await chartOf(page, "many").locator("canvas").count()) > 0);
  for (const name of ["Log x", "beam", "Samples", "Same spacing"]) {
    await figure.getByRole("button", { name, exact: true }).click();
    await settled();
  }
  await figure.getByLabel("Shown as").selectOption({ index: 1 });
  await settled();
  const frames = await page.evaluate(() => new Promise((done) => {
    const begun = performance.now();
    let count = 0;
    const frame = () => {
      count += 1;
      window.scrollBy(0, count % 2 ? 40 : -20);
      if (performance.now() - begun < 1000) requestAnimationFrame(frame);
      else done(count);
    };
    requestAnimationFrame(frame);
  }));
  await page.getByText("Table of figures (50\u202f000 rows)").click();
  const table = page.locator("table.sortable").last();
  await table.locator("tbody tr").first().waitFor();
  assert.equal(await table.locator("tbody tr").count(), 300, "the first of them");
  await table.getByRole("button", { name: "Median" }).click();
  assert.match(await table.getByRole("button", { name: /^Show all 50.000 rows/ }).textContent(), /first 300$/);
  await settled();
  const longest = Math.max(0, ...(await page.evaluate(() => window.tasks)));
  assert.ok(frames >= FRAMES, `${frames} frames in a second`);
  assert.ok(longest < LONGEST, `something took ${longest} ms`);
  // A point still tells its figures.
  await figure.getByLabel("Shown as").selectOption({ index: 0 });
  await figure.getByRole("button", { name: "Same spacing" }).click();
  await settled();
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
