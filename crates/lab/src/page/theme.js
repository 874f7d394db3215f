// @ts-check
// Dark or light theme: from the link, from the reader's last choice, or from the system.

const theme = (() => {
  // A page opened from disk may have no storage; the choice then lasts as long as the page.
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

  // Applies the theme of the link, or else the stored choice.
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
