// @ts-check
// Scenario of the chat's page.

async function enter(page, who) {
  await page.getByLabel("Your name").fill(who);
  await page.getByRole("button", { name: "Enter" }).click();
  await page.getByText(`in lobby as ${who}`).waitFor();
}

async function say(page, text) {
  await page.getByLabel("Line").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

// Two windows exchange lines, the room crashes, and they exchange lines again. Text is no markup.
async function talk({ open, act }) {
  const [ann, bob] = [await open(), await open()];
  await enter(ann, "ann");
  await enter(bob, "bob");
  await say(ann, "hello <img src=x onerror=alert(1)>");
  for (const page of [ann, bob]) {
    await page.getByRole("listitem").filter({ hasText: "ann" }).getByText("hello <img").waitFor();
  }
  await act("crash");
  await say(bob, "still here");
  for (const page of [ann, bob]) {
    await page.getByRole("listitem").filter({ hasText: "bob" }).getByText("still here").waitFor();
    // Confirmed by the service.
    await page.locator("#say[data-waiting='0']").waitFor({ state: "attached" });
  }
}

export const scenarios = { talk };
