// @ts-check
// Scenarios: what a reader does with each view, and what the view must show.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { access } from "./access.mjs";

const row = (page, text) => page.locator("table.rows tbody tr", { hasText: text });

// The charts update, the observer shows its own cost, and a hog is listed.
async function overview({ open, act, about, picture, pictures }) {
  const page = await open();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const graph = page.getByRole("img", { name: /^Utilisation of the workers, last [1-9]\d* seconds\. Now: worker 0 .*%\.$/ });
  await graph.waitFor();
  await page.locator("#cost", { hasText: /The observer takes .*% of one core.*(Nothing was left out\.|events were lost\.)/ }).waitFor();
  await page.getByText("No process holds up a thread.").waitFor();
  await page.getByRole("img", { name: /^Messages and signals sent, last/ }).waitFor();
  // A screenshot needs more than two seconds of history.
  if (pictures) await page.getByRole("img", { name: /^Utilisation of the workers, last [2-9]\d seconds/ }).waitFor();
  await act("hog");
  const named = page.locator("#hogs a", { hasText: "greedy" });
  await named.waitFor();
  await page.locator("#hogs li", { hasText: "has been in one turn for" }).waitFor();
  // The arrow keys select a moment in the chart.
  await graph.focus();
  await page.keyboard.press("ArrowLeft");
  await graph.locator(".cursor[visibility=visible]").waitFor({ state: "attached" });
  await picture(page, "overview");
  await named.click();
  await page.getByRole("heading", { name: `Process ${about.greedy}` }).waitFor();
  await act("rest");
}

// A snapshot of a node with three hundred workers.
const snapshot = (second) => ({
  at_ns: second * 1e9,
  span_ns: 1e9,
  global_queue: 0,
  ready: 0,
  processes: 1,
  messages_per_second: 0,
  reductions_per_second: 0,
  resident_bytes: null,
  process_bytes: 0,
  timers: 0,
  workers: Array.from({ length: 300 }, () => ({ utilization: 0.123456789, queue: 1, turns_per_second: 1234.56789 })),
});

