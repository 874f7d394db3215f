// @ts-check
// Top of the page: run and machine, problems, and the table of ratios.

const summary = (() => {
  // Above this number of ratios, their table is folded below the matrix.
  const FEW = 24;

  // A ratio and its interval on a logarithmic scale shared by all rows.
  function forest(ratio, ends) {
    const width = 88;
    const [first, last] = ends.map(Math.log);
    const place = (value) => width * Math.min(Math.max((Math.log(value) - first) / (last - first), 0), 1);
    const children = [svg("line", { class: "forest-one", x1: place(1), x2: place(1), y1: -10, y2: 10 })];
    if (ratio.low > 0 && ratio.high > 0) {
      children.push(svg("line", { class: "forest-range", x1: place(ratio.low), x2: place(ratio.high), y1: 0, y2: 0 }));
    }
    children.push(svg("circle", { class: "forest-dot", cx: place(ratio.value), cy: 0, r: 3.5 }));
    return svg(
      "svg",
      {
        class: "forest",
        viewBox: `-4 -10 ${width + 8} 20`,
        width: width + 8,
        height: 20,
        "aria-hidden": "true",
      },
      children,
    );
  }

  function figure(result) {
    return result ? format.value(result.median, result.unit) : "–";
  }

  function ratios(report, link) {
    const rows = report.ratios;
    const heading = h("h2", { id: "ratios" }, "Ratios");
    if (rows.length === 0) {
      return h("section", {}, heading, h("p", {}, "There is no ratio: no two contenders have a primary metric for the same experiment."));
    }
    const values = rows.flatMap((row) => [row.value, row.low, row.high]).filter((value) => value > 0);
    const ends = [Math.min(0.8, ...values), Math.max(1.25, ...values)];
    const others = new Set(rows.map((row) => row.against?.name || "the other"));
    const against = others.size === 1 ? [...others][0] : "the other";
    const glance = matrix.build(report, link);
    const columns = [
      { title: "Experiment", cell: (row) => link(row.experiment, row.id), sort: (row) => row.experiment?.title || row.id },
      {
        title: "Contender",
        sort: (row) => row.name,
        cell: (row) => (row.contender ? table.named({ contender: row.contender, name: row.name, secondary: row.variant !== "" }) : "–"),
      },
      { title: "Ratio", class: "number strong", cell: (row) => format.ratio(row.value), sort: (row) => row.value },
      {
        title: "95 % interval",
        class: "number",
        cell: (row) => (row.low === null || row.high === null ? "–" : format.interval(row.low, row.high, "", row.value)),
      },
      { title: "Log scale", class: "forest-cell", cell: (row) => forest(row, ends) },
      { title: "Reading", cell: table.verdict, sort: table.words },
      { title: "Sources", cell: standing.sources },
      {
        title: others.size === 1 ? `Its figure and ${against}’s` : "The two figures",
        cell: (row) =>
          `${figure(row.mine)} against ${others.size === 1 ? "" : `${row.against?.name || "the other"}’s `}${figure(row.theirs)}`,
      },
    ];
    return h(
      "section",
      {},
      heading,
      h(
        "p",
        {},
        `How many times as much a contender costs as ${against}: the median of the rounds’ ratios. Above 1 it costs more, below 1 less. `,
        "Two contenders are indistinguishable if the interval includes 1, if the ratio is off by less than 2 %, or if the difference is not among those that remain when all ratios of the run are tested together, ",
        "of which at most one in twenty is due to chance. Fewer than six common rounds have no ratio.",
      ),
      glance,
      standing.lists(report, link),
      fold(`Every ratio with its interval (${plural(rows.length, "row")})`, !glance || rows.length <= FEW, () =>
        table.sticky(scroller("Table of ratios", table.sortable("Ratios by experiment and contender", columns, rows))),
      ),
    );
  }

  function trouble(report, link) {
    if (report.invalid.length + report.problems.length === 0) return null;
    const title = (id) =>
      link(
        report.experiments.find((experiment) => experiment.id === id),
        id || "the whole run",
      );
    const given = (params) =>
      Object.entries(params)
        .map(([name, value]) => `${name} = ${format.isNumber(value) ? format.whole(value) : model.text(value)}`)
        .join(", ");
    const group = (heading, lines) => (lines.length === 0 ? null : [h("h3", {}, heading), h("ul", {}, lines)]);
    return h(
      "section",
      { class: "notice", "aria-labelledby": "trouble-title" },
      h("h2", { id: "trouble-title" }, "What went wrong"),
      group(
        `${plural(report.problems.length, "problem")}`,
        report.problems.map((one) =>
          h("li", {}, title(one.experiment), one.contender ? `, ${one.contender}: ` : ": ", one.message || "no message"),
        ),
      ),
      group(
        `${plural(report.invalid.length, "invalid sample")}, stored and not counted`,
        report.invalid.map((one) =>
          h(
            "li",
            {},
            title(one.experiment),
            `, ${one.contender || "unknown contender"}`,
            one.round === null ? "" : `, round ${format.whole(one.round)}`,
            Object.keys(one.params).length > 0 ? ` (${given(one.params)})` : "",
            `: ${one.reason || "no reason given"}`,
          ),
        ),
      ),
    );
  }

  // Warnings of one kind are grouped, with their advice once; large groups are folded.
  const MANY = 4;

  function warnings(report, link) {
    if (report.warnings.length === 0) return null;
    const kinds = new Map();
    for (const one of report.warnings) {
      const key = JSON.stringify([one.kind, one.advice]);
      kinds.set(key, [...(kinds.get(key) || []), one]);
    }
    return h(
      "section",
      { class: "notice", "aria-labelledby": "warnings-title" },
      h("h2", { id: "warnings-title" }, "Read with care"),
      [...kinds.values()].map((group) => {
        const [{ kind, advice }] = group;
        if (group.length < MANY) return warned(report, link, group, advice);
        return fold(`${group.length} × ${kind}${advice ? `: ${advice}` : ""}`, false, () => warned(report, link, group, ""));
      }),
    );
  }

  function warned(report, link, group, advice) {
    return h(
      "ul",
      {},
      group.map((one, at) => {
        const experiment = report.experiments.find((known) => known.id === one.experiment);
        const subject = [one.experiment ? link(experiment, one.experiment) : null, one.contender].filter(Boolean);
        const known = `${one.experiment}: `;
        const message = one.experiment && one.message.startsWith(known) ? one.message.slice(known.length) : one.message;
        return h(
          "li",
          {},
          subject.flatMap((part, at) => (at > 0 ? [", ", part] : [part])),
          subject.length > 0 ? ": " : "",
          message,
          advice && at === group.length - 1 ? h("span", { class: "advice" }, ` ${advice}`) : null,
        );
      }),
    );
  }

  function lead(report) {
    if (report.files.length === 0) return ["No results were given to this page."];
    const measured = report.experiments.filter((experiment) => experiment.results.length > 0).length;
    const when = report.files.map((file) => format.moment(file.started)).filter((moment) => moment !== "");
    const took = report.files.length === 1 ? format.duration(report.files[0].seconds) : "";
    return [
      `${plural(measured, "experiment")} on ${plural(report.contenders.length, "contender")}`,
      when.join(" and "),
      took ? `in ${took}` : "",
    ].filter((part) => part !== "");
  }

  function machine(file, several) {
    const host = file.host && typeof file.host === "object" ? file.host : {};
    const tool = [model.text(file.tool?.name), model.text(file.tool?.version)].join(" ").trim();
    /** @type {[string, string[]][]} */
    const entries = [
      ["Machine", [model.text(host.cpu), format.isNumber(host.cores) ? plural(host.cores, "core") : "", format.bytes(host.memory_bytes)]],
      ["System", [model.text(host.os), model.text(host.kernel), host.virtual === true ? "virtual machine" : ""]],
      ["Load before", [format.isNumber(host.load_before) ? host.load_before.toFixed(2) : ""]],
      ["Profile", [model.text(file.profile)]],
      ["Seed", [model.text(file.seed)]],
      ["Measured by", [tool]],
    ];
    const said = entries.map(([name, parts]) => [name, parts.filter((part) => part !== "").join(", ")]).filter(([, words]) => words !== "");
    if (several && !file.started) said.length = 0;
    const when = format.moment(file.started);
    if (several) said.unshift(["Run of", when || tool || "unknown time"]);
    return h("div", { class: "machine" }, facts.list(said), how(file, host));
  }

  // How the run was measured, and the fitness of the machine, as far as the file contains it.
  function how(file, host) {
    const groups = [
      ["The machine before and during the run", facts.of(host.fitness)],
      ["The instrument", facts.of(file.instrument)],
    ].filter(([, pairs]) => pairs.length > 0);
    const profile = model.text(file.profile);
    if (!profile && groups.length === 0) return null;
    return fold("How it was measured", false, () =>
      [
        profile
          ? h(
              "p",
              {},
              "Every contender is a program of its own, asked over a pipe, and reads its own clock around the work alone. ",
              "Contenders take turns in an order drawn by the seed, so that a machine that drifts does so for all of them. A sample that lost a message is invalid. ",
              "To run it again: ",
              h("code", {}, `purlin lab run --profile ${profile}${file.seed === undefined ? "" : ` --seed ${file.seed}`}`),
            )
          : null,
        ...groups.flatMap(([title, pairs]) => [h("h3", {}, title), facts.list(pairs)]),
      ].filter((part) => part !== null),
    );
  }

  function contenders(report) {
    if (report.contenders.length === 0) return null;
    return h(
      "section",
      {},
      h("h2", { id: "contenders-title" }, "Contenders"),
      h(
        "div",
        { class: "cards" },
        report.contenders.map((contender) =>
          h(
            "div",
            { class: "card" },
            h("h3", {}, palette.swatch(contender, false), contender.label),
            contender.version ? h("p", { class: "version" }, contender.version) : null,
            contender.notes.length > 0
              ? h(
                  "ul",
                  {},
                  contender.notes.map((note) => h("li", {}, note)),
                )
              : null,
          ),
        ),
      ),
    );
  }

  return { ratios, trouble, warnings, lead, machine, contenders };
})();
