// @ts-check
// Dark or light: as the link says, as the reader chose, or as the system is.

const theme = (() => {
  // A page from disk may be refused its storage; then the choice lasts as long as the page.
  function remembered(name) {
    try {
      if (name) localStorage.setItem("purlin-theme", name);
      return localStorage.getItem("purlin-theme");
    } catch {
      return null;
    }
  }

  function show() {
    byId("theme").setAttribute("aria-pressed", String(palette.isDark()));
  }

  // By the link, or else by what was chosen the last time.
  function take() {
    const chosen = view.theme() || remembered();
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
    show();
  }

  function start(changed) {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    byId("theme").addEventListener("click", () => {
      const name = palette.isDark() ? "light" : "dark";
      document.documentElement.dataset.theme = name;
      remembered(name);
      view.chooseTheme((name === "dark") === system.matches ? null : name);
      show();
      changed();
    });
    system.addEventListener("change", () => {
      show();
      changed();
    });
    take();
  }

  return { start, take };
})();
