// @ts-check
// Ack servers: rates, connections, ack latency, and reasons of closed connections.

import * as api from "./api.js";
import { Chart, gallery, perSecond } from "./chart.js";
import { attempt, facts, h, hint, notice, put } from "./dom.js";
import { about, count, rate, time } from "./format.js";

export const title = "Ack server";

const REMEMBERED = 300;

export function open(place) {
  const list = h("div", { id: "servers" });
  const none = hint("This node shows no server that acknowledges.");
  const trouble = notice();
  const shown = new Map();
  put(place, trouble, none, list);

  const refresh = () =>
    attempt(trouble, async () => {
      const { servers, at_ns: at } = await api.get("api/servers");
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
    });
  return { close: api.every(refresh) };
}

class Shown {
  constructor(server) {
    this.address = server.address;
    this.history = [];
    this.now = h("div");
    this.charts = {
      rates: new Chart("Per second", { show: rate }),
      latency: new Chart("From read to ack", { show: time }),
      connections: new Chart("Connections", { show: about }),
    };
    const title = h("h2", {}, `${server.name} at ${server.address}`);
    this.element = h("section", { "data-server": server.name }, title, this.now, gallery(this.charts));
  }

  update({ counts, latency }, at_ns) {
    const { charts, history } = this;
    history.push({ at_ns, latency, ...counts });
    if (history.length > REMEMBERED) history.shift();
    charts.rates.draw(history, { messages: perSecond("messages"), acks: perSecond("acks") });
    charts.connections.draw(history, { connections: (point) => point.connections });
    const took = (key) => (point) => point.latency?.[key];
    charts.latency.draw(history, { p50: took("p50_ns"), p99: took("p99_ns"), max: took("max_ns") });
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
  idle_timeout: "Closed: idle timeout",
  slow_reader: "Closed: acks not read",
  insecure: "Closed: TLS error",
  failed: "Closed: the handler failed",
  over_address: "Closed: too many of one address",
  gave_way: "Closed: idle at the connection limit",
  over_budget: "Closed: out of bytes for buffers or sessions",
  sessions_refused: "Closed: session refused",
  sessions_evicted: "Positions of clients evicted",
  resource_exhausted: "Not accepted: no descriptors or memory",
};