// A long history of many workers is received and drawn.
async function crowd({ open }) {
  const page = await open();
  const news = {
    node: "zanzibar",
    uptime_ns: 600e9,
    max_processes: 1000,
    snapshot: snapshot(600),
    hogs: [],
    drops: {},
    connections: null,
    sampler: { share: 0, took_ns: 0, lasted_ns: 0, left_out: 0, lost: 0 },
  };
  const history = Array.from({ length: 600 }, (_, second) => snapshot(second));
  const body = [
    ["history", history],
    ["overview", news],
  ]
    .map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    .join("");
  assert.ok(body.length > 8 << 20);
  await page.route("**/api/live", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.reload();
  for (const graph of ["Utilisation of the workers", "Run queues"]) {
    await page.getByRole("img", { name: new RegExp(`^${graph}, last 599 seconds.*worker 299 `) }).waitFor();
  }
}

// A spawned process appears and an ended one disappears without interaction.
async function appears({ open, act }) {
  const page = await open({ at: "#/processes?text=newcomer" });
  await page.getByText("No row fits.").waitFor();
  await act("spawn");
  await row(page, "newcomer").waitFor();
  assert.equal(await row(page, "newcomer").count(), 1);
  await page.getByLabel(/contains/).fill("");
  await row(page, "newcomer").waitFor();
  await act("end");
  await row(page, "newcomer").waitFor({ state: "detached" });
}

// Twenty thousand rows are sorted, filtered and scrolled, and only those in view are in the document.
async function many({ open, about, picture }) {
  const page = await open({ at: "#/processes?sort=pid&order=asc" });
  await page.getByText(/^Rows 1 to \d+ of 20\u202f0\d\d$/).waitFor();
  assert.ok((await page.locator("tbody tr").count()) < 60);
  await page.getByRole("button", { name: "Mailbox" }).click();
  await page.locator("th[aria-sort=descending]", { hasText: "Mailbox" }).waitFor();
  await page.locator("tbody tr", { hasText: about.fullest }).first().waitFor();
  assert.match(await page.locator("tbody tr").first().textContent(), new RegExp(about.fullest));
  assert.match(page.url(), /sort=mailbox&order=desc/);
  await picture(page, "processes");
  await page.getByRole("button", { name: "Pid" }).click();
  await page.locator("th[aria-sort=ascending]", { hasText: "Pid" }).waitFor();
  const region = page.getByRole("region", { name: "Processes" });
  await region.focus();
  await page.keyboard.press("End");
  await page.getByText(/^Rows 19\u202f9\d\d to 20\u202f0\d\d of 20\u202f0\d\d$/).waitFor();
  const last = page.locator(`tbody tr[aria-rowindex="20001"]`);
  await last.waitFor();
  await page.keyboard.press("Home");
  await page.getByText(/^Rows 1 to /).waitFor();
  // The scroll bar leads to the middle.
  await region.evaluate((frame) => {
    frame.scrollTop = frame.scrollHeight / 2;
  });
  await page.getByText(/^Rows (9|10)\u202f?\d\d\d to /).waitFor();
  await page.getByLabel("At least so many messages wait").fill("1");
  await page.getByText("Rows 1 to 1 of 1", { exact: true }).waitFor();
  await page.getByLabel("State").selectOption("running");
  await page.getByText("No row fits.").waitFor();
}

// Waits for the given number of snapshots.
async function snapshots(page, times) {
  for (let time = 0; time < times; time += 1) {
    const before = await page.locator("#health").textContent();
    await page.waitForFunction((old) => document.getElementById("health").textContent !== old, before);
  }
}

// A paused table does not change.
async function paused({ open, act }) {
  const page = await open();
  let under_way = 0;
  const counts = (change) => (request) => {
    if (request.url().includes("/api/processes")) under_way += change;
  };
  page.on("request", counts(1));
  page.on("requestfinished", counts(-1));
  page.on("requestfailed", counts(-1));
  await page.evaluate(() => {
    location.hash = "#/processes?text=newcomer";
  });
  await page.getByText("No row fits.").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  // The response to a request sent before the pause may contain a later snapshot.
  while (under_way > 0) await snapshots(page, 1);
  await act("spawn");
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await snapshots(page, 2);
  assert.deepEqual(asked, []);
  assert.equal(await row(page, "newcomer").count(), 0);
  await page.getByRole("button", { name: "Pause" }).click();
  await row(page, "newcomer").waitFor();
}

// Process view: state, links and charts; no exit button without the right.
async function process({ open, about, picture }) {
  const page = await open({ at: `#/process/${encodeURIComponent(about.linked)}` });
  const graph = page.getByRole("group", { name: `Whom ${about.linked} knows` });
  await graph.waitFor();
  await page.getByRole("img", { name: /^Waiting messages, last [1-9]\d* seconds/ }).waitFor();
  assert.equal(await page.getByRole("button", { name: /Kill|shut down/ }).count(), 0);
  await picture(page, "process");
  await graph.getByRole("link", { name: "linked to partner" }).click();
  await page.getByRole("heading", { name: `Process ${about.partner}` }).waitFor();
  await page.locator(".facts", { hasText: "partner" }).first().waitFor();
}

// A slow request is not repeated while it is pending, and an error message disappears after the next success.
async function slow({ open, about }) {
  const page = await open();
  let asked = 0;
  let failing = true;
  let let_go;
  const held = new Promise((done) => {
    let_go = done;
  });
  await page.route("**/api/process?*", async (route) => {
    asked += 1;
    if (asked === 1) await held;
    if (!failing) return route.continue();
    return route.fulfill({ status: 503, json: { error: "too much to do" } });
  });
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/process/${encodeURIComponent(about.linked)}`,
  );
  await page.getByRole("heading", { name: `Process ${about.linked}` }).waitFor();
  await snapshots(page, 3);
  assert.equal(asked, 1);
  let_go();
  await page.getByText("too much to do").waitFor();
  failing = false;
  await page.getByText("too much to do").waitFor({ state: "hidden" });
  await page.locator(".facts", { hasText: "Function" }).waitFor();
  page.expected = page.complaints.filter((each) => each.includes("503"));
}

// With the right there is a button that ends the process.
async function exits({ open, about }) {
  const page = await open({ at: `#/process/${encodeURIComponent(about.linked)}` });
  await page.getByRole("button", { name: "Kill it" }).click();
  await page.getByText(/does not live any more/).waitFor();
  page.expected = page.complaints.filter((each) => each.includes("404"));
}

// After a crash the tree marks the restarted child and links to the report.
async function tree({ open, act, picture }) {
  const page = await open({ at: "#/tree" });
  const till = page.locator(".tree .member", { hasText: "till" });
  await page.locator(".tree > li > .member.supervisor", { hasText: "shop" }).waitFor();
  await till.waitFor();
  await page.getByText("None is known.").waitFor();
  const before = await till.getAttribute("data-pid");
  await act("crash");
  await page.waitForFunction((old) => {
    const members = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".tree .member"));
    const member = [...members].find((each) => each.textContent.includes("till"));
    return member && member.dataset.pid !== old;
  }, before);
  await page.locator(".tree .member.restarted", { hasText: "till" }).waitFor();
  await picture(page, "tree");
  await page.getByRole("button", { name: "Crash report of till" }).click();
  await page.getByRole("dialog").getByText("the drawer is empty").waitFor();
  await picture(page, "crash");
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
}

