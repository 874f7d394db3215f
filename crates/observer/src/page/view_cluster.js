// @ts-check
// Cluster view: connected nodes, their traffic and round-trip times.

import * as api from "./api.js";
import { attempt, facts, grid, h, hint, notice, put, refill } from "./dom.js";
import { bytes, count, time } from "./format.js";

export const title = "Cluster";

export function open(place) {
  const nodes = h("div", { id: "nodes" });
  const trouble = notice();
  put(place, trouble, nodes);

  const refresh = () =>
    attempt(trouble, async () => {
      const found = await api.get("api/cluster");
      refill(nodes, found, () => (found.cluster === null ? hint("This node shows no cluster.") : show(found.cluster)));
    });
  return { close: api.every(refresh) };
}

const columns = (every) => [
  { title: "Node", cell: (node) => node.name },
  { title: "Received", number: true, cell: (node) => bytes(node.bytes_in) },
  { title: "Sent", number: true, cell: (node) => bytes(node.bytes_out) },
  { title: "Waiting to be sent", number: true, cell: (node) => bytes(node.waiting_bytes) },
  { title: "Dropped", number: true, cell: (node) => count(node.dropped) },
  { title: "Round trip", number: true, cell: (node) => roundTrip(node, every) },
];

function roundTrip({ round_trip_ns: took, round_trip_age_ns: age, unanswered_ns: waited }, every) {
  if (waited > every) {
    const before = took === null ? "" : `, before that ${time(took)}`;
    return h("span", { class: "alarm" }, `no answer for ${time(waited < 1e9 ? waited : 1e9 * Math.floor(waited / 1e9))}${before}`);
  }
  return h("span", { title: took === null ? null : `measured ${time(age)} ago` }, time(took));
}

function show({ name, nodes, undecoded, asked_every_ns: every }) {
  return [
    facts([
      ["This node", name],
      ["Connected nodes", count(nodes.length)],
      ["Messages that fitted no process", count(undecoded)],
    ]),
    nodes.length === 0 ? hint("It is connected to no other node.") : grid("Connected nodes", columns(every), nodes),
  ];
}
