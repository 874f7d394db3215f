// @ts-check
// Sequence diagram of a trace: a lane per process, time downwards, an arrow per message or signal from its sending to
// its receipt, and a dot for an event that concerns one process.

import { s } from "./dom.js";
import { tail, time } from "./format.js";

const LANE = 170;
const STEP = 22;
const LEFT = 90;
const TOP = 46;
const LANES = 12;
export const MOST = 400;

// Draws the last events, with times since the first. `events`: {number, at_ns, kind, pid, other, partner, label};
// `names`: names of processes by pid; `traced`: pids of the traced processes.
export function draw(events, names, traced) {
  const lanes = choose(events, traced);
  const drawn = events.filter((event) => lanes.includes(event.pid) && (!event.other || lanes.includes(event.other))).slice(-MOST);
  const x = (pid) => LEFT + lanes.indexOf(pid) * LANE + LANE / 2;
  const height = TOP + drawn.length * STEP + 16;
  const width = LEFT + lanes.length * LANE;
  const heads = lanes.flatMap((pid) =>
    [
      s("line", { class: "lane", x1: x(pid), x2: x(pid), y1: TOP - 12, y2: height }),
      s("text", { x: x(pid), y: 14, "text-anchor": "middle", "font-weight": 600 }, names[pid] ?? pid),
      names[pid] ? s("text", { x: x(pid), y: 28, "text-anchor": "middle", class: "when" }, pid) : null,
    ].filter(Boolean),
  );
  const begin = events[0]?.at_ns ?? 0;
  const y = new Map(drawn.map((event, at) => [event.number, TOP + at * STEP]));
  const rows = drawn.map((event) => row(event, y, x, begin, names));
  return {
    left_out: events.length - drawn.length,
    picture: s(
      "svg",
      {
        class: "sequence",
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "list",
        "aria-label": `${drawn.length} events of ${lanes.length} processes`,
      },
      heads,
      rows,
    ),
  };
}

// Pids that get a lane, in the order in which they occur: traced processes first, then others, of each those with the
// newest events.
function choose(events, traced) {
  const involved = (event) => (event.other ? [event.pid, event.other] : [event.pid]);
  const newest = [...new Set(events.toReversed().flatMap(involved))];
  const isTraced = new Set(traced);
  const [first, others] = [newest.filter((pid) => isTraced.has(pid)), newest.filter((pid) => !isTraced.has(pid))];
  const chosen = new Set([...first, ...others].slice(0, LANES));
  return [...new Set(events.flatMap(involved))].filter((pid) => chosen.has(pid));
}

// Short description of an event: the last segments if it is a path.
export const about = ({ kind, label }) => (TYPED.has(kind) ? tail(label) : label);

function row(event, places, x, begin, names) {
  const y = places.get(event.number);
  const called = (pid) => names[pid] ?? pid;
  const what = about(event);
  const words = `${time(event.at_ns - begin)}: ${called(event.pid)} ${event.kind} ${event.other ? called(event.other) : ""} ${what}`;
  const when = s("text", { class: "when", x: 4, y: y + 3 }, `+${time(event.at_ns - begin)}`);
  const label = (at, anchor) =>
    s("text", { class: "label", x: at, y: y - 4, "text-anchor": anchor }, what ? `${event.kind} ${what}` : event.kind);
  const entry = (...parts) =>
    s("g", { role: "listitem", "aria-label": words, "data-kind": event.kind }, s("title", {}, words), when, parts);
  if (!event.other || event.other === event.pid) {
    const mark = s("circle", { class: ENDS.has(event.kind) ? "exit" : "event", cx: x(event.pid), cy: y, r: 4 });
    return entry(mark, label(x(event.pid) + 8, "start"));
  }
  // The arrow that ends here was drawn at the send event.
  if (event.kind === "receive" && places.has(event.partner)) return entry(s("circle", { class: "event", cx: x(event.pid), cy: y, r: 3 }));
  // For received events the arrow leads from the other process; for all others it leads to it.
  const [from, to] = CAME.has(event.kind) ? [x(event.other), x(event.pid)] : [x(event.pid), x(event.other)];
  const back = to < from ? 1 : -1;
  const end = (event.kind === "send" && places.get(event.partner)) || y;
  const quiet = QUIET.has(event.kind);
  return entry(
    s("line", {
      class: quiet ? "arrow quiet" : ENDS.has(event.kind) ? "arrow exit-line" : "arrow",
      x1: from,
      x2: to + back * 6,
      y1: y,
      y2: end,
    }),
    s("path", { class: quiet ? "quiet-head" : ENDS.has(event.kind) ? "exit" : "head", d: `M${to} ${end}l${back * 8} -4v8z` }),
    label((from + to) / 2, "middle"),
  );
}

const TYPED = new Set(["send", "receive", "spawn"]);
const CAME = new Set(["receive", "receive_exit", "receive_down", "linked", "monitored"]);
const ENDS = new Set(["end", "send_exit", "receive_exit", "receive_down"]);
const QUIET = new Set(["link", "unlink", "linked", "monitor", "monitored", "demonitor", "spawn"]);
