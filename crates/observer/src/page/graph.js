// @ts-check
// Graph of a process and its links and monitors: the process in the middle, the others around it as links to their
// pages.

import { s } from "./dom.js";

const [WIDTH, HEIGHT] = [480, 300];
export const MOST = 16;

// `others`: {id, label, kind} with kind "link", "monitor" (the process monitors it) or "monitored" (it monitors the
// process); `reference(id)` is the target of a click.
export function draw(middle, others, reference) {
  const shown = others.slice(0, MOST);
  const [cx, cy] = [WIDTH / 2, HEIGHT / 2];
  const at = shown.map((_, index) => {
    const turn = (index / shown.length) * 2 * Math.PI - Math.PI / 2;
    return [cx + Math.cos(turn) * (WIDTH / 2 - 60), cy + Math.sin(turn) * (HEIGHT / 2 - 36)];
  });
  const lines = shown.map(({ kind }, index) =>
    s("line", { x1: cx, y1: cy, x2: at[index][0], y2: at[index][1], class: kind === "link" ? "" : "monitor" }),
  );
  const nodes = shown.map(({ id, label, kind }, index) => {
    const [x, y] = at[index];
    const drawn = [
      s("circle", { cx: x, cy: y, r: 7 }),
      s("text", { x, y: y < cy ? y - 12 : y + 20 }, label, s("title", {}, `${WORDS[kind]} ${label}`)),
    ];
    return id ? s("a", { href: reference(id), "aria-label": `${WORDS[kind]} ${label}` }, drawn) : s("g", {}, drawn);
  });
  return s(
    "svg",
    { class: "web", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `Whom ${middle} knows` },
    lines,
    s("circle", { class: "middle", cx, cy, r: 9 }),
    s("text", { x: cx, y: cy + 24 }, middle),
    nodes,
  );
}

const WORDS = { link: "linked to", monitor: "monitors", monitored: "monitored by" };
