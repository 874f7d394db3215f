// @ts-check
// Controls of a chart. Each is a named button or select element, shows the current setting, and
// passes changes to `change`.

const tools = (() => {
  // A toggle button. `show(pressed, usable)` sets its state.
  function toggle(name, title, change) {
    const button = h(
      "button",
      {
        type: "button",
        class: "switch",
        "aria-pressed": "false",
        title,
        click: () => change(button.getAttribute("aria-pressed") !== "true"),
      },
      name,
    );
    button.show = (pressed, usable) => {
      button.setAttribute("aria-pressed", String(pressed));
      button.disabled = usable === false;
    };
    return button;
  }

  // A select element. `show(options, chosen)` sets its options; it is hidden if there is only one.
  // If the options are self-explanatory, the name is for screen readers only.
  function select(name, change, quiet) {
    const box = h("select", { "aria-label": name, change: () => change(box.selectedIndex) });
    const label = h("label", { class: "choice" }, quiet ? null : h("span", { "aria-hidden": "true" }, name), box);
    label.show = (options, chosen) => {
      const same = box.options.length === options.length && options.every((option, at) => box.options[at].text === option.text);
      if (!same) box.replaceChildren(...options.map((option) => h("option", { title: option.title }, option.text)));
      box.selectedIndex = chosen;
      label.hidden = options.length < 2;
    };
    return label;
  }

  function action(name, title, click) {
    return h("button", { type: "button", class: "switch", title, click }, name);
  }

  // The legend; a click hides or shows a line. A contender without a figure stays in the legend,
  // marked as having no result.
  function legend(shown, contenders, hidden, change) {
    const items = shown.map((one) => {
      const item = toggle(one.name, `Show or hide ${one.name}`, (now) => {
        item.show(now);
        change(one.name, !now);
      });
      item.show(!hidden.has(one.name));
      item.className = "legend-item";
      item.dataset.contender = one.contender.key;
      item.prepend(palette.swatch(one.contender, one.secondary));
      return item;
    });
    const absent = contenders.filter((contender) => !contender.guest && !shown.some((one) => one.contender === contender));
    const empty = absent.map((contender) =>
      h(
        "span",
        { class: "legend-item absent", "data-contender": contender.key },
        palette.swatch(contender, false),
        `${contender.label} (no result)`,
      ),
    );
    return [...items, ...empty];
  }

  return { toggle, select, action, legend };
})();
