// @ts-check
// Sortable tables, and the table of an experiment's figures.

const table = (() => {
  // Above this number of rows, the rest is shown on request.
  const MANY = 300;

  // A column is { title, cell(row), sort(row), class }. Without `sort` its heading is plain text.
  // Rows without a value come last in both directions.
  function sortable(caption, columns, rows) {
    const body = h("tbody", {});
    const heads = columns.map((column, at) => {
      if (!column.sort) return h("th", { scope: "col", class: column.class }, column.title);
      return h(
        "th",
        { scope: "col", class: column.class, "aria-sort": "none" },
        h(
          "button",
          { type: "button", class: "sort", click: () => order(at) },
          column.title,
          h("span", { class: "sort-mark", "aria-hidden": "true" }),
        ),
      );
    });
    let lines = rows.map((row) => ({ row, element: null }));
    let limit = MANY;
    const more = h("button", {
      type: "button",
      class: "switch",
      click: () => {
        limit = Infinity;
        show();
      },
    });

    function element(line) {
      line.element ||= h(
        "tr",
        {},
        columns.map((column, at) =>
          h(at === 0 ? "th" : "td", { class: column.class, scope: at === 0 ? "row" : null }, column.cell(line.row)),
        ),
      );
      return line.element;
    }

    function show() {
      body.replaceChildren(...lines.slice(0, limit).map(element));
      more.hidden = lines.length <= limit;
      more.textContent = `Show all ${plural(lines.length, "row")}; these are the first ${MANY}`;
    }

    function order(at) {
      const descending = heads[at].getAttribute("aria-sort") === "ascending";
      heads.forEach((head, other) => {
        if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
        if (other === at) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      });
      const missing = (value) => value === null || value === undefined || value === "";
      const keyed = lines.map((line) => ({ line, key: columns[at].sort(line.row) }));
      const collate = new Intl.Collator("en", { numeric: true }).compare;
      keyed.sort((a, b) => {
        if (missing(a.key) || missing(b.key)) return Number(missing(a.key)) - Number(missing(b.key));
        const way = typeof a.key === "number" ? a.key - b.key : collate(String(a.key), String(b.key));
        return descending ? -way : way;
      });
      lines = keyed.map((entry) => entry.line);
      show();
    }

    show();
    return h(
      "table",
      { class: "sortable" },
      h("caption", { class: lines.length > MANY ? "more" : "unseen" }, h("span", { class: "unseen" }, caption), more),
      h("thead", {}, h("tr", {}, heads)),
      body,
    );
  }

  // A heading can stick to the window only if the table fits its region; a wider table scrolls
  // within the region, and its heading sticks to that.
  function sticky(region) {
    const inner = region.firstElementChild;
    new ResizeObserver(() => {
      region.classList.toggle("fits", inner.offsetWidth <= region.clientWidth);
    }).observe(region);
    return region;
  }

  function named(one) {
    return h("span", { class: "named" }, palette.swatch(one.contender, one.secondary), one.name);
  }

  // Returns the metric with the textual parameters: "time per step (remote)".
  function measured(result) {
    const words = Object.entries(result.params).filter(
      ([name, value]) =>
        (!["variant", "mode", "spawn_options"].includes(name) || !result.graph) && name !== "variant" && typeof value === "string",
    );
    return [result.metric, ...words.map(([, value]) => `(${value})`)].join(" ");
  }

  // Converts times to one unit, so that they sort by size.
  function size(value, unit) {
    return format.isNumber(value) ? value * format.conversion(unit, "ns") : null;
  }

  // Table of all figures of an experiment, one row per result.
  function figures(experiment, all, ratios) {
    const rows = all.flatMap((one) => one.results.map((result) => ({ one, result, figure: measured(result) })));
    const swept = rows.some(({ result }) => result.x !== null);
    const end = spread.reach(rows.map(({ result }) => result));
    const ratio = ({ result }) => ratios.find((each) => each.mine === result);
    const compared = rows.some((row) => ratio(row));
    const number = { class: "number" };
    const columns = [
      { title: "Contender", cell: ({ one }) => named(one), sort: ({ one }) => one.name },
      experiment.graphs.length > 0 && {
        title: "Graph",
        cell: ({ result }) => graphs.words(result.graph),
        sort: ({ result }) => graphs.words(result.graph),
      },
      new Set(rows.map((row) => row.figure)).size > 1 && { title: "Figure", cell: (row) => row.figure, sort: (row) => row.figure },
      swept && {
        title: experiment.x?.param || "x",
        ...number,
        cell: ({ result }) => (result.x === null ? (result.fit ? "line" : "") : format.whole(result.x)),
        sort: ({ result }) => result.x,
      },
      {
        title: "Median",
        ...number,
        cell: ({ result }) => format.value(result.median, result.unit),
        sort: ({ result }) => size(result.median, result.unit),
      },
      {
        title: "95 % interval",
        ...number,
        cell: ({ result }) => format.interval(result.low, result.high, result.unit, result.median),
        sort: ({ result }) => (result.median ? (result.high - result.low) / Math.abs(result.median) : null),
      },
      compared && {
        title: "Ratio",
        ...number,
        cell: (row) => (ratio(row) ? format.ratio(ratio(row).value) : ""),
        sort: (row) => (ratio(row) ? ratio(row).value : null),
      },
      compared && {
        title: "Reading",
        cell: (row) => (ratio(row) ? verdict(ratio(row)) : ""),
        sort: (row) => (ratio(row) ? words(ratio(row)) : null),
        class: "reading",
      },
      end !== null && {
        title: `Spread, ±${format.whole(end * 100)}\u00a0%`,
        class: "strip-cell",
        cell: ({ result }) => spread.strip(result, end),
        sort: ({ result }) => (result.samples.length > 1 ? spread.range(result) : null),
      },
      {
        title: "Samples",
        ...number,
        cell: ({ result }) => (result.samples.length > 0 ? format.whole(result.samples.length) : "–"),
        sort: ({ result }) => result.samples.length,
      },
    ].filter(Boolean);
    return sortable(`Figures of ${experiment.title}`, columns, rows);
  }

  // Returns the verdict of a ratio in words.
  function words(ratio) {
    if (ratio.verdict === "") return "not judged";
    const joint = ratio.verdict === "indistinguishable" ? "from" : "than";
    return `${ratio.verdict} ${joint} ${ratio.against?.label || "the other"}`;
  }

  function verdict(ratio) {
    return h("span", { class: ratio.verdict === "indistinguishable" ? "equal" : null }, words(ratio));
  }

  // Table of the lines of best fit of a sweep; null if the experiment has no lines.
  function fits(experiment, all) {
    const rows = all.filter((one) => one.line);
    if (rows.length === 0) return null;
    const unit = experiment.y.unit;
    const column = (title, name, more) => ({
      title,
      class: "number",
      sort: (one) => one.line.fit[name],
      cell: (one) => format.value(one.line.fit[name], unit),
      ...more,
    });
    const interval = (name) => ({
      title: "95 % interval",
      class: "number",
      cell: ({ line: { fit } }) => format.interval(fit[`${name}_low`], fit[`${name}_high`], unit, fit[name]),
    });
    const caption = `Lines of best fit of ${experiment.title}`;
    return h(
      "div",
      { class: "fits" },
      h("h3", {}, "Lines of best fit"),
      scroller(
        caption,
        sortable(
          caption,
          [
            { title: "Contender", cell: named, sort: (one) => one.name },
            column(`Slope per unit of ${experiment.x?.param || "x"}`, "slope"),
            interval("slope"),
            column("Intercept", "intercept"),
            interval("intercept"),
            column("R²", "r2", { cell: ({ line: { fit } }) => (format.isNumber(fit.r2) ? format.share(fit.r2) : "–") }),
          ],
          rows,
        ),
      ),
    );
  }

  return { sortable, sticky, named, figures, fits, words, verdict };
})();
