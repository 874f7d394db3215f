// @ts-check
// Client of a room: shows its lines, sends lines until they are acknowledged, and connects again.

const byId = (id) => document.getElementById(id);
const RETRY = 500;

// Lines that have not been acknowledged, by their id.
const waiting = new Map();
let nextId = 1;
let socket;
// Number of the last line that is shown.
let after = 0;

function show(text) {
  byId("state").textContent = text;
}

function connect(room, who) {
  const query = new URLSearchParams({ who, after: String(after) });
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/rooms/${encodeURIComponent(room)}?${query}`);
  socket.onopen = () => {
    show(`in ${room} as ${who}`);
    byId("say").hidden = false;
    for (const [id, text] of waiting) transmit(id, text);
  };
  socket.onmessage = ({ data }) => receive(JSON.parse(data));
  socket.onclose = () => {
    show("connecting again");
    setTimeout(() => connect(room, who), RETRY);
  };
}

function transmit(id, text) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, text }));
}

function receive({ line, ack, nack, error }) {
  if (line) {
    after = line.number;
    const item = document.createElement("li");
    const who = document.createElement("b");
    who.textContent = line.who;
    item.append(who, line.text);
    byId("lines").append(item);
  } else if (ack !== undefined) {
    waiting.delete(ack);
  } else if (nack !== undefined && waiting.has(nack)) {
    setTimeout(() => waiting.has(nack) && transmit(nack, waiting.get(nack)), RETRY);
  } else if (error) {
    show(error);
  }
  byId("say").dataset.waiting = String(waiting.size);
}

byId("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  byId("enter").hidden = true;
  connect(byId("room").value, byId("who").value);
});

byId("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("text").value;
  byId("text").value = "";
  waiting.set(nextId, text);
  transmit(nextId, text);
  nextId += 1;
});

document.documentElement.dataset.ready = "true";
