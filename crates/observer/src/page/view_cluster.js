// @ts-check
// Cluster view: connected nodes, their traffic and round-trip times.

import * as api from "./api.js";
import { facts, h, put, refill, say } from "./dom.js";
import { bytes, count, time } from "./format.js";

export const title = "Cluster";

export function open(place) {
  const nodes = h("div", { id: "nodes" });
  const trouble = h("p", { class: "notice", role: "alert", hidden: true });
  put(place, trouble, nodes);

  async function refresh() {
    try {
      const found = await api.get("api/cluster");
      trouble.hidden = true;
      refill(nodes, found, () => (found.cluster === null ? h("p", { class: "hint" }, "This node shows no cluster.") : show(found.cluster)));
    } catch (error) {
      say(trouble, error.message);
      trouble.hidden = false;
    }
  }

  return { close: api.every(refresh) };
}

/** @type {(every: number) => [string, (node: any) => any][]} */
const columns = (every) => [
  ["Node", (node) => node.name],
  ["Received", (node) => bytes(node.bytes_in)],
  ["Sent", (node) => bytes(node.bytes_out)],
  ["Waiting to be sent", (node) => bytes(node.waiting_bytes)],
  ["Round trip", (node) => roundTrip(node, every)],
];

function roundTrip({ round_trip_ns: took, round_trip_age_ns: age, unanswered_ns: waited }, every) {
  if (waited > every) {
    const before = took === null ? "" : `, before that ${time(took)}`;
    return h("span", { class: "alarm" }, `no answer for ${time(waited < 1e9 ? waited : 1e9 * Math.floor(waited / 1e9))}${before}`);
  }
  return h("span", { title: took === null ? null : `measured ${time(age)} ago` }, time(took));
}

function show({ name, nodes, undecoded, asked_every_ns: every }) {
  const cells = columns(every);
  return [
    facts([
      ["This node", name],
      ["Connected nodes", count(nodes.length)],
      ["Messages that fitted no process", count(undecoded)],
    ]),
    nodes.length === 0
      ? h("p", { class: "hint" }, "It is connected to no other node.")
      : h(
          "div",
          { class: "scroller", role: "region", "aria-label": "Connected nodes", tabindex: "0" },
          h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                cells.map(([words], at) => h("th", { scope: "col", class: at ? "number" : null }, words)),
              ),
            ),
            h(
              "tbody",
              {},
              nodes.map((node) =>
                h(
                  "tr",
                  {},
                  cells.map(([, cell], at) => h("td", { class: at ? "number" : null }, cell(node))),
                ),
              ),
            ),
          ),
        ),
  ];
}
