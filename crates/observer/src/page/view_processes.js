// @ts-check
// Process table, sorted and filtered by the node; only the rows in view are fetched.

import * as api from "./api.js";
import { h, put, say } from "./dom.js";
import { about, age, bytes, count, tail } from "./format.js";
import { RowTable, linkIn } from "./table.js";

export const title = "Processes";

const STATES = ["running", "runnable", "receiving", "waiting"];
const SOON = 200;

const text = (of) => (row, cell) => {
  const found = of(row);
  say(cell, found ?? "");
  cell.title = found ?? "";
};
const counter = (key, title) => ({ key, title, number: true, cell: text((row) => count(row[key])) });
const speed = (key, spoken) => ({ key, title: "/s", spoken, number: true, cell: text((row) => about(row[key])) });
export const reference = (id) => `#/process/${encodeURIComponent(id)}`;

const COLUMNS = [
  { key: "pid", title: "Pid", cell: (row, cell) => linkIn(cell, row.pid, reference(row.pid)) },
  { key: "name", title: "Name", cell: text((row) => row.name) },
  {
    key: "function",
    title: "Function",
    cell: (row, cell) => {
      say(cell, tail(row.function));
      cell.title = row.function;
    },
  },
  { key: "state", title: "State", cell: text((row) => (row.waits_for ? `${row.state} for ${row.waits_for}` : row.state)) },
  counter("mailbox", "Mailbox"),
  counter("messages_in", "Received"),
  speed("messages_in_per_second", "Received per second"),
  counter("messages_out", "Sent"),
  speed("messages_out_per_second", "Sent per second"),
  counter("reductions", "Reductions"),
  speed("reductions_per_second", "Reductions per second"),
  { key: "memory", title: "Memory", number: true, cell: text((row) => bytes(row.memory)) },
  { key: "age", title: "Age", number: true, cell: text(age) },
  { key: "parent", title: "Parent", cell: text((row) => row.parent) },
];

export function open(place, { parameters, app }) {
  const sort = { key: parameters.get("sort") || "mailbox", descending: parameters.get("order") !== "asc" };
  let live = true;
  const filter = (name, label, attributes = {}) =>
    h("label", {}, label, h("input", { name, value: parameters.get(name), autocomplete: "off", spellcheck: "false", ...attributes }));
  const state = h(
    "select",
    { name: "state" },
    h("option", { value: "" }, "any"),
    STATES.map((one) => h("option", { value: one, selected: parameters.get("state") === one }, one)),
  );
  const controls = h(
    "form",
    { class: "controls", role: "search", input: changed, submit: (event) => event.preventDefault() },
    filter("text", "Pid, name, function or type contains", { type: "search", size: 32 }),
    h("label", {}, "State", state),
    filter("mailbox", "At least so many messages wait", { type: "number", min: 0, size: 8 }),
    filter("parent", "Parent", { size: 10 }),
    h("button", { type: "button", class: "switch", id: "pause", "aria-pressed": "false", click: pause }, "Pause"),
  );

  const chosen = () => Object.fromEntries([...new FormData(controls)].map(([name, value]) => [name, String(value).trim()]));
  const table = new RowTable({
    label: "Processes",
    columns: COLUMNS,
    sort,
    sorted: keep,
    fetch: (offset, limit) =>
      api.get("api/processes", {
        ...chosen(),
        sort: table.sort.key,
        order: table.sort.descending ? "desc" : "asc",
        offset,
        limit: Math.max(1, limit),
      }),
  });
  put(place, controls, table.element);

  function keep() {
    const query = new URLSearchParams({ ...chosen(), sort: table.sort.key, order: table.sort.descending ? "desc" : "asc" });
    for (const [name, value] of [...query]) if (value === "") query.delete(name);
    app.rewrite(`#/processes?${query}`);
  }

  let waiting = null;
  function changed() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      keep();
      table.moveTo(0);
    }, SOON);
  }

  function pause(event) {
    live = !live;
    event.currentTarget.setAttribute("aria-pressed", String(!live));
    if (live) table.refresh();
  }

  const end = api.every(() => live && table.refresh());
  return {
    close() {
      end();
      clearTimeout(waiting);
      table.close();
    },
  };
}
