// @ts-check
// Overview: utilization of workers over time, queues, processes, messages, memory, hogs.

import { Chart, gallery } from "./chart.js";
import { facts, h, hint, put, refill, say } from "./dom.js";
import { about, bytes, count, percent, plural, rate, tail, time } from "./format.js";

export const title = "Overview";

export function open(place) {
  const now = h("div", { id: "now" });
  const charts = {
    load: new Chart("Utilisation of the workers", { show: percent, most: 1 }),
    queues: new Chart("Run queues", { show: about }),
    processes: new Chart("Processes", { show: about }),
    messages: new Chart("Messages and signals sent", { show: rate }),
    reductions: new Chart("Reductions", { show: rate }),
    memory: new Chart("Memory", { show: bytes, thousand: 1024 }),
  };
  const hogs = h("div", { id: "hogs" });
  const drops = h("div", { id: "drops" });
  put(place, now, gallery(charts), hogs, drops);

  function draw(history) {
    const workers = Array.from(history.at(-1)?.workers ?? [], (_, at) => at);
    const each = (key) => Object.fromEntries(workers.map((at) => [`worker ${at}`, (point) => point.workers[at]?.[key]]));
    charts.load.draw(history, each("utilization"));
    charts.queues.draw(history, { ...each("queue"), "global queue": (point) => point.global_queue });
    charts.processes.draw(history, { processes: (point) => point.processes });
    charts.messages.draw(history, { messages: (point) => point.messages_per_second });
    charts.reductions.draw(history, { reductions: (point) => point.reductions_per_second });
    charts.memory.draw(history, { resident: (point) => point.resident_bytes, processes: (point) => point.process_bytes });
  }

  function update({ history, hogs: found, drops: dropped, max_processes, connections }) {
    const snapshot = history.at(-1);
    if (!snapshot) return;
    now.replaceChildren(
      facts(
        [
          ["Processes", `${count(snapshot.processes)} of ${about(max_processes)}`],
          ["Ready to run", count(snapshot.ready)],
          ["Messages and signals sent", rate(snapshot.messages_per_second)],
          ["Reductions", rate(snapshot.reductions_per_second)],
          ["Memory, resident", bytes(snapshot.resident_bytes)],
          ["Memory of processes", bytes(snapshot.process_bytes)],
          ["Timers", count(snapshot.timers)],
          ["Connections", connections === null ? null : count(connections)],
          ["Hogs", count(found.length)],
        ],
        { class: "facts large" },
      ),
    );
    draw(history);
    refill(
      hogs,
      found.map(({ for_ns: _, ...rest }) => rest),
      () => [
        h("h2", {}, "Processes that do not await"),
        found.length === 0
          ? hint("No process holds up a thread.")
          : h(
              "ul",
              {},
              found.map((hog) =>
                h(
                  "li",
                  { class: "alarm" },
                  h("a", { href: `#/process/${encodeURIComponent(hog.pid)}` }, hog.name || hog.pid),
                  ` (${tail(hog.function)}) has been in one turn for `,
                  h("span"),
                ),
              ),
            ),
      ],
    );
    found.forEach((hog, at) => say(hogs.querySelectorAll("li span")[at], time(hog.for_ns)));
    const reasons = Object.entries(dropped).filter(([, messages]) => messages > 0);
    refill(drops, dropped, () => [
      h("h2", {}, "Undelivered messages"),
      reasons.length === 0
        ? hint("None.")
        : h(
            "ul",
            {},
            reasons.map(([reason, messages]) => h("li", {}, `${plural(messages, "message")}: ${WHY[reason] ?? reason}`)),
          ),
    ]);
  }

  return { update };
}

const WHY = {
  ended: "the process had ended",
  alias: "the alias had been taken back",
  rejected: "the mailbox was full and rejects",
  newest: "the mailbox was full and drops the newest",
  oldest: "the mailbox was full and drops the oldest",
};
