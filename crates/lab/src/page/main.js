// @ts-check
// Assembles the page, and marks it as ready when it is drawn.

(async () => {
  const stored = JSON.parse(await unpacked("purlin-results"));
  document.body.append(h("script", {}, await unpacked("purlin-library")));
  let report = model.read(stored);

  function link(experiment, fallback) {
    return experiment ? h("a", { href: `#${experiment.anchor}` }, experiment.title) : fallback;
  }

  // Anchors are derived from ids, which may contain any characters and may collide.
  function anchors() {
    report.experiments.forEach((experiment, at) => {
      const plain = experiment.id.toLowerCase().replace(/[^a-z0-9]+/g, "-");
      const twin = report.experiments.findIndex((other) => other.anchor === `experiment-${plain}`) >= 0;
      experiment.anchor = plain && plain !== "-" && !twin ? `experiment-${plain}` : `experiment-${at + 1}`;
    });
  }

  // If a part fails, a message replaces it and the other parts are drawn.
  function part(place, name, build) {
    try {
      const made = build();
      if (made) byId(place).append(made);
    } catch (error) {
      console.error(error);
      byId(place).append(h("p", { class: "notice" }, `${name} could not be drawn: ${error.message}`));
    }
  }

  function contents() {
    const entries = [
      ["ratios", "Ratios"],
      ["control", "Control"],
      ["ladder", "Then and now"],
      ["contenders-title", "Contenders"],
    ].filter(([id]) => byId(id));
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

  // Rebuilds everything that depends on the results.
  function build() {
    fullScreen.uncover();
    chart.endAll();
    for (const place of ["contents", "lead", "machine", "trouble", "summary", "contenders", "experiments"]) byId(place).replaceChildren();
    anchors();
    byId("lead").append(...summary.lead(report).map((words) => h("span", {}, words)));
    for (const file of report.files) part("machine", "The machine", () => summary.machine(file, report.files.length > 1));
    part("trouble", "The list of warnings", () => summary.warnings(report, link));
    part("trouble", "The list of problems", () => summary.trouble(report, link));
    part("summary", "The table of ratios", () => summary.ratios(report, link));
    part("summary", "The control", () => standing.controls(report));
    part("summary", "The ladder", () => ladder.build(report));
    part("contenders", "The list of contenders", () => summary.contenders(report));
    for (const experiment of report.experiments) {
      part("experiments", experiment.title, () => section.build(experiment, report, experiment.anchor));
    }
    contents();
    chart.startAll();
  }

  // The browser cannot resolve an anchor with settings, because no element has that name.
  function follow() {
    const anchor = view.read(location.hash);
    theme.take();
    chart.reviewAll();
    if (location.hash.includes("?")) byId(anchor)?.scrollIntoView();
  }

  // A link within the page contains only an anchor; the settings are appended to it again.
  window.addEventListener("hashchange", () => {
    if (location.hash.includes("?")) follow();
    else view.keep();
  });

  // Draws added results together with those of the page, and keeps the scroll position.
  function join(added) {
    const place = window.scrollY;
    report = model.read([...stored, ...added]);
    build();
    window.scrollTo(0, place);
  }

  view.read(location.hash);
  theme.start(chart.redrawAll);
  build();
  others.start(join);
  byId("download").addEventListener("click", download);
  byId("download").before(links.button("", "Copy link", "A link to this page as it is shown now"));
  printing.start();
  // The browser resolved the anchor, or restored the scroll position, before the content existed.
  if (view.place()) window.scrollTo(0, view.place());
  else if (location.hash) byId(view.read(location.hash))?.scrollIntoView();
  document.addEventListener("scrollend", view.stay);
  window.purlinReport = { ready: true, charts: chart.drawn };
})()
  .catch((error) => {
    console.error(error);
    byId("trouble").append(h("p", { class: "notice" }, `Nothing is drawn: ${error.message}.`));
  })
  .finally(() => {
    document.documentElement.dataset.ready = "true";
  });
