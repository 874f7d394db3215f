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
    const times = history.map((look) => look.at_ns);
    const line = (name, of) => ({ name, values: history.map((look) => of(look) ?? null) });
    const workers = history.at(-1)?.workers.length ?? 0;
    const each = (of) => Array.from({ length: workers }, (_, at) => line(`worker ${at}`, (look) => of(look.workers[at] ?? {})));
    charts.load.draw(
      times,
      each((worker) => worker.utilization),
    );
    charts.queues.draw(times, [...each((worker) => worker.queue), line("common", (look) => look.common_queue)]);
    charts.processes.draw(times, [line("processes", (look) => look.processes)]);
    charts.messages.draw(times, [line("messages", (look) => look.messages_per_second)]);
    charts.reductions.draw(times, [line("reductions", (look) => look.reductions_per_second)]);
    charts.memory.draw(times, [line("resident", (look) => look.resident_bytes), line("processes", (look) => look.process_bytes)]);
  }

  function update({ history, hogs: found, drops: dropped, max_processes, connections }) {
    const look = history.at(-1);
    if (!look) return;
    now.replaceChildren(
      facts(
        [
          ["Processes", `${count(look.processes)} of ${about(max_processes)}`],
          ["Ready to run", count(look.ready)],
          ["Messages and signals sent", rate(look.messages_per_second)],
          ["Reductions", rate(look.reductions_per_second)],
          ["Memory, resident", bytes(look.resident_bytes)],
          ["Memory of processes", bytes(look.process_bytes)],
          ["Timers", count(look.timers)],
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
