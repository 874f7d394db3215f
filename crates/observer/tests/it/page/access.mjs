// @ts-check
// Who is let in, and what a reader without a mouse, without eyes, or in the dark finds.

import assert from "node:assert/strict";

const VIEWS = ["Overview", "Processes", "Supervision", "Cluster", "Ack server", "Warnings", "Trace"];

// Without the token there is a question for it and nothing else; with a wrong one too.
async function login({ open, url }) {
  const [address, token] = url.split("#token=");
  const page = await open({ url: address });
  await page.getByRole("heading", { name: "Which token?" }).waitFor();
  assert.ok(!(await page.content()).includes("zanzibar"));
  const field = page.getByLabel("Address or token");
  // What cannot be a token is not kept, so that the page goes on asking.
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
  // It is in no address, in no cookie, and stays when the page is loaded again.
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

// A page that is hidden asks for nothing, and goes on when it is seen.
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

// Every view has its heading, a main part and names for its controls; Tab reaches what can be used.
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
  // What was opened is read next.
  await page.locator("#main:focus").waitFor();
}

// Dark by preference and by switch, and the switch is remembered.
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

// At the width of a telephone nothing but tables scrolls sideways.
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

// When the node has ended the page says so.
async function ended({ open, act }) {
  const page = await open();
  await page.locator("#health", { hasText: "Live" }).waitFor();
  await act("stop");
  await page.locator("#health.lost").waitFor();
  page.expected = page.complaints.filter((each) => each.startsWith("console: Failed to load resource") || each.includes("ERR_"));
}

export const access = { login, link, hidden, a11y: tree, keys, themes, phone, ended };