// Members beyond the limit are counted and linked to the process table.
async function wide({ open }) {
  const page = await open();
  await page.route("**/api/tree", async (route) => {
    const answer = await route.fetch();
    const found = await answer.json();
    for (const root of found.roots) root.more = 7;
    return route.fulfill({ json: { ...found, more: 3 } });
  });
  const more = (words) => page.locator("#tree").getByRole("link", { name: words, exact: true });
  for (const [words, name, rows] of [
    ["and 7 more", "till", 2],
    ["and 3 more", "shop", 1],
  ]) {
    await page.evaluate(() => {
      location.hash = "#/tree";
    });
    await more(words).click();
    await row(page, name).waitFor();
    await page.getByText(`Rows 1 to ${rows} of ${rows}`, { exact: true }).waitFor();
  }
}

// Connected nodes with traffic and round-trip times, or the time without an answer.
async function cluster({ open, act, picture }) {
  const page = await open({ at: "#/cluster" });
  const line = page.getByRole("row", { name: /theirs@127\.0\.0\.1 .* B .* B 0 B 0 [\d.]+\s(µs|ms)/ });
  await line.waitFor();
  await page.locator(".facts", { hasText: "ours@127.0.0.1" }).waitFor();
  await picture(page, "cluster");
  await act("silence");
  await page.getByRole("row", { name: /theirs@127\.0\.0\.1 .* no answer for [\d.]+\s(µs|ms|s), before that [\d.]+\s(µs|ms|s)/ }).waitFor();
}

// An ack server: connections, rates and ack latency.
async function servers({ open, act, picture }) {
  const page = await open({ at: "#/servers" });
  await page.getByRole("heading", { name: /^orders at 127\.0\.0\.1:/ }).waitFor();
  for (const sum of [1, 3, 6, 10]) {
    await act("send");
    await page.locator(".facts div", { hasText: new RegExp(`^Messages acknowledged${sum}$`) }).waitFor();
  }
  // The figure covers recent acks only, so the test sends until the page shows it.
  const took = page.locator(".facts div", {
    hasText: /p50 [\d.]+\s(µs|ms|s), p90 [\d.]+\s(µs|ms|s), p99 [\d.]+\s(µs|ms|s), max [\d.]+\s(µs|ms|s); last [\d.]+\s\S+$/,
  });
  while ((await took.count()) === 0) await act("send");
  await page.getByRole("img", { name: /^From read to ack, last \d+ seconds/ }).waitFor();
  await page.getByRole("img", { name: /^Per second, last [1-9]\d* seconds/ }).waitFor();
  await page.locator(".facts div", { hasText: /^Connections1$/ }).waitFor();
  await picture(page, "servers");
}

