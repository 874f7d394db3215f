// Puts the page together and says when it is drawn.

(() => {
  const stored = JSON.parse(byId("purlin-results").textContent);
  const report = model.read(stored);

  function link(experiment, fallback) {
    return experiment ? h("a", { href: `#${experiment.anchor}` }, experiment.title) : fallback;
  }

  // Anchors come from ids, which may hold anything and may collide.
  function anchors() {
    report.experiments.forEach((experiment, at) => {
      const plain = experiment.id.toLowerCase().replace(/[^a-z0-9]+/g, "-");
      const twin = report.experiments.findIndex((other) => other.anchor === `experiment-${plain}`) >= 0;
      experiment.anchor = plain && plain !== "-" && !twin ? `experiment-${plain}` : `experiment-${at + 1}`;
    });
  }

  // A part that fails is named in its place; the others are drawn all the same.
  function part(place, name, build) {
    try {
      const made = build();
      if (made) place.append(made);
    } catch (error) {
      console.error(error);
      place.append(h("p", { class: "notice" }, `${name} could not be drawn: ${error.message}`));
    }
  }

  function contents() {
    const entries = [["ratios", "Ratios"], ["contenders-title", "Contenders"]].filter(([id]) => byId(id));
    byId("contents").append(
      ...entries.map(([id, title]) => h("li", { class: "apart" }, h("a", { href: `#${id}` }, title))),
      ...report.experiments.map((experiment) => h("li", {}, link(experiment))),
    );
  }

  function download() {
    const whole = Array.isArray(stored) && stored.length === 1 ? stored[0] : stored;
    const address = URL.createObjectURL(new Blob([`${JSON.stringify(whole, null, 2)}\n`], { type: "application/json" }));
    h("a", { href: address, download: "purlin-lab.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 0);
  }

  function showTheme() {
    byId("theme").setAttribute("aria-pressed", String(palette.isDark()));
    chart.redrawAll();
  }

  // A page from disk may be refused its storage; then the choice lasts as long as the page.
  function remembered(theme) {
    try {
      if (theme) localStorage.setItem("purlin-theme", theme);
      return localStorage.getItem("purlin-theme");
    } catch {
      return null;
    }
  }

  function themes() {
    const chosen = remembered();
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
    byId("theme").addEventListener("click", () => {
      const theme = palette.isDark() ? "light" : "dark";
      document.documentElement.dataset.theme = theme;
      remembered(theme);
      showTheme();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  }

  // On paper everything is unfolded, dark on white, and as wide as the sheet.
  function printing() {
    const folded = [];
    let theme;
    window.addEventListener("beforeprint", () => {
      theme = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      document.documentElement.classList.add("printing");
      for (const details of document.querySelectorAll("details:not([open])")) {
        details.open = true;
        folded.push(details);
      }
      chart.resizeAll();
      chart.redrawAll();
    });
    window.addEventListener("afterprint", () => {
      if (theme) document.documentElement.dataset.theme = theme;
      else delete document.documentElement.dataset.theme;
      document.documentElement.classList.remove("printing");
      for (const details of folded.splice(0)) details.open = false;
      chart.resizeAll();
      chart.redrawAll();
    });
  }

  anchors();
  themes();
  byId("lead").append(...summary.lead(report).map((words) => h("span", {}, words)));
  for (const file of report.files) part(byId("machine"), "The machine", () => summary.machine(file, report.files.length > 1));
  part(byId("trouble"), "The list of problems", () => summary.trouble(report, link));
  part(byId("summary"), "The table of ratios", () => summary.ratios(report, link));
  part(byId("contenders"), "The list of contenders", () => summary.contenders(report));
  for (const experiment of report.experiments) {
    part(byId("experiments"), experiment.title, () => section.build(experiment, report.contenders, experiment.anchor));
  }
  contents();
  byId("download").addEventListener("click", download);
  printing();
  chart.startAll();
  showTheme();
  window.purlinReport = { ready: true, charts: chart.drawn };
  document.documentElement.dataset.ready = "true";
})();
