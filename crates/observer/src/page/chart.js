// @ts-check
// A line chart over time, redrawn with each snapshot. All lines have one unit. The pointer or the arrow keys select the
// values of one moment; the label for screen readers has the latest values.

import { h, s, say } from "./dom.js";

const [WIDTH, HEIGHT] = [600, 120];
const HUES = 8;
let graphs = 0;

// Rounds up to 1, 2 or 5 times a power of ten; byte values to the same in KiB, MiB and so on.
function ceiling(value, thousand) {
  if (!(value > 0)) return 1;
  const unit = thousand ** Math.max(0, Math.floor(Math.log(value) / Math.log(thousand)));
  const power = unit * 10 ** Math.floor(Math.log10(value / unit));
  return [1, 2, 5, 10].find((step) => step * power >= value) * power;
}

// Returns a line of a chart: the rate per second of the counter `key`.
export const perSecond = (key) => (point, before) => {
  if (!before || point.at_ns <= before.at_ns) return null;
  return Math.max(0, point[key] - before[key]) / ((point.at_ns - before.at_ns) / 1e9);
};

// The charts side by side.
export function gallery(charts) {
  const elements = Object.values(charts).map((chart) => chart.element);
  return h("div", { class: "graphs" }, elements);
}

export class Chart {
  // `show` formats a value; `most` is the fixed top of the axis, if there is one; `thousand` is the ratio between unit
  // prefixes, 1000 or 1024.
  constructor(title, { show, most = null, thousand = 1000 }) {
    this.show = show;
    this.most = most;
    this.thousand = thousand;
    this.lines = [];
    this.read = null;
    const name = `graph-${(graphs += 1)}`;
    this.top = h("span", { class: "axis-top" });
    this.span = h("span", { class: "axis-span" });
    this.legend = h("ul", { class: "legend" });
    this.picture = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: "0", class: "plot" });
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.at(null));
    this.picture.addEventListener("blur", () => this.at(null));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.element = h(
      "figure",
      { class: "graph", "aria-labelledby": name },
      h("figcaption", { id: name }, title),
      h("div", { class: "plot-frame" }, this.top, this.picture, this.span),
      this.legend,
    );
    this.title = title;
  }

  // `history`: points with their time `at_ns`, oldest first. `lines`: by name, a function of a point and the previous
  // point that returns a value, or nothing for a gap.
  draw(history, lines) {
    this.times = history.map((point) => point.at_ns);
    const values = (of) => history.map((point, at) => of(point, history[at - 1]) ?? null);
    this.lines = Object.entries(lines).map(([name, of]) => ({ name, values: values(of) }));
    // WHY not Math.max(...values): with many workers there are more values than a call may have arguments.
    const larger = (most, value) => Math.max(most, value ?? 0);
    const highest = () => this.lines.reduce((top, line) => line.values.reduce(larger, top), 0);
    this.scale = this.most ?? ceiling(highest(), this.thousand);
    say(this.top, this.show(this.scale));
    const seconds = this.times.length > 1 ? Math.round((this.times.at(-1) - this.times[0]) / 1e9) : 0;
    say(this.span, seconds ? `${seconds} s` : "");
    const ruler = [0.25, 0.5, 0.75].map((share) => s("line", { class: "ruler", x1: 0, x2: WIDTH, y1: HEIGHT * share, y2: HEIGHT * share }));
    this.cursor = s("line", { class: "cursor", y1: 0, y2: HEIGHT, visibility: "hidden" });
    this.picture.replaceChildren(
      ...ruler,
      ...this.lines.map((line, at) => s("path", { class: `line hue-${at % HUES}`, d: this.path(line.values) })),
      this.cursor,
    );
    this.at(this.read);
    this.picture.setAttribute(
      "aria-label",
      `${this.title}, last ${seconds} seconds. Now: ${this.lines.map((line) => `${line.name} ${this.words(line.values.at(-1))}`).join(", ")}.`,
    );
  }

  words(value) {
    return value === null || value === undefined ? "–" : this.show(value);
  }

  x(at) {
    const [first, last] = [this.times[0], this.times.at(-1)];
    return last > first ? ((this.times[at] - first) / (last - first)) * WIDTH : WIDTH;
  }

  path(values) {
    let pen = "M";
    const parts = values.map((value, at) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const y = HEIGHT - (Math.min(value, this.scale) / this.scale) * (HEIGHT - 2) - 1;
      const part = `${pen}${this.x(at).toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
      return part;
    });
    return parts.join("");
  }

  point(event) {
    const box = this.picture.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * WIDTH;
    if (!this.times?.length) return;
    let best = 0;
    for (let at = 0; at < this.times.length; at += 1) {
      if (Math.abs(this.x(at) - wanted) < Math.abs(this.x(best) - wanted)) best = at;
    }
    this.at(this.times[best]);
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.times?.length) return;
    event.preventDefault();
    const now = this.read === null ? this.times.length - 1 : this.times.indexOf(this.read);
    this.at(this.times[Math.max(0, Math.min(this.times.length - 1, now + step))]);
  }

  // Selects the values of `moment`. Selects the latest ones if it is null or no longer in the chart.
  at(moment) {
    const found = moment === null ? -1 : (this.times || []).indexOf(moment);
    this.read = found < 0 ? null : moment;
    const at = found < 0 ? (this.times?.length || 0) - 1 : found;
    if (this.cursor) {
      this.cursor.setAttribute("visibility", found < 0 ? "hidden" : "visible");
      if (found >= 0) for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, this.x(at));
    }
    while (this.legend.children.length > this.lines.length) this.legend.lastChild.remove();
    this.lines.forEach((line, index) => {
      const entry =
        this.legend.children[index] ||
        this.legend.appendChild(
          h(
            "li",
            {},
            s(
              "svg",
              { class: `swatch hue-${index % HUES}`, viewBox: "0 0 12 4", width: 12, height: 4, "aria-hidden": "true" },
              s("path", { d: "M0 2H12" }),
            ),
            h("span", { class: "legend-name" }),
            h("span", { class: "legend-value" }),
          ),
        );
      say(entry.children[1], line.name);
      say(entry.children[2], this.words(line.values[at]));
    });
  }
}
