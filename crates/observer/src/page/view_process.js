// @ts-check
// Process view: state and statistics, charts since the view was opened, links and monitors, last traced events, and
// actions.

import * as api from "./api.js";
import { Chart, gallery, perSecond } from "./chart.js";
import { facts, grid, h, hint, notice, put, refill, report, say } from "./dom.js";
import { about, age, bytes, count, moment, rate } from "./format.js";
import * as graph from "./graph.js";
import * as sequence from "./sequence.js";
import { reference } from "./view_processes.js";

export const title = "Process";

const REMEMBERED = 300;
const LAST = 20;

export function open(place, { rest: [id], app }) {
  const state = h("div");
  const charts = {
    mailbox: new Chart("Waiting messages", { show: about }),
    messages: new Chart("Messages", { show: rate }),
    reductions: new Chart("Reductions", { show: rate }),
    memory: new Chart("Memory", { show: bytes, thousand: 1024 }),
  };
  const known = h("div", { id: "known" });
  const done = h("div", { id: "done" });
  const told = h("p", { role: "status", id: "told" });
  const trouble = notice();
  const actions = h(
    "div",
    { class: "controls", id: "actions" },
    h("button", { type: "button", class: "switch", id: "trace", click: follow }, "Trace it"),
    app.rights.exit
      ? EXITS.map(([reason, words]) =>
          h("button", { type: "button", class: "switch danger", "data-reason": reason, click: () => end(reason) }, words),
        )
      : null,
  );
  const history = [];
  place.querySelector("h1").append(" ", h("span", { class: "code" }, id ?? ""));
  // WHY the actions first: the state is empty until it arrives, and would move them while someone clicks.
  put(place, trouble, actions, told, state, gallery(charts), known, done);

  async function follow() {
    try {
      await api.post("api/trace/start", { processes: [id] });
      app.go("#/trace");
    } catch (error) {
      say(told, error.message);
    }
  }

  async function end(reason) {
    if (!window.confirm(`Send ${id} an exit signal with the reason ${reason}?`)) return;
    try {
      await api.post("api/process/exit", { pid: id, reason });
      say(told, `The exit signal ${reason} was sent.`);
    } catch (error) {
      say(told, error.message);
    }
  }

  function draw() {
    charts.mailbox.draw(history, { messages: (point) => point.mailbox });
    charts.messages.draw(history, { received: perSecond("messages_in"), sent: perSecond("messages_out") });
    charts.reductions.draw(history, { reductions: perSecond("reductions") });
    charts.memory.draw(history, { memory: (point) => point.memory });
  }

  function show(found) {
    history.push(found);
    if (history.length > REMEMBERED) history.shift();
    state.replaceChildren(
      facts([
        ["Name", found.name],
        ["State", found.state],
        ["Calls", found.waits_for && h("a", { href: reference(found.waits_for) }, found.waits_for)],
        ["Function", h("code", {}, found.function)],
        ["Receives", h("code", {}, found.message_type)],
        ["Parent", found.parent && h("a", { href: reference(found.parent) }, found.parent)],
        ["Age", age(found)],
        ["Waiting messages", count(found.mailbox) + (found.bound ? ` of ${count(found.bound.limit)}` : "")],
        ["Dropped for want of room", found.bound && count(found.bound.dropped)],
        ["Received", count(found.messages_in)],
        ["Sent", count(found.messages_out)],
        ["Reductions", count(found.reductions)],
        ["Memory", bytes(found.memory)],
        ["Says it has allocated", found.details?.reported_memory ? bytes(found.details.reported_memory) : null],
        ["Traps exits", found.details && (found.details.traps_exits ? "yes" : "no")],
      ]),
    );
    draw();
    refill(known, found.details, () => web(found));
  }

  function web({ details }) {
    const heading = h("h2", {}, "Links and monitors");
    if (!details) return [heading, hint("It has not answered: it is in a turn, or waits for its turn.")];
    const others = ["links", "monitors", "monitored_by"].flatMap((list) => details[list].map((other) => ({ ...other, kind: KINDS[list] })));
    if (others.length === 0) return [heading, hint("It has none.")];
    const more = details.more + Math.max(0, others.length - graph.MOST);
    return [heading, graph.draw(id, others, reference), more ? hint(`And ${count(more)} more.`) : null];
  }

  // A process without traced events has no section for them.
  function did({ trace }) {
    const seen = trace && (trace.processes.includes(id) || trace.events.length > 0);
    refill(
      done,
      seen && [trace.events, trace.names],
      () =>
        seen && [
          h("h2", {}, "Last events"),
          hint(
            trace.events.length ? "The newest first, in the time of the node. " : "It has done nothing yet. ",
            h("a", { href: "#/trace" }, "The whole trace"),
          ),
          trace.events.length ? events(trace) : null,
        ],
    );
  }

  async function refresh() {
    let problem = null;
    try {
      show(await api.get("api/process", { pid: id }));
    } catch (error) {
      problem = error;
    }
    // Fetched also for a process that has ended, after its 404: the trace includes its end.
    try {
      did(await api.get("api/trace", { pid: id, last: LAST }));
    } catch (error) {
      problem ??= error;
    }
    report(trouble, problem);
    if (problem?.status === 404) close();
  }

  const close = api.every(refresh);
  return { close };
}

function events({ events: seen, names }) {
  const called = (pid) => h("a", { href: reference(pid) }, names[pid] ?? pid);
  const columns = [
    { title: "Time", cell: (event) => moment(event.at_ns) },
    { title: "Kind", cell: (event) => event.kind },
    { title: "With whom", cell: (event) => event.other && called(event.other) },
    { title: "What", cell: (event) => h("span", { title: event.label }, sequence.about(event)) },
  ];
  return grid("Last events", columns, seen.toReversed());
}

const KINDS = { links: "link", monitors: "monitor", monitored_by: "monitored" };
const EXITS = [
  ["shutdown", "Tell it to shut down"],
  ["kill", "Kill it"],
];
