// The nodes this one is connected to.

import * as api from "./api.js";
import { facts, h, put, refill, say } from "./dom.js";
import { bytes, count } from "./format.js";

export const title = "Cluster";

const EVERY = 1000;

export function open(place) {
  const nodes = h("div", { id: "nodes" });
  const trouble = h("p", { class: "notice", role: "alert", hidden: true });
  put(place, trouble, nodes);

  async function look() {
    try {
      const found = await api.get("api/cluster");
      trouble.hidden = true;
      refill(nodes, found, () => (found.cluster === null ? h("p", { class: "hint" }, "This node shows no cluster.") : show(found.cluster)));
    } catch (error) {
      say(trouble, error.message);
      trouble.hidden = false;
    }
  }

  return { close: api.every(EVERY, look) };
}

const COLUMNS = [
  ["Node", (node) => node.name],
  ["Received", (node) => bytes(node.bytes_in)],
  ["Sent", (node) => bytes(node.bytes_out)],
  ["Waiting to be sent", (node) => bytes(node.waiting_bytes)],
];

function show({ name, nodes, undecoded }) {
  return [
    facts([["This node", name], ["Connected nodes", count(nodes.length)], ["Messages that fitted no process", count(undecoded)]]),
    nodes.length === 0 ? h("p", { class: "hint" }, "It is connected to no other node.")
      : h("div", { class: "scroller", role: "region", "aria-label": "Connected nodes", tabindex: "0" }, h("table", {},
        h("thead", {}, h("tr", {}, COLUMNS.map(([words], at) => h("th", { scope: "col", class: at ? "number" : null }, words)))),
        h("tbody", {}, nodes.map((node) => h("tr", {}, COLUMNS.map(([, cell], at) => h("td", { class: at ? "number" : null }, cell(node)))))))),
  ];
}
