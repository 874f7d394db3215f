// @ts-check
// What scenarios do well, and what they do that has to be noticed.

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
    // WHY: the page throws after the script that it belongs to has ended; nothing depends on when.
    setTimeout(() => {
      throw new Error("too little");
    });
  });
  await thrown;
}

// Asks for what is not the page's own.
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

// What is expected is no failure, and a page's own file is its own.
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
