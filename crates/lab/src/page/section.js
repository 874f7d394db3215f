// @ts-check
// Section of an experiment: description, parameters, chart and figures.

const section = (() => {
  // Tables with more rows than this are folded at first.
  const FEW = 8;
  const EQUALS = "\u00a0=\u00a0";

  function parameters(experiment) {
    const seen = new Map();
    for (const result of experiment.results) {
      for (const [name, value] of Object.entries(result.params)) {
        if (name === "variant") continue;
        if (!seen.has(name)) seen.set(name, new Set());
        seen.get(name).add(typeof value === "number" ? value : model.text(value));
      }
    }
    return [...seen].map(([name, values]) => {
      const all = [...values];
      if (all.length > 1 && all.every(format.isNumber)) {
        return `${name}${EQUALS}${parts.extent(all).map(format.whole).join("\u00a0…\u00a0")}`;
      }
      return `${name}${EQUALS}${all.map((value) => (format.isNumber(value) ? format.whole(value) : value)).join(", ")}`;
    });
  }

  function run(experiment) {
    const counts = experiment.results.map((result) => result.samples.length).filter((count) => count > 0);
    const [least, most] = parts.extent(counts);
    const samples = counts.length === 0 ? "" : least === most ? plural(most, "sample") : `${least}–${most} samples`;
    const each = experiment.x ? " a point" : "";
    const better = experiment.better ? `${experiment.better} is better` : "";
    return [samples ? samples + each : "", ...parameters(experiment), better].filter((part) => part !== "").join(" · ");
  }

  function notes(experiment) {
    if (experiment.notes.length === 0) return null;
    return h(
      "details",
      {},
      h("summary", {}, "Notes"),
      h(
        "ul",
        {},
        experiment.notes.map((note) => h("li", {}, note)),
      ),
    );
  }

  // Contenders without a figure where that is not an error: they starve, or do not offer the
  // experiment.
  function absences(experiment) {
    return experiment.absences.map((one) => h("p", { class: "hint" }, `${one.contender} ${one.message}.`));
  }

  function build(experiment, report, anchor) {
    const all = series.of(experiment, report.contenders, "", null);
    const how = run(experiment);
    const rows = experiment.results.length;
    return h(
      "section",
      { class: "experiment", "aria-labelledby": anchor },
      h("h2", { id: anchor }, experiment.title, experiment.id && experiment.id !== experiment.title ? h("code", {}, experiment.id) : null),
      experiment.what ? h("p", {}, experiment.what) : null,
      how ? h("p", { class: "how" }, how) : null,
      rows === 0
        ? h("p", { class: "hint" }, "No valid result.")
        : chart.figure(experiment, report.contenders) || h("p", { class: "hint" }, "Nothing here can be drawn; the figures are below."),
      absences(experiment),
      table.fits(experiment, all),
      rows === 0
        ? null
        : fold(`Table of figures (${plural(rows, "row")})`, rows <= FEW, () =>
            scroller(`Figures of ${experiment.title}`, table.figures(experiment, all, report.ratios)),
          ),
      notes(experiment),
    );
  }

  return { build };
})();
