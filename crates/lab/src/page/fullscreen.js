// @ts-check
// Full-screen view of a figure: by the browser's API or, if that is missing or refused, as an
// overlay over the page. Escape leaves both.

const fullScreen = (() => {
  let covering = null;

  function uncover() {
    if (!covering) return;
    const { figure, button, changed } = covering;
    covering = null;
    figure.classList.remove("covering");
    document.documentElement.classList.remove("covered");
    changed();
    button.focus();
  }

  function cover(figure, button, changed) {
    covering = { figure, button, changed };
    figure.classList.add("covering");
    document.documentElement.classList.add("covered");
    changed();
  }

  document.addEventListener("keydown", (event) => {
    if (!covering) return;
    if (event.key === "Escape") uncover();
    // Elements below the overlay are invisible, so the focus stays within the figure.
    if (event.key === "Tab") {
      const stops = [...covering.figure.querySelectorAll("button:not(:disabled), select")].filter((stop) => stop.offsetParent);
      const [first, last] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
      if (document.activeElement === first || !covering.figure.contains(document.activeElement)) {
        last.focus();
        event.preventDefault();
      }
    }
  });

  function button(figure) {
    const fills = () => document.fullscreenElement === figure || covering?.figure === figure;
    const made = tools.action("Full screen", "The chart alone, as large as the screen; Escape leaves", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else if (covering) uncover();
      else if (!document.fullscreenEnabled || !figure.requestFullscreen) cover(figure, made, changed);
      else figure.requestFullscreen().catch(() => cover(figure, made, changed));
    });
    const changed = () => {
      made.textContent = fills() ? "Leave full screen" : "Full screen";
    };
    figure.addEventListener("fullscreenchange", changed);
    return made;
  }

  return { button, uncover };
})();
