// @ts-check
// Standing of the reference: where it is behind and where it is ahead, in the same words; links to
// the sources of both programs; and the control.

const standing = (() => {
  // Returns a link to the file in which a contender runs an experiment. The stored page of a run lies
  // two folders below the root of the repository.
  function source(contender, id) {
    const path = contender?.sources[id];
    const plain = typeof path === "string" && /^contenders\/[\w./-]+$/.test(path) && !path.includes("..");
    return plain ? h("a", { href: `../../${path}`, title: path }, contender.name) : null;
  }

  // Returns links to the sources of both programs of a ratio.
  function sources(ratio) {
    const both = [source(ratio.contender, ratio.id), source(ratio.against, ratio.id)].filter((one) => one !== null);
    return both.length === 0
      ? "–"
      : h(
          "span",
          { class: "sources" },
          both.flatMap((one, at) => (at > 0 ? [" and ", one] : [one])),
        );
  }

  // Returns one line per experiment; each name is a link to the program's source, if it is known.
  function line(ratios, link) {
    const [{ experiment, id, against }] = ratios;
    const named = (contender, name) => source(contender, id) || name;
    const each = ratios.flatMap((ratio, at) => [
      at > 0 ? ", " : "",
      named(ratio.contender, ratio.contender?.label || "the other"),
      ratio.variant ? ` · ${ratio.variant}` : "",
      ` ${format.ratio(ratio.value)}`,
    ]);
    return h("li", {}, link(experiment, id), " (", named(against, against?.label || "the other"), "): ", each);
  }

  function side(name, words, ratios, link) {
    const heading = h("h3", {}, `${name} is ${words} in ${plural(ratios.length, "comparison")}`);
    const ids = [...new Set(ratios.map((ratio) => ratio.id))];
    const all = ids.map((id) =>
      line(
        ratios.filter((ratio) => ratio.id === id),
        link,
      ),
    );
    return [heading, all.length === 0 ? null : h("ul", { class: "standing" }, all)];
  }

  // Lists the comparisons in which each reference is behind and ahead; `better` is the verdict on
  // the other contender.
  function lists(report, link) {
    const references = [...new Set(report.ratios.map((ratio) => ratio.against))];
    return references.flatMap((against) => {
      const own = (verdict) => report.ratios.filter((ratio) => ratio.against === against && ratio.verdict === verdict);
      const name = against?.label || "the other";
      const equal = own("indistinguishable");
      const tied = equal.length === 0 ? null : h("p", {}, `${name} is indistinguishable in ${plural(equal.length, "comparison")}.`);
      return [...side(name, "behind", own("better"), link), ...side(name, "ahead", own("worse"), link), tied];
    });
  }

  function control(one) {
    const differing = one.ratios.filter((ratio) => ["better", "worse"].includes(ratio.verdict)).length;
    const judged =
      one.ratios.length === 0 ? "too few rounds to judge" : `${differing} of ${plural(one.ratios.length, "comparison")} called different`;
    const columns = [
      { title: "Contender", cell: (row) => row.name, sort: (row) => row.name },
      { title: "Against", cell: (row) => row.against?.label || "–", sort: (row) => row.against?.label },
      { title: "Ratio", class: "number strong", cell: (row) => format.ratio(row.value), sort: (row) => row.value },
      {
        title: "95 % interval",
        class: "number",
        cell: (row) => (row.low === null || row.high === null ? "–" : format.interval(row.low, row.high, "", row.value)),
      },
      { title: "Reading", cell: table.verdict, sort: table.words },
    ];
    const caption = "Ratios of the control";
    return [
      h(
        "p",
        {},
        `${one.labels.join(", ")} run the same function in ${one.experiment}: medians within ${format.ratio(one.spread)}, ${judged}. `,
        "What differs there is the programs, not the runtimes: the place of the code, and what else the machine did. Do not ascribe smaller differences of short loops to a runtime.",
      ),
      one.ratios.length === 0 ? null : fold(caption, false, () => scroller(caption, table.sortable(caption, columns, one.ratios))),
    ];
  }

  // Returns null if no contenders of the report run the same function.
  function controls(report) {
    if (report.controls.length === 0) return null;
    return h("section", {}, h("h2", { id: "control" }, "Control"), report.controls.flatMap(control));
  }

  return { sources, lists, controls };
})();
