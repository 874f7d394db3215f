// Tables: one that sorts by its headings, and the plain tables of figures.

const table = (() => {
  // A column is { title, cell(row), sort(row), class }. Without `sort` its
  // heading is plain text. Rows without a value go last either way round.
  function sortable(caption, columns, rows) {
    const body = h("tbody", {});
    const heads = columns.map((column, at) => {
      if (!column.sort) return h("th", { scope: "col", class: column.class }, column.title);
      return h("th", { scope: "col", class: column.class, "aria-sort": "none" },
        h("button", { type: "button", class: "sort", click: () => order(at) }, column.title,
          h("span", { class: "sort-mark", "aria-hidden": "true" })));
    });
    const lines = rows.map((row) => ({
      row, element: h("tr", {}, columns.map((column, at) => h(at === 0 ? "th" : "td",
        { class: column.class, scope: at === 0 ? "row" : null }, column.cell(row)))),
    }));
    body.append(...lines.map((line) => line.element));

    function order(at) {
      const descending = heads[at].getAttribute("aria-sort") === "ascending";
      heads.forEach((head, other) => {
        if (head.hasAttribute("aria-sort")) head.setAttribute("aria-sort", "none");
        if (other === at) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      });
      const key = (line) => columns[at].sort(line.row);
      const missing = (value) => value === null || value === undefined || value === "";
      const sorted = [...lines].sort((a, b) => {
        const [one, other] = [key(a), key(b)];
        if (missing(one) || missing(other)) return missing(one) - missing(other);
        const way = typeof one === "number" ? one - other : String(one).localeCompare(String(other));
        return descending ? -way : way;
      });
      body.append(...sorted.map((line) => line.element));
    }

    return h("table", { class: "sortable" }, h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, heads)), body);
  }

  // The heading can stick to the window only while the table fits its region;
  // a wider one scrolls in the region, and the heading sticks to that.
  function sticky(region) {
    const inner = region.firstElementChild;
    new ResizeObserver(() => {
      region.classList.toggle("fits", inner.offsetWidth <= region.clientWidth);
    }).observe(region);
    return region;
  }

  function plain(caption, titles, rows) {
    return h("table", {},
      h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col", class: title.class }, title.name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => h(at === 0 ? "th" : "td",
        { class: titles[at].class, scope: at === 0 ? "row" : null }, cell))))));
  }

  function named(one) {
    return h("span", { class: "named" }, palette.swatch(one.contender, one.secondary), one.name);
  }

  // Everything that was measured in an experiment, a row for each result.
  function figures(experiment, all) {
    const swept = experiment.results.some((result) => result.x !== null);
    // What was measured, with the words among its parameters: "time per step (remote)".
    const measured = (result) => {
      const words = Object.entries(result.params).filter(([name, value]) => name !== "variant" && typeof value === "string");
      return [result.metric, ...words.map(([, value]) => `(${value})`)].join(" ");
    };
    const metrics = new Set(experiment.results.map(measured)).size > 1;
    const titles = [
      { name: "Contender" },
      metrics ? { name: "Figure" } : null,
      swept ? { name: experiment.x?.param || "x", class: "number" } : null,
      { name: "Median", class: "number" }, { name: "95 % interval", class: "number" },
      { name: "Samples", class: "number" },
    ];
    const keep = titles.map((title) => title !== null);
    const rows = all.flatMap((one) => one.results.map((result) => [
      named(one), measured(result),
      result.x === null ? (result.fit ? "line" : "") : format.whole(result.x),
      format.value(result.median, result.unit),
      format.interval(result.low, result.high, result.unit, result.median),
      result.samples.length > 0 ? format.whole(result.samples.length) : "–",
    ].filter((_, at) => keep[at])));
    return plain(`Figures of ${experiment.title}`, titles.filter((title) => title !== null), rows);
  }

  // The lines of best fit of a sweep, or nothing where there are none.
  function fits(experiment, all) {
    const fitted = all.filter((one) => one.line);
    if (fitted.length === 0) return null;
    const unit = experiment.y.unit;
    const each = `per unit of ${experiment.x?.param || "x"}`;
    const rows = fitted.map((one) => {
      const { fit } = one.line;
      return [
        named(one), format.value(fit.slope, unit),
        format.interval(fit.slope_low, fit.slope_high, unit, fit.slope),
        format.value(fit.intercept, unit),
        format.interval(fit.intercept_low, fit.intercept_high, unit, fit.intercept),
        format.isNumber(fit.r2) ? format.share(fit.r2) : "–",
      ];
    });
    return h("div", { class: "fits" },
      h("h3", {}, "Lines of best fit"),
      scroller(`Lines of best fit of ${experiment.title}`, plain(`Lines of best fit of ${experiment.title}`, [
        { name: "Contender" }, { name: `Slope ${each}`, class: "number" }, { name: "95 % interval", class: "number" },
        { name: "Intercept", class: "number" }, { name: "95 % interval", class: "number" }, { name: "R²", class: "number" },
      ], rows)));
  }

  return { sortable, sticky, plain, named, figures, fits };
})();
