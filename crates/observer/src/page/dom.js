// @ts-check
// Element builders. Text from the node becomes text nodes and attribute values, never markup. The
// server's Content-Security-Policy also makes the browser refuse to turn text into markup.

const SVG = "http://www.w3.org/2000/svg";

// Function attributes become event listeners; null, undefined and false attributes are left out.
function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

export function put(element, ...children) {
  for (const child of children.flat(2)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export const h = (tag, attributes = {}, ...children) => dress(document.createElement(tag), attributes, children);
export const s = (tag, attributes = {}, ...children) => dress(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

// Changes the text only if it differs, so that a selection or a screen reader is not disturbed.
export function say(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

// Replaces the children of an element, unless `from`, the data they are built from, is unchanged.
export function refill(element, from, build) {
  const made = JSON.stringify(from);
  if (element.madeFrom === made) return;
  element.madeFrom = made;
  element.replaceChildren();
  put(element, build());
}

// A description list of pairs of a term and its value.
export function facts(pairs, attributes = {}) {
  const entries = pairs.filter(([, what]) => what !== null && what !== undefined && what !== "");
  return h(
    "dl",
    { class: "facts", ...attributes },
    entries.map(([term, what]) => h("div", {}, h("dt", {}, term), h("dd", {}, what))),
  );
}

export const hint = (...words) => h("p", { class: "hint" }, ...words);

// A notice that is hidden until `report` or `attempt` shows an error in it.
export const notice = () => h("p", { class: "notice", role: "alert", hidden: true });

// Shows an error in a notice; hides the notice if the error is null.
export function report(notice, error) {
  say(notice, error?.message ?? "");
  notice.hidden = !error;
}

// Calls `work` and reports its error. The notice stays until work of the same notice has succeeded.
export async function attempt(notice, work) {
  try {
    await work();
    report(notice, null);
  } catch (error) {
    report(notice, error);
  }
}

// A table in a region that scrolls. `columns`: {title, number, cell(row)}.
export function grid(label, columns, rows) {
  const style = ({ number }) => (number ? "number" : null);
  const head = columns.map((column) => h("th", { scope: "col", class: style(column) }, column.title));
  const cells = (row) => columns.map((column) => h("td", { class: style(column) }, column.cell(row)));
  const body = rows.map((row) => h("tr", {}, cells(row)));
  return h(
    "div",
    { class: "scroller", role: "region", "aria-label": label, tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)),
  );
}