// A growing mailbox raises a warning and a badge in every view; both disappear after it is drained.
async function warns({ open, act, about }) {
  const page = await open();
  await act("fill");
  await page.locator("#views .badge", { hasText: "1" }).waitFor();
  await page.getByRole("link", { name: /^Warnings/ }).click();
  const warning = page.locator(".warning[data-kind=growing-mailbox]", { hasText: "slow" });
  await warning.waitFor();
  await warning.getByRole("link", { name: about.slow }).click();
  await page.getByRole("heading", { name: `Process ${about.slow}` }).waitFor();
  await page.goBack();
  await warning.waitFor();
  await act("empty");
  await page.getByText("Nothing looks wrong.").waitFor();
}

// Two processes that wait for each other are named together, and the process view shows which one each waits for.
async function deadlock({ open, act, about, picture }) {
  const page = await open({ at: "#/warnings" });
  await page.getByText("Nothing looks wrong.").waitFor();
  await act("call");
  const warning = page.locator(".warning[data-kind=call-cycle]");
  await warning.filter({ hasText: "bidder" }).filter({ hasText: "auctioneer" }).waitFor();
  for (const pid of about.both) await warning.getByRole("link", { name: pid }).waitFor();
  await picture(page, "deadlock");
  await warning.getByRole("link", { name: about.both[0] }).click();
  await page.locator(".facts div", { hasText: "Calls" }).getByRole("link", { name: about.both[1] }).waitFor();
}

// A trace is drawn as a diagram and exported for Chrome's trace viewer.
async function trace({ open, act, about, picture }) {
  const page = await open({ at: `#/process/${encodeURIComponent(about.clerk)}` });
  await page.getByRole("button", { name: "Trace it" }).click();
  await page.getByRole("heading", { name: "Trace" }).waitFor();
  await page.getByText("They have done nothing yet.").waitFor();
  await page.getByLabel("Processes to follow").fill(`${about.clerk} ${about.till}`);
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator("#trace-state", { hasText: about.till }).waitFor();
  await act("talk");
  const diagram = page.locator("#diagram svg");
  const event = (words) => diagram.getByRole("listitem", { name: words });
  await event(/: clerk send till u32$/)
    .first()
    .waitFor();
  await event(/: till receive clerk u32$/)
    .first()
    .waitFor();
  await event(/: till send clerk browser::Talk$/)
    .first()
    .waitFor();
  await event(/: till end\s+normal$/).waitFor();
  await event(/: clerk receive_down\s+normal$/).waitFor();
  // The arrow leads from one lane to the other, below the previous ones.
  const arrows = await diagram
    .locator("g[data-kind=send] line")
    .evaluateAll((lines) => lines.map((line) => ["x1", "x2", "y1"].map((name) => Number(line.getAttribute(name)))));
  assert.ok(arrows.length >= 2 && arrows[0][0] !== arrows[0][1], JSON.stringify(arrows));
  assert.ok(arrows.every(([, , y], at) => at === 0 || y > arrows[at - 1][2]));
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator("#trace-state", { hasText: "it was stopped" }).waitFor();
  await picture(page, "trace");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /Chrome/ }).click()]);
  const { traceEvents } = JSON.parse(await readFile(await file.path(), "utf8"));
  assert.ok(traceEvents.some((each) => each.ph === "M" && each.args.name === `clerk ${about.clerk}`));
  const sent = traceEvents.filter((each) => each.name === "send" && each.ph === "X");
  assert.ok(sent.length >= 2 && sent.every((each) => each.ts > 0 && /u32|Talk/.test(each.args.what)));
}

