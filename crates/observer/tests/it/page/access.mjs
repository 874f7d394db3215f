// @ts-check
// Scenarios of access control, accessibility and theme.

import assert from "node:assert/strict";

const VIEWS = ["Overview", "Processes", "Supervision", "Cluster", "Ack server", "Warnings", "Trace"];

// Without a token, or with a wrong one, the page shows only the login form.
async function login({ open, url }) {
  const [address, token] = url.split("#token=");
  const page = await open({ url: address });
  await page.getByRole("heading", { name: "Which token?" }).waitFor();
  assert.ok(!(await page.content()).includes("zanzibar"));
  const field = page.getByLabel("Address or token");
  // Text that cannot be a token is not stored, and the form stays.
  for (const pasted of ["observing at: zanzibar", "töken–with–dashes", `${url} (open it)`, `${address}#token=`]) {
    await field.fill(pasted);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("That is no token, nor an address with one").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0, pasted);
    await page.reload();
    await page.getByRole("heading", { name: "Which token?" }).waitFor();
  }
  await field.fill("a-wrong-token-that-is-long-enough");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("The node does not know that token.").waitFor();
  await field.fill(` ${url} `);
  await page.getByRole("button", { name: "Open" }).click();
  await page.locator("#node", { hasText: "zanzibar" }).waitFor();
  page.expected = page.complaints.filter((each) => each.includes("401"));
  // The token is in no address and no cookie, and survives a reload.
  assert.ok(!page.url().includes(token));
  assert.equal((await page.context().cookies()).length, 0);
  await page.reload();
  await page.locator("#health", { hasText: "Live" }).waitFor();
}

// A link with the token leaves none in the address.
async function link({ open, url }) {
  const page = await open();
  await page.locator("#health", { hasText: "Live" }).waitFor();
  assert.ok(!page.url().includes(url.split("#token=")[1]));
}

// A hidden page sends no requests, and resumes when it is visible.
async function hidden({ open }) {
  const page = await open();
  await page.locator("#health", { hasText: "Live" }).waitFor();
  const show = (state) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await show(true);
  await page.getByText("Resting while the page is hidden.").waitFor();
  await show(false);
  await page.locator("#health", { hasText: "Live" }).waitFor();
}

// Every view has its heading and landmarks, and its controls have names.
async function tree({ open }) {
  const page = await open();
  const session = await page.context().newCDPSession(page);
  for (const name of VIEWS) {
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${name}`) })
      .click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const seen = nodes.filter((node) => !node.ignored).map((node) => ({ role: node.role?.value, name: node.name?.value || "" }));
    for (const role of ["button", "link", "textbox", "searchbox", "spinbutton", "combobox", "image", "region"]) {
      const nameless = seen.filter((node) => node.role === role && node.name.trim() === "");
      assert.equal(nameless.length, 0, `${name}: every ${role} has a name`);
    }
    for (const role of ["main", "navigation", "banner"])
      assert.equal(seen.filter((node) => node.role === role).length, 1, `${name}: ${role}`);
    assert.equal(await page.locator("#views [aria-current=page]").count(), 1);
  }
}

async function keys({ open }) {
  const page = await open();
  await page.locator("#health", { hasText: "Live" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "theme");
  for (const name of VIEWS.slice(0, 2)) {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  }
  await page.keyboard.press("Enter");
  // WHY the level: the overview has a heading "Processes that do not await" while there are such.
  await page.getByRole("heading", { level: 1, name: "Processes" }).waitFor();
  // Focus moves to the opened view.
  await page.locator("#main:focus").waitFor();
}

// Dark theme by preference and by switch; the switch is remembered.
async function themes({ open }) {
  const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [light, dark] = [await open(), await open({ colorScheme: "dark" })];
  assert.notEqual(await ground(light), await ground(dark));
  await light.getByRole("button", { name: "Dark" }).click();
  assert.equal(await ground(light), await ground(dark));
  await light.reload();
  await light.getByRole("button", { name: "Dark", pressed: true }).waitFor();
  assert.equal(await ground(light), await ground(dark));
}

// On a narrow screen nothing but tables scrolls sideways.
async function phone({ open }) {
  const page = await open({ viewport: { width: 380, height: 760 } });
  for (const name of VIEWS) {
    await page
      .getByRole("navigation")
      .getByRole("link", { name: new RegExp(`^${name}`) })
      .click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(inner <= outer, `${name}: ${inner} > ${outer}`);
  }
}

// The page says when the node has ended.
async function ended({ open, act }) {
  const page = await open();
  await page.locator("#health", { hasText: "Live" }).waitFor();
  await act("stop");
  await page.locator("#health.lost").waitFor();
  page.expected = page.complaints.filter((each) => each.startsWith("console: Failed to load resource") || each.includes("ERR_"));
}

export const access = { login, link, hidden, a11y: tree, keys, themes, phone, ended };
