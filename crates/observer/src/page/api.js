// @ts-check
// Client of the node's API: the only module that sends requests, and only to the page's origin.
//
// The token follows `#token=` in the link that opened the page. It is stored for this tab and sent in a header that a
// page of another origin cannot make a browser send. It is removed from the address immediately, so that it appears in
// no history and on no screenshot.

const KEPT = "purlin-observer-token";
const LONGEST_LINE = 64 << 20;

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Returns the token from the address, or the one stored for this tab, or null.
export function token() {
  if (location.hash.startsWith("#token=") && keep(location.hash)) history.replaceState(null, "", location.pathname);
  return sessionStorage.getItem(KEPT);
}

// Stores a token, or the token in an address, for this tab. Returns false if `text` has none.
export function keep(text) {
  const told = (/#token=(.*)$/.exec(text)?.[1] ?? text).trim();
  if (!/^[A-Za-z0-9_-]+$/.test(told)) return false;
  sessionStorage.setItem(KEPT, told);
  return true;
}

export function forget() {
  sessionStorage.removeItem(KEPT);
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEPT)}`, ...options.headers };
  const answer = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error" });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, said.error || `the node answered ${answer.status}`);
}

// Fetches `path` as JSON. Empty parameters are left out of the query.
export async function get(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(
    Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
  return (await ask(query.size ? `${path}?${query}` : path, { signal })).json();
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

// Polling period in milliseconds, as given by the node.
let period = 1000;

export function pace(milliseconds) {
  period = milliseconds;
}

// Calls `work` immediately and then once per period, except while the previous call is running or the page is
// hidden. Returns a function that stops it.
export function every(work) {
  let under_way = false;
  async function turn() {
    if (under_way || document.hidden) return;
    under_way = true;
    try {
      await work();
    } finally {
      under_way = false;
    }
  }
  const clock = setInterval(turn, period);
  turn();
  return () => clearInterval(clock);
}

// Reads the event stream at `path` until `signal` aborts, and calls `told(event, data)` for each event. Returns when
// the node ends the stream, and throws if the request fails.
export async function follow(path, told, signal) {
  const answer = await ask(path, { signal, headers: { Accept: "text/event-stream" } });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    if (text.length > LONGEST_LINE) throw new Error("an event of the node is too long");
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const data = lines
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      const name =
        lines
          .find((line) => line.startsWith("event:"))
          ?.slice(6)
          .trim() || "message";
      if (data) told(name, JSON.parse(data));
    }
  }
}
