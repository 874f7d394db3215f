// @ts-check
// Virtual table: only the rows in view are fetched and rendered.
//
// A browser cannot render an element as tall as a million rows, so above a maximum height the scroll bar moves in
// larger steps. Arrow keys, Page Up and Down, Home and End move by rows.

import { h, notice, put, report, say } from "./dom.js";
import { count } from "./format.js";

const TALLEST = 8_000_000;
const MOST = 200;

export class RowTable {
  // `columns`: {key, title, number, cell(row, td)}, and `spoken` where the title is not descriptive enough for a screen
  // reader; `fetch(offset, limit)` returns {total, rows}; `sorted({key, descending})` is called when the reader changes
  // the order.
  constructor({ label, columns, fetch, sort, sorted }) {
    this.columns = columns;
    this.fetch = fetch;
    this.sort = sort;
    this.sorted = sorted;
    this.offset = 0;
    this.total = 0;
    this.rows = [];
    this.wanted = false;
    this.busy = false;
    this.heads = columns.map((column) =>
      h(
        "th",
        { scope: "col", class: column.number ? "number" : null },
        h(
          "button",
          { type: "button", class: "sort", "aria-label": column.spoken, title: column.spoken, click: () => this.choose(column) },
          column.title,
          h("span", { class: "sort-mark", "aria-hidden": "true" }),
        ),
      ),
    );
    this.body = h("tbody");
    this.table = h("table", { class: "rows" }, h("thead", {}, h("tr", { "aria-rowindex": 1 }, this.heads)), this.body);
    this.spacer = h("div", { class: "spacer" }, this.table);
    this.frame = h("div", { class: "scroller tall", role: "region", "aria-label": label, tabindex: "0" }, this.spacer);
    this.summary = h("p", { class: "hint", role: "status" });
    this.trouble = notice();
    this.element = h("div", {}, this.summary, this.trouble, this.frame);
    this.frame.addEventListener("scroll", () => this.scrolled());
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.watch = new ResizeObserver(() => this.refresh());
    this.watch.observe(this.frame);
    this.mark();
  }

  close() {
    this.watch.disconnect();
    this.closed = true;
  }

  get rowHeight() {
    return this.body.firstElementChild?.getBoundingClientRect().height || 28;
  }

  get visible() {
    const head = this.table.tHead.getBoundingClientRect().height;
    return Math.max(1, Math.min(MOST, Math.floor((this.frame.clientHeight - head) / this.rowHeight)));
  }

  get last() {
    return Math.max(0, this.total - this.visible);
  }

  choose(column) {
    const same = this.sort.key === column.key;
    this.sort = { key: column.key, descending: same ? !this.sort.descending : Boolean(column.number) };
    this.mark();
    this.sorted(this.sort);
    this.moveTo(0);
  }

  mark() {
    this.columns.forEach((column, at) => {
      if (column.key === this.sort.key) this.heads[at].setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
      else this.heads[at].removeAttribute("aria-sort");
    });
  }

  // Converts the scroll position to the number of the first row.
  scrolled() {
    const room = this.spacer.clientHeight - this.frame.clientHeight;
    const offset = room > 0 ? Math.round((this.frame.scrollTop / room) * this.last) : 0;
    if (offset !== this.offset && !this.moving) {
      this.offset = offset;
      this.refresh();
    }
    this.moving = false;
  }

  moveTo(offset) {
    this.offset = Math.max(0, Math.min(this.last, offset));
    const room = this.spacer.clientHeight - this.frame.clientHeight;
    const top = this.last ? Math.round((this.offset / this.last) * room) : 0;
    if (Math.round(this.frame.scrollTop) !== top) {
      // Moves the bar to match the rows. The resulting scroll event must not move the rows again.
      this.moving = true;
      this.frame.scrollTop = top;
    }
    this.refresh();
  }

  key(event) {
    if (event.target !== this.frame) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.visible - 1, PageUp: 1 - this.visible, Home: -Infinity, End: Infinity }[
      event.key
    ];
    if (step === undefined) return;
    event.preventDefault();
    this.moveTo(step === Infinity ? this.last : step === -Infinity ? 0 : this.offset + step);
  }

  // Fetches the rows in view. While a request is pending, at most one more is queued.
  async refresh() {
    if (this.busy) {
      this.wanted = true;
      return;
    }
    this.busy = true;
    do {
      this.wanted = false;
      try {
        const { total, rows } = await this.fetch(this.offset, this.visible);
        if (this.closed) return;
        report(this.trouble, null);
        this.show(total, rows);
      } catch (error) {
        if (this.closed) return;
        report(this.trouble, error);
      }
    } while (this.wanted);
    this.busy = false;
  }

  show(total, rows) {
    const first = this.total === 0 && total > 0;
    this.total = total;
    this.rows = rows;
    this.table.setAttribute("aria-rowcount", total + 1);
    while (this.body.children.length > rows.length) this.body.lastChild.remove();
    rows.forEach((row, at) => {
      const line =
        this.body.children[at] ||
        this.body.appendChild(
          h(
            "tr",
            {},
            this.columns.map((column) => h("td", { class: column.number ? "number" : null })),
          ),
        );
      line.setAttribute("aria-rowindex", this.offset + at + 2);
      this.columns.forEach((column, index) => column.cell(row, line.children[index]));
    });
    this.spacer.style.height = `${Math.min(TALLEST, this.table.tHead.offsetHeight + total * this.rowHeight)}px`;
    say(this.summary, total ? `Rows ${count(this.offset + 1)} to ${count(this.offset + rows.length)} of ${count(total)}` : "No row fits.");
    if (this.offset > this.last) this.moveTo(this.last);
    // Before the first rows were rendered, the number of rows that fit was unknown.
    else if (first && rows.length < this.visible && rows.length < total) this.wanted = true;
  }
}

// A cell with a link. The element is reused, so that it keeps the focus.
export function linkIn(cell, text, href) {
  let link = cell.firstElementChild;
  if (!link) {
    link = h("a");
    put(cell, link);
  }
  say(link, text);
  if (link.getAttribute("href") !== href) link.setAttribute("href", href);
}
