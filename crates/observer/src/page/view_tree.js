// @ts-check
// Supervision view: the live tree of supervisors and their children. Restarted children are marked and link to their
// crash reports.

import * as api from "./api.js";
import { attempt, facts, h, hint, notice, put, refill } from "./dom.js";
import { count, plural, tail, time } from "./format.js";
import { reference } from "./view_processes.js";

export const title = "Supervision";

// Filter of the process table that selects supervisors: by their message type.
const SUPERVISORS = "#/processes?text=SupervisorMail";

export function open(place) {
  const tree = h("div", { id: "tree" });
  const crashes = h("div", { id: "crashes" });
  const trouble = notice();
  const report = h("dialog", { "aria-labelledby": "report-title" });
  put(place, trouble, tree, crashes, report);

  function tell(crash) {
    report.replaceChildren(
      h("h2", { id: "report-title" }, `${crash.name ?? crash.pid} crashed`),
      facts([
        ["Process", crash.pid],
        ["Function", h("code", {}, crash.function)],
        ["Ago", time(crash.ago_ns)],
        ["Messages that waited", count(crash.mailbox)],
        ["Messages received", count(crash.messages_in)],
        ["Its supervisor", crash.supervisor && h("a", { href: reference(crash.supervisor) }, crash.supervisor)],
      ]),
      h("h3", {}, "Reason"),
      h("pre", { tabindex: "0" }, crash.reason),
      h("form", { method: "dialog" }, h("button", { class: "switch" }, "Close")),
    );
    report.showModal();
  }

  function member(node, all) {
    const last = all.find((crash) => crash.number === node.last_crash);
    const label = `Crash report of ${node.name ?? node.pid}`;
    const opens = last && h("button", { type: "button", click: () => tell(last), "aria-label": label }, "crash report");
    const crashed = `↻ restarted after ${plural(node.crashes, "crash", "crashes")}`;
    const mark = node.crashes > 0 ? h("span", { class: "mark" }, crashed, opens) : null;
    const box = h(
      "span",
      { class: `member ${node.kind} ${mark ? "restarted" : ""}`, "data-pid": node.pid },
      h("a", { href: reference(node.pid) }, node.name ?? node.pid),
      h("span", { class: "hint" }, node.kind === "process" ? tail(node.function) : node.kind),
      node.restarts > 0 ? h("span", { class: "hint" }, plural(node.restarts, "restart")) : null,
      mark,
    );
    const more = rest(node.more, `#/processes?parent=${encodeURIComponent(node.pid)}`);
    const below = node.children.map((child) => member(child, all));
    return h("li", {}, box, below.length || more ? h("ul", {}, below, more) : null);
  }

  const refresh = () =>
    attempt(trouble, async () => {
      const { roots, more, crashes: last, forgotten } = await api.get("api/tree");
      const numbers = last.map((crash) => crash.number);
      refill(tree, [roots, more, numbers], () => {
        if (roots.length === 0) return hint("No supervisor lives on this node.");
        const members = roots.map((root) => member(root, last));
        return h("ul", { class: "tree" }, members, rest(more, SUPERVISORS));
      });
      refill(crashes, numbers, () => [h("h2", {}, "Last crashes"), list(last, forgotten)]);
    });

  function list(last, forgotten) {
    if (last.length === 0) return hint("None is known.");
    const lines = last.map((crash) =>
      h(
        "li",
        {},
        `${crash.name ?? crash.pid} (${tail(crash.function)}): ${crash.reason.split("\n")[0]} `,
        h("button", { type: "button", class: "switch", click: () => tell(crash) }, "Report"),
      ),
    );
    return [h("ul", {}, lines), forgotten ? hint(`${plural(forgotten, "earlier crash", "earlier crashes")} forgotten.`) : null];
  }

  return { close: api.every(refresh) };
}

// Link to the children or roots that are not shown, with their number; null if all are shown.
const rest = (more, where) => (more > 0 ? h("li", {}, h("a", { class: "hint", href: where }, `and ${count(more)} more`)) : null);
