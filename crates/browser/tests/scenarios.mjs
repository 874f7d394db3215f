// @ts-check
// Scenarios that succeed, and scenarios whose faults must be detected.

import assert from "node:assert/strict";

async function asks({ open, act, about }) {
  await open();
  for (const wish of about) await act(wish);
}

async function wrong({ open }) {
  const page = await open();
  assert.equal(await page.locator("main").innerText(), "a shop");
}

async function complains({ open }) {
  await open({ script: () => console.error("too much to do") });
}

async function throws({ open }) {
  const page = await open();
  const thrown = page.waitForEvent("pageerror");
  await page.evaluate(() => {
    // WHY: the page throws after its script has ended; nothing depends on the time.
    setTimeout(() => {
      throw new Error("too little");
    });
  });
  await thrown;
}

// Requests something from another origin.
const asksFor =
  (address) =>
  async ({ open }) => {
    const page = await open();
    const failed = page.waitForEvent("requestfailed");
    await page.evaluate((src) => {
      document.body.append(Object.assign(new Image(), { src }));
    }, address);
    await failed;
  };

// Expected complaints are not a failure, and the page's own file may be requested.
async function expects({ open, url }) {
  const page = await open({ script: () => console.warn("as it should be"), at: "#there" });
  assert.equal(page.url(), `${url}#there`);
  page.expected = ["console: as it should be"];
}

export const scenarios = {
  asks,
  wrong,
  complains,
  throws,
  strays: asksFor("http://127.0.0.1:9/"),
  reads: asksFor("file:///none.png"),
  expects,
};
