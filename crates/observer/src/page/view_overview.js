// @ts-check
// Overview: utilization of workers over time, queues, processes, messages, memory, hogs.

import { Chart } from "./chart.js";
import { facts, h, put, refill, say } from "./dom.js";
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
  put(
    place,
    now,
    h(
      "div",
      { class: "graphs" },
      Object.values(charts).map((chart) => chart.element),
    ),
    hogs,
    drops,
  );

  function draw(history) {
    const times = history.map((snapshot) => snapshot.at_ns);
    const line = (name, of) => ({ name, values: history.map((snapshot) => of(snapshot) ?? null) });
    const workers = history.at(-1)?.workers.length ?? 0;
    const each = (of) => Array.from({ length: workers }, (_, at) => line(`worker ${at}`, (snapshot) => of(snapshot.workers[at] ?? {})));
    charts.load.draw(
      times,
      each((worker) => worker.utilization),
    );
    charts.queues.draw(times, [...each((worker) => worker.queue), line("global queue", (snapshot) => snapshot.global_queue)]);
    charts.processes.draw(times, [line("processes", (snapshot) => snapshot.processes)]);
    charts.messages.draw(times, [line("messages", (snapshot) => snapshot.messages_per_second)]);
    charts.reductions.draw(times, [line("reductions", (snapshot) => snapshot.reductions_per_second)]);
    charts.memory.draw(times, [line("resident", (snapshot) => snapshot.resident_bytes), line("processes", (snapshot) => snapshot.process_bytes)]);
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
          ? h("p", { class: "hint" }, "No process holds up a thread.")
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
      h("h2", {}, "Messages nobody received"),
      reasons.length === 0
        ? h("p", { class: "hint" }, "None.")
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
