// @ts-check
// Entry point of the page: asks for the token, follows the node's events, and shows the view named in the address.

import * as api from "./api.js";
import { byId, h, put, say } from "./dom.js";
import { count, percent, time } from "./format.js";
import * as theme from "./theme.js";
import * as overview from "./view_overview.js";
import * as processes from "./view_processes.js";
import * as process from "./view_process.js";
import * as tree from "./view_tree.js";
import * as cluster from "./view_cluster.js";
import * as servers from "./view_servers.js";
import * as warnings from "./view_warnings.js";
import * as trace from "./view_trace.js";

const VIEWS = { overview, processes, process, tree, cluster, servers, warnings, trace };
const SHOWN = ["overview", "processes", "tree", "cluster", "servers", "warnings", "trace"];
const AGAIN = 2000;
const REMEMBERED = 600;

// State shared by all views; passed to the `open` function of a view.
const app = { live: null, history: [], rights: {}, go, rewrite };
let view = null;
let place = "";

// Parses "#/processes?sort=mailbox" into the view's name, the rest of the path, and the parameters.
function address() {
  const [path, query] = location.hash.replace(/^#\//, "").split("?");
  const [name, ...rest] = path.split("/").map(decode);
  return { name: Object.hasOwn(VIEWS, name) ? name : "overview", rest, parameters: new URLSearchParams(query || "") };
}

// A malformed percent-encoding is returned unchanged.
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go(hash) {
  location.hash = hash;
}

// Stores the reader's choices in the address without reopening the view.
function rewrite(hash) {
  place = hash;
  history.replaceState(null, "", hash);
}

function open() {
  if (location.hash === place && view) return;
  place = location.hash;
  const moved = view !== null;
  view?.close?.();
  const { name, rest, parameters } = address();
  const made = VIEWS[name];
  const main = byId("main");
  main.replaceChildren(h("h1", {}, made.title));
  document.title = `${made.title} · ${app.live?.node ?? ""} · purlin`;
  for (const link of byId("views").querySelectorAll("a")) {
    const current = link.dataset.view === (name === "process" ? "processes" : name);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.dataset.view = name;
  view = made.open(main, { rest, parameters, app });
  if (app.live) view.update?.(app.live);
  // After navigation, screen readers continue at the new view; the first view is read from the top of the page.
  if (moved) main.focus({ preventScroll: true });
}

function health(text, lost) {
  say(byId("health"), text);
  byId("health").classList.toggle("lost", lost);
}

// Shows the cost of the observer and the data it lost, highlighted in red if anything was lost.
function cost({ sampler: { share, took_ns: took, left_out: left, lost } }) {
  const words = `The observer takes ${percent(share)} of one core; a walk over all processes takes ${time(took)}. `;
  const gaps = `${count(left)} processes were left out of the last snapshot, and ${count(lost)} events were lost.`;
  byId("cost").replaceChildren(words, left + lost === 0 ? "Nothing was left out." : h("strong", { class: "alarm" }, gaps));
}

const heard = {
  history(snapshots) {
    app.history = snapshots;
  },
  overview(data) {
    if (app.history.at(-1)?.at_ns !== data.snapshot.at_ns) app.history.push(data.snapshot);
    if (app.history.length > REMEMBERED) app.history.shift();
    data.history = app.history;
    app.live = data;
    say(byId("node"), data.node);
    health(`Live, up ${time(data.uptime_ns)}`, false);
    cost(data);
    view?.update?.(data);
  },
  warnings(data) {
    app.warnings = data;
    const badge = byId("warning-count");
    say(badge, data.length);
    badge.hidden = data.length === 0;
    view?.warned?.(data);
  },
};

// Waits until the page is visible. A hidden page sends no requests, so that the sampler can pause.
function seen() {
  if (!document.hidden) return Promise.resolve();
  health("Resting while the page is hidden.", false);
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true })).then(seen);
}

async function follow() {
  for (;;) {
    await seen();
    const leaving = new AbortController();
    const hidden = () => document.hidden && leaving.abort();
    document.addEventListener("visibilitychange", hidden);
    try {
      await api.follow("api/live", (event, data) => heard[event]?.(data), leaving.signal);
      health("The node has ended the connection; trying again.", true);
    } catch (error) {
      if (leaving.signal.aborted) continue;
      if (error.status === 401) {
        api.forget();
        location.reload();
        return;
      }
      health(`No news from the node: ${error.message}. Trying again.`, true);
    } finally {
      document.removeEventListener("visibilitychange", hidden);
    }
    await new Promise((done) => setTimeout(done, AGAIN));
  }
}

// Asks for the token; no data of the node is shown before.
function login(problem) {
  const field = h("input", { id: "token", autocomplete: "off", spellcheck: "false", required: true, "aria-describedby": "token-problem" });
  const trouble = h("p", { id: "token-problem", class: "alarm", role: "alert" }, problem || "");
  const form = h(
    "form",
    {
      class: "login",
      submit: (event) => {
        event.preventDefault();
        if (api.keep(field.value)) location.reload();
        else say(trouble, "That is no token, nor an address with one: a token is made of letters, digits, - and _.");
      },
    },
    h("p", {}, "The node printed an address with a token when it started. Open that address, or paste it here."),
    h("p", {}, h("label", { for: "token" }, "Address or token")),
    field,
    trouble,
    h("p", {}, h("button", { class: "switch" }, "Open")),
  );
  byId("main").replaceChildren(h("h1", {}, "Which token?"), form);
  document.documentElement.dataset.ready = "login";
  field.focus();
}

async function start() {
  theme.start();
  // Reloads if an address with a token is opened in this tab.
  window.addEventListener("hashchange", () => location.hash.startsWith("#token=") && location.reload());
  if (!api.token()) return login();
  try {
    const about = await api.get("api/about");
    app.rights = about.rights;
    api.pace(about.period_ms);
    say(byId("node"), about.node);
  } catch (error) {
    if (error.status !== 401) throw error;
    api.forget();
    return login("The node does not know that token.");
  }
  put(
    byId("views"),
    SHOWN.map((name) =>
      h(
        "a",
        { href: `#/${name}`, "data-view": name },
        VIEWS[name].title,
        name === "warnings" ? h("span", { class: "badge", id: "warning-count", hidden: true }, "0") : null,
      ),
    ),
  );
  byId("views").hidden = false;
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  window.addEventListener("hashchange", open);
  open();
  document.documentElement.dataset.ready = "true";
  return follow();
}

start().catch((error) => {
  console.error(error);
  health(`The page could not be started: ${error.message}`, true);
});
