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
