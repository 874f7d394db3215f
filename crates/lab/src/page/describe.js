// @ts-check
// Text description of a chart, for screen readers.

const describe = (() => {
  // Above this number of lines, only the best and the worst are listed.
  const FEW = 6;

  function ranking(entries, better) {
    const sign = better === "higher" ? -1 : 1;
    const sorted = entries.filter((entry) => format.isNumber(entry.median)).sort((a, b) => sign * (a.median - b.median));
    const said = sorted.map((entry) => entry.words);
    if (said.length <= FEW) return said.join(", ");
    return [...said.slice(0, FEW - 1), "…", said.at(-1)].join(", ");
  }

  function chart(experiment, shown, state, figure) {
    const visible = shown.filter((one) => !state.hidden.has(one.name));
    const subject = figure.swept ? `${figure.label} against ${experiment.x?.label || "x"}` : figure.label;
    const share = state.mode ? `, as ${relative.name(state.mode, figure.better)}` : "";
    const last = parts.extent(visible.flatMap((one) => one.points.map((point) => point.x)))[1];
    const entries = visible.map((one) => {
      const point = figure.swept ? one.points.find((each) => each.x === last) : one.bar;
      return { median: point?.median, words: `${one.name} ${format.value(point?.median, figure.unit)}` };
    });
    const at = figure.swept && Number.isFinite(last) ? `At ${experiment.x?.param || "x"} = ${format.whole(last)}, from` : "From";
    const ranked = visible.length > 0 ? ` ${at} best to worst: ${ranking(entries, figure.better)}.` : " Every line is hidden.";
    return `Chart of ${experiment.title}: ${subject}${share}.${ranked} The table of figures below says the same.`;
  }

  return { chart };
})();
