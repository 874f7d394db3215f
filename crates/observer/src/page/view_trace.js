// @ts-check
// Trace view: live sequence diagram of what chosen processes send, receive, spawn and link.

import * as api from "./api.js";
import { attempt, facts, h, hint, notice, put, refill, say } from "./dom.js";
import { count, plural } from "./format.js";
import * as sequence from "./sequence.js";

export const title = "Trace";

export function open(place) {
  const pids = h("input", {
    name: "processes",
    size: 32,
    required: true,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "<0.12.0> <0.13.0>",
  });
  const controls = h(
    "form",
    { class: "controls", submit: start },
    h("label", {}, "Processes to follow", pids),
    h("button", { class: "switch", id: "start" }, "Start"),
    h("button", { type: "button", class: "switch", id: "stop", click: () => act("api/trace/stop") }, "Stop"),
    h("button", { type: "button", class: "switch", id: "export", click: save }, "Save for Chrome’s trace viewer"),
  );
  // WHY two: the periodic refresh must not hide the error of an action.
  const told = notice();
  const trouble = notice();
  const state = h("div", { id: "trace-state", role: "status" });
  const diagram = h("div", { class: "scroller", role: "region", "aria-label": "Sequence diagram", tabindex: "0", id: "diagram" });
  put(place, controls, told, trouble, state, diagram);

  function start(event) {
    event.preventDefault();
    act("api/trace/start", { processes: pids.value.split(/[\s,]+/).filter(Boolean) });
  }

  function act(path, body) {
    return attempt(told, async () => {
      await api.post(path, body);
      await refresh();
    });
  }

  function save() {
    return attempt(told, async () => {
      const found = await api.get("api/trace/chrome");
      const address = URL.createObjectURL(new Blob([JSON.stringify(found)], { type: "application/json" }));
      h("a", { href: address, download: "purlin-trace.json" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 0);
    });
  }

  function show(found) {
    say(state, "");
    if (!found.trace) return void diagram.replaceChildren(hint("Nothing has been traced yet."));
    const { running, state: became, processes, seen, events, dropped, names } = found.trace;
    put(
      state,
      facts([
        ["Follows", processes.join(" ")],
        ["State", became],
        ["Events", count(seen)],
        ["Lost or no longer kept", h("span", { class: dropped ? "alarm" : null }, count(dropped))],
      ]),
    );
    controls.querySelector("#stop").disabled = !running;
    refill(diagram, [events[0]?.number, events.length, events.at(-1)?.number, names, processes], () => {
      if (events.length === 0) return hint("They have done nothing yet.");
      const { picture, left_out: left } = sequence.draw(events, names, processes);
      const gap = "earlier events, or those of more processes than fit. The file for Chrome has them all.";
      return [picture, left ? hint(`Without ${plural(left, "event")}: ${gap}`) : null];
    });
  }

  function refresh() {
    return attempt(trouble, async () => show(await api.get("api/trace")));
  }

  return { close: api.every(refresh) };
}
