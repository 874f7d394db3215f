// @ts-check
// Builds elements. Whatever a node says of itself goes in as text nodes and attribute values, never
// as markup; the server's policy has the browser refuse markup made of text altogether.

const SVG = "http://www.w3.org/2000/svg";

// An attribute that is a function is a listener; one that is null, undefined or false is left out.
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

// Changes a text only where it differs, so that a selection or a screen reader is not disturbed.
export function say(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

// Puts other children into an element, unless what they are made of is what it was.
export function refill(element, from, build) {
  const made = JSON.stringify(from);
  if (element.madeFrom === made) return;
  element.madeFrom = made;
  element.replaceChildren();
  put(element, build());
}

// A list of facts: pairs of a term and what it is.
export function facts(pairs, attributes = {}) {
  const entries = pairs.filter(([, what]) => what !== null && what !== undefined && what !== "");
  return h(
    "dl",
    { class: "facts", ...attributes },
    entries.map(([term, what]) => h("div", {}, h("dt", {}, term), h("dd", {}, what))),
  );
}
