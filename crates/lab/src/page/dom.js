// @ts-check
// Builds elements. Text always goes in as text nodes: nothing a result file
// says can become markup.

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

// An attribute whose value is a function is a listener for the event it names.
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// The text that an element carries packed: gzip in base64, as packed.rs makes it.
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

// A region that scrolls sideways must be reachable by keyboard.
function scroller(label, ...children) {
  return h("div", { class: "scroller", role: "region", "aria-label": label, tabindex: "0" }, ...children);
}

// Details whose content is built when they are first opened. `unfold` builds
// it at once, for whoever opens them without waiting.
function fold(title, open, build) {
  const handle = h("summary", {}, title);
  const details = h("details", {}, handle);
  details.unfold = () => {
    details.unfold = () => {};
    details.append(...[build()].flat());
  };
  // The browser tells of the toggle a little after it; whoever opened it by hand sees all at once.
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
