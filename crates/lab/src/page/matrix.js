// @ts-check
// Overview of all ratios: one row per experiment, one column per contender, and a deeper colour for
// ratios farther from 1. The ratios of a contender's other variants are listed below its own.

const matrix = (() => {
  // Ratio from which the colour has its full depth.
  const DEEPEST = 20;

  function cell(all) {
    const ratio = all.find((one) => one.variant === "");
    if (!ratio) return h("td", { class: "number none" }, "–");
    const depth = Math.min(1, Math.abs(Math.log(ratio.value)) / Math.log(DEEPEST));
    const made = h(
      "td",
      {
        class: `number tint ${ratio.verdict || "indistinguishable"}`,
        title: `${ratio.contender?.label}: ${table.words(ratio)}, 95 %: ${format.interval(ratio.low, ratio.high, "", ratio.value)}`,
      },
      format.ratio(ratio.value),
      h("span", { class: "unseen" }, ` ${table.words(ratio)}`),
      all
        .filter((one) => one !== ratio)
        .map((one) => h("small", {}, `${one.variant} ${format.ratio(one.value)}`, h("span", { class: "unseen" }, ` ${table.words(one)}`))),
    );
    made.style.setProperty("--depth", `${Math.round(8 + depth * 52)}%`);
    return made;
  }

  // Returns null if a table would add nothing to the list of ratios.
  function build(report, link) {
    const rows = report.experiments.filter((experiment) => report.ratios.some((ratio) => ratio.experiment === experiment));
    const columns = report.contenders.filter((contender) => report.ratios.some((ratio) => ratio.contender === contender));
    const against = new Set(report.ratios.map((ratio) => ratio.against));
    if (rows.length < 2 || columns.length < 2 || against.size !== 1) return null;
    const caption = `Ratios to ${[...against][0]?.label || "the other"} at a glance`;
    return scroller(
      caption,
      h(
        "table",
        { class: "matrix" },
        h("caption", { class: "unseen" }, caption),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "Experiment"),
            columns.map((contender) =>
              h(
                "th",
                { scope: "col", class: "number" },
                palette.swatch(contender, false),
                contender.label,
                h("small", { class: "version" }, contender.version.split(",")[0]),
              ),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((experiment) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, link(experiment)),
              columns.map((contender) =>
                cell(report.ratios.filter((ratio) => ratio.experiment === experiment && ratio.contender === contender)),
              ),
            ),
          ),
        ),
      ),
    );
  }

  return { build };
})();
