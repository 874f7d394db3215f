// @ts-check
// Ack servers: rates, connections, ack latency, and reasons of closed connections.

import * as api from "./api.js";
import { Chart } from "./chart.js";
import { facts, h, put, say } from "./dom.js";
import { about, count, rate, time } from "./format.js";

export const title = "Ack server";

const REMEMBERED = 300;

export function open(place) {
  const list = h("div", { id: "servers" });
  const none = h("p", { class: "hint" }, "This node shows no server that acknowledges.");
  const trouble = h("p", { class: "notice", role: "alert", hidden: true });
  const shown = new Map();
  put(place, trouble, none, list);

  async function refresh() {
    try {
      const { servers, at_ns: at } = await api.get("api/servers");
      trouble.hidden = true;
      none.hidden = servers.length > 0;
      for (const server of servers) {
        const before = shown.get(server.name);
        if (before?.address !== server.address) {
          before?.element.remove();
          shown.set(server.name, new Shown(server));
          put(list, shown.get(server.name).element);
        }
        shown.get(server.name).update(server, at);
      }
    } catch (error) {
      say(trouble, error.message);
      trouble.hidden = false;
    }
  }

  return { close: api.every(refresh) };
}

class Shown {
  constructor(server) {
    this.address = server.address;
    this.history = [];
    this.now = h("div");
    this.rates = new Chart("Per second", { show: rate });
    this.connections = new Chart("Connections", { show: about });
    this.took = new Chart("From read to ack", { show: time });
    this.element = h(
      "section",
      { "data-server": server.name },
      h("h2", {}, `${server.name} at ${server.address}`),
      this.now,
      h("div", { class: "graphs" }, this.rates.element, this.took.element, this.connections.element),
    );
  }

  update({ counts, latency }, at_ns) {
    const { history } = this;
    history.push({ at_ns, latency, ...counts });
    if (history.length > REMEMBERED) history.shift();
    const speed = (key) =>
      history.map((snapshot, at) => {
        const before = history[at - 1];
        return before && snapshot.at_ns > before.at_ns ? Math.max(0, snapshot[key] - before[key]) / ((snapshot.at_ns - before.at_ns) / 1e9) : null;
      });
    const times = history.map((snapshot) => snapshot.at_ns);
    this.rates.draw(times, [
      { name: "messages", values: speed("messages") },
      { name: "acks", values: speed("acks") },
    ]);
    this.connections.draw(times, [{ name: "connections", values: history.map((snapshot) => snapshot.connections) }]);
    const took = (key) => history.map((snapshot) => snapshot.latency?.[key] ?? null);
    this.took.draw(times, [
      { name: "p50", values: took("p50_ns") },
      { name: "p99", values: took("p99_ns") },
      { name: "max", values: took("max_ns") },
    ]);
    const closed = Object.entries(WHY)
      .filter(([key]) => counts[key] > 0)
      .map(([key, words]) => [words, h("span", { class: "alarm" }, count(counts[key]))]);
    this.now.replaceChildren(
      facts([
        ["Connections", count(counts.connections)],
        ["Connections ever", count(counts.connections_ever)],
        ["Messages acknowledged", count(counts.messages)],
        ["Acks", count(counts.acks)],
        ["Messages for each ack", counts.acks ? (counts.messages / counts.acks).toFixed(1) : null],
        ["From read to ack", latency?.acks ? lately(latency) : null],
        ...closed,
      ]),
    );
  }
}

// Latency summary of the last seconds.
function lately({ span_ns: span, p50_ns: p50, p90_ns: p90, p99_ns: p99, max_ns: max }) {
  return `p50 ${time(p50)}, p90 ${time(p90)}, p99 ${time(p99)}, max ${time(max)}; last ${time(1e9 * Math.round(span / 1e9))}`;
}

const WHY = {
  refusals: "Messages of sessions refused",
  too_large: "Closed: message too large",
  silent: "Closed: silent for too long",
  deaf: "Closed: acks not read",
  insecure: "Closed: not TLS as it should be",
  failed: "Closed: the handler failed",
  over_address: "Closed: too many of one address",
  exhausted: "Not accepted: no descriptors or memory",
};
