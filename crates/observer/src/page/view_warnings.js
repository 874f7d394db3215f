// What looks wrong, in words, with what to do about it.

import { h, put, refill } from "./dom.js";
import { time } from "./format.js";
import { reference } from "./view_processes.js";

export const title = "Warnings";

export function open(place, { app }) {
  const list = h("div", { id: "warnings", "aria-live": "polite" });
  put(place, list);

  function warned(found) {
    refill(list, found.map(({ for_ns: _, ...rest }) => rest), () => (found.length === 0
      ? h("p", { class: "hint" }, "Nothing looks wrong.")
      : h("ul", { class: "warnings" }, found.map(show))));
  }

  if (app.warnings) warned(app.warnings);
  return { warned };
}

function show({ kind, pids, text, advice, for_ns }) {
  return h("li", { class: "warning", "data-kind": kind }, h("h2", {}, text), h("p", {}, advice),
    h("p", { class: "hint" }, `${kind}, for ${time(for_ns)}`, pids.map((pid) => [" ", h("a", { href: reference(pid) }, pid)])));
}