// The page of a traced process shows its last events live, also after its end.
async function did({ open, act, about }) {
  const page = await open({ at: `#/process/${encodeURIComponent(about.clerk)}` });
  const events = page.getByRole("region", { name: "Last events" });
  await page.waitForResponse(/api\/trace\?/);
  await page.locator(".facts", { hasText: "Function" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "The whole trace" }).count(), 0);
  await page.evaluate(() => {
    location.hash = "#/trace";
  });
  await page.getByLabel("Processes to follow").fill(`${about.clerk} ${about.till}`);
  await page.getByRole("button", { name: "Start" }).click();
  await page.locator("#trace-state", { hasText: about.till }).waitFor();
  await page.goBack();
  await page.getByText("It has done nothing yet.").waitFor();
  await act("talk");
  await events.getByRole("row", { name: /^\d+\.\d{6}\ss receive_down normal$/ }).waitFor();
  const kinds = await events.locator("tbody td:nth-child(2)").allTextContents();
  assert.deepEqual(
    kinds.filter((kind) => kind !== "receive"),
    ["receive_down", "send", "monitor"],
  );
  await events
    .getByRole("row", { name: /send till u32$/ })
    .getByRole("link", { name: "till" })
    .click();
  await page.getByRole("heading", { name: `Process ${about.till}` }).waitFor();
  await page.getByText(/does not live any more/).waitFor();
  await events
    .locator("tbody tr")
    .first()
    .filter({ hasText: /end.*normal$/ })
    .waitFor();
  await events.getByRole("link", { name: "clerk" }).first().waitFor();
  await page.getByRole("link", { name: "The whole trace" }).click();
  await page.getByRole("heading", { name: "Trace", exact: true }).waitFor();
  page.expected = page.complaints.filter((each) => each.includes("404"));
}

// Shows the trace view with made-up events of the traced process <0.1.0>. Returns the drawn event with that number.
async function showTrace(page, events) {
  await page.route("**/api/trace", (route) => {
    const [made, state] = [events(), "it goes on"];
    const trace = { running: true, state, processes: ["<0.1.0>"], seen: made.length, events: made, dropped: 0, names: {} };
    return route.fulfill({ json: { trace } });
  });
  await page.evaluate(() => {
    location.hash = "#/trace";
  });
  return (at) => page.locator("#diagram svg").getByRole("listitem", { name: new RegExp(`event-${at}$`) });
}

// Of a long trace the last events are drawn, live, and the others are counted.
async function longtrace({ open }) {
  const page = await open();
  let seen = 500;
  const event = (_, at) => ({
    number: at + 1,
    at_ns: at * 1e6,
    kind: "end",
    pid: "<0.1.0>",
    other: null,
    partner: null,
    label: `event-${at}`,
  });
  const drawn = await showTrace(page, () => Array.from({ length: seen }, event));
  await drawn(499).waitFor();
  await drawn(100).waitFor();
  assert.equal(await drawn(99).count(), 0);
  await page.locator("#diagram", { hasText: "Without 100 events: earlier events" }).waitFor();
  seen += 1;
  await drawn(500).waitFor();
}

// Of more processes than there are lanes those with the newest events are drawn, and the traced one in any case.
async function manylanes({ open }) {
  const page = await open();
  let seen = 30;
  const event = (_, at) => ({
    number: at + 1,
    at_ns: at * 1e6,
    kind: "send",
    pid: at === 0 ? "<0.1.0>" : `<0.${at + 1}.0>`,
    other: at === 0 ? null : `<0.${at + 2}.0>`,
    partner: null,
    label: `event-${at}`,
  });
  const drawn = await showTrace(page, () => Array.from({ length: seen }, event));
  await drawn(29).waitFor();
  await drawn(0).waitFor();
  assert.equal(await drawn(15).count(), 0);
  seen += 1;
  await drawn(30).waitFor();
}

// Text that would execute as markup is shown as text in every view.
async function hostile({ open, about }) {
  const page = await open();
  for (const at of [
    "#/overview",
    "#/processes?text=img",
    `#/process/${encodeURIComponent(about.hostile)}`,
    "#/tree",
    "#/warnings",
    "#/servers",
  ]) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, at);
    await page
      .locator("main", { hasText: "<img src=x onerror=" })
      .waitFor()
      .catch((error) => assert.fail(`${at}: ${error.message}`));
    assert.equal(await page.evaluate(() => window.hostile), undefined);
    assert.equal(await page.locator("main img, main script").count(), 0, at);
  }
}

export const scenarios = {
  overview,
  crowd,
  appears,
  many,
  paused,
  process,
  slow,
  exits,
  tree,
  wide,
  cluster,
  servers,
  warns,
  deadlock,
  trace,
  did,
  longtrace,
  manylanes,
  hostile,
  ...access,
};
