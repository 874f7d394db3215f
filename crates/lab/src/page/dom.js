// @ts-check
// Creates elements. Text is inserted as text nodes only, so data of a results file cannot become
// markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

// A function as the value of an attribute is a listener for the event of that name.
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Decompresses the text of an element: gzip in base64, as written by packed.rs.
async function unpacked(id) {
  if (!("DecompressionStream" in window)) {
    throw new Error("this browser cannot unpack what the page carries; Chrome can since version 80, Firefox since 113, Safari since 16.4");
  }
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function plural(count, noun) {
  return `${format.whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// A region that scrolls horizontally must be reachable by keyboard.
function scroller(label, ...children) {
  return h("div", { class: "scroller", role: "region", "aria-label": label, tabindex: "0" }, ...children);
}

// Details whose content is built when they are first opened. `unfold` builds the content
// immediately.
function fold(title, open, build) {
  const handle = h("summary", {}, title);
  const details = h("details", {}, handle);
  details.unfold = () => {
    details.unfold = () => {};
    details.append(...[build()].flat());
  };
  // The browser fires `toggle` with a delay; the click handler builds the content before.
  handle.addEventListener("click", () => details.unfold());
  details.addEventListener("toggle", () => {
    if (details.open) details.unfold();
  });
  if (open) {
    details.unfold();
    details.open = true;
  }
  return details;
}
