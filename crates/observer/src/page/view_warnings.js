// @ts-check
// Warnings view: each warning with its advice.

import { h, hint, put, refill, say } from "./dom.js";
import { time } from "./format.js";
import { reference } from "./view_processes.js";

export const title = "Warnings";

export function open(place, { app }) {
  const list = h("div", { id: "warnings", "aria-live": "polite" });
  put(place, list);

  function warned(found) {
    refill(
      list,
      found.map(({ kind, pids, advice }) => [kind, pids, advice]),
      () => (found.length === 0 ? hint("Nothing looks wrong.") : h("ul", { class: "warnings" }, found.map(show))),
    );
    // The values that change with each snapshot are updated separately, so that a screen reader
    // does not repeat the rest.
    found.forEach(({ text, for_ns: since }, at) => {
      const item = list.querySelectorAll(".warning")[at];
      say(item.querySelector("h2"), text);
      say(item.querySelector(".since"), time(since));
    });
  }

  if (app.warnings) warned(app.warnings);
  return { warned };
}

function show({ kind, pids, advice }) {
  return h(
    "li",
    { class: "warning", "data-kind": kind },
    h("h2"),
    h("p", {}, advice),
    hint(
      `${kind}, for `,
      h("span", { class: "since", "aria-live": "off" }),
      pids.map((pid) => [" ", h("a", { href: reference(pid) }, pid)]),
    ),
  );
}
