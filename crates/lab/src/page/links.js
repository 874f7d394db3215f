// @ts-check
// Buttons that copy a link to the page in its current state.

const links = (() => {
  // If the clipboard is refused, the link is shown and selected for copying by hand.
  async function copy(address, button) {
    try {
      await navigator.clipboard.writeText(address);
      say(button, "Link copied");
    } catch {
      const field = h("input", { class: "link-field", readonly: true, value: address, "aria-label": "The link to copy" });
      field.addEventListener("blur", () => field.remove());
      button.after(field);
      field.select();
    }
  }

  // Shows a message on the button, and announces it in the page's status line.
  function say(button, words) {
    const name = button.textContent;
    if (name === words) return;
    button.textContent = words;
    byId("status").textContent = words;
    const back = () => {
      button.textContent = name;
      byId("status").textContent = "";
    };
    button.addEventListener("blur", back, { once: true });
    button.addEventListener("pointerleave", back, { once: true });
  }

  function button(anchor, name, title) {
    const made = tools.action(name, title, () => copy(location.href.split("#")[0] + view.link(anchor), made));
    return made;
  }

  return { button };
})();
