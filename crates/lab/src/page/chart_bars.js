// @ts-check
// Chart of an experiment without a sweep: one bar per median, with its interval and all samples as
// dots, sorted from best to worst.

const barsChart = (() => {
  // Returns the offset of a sample's dot across its bar: distributed by the golden ratio, which is
  // deterministic.
  function spread(index) {
    return ((index * 0.618034) % 1) - 0.5;
  }

  // Returns the bars to draw, sorted from best to worst: in the figure's unit, or as percentages of
  // the worst or the best.
  function rowsOf(shown, state, figure) {
    const percent =
      state.mode &&
      relative.converter(
        shown.map((one) => one.bar),
        state.mode,
        figure.better,
      );
    const convert = (value) => (percent ? percent(value, null) : value);
    const rows = shown
      .filter((one) => !state.hidden.has(one.name))
      .map((one) => {
        const ends = [convert(one.bar.low), convert(one.bar.high)];
        return {
          series: one,
          bar: one.bar,
          median: convert(one.bar.median),
          low: Math.min(...ends),
          high: Math.max(...ends),
          samples: state.samples ? one.bar.samples.map(convert) : [],
        };
      });
    const sign = figure.better === "higher" ? -1 : 1;
    return rows.sort((a, b) => sign * (a.bar.median - b.bar.median));
  }

  // Two lines: the name, and below it the figure. Braces are removed because the library reads them
  // as style.
  function rowLabel(row, figure, room) {
    const plain = (words) => {
      const clean = words.replace(/[{}|\n]/g, " ");
      return clean.length > room ? `${clean.slice(0, room - 1)}…` : clean;
    };
    return `{name|${plain(row.series.name)}}\n{figure|${plain(format.value(row.bar.median, figure.unit))}}`;
  }

  function option(experiment, shown, state, figure) {
    const ground = palette.ground();
    const unit = parts.scaleOf(
      state.mode ? "%" : figure.unit,
      shown.map((one) => one.bar.median),
    );
    const kept = rowsOf(shown, state, figure);
    const rows = kept.filter((row) => row.median !== null && (!state.xLog || row.median > 0));
    const part = (value) => value / unit.divisor;
    // Number of letters that fit into a third of the chart.
    const room = Math.max(8, Math.floor(state.width / 24));
    const range = state.xLog ? parts.decades(rows.flatMap((row) => [row.low, row.median, row.high, ...row.samples]).map(part)) : {};
    const colours = rows.map((row) => palette.colour(row.series.contender));
    const describe = (item) => {
      const row = rows[item.dataIndex];
      if (!row) return null;
      const { median, low, high, samples } = row.bar;
      const [least, most] = parts.extent(samples);
      return [
        row.series.name,
        state.mode ? `${format.digits(row.median)} ${relative.name(state.mode, figure.better)}` : null,
        `${format.value(median, figure.unit)}, median of ${plural(samples.length, "sample")}`,
        `95 %: ${format.interval(low, high, figure.unit, median)}`,
        samples.length > 0 ? `all: ${format.interval(least, most, figure.unit, median)}` : null,
      ].filter((line) => line !== null);
    };
    const valueAxis = parts.axis(state.xLog ? "log" : "value", parts.title(figure, state, unit), ground, {
      nameGap: 30,
      ...range,
    });
    valueAxis.axisLabel.formatter = parts.tick;
    const names = parts.axis("category", "", ground, { inverse: true, data: rows.map((row) => rowLabel(row, figure, room)) });
    names.splitLine = { show: false };
    names.axisLabel = {
      ...names.axisLabel,
      interval: 0,
      margin: 12,
      hideOverlap: false,
      rich: {
        name: { color: ground.ink, fontWeight: 600, fontSize: 13, lineHeight: 18, align: "right" },
        figure: { color: ground.muted, fontSize: parts.FONT_SIZE, lineHeight: 16, align: "right" },
      },
    };
    return {
      dropped: kept.length - rows.length,
      many: false,
      drawn: rows.map((row) => row.series),
      chart: {
        ...parts.base(ground, describe),
        xAxis: valueAxis,
        yAxis: names,
        series: [
          // A bar starts at zero, which a logarithmic axis does not have.
          state.xLog
            ? null
            : {
                type: "bar",
                barWidth: "52%",
                z: 1,
                data: rows.map((row, at) => ({
                  value: part(row.median),
                  itemStyle: { color: colours[at], opacity: row.series.secondary ? 0.14 : 0.24 },
                })),
              },
          dots(rows, colours, part, state),
          medians(rows, colours, part, state, range.min),
        ].filter((layer) => layer !== null),
      },
    };
  }

  function dots(rows, colours, part, state) {
    return {
      type: "custom",
      z: 2,
      silent: true,
      // The extremes are included so that the axis covers them.
      encode: { x: [0, 2, 3], y: 1 },
      data: rows.map((row, at) => [part(row.median), at, part(Math.max(row.high, parts.extent(row.samples)[1])), part(row.low)]),
      renderItem(_, api) {
        const row = rows[api.value(1)];
        const height = api.size([0, 1])[1] * 0.4;
        const children = row.samples
          .filter((sample) => !state.xLog || sample > 0)
          .map((sample, index) => {
            const [x, y] = api.coord([part(sample), api.value(1)]);
            const style = { fill: colours[api.value(1)], opacity: 0.55 };
            return { type: "circle", shape: { cx: x, cy: y + spread(index) * height, r: 2.25 }, style };
          });
        // WHY: without this flag a group that becomes empty keeps its former elements.
        return { type: "group", $mergeChildren: false, children };
      },
    };
  }

  // The median as a stroke across the bar, and its interval as a whisker.
  function medians(rows, colours, part, state, floor) {
    return {
      type: "custom",
      z: 3,
      data: rows.map((row, at) => [part(row.median), at]),
      renderItem(_, api) {
        const at = api.value(1);
        const row = rows[at];
        const half = api.size([0, 1])[1] * 0.26;
        const low = state.xLog && row.low <= 0 ? floor : part(row.low);
        const [x, y] = api.coord([part(row.median), at]);
        const stroke = {
          type: "line",
          shape: { x1: x, y1: y - half, x2: x, y2: y + half },
          style: { stroke: colours[at], lineWidth: 3 },
        };
        const bar = parts.whisker(api.coord([low, at]), api.coord([part(row.high), at]), colours[at], 6, 1.5);
        return { type: "group", children: [stroke, bar] };
      },
    };
  }

  return { option };
})();
