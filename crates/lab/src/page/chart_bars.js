// The chart of an experiment without a sweep: a bar to each median, the
// interval on it, and every sample as a dot, the best first.

const barsChart = (() => {
  // Where a sample's dot stands across its bar: spread evenly by the golden
  // ratio, so that the picture is the same each time.
  function spread(index) {
    return ((index * 0.618034) % 1) - 0.5;
  }

  function rowsOf(experiment, series, state) {
    const rows = series.filter((one) => one.bar && !state.hidden.has(one.name)).map((one) => {
      const factor = format.conversion(one.bar.unit, experiment.unit);
      const { median, low, high, samples } = one.bar;
      return {
        series: one, median: median * factor, low: low * factor, high: high * factor,
        samples: samples.map((sample) => sample * factor),
      };
    });
    const sign = experiment.better === "higher" ? -1 : 1;
    return rows.sort((a, b) => sign * (a.median - b.median));
  }

  // Two lines: the name, and under it the figure. Braces would be read as style.
  function rowLabel(row, experiment, room) {
    const plain = (words) => {
      const clean = words.replace(/[{}|\n]/g, " ");
      return clean.length > room ? `${clean.slice(0, room - 1)}…` : clean;
    };
    return `{name|${plain(row.series.name)}}\n{figure|${plain(format.value(row.median, experiment.unit))}}`;
  }

  function option(experiment, series, state) {
    const ground = palette.ground();
    const everything = rowsOf(experiment, series, { hidden: new Set() });
    const unit = format.scale(experiment.unit, Math.max(...everything.map((row) => Math.abs(row.median))));
    const kept = rowsOf(experiment, series, state);
    const rows = kept.filter((row) => !state.xLog || row.median > 0);
    const part = (figure) => figure / unit.divisor;
    // Letters that fit into a third of the picture.
    const room = Math.max(8, Math.floor(state.width / 24));
    const range = state.xLog
      ? parts.decades(rows.flatMap((row) => [row.low, row.median, row.high, ...row.samples]).map(part)) : {};
    const colours = rows.map((row) => palette.colour(row.series.contender));
    const describe = (item) => {
      const row = rows[item.dataIndex];
      return row && [
        row.series.name,
        `${format.value(row.median, experiment.unit)}, median of ${plural(row.samples.length, "sample")}`,
        `95 %: ${format.interval(row.low, row.high, experiment.unit, row.median)}`,
        row.samples.length > 0
          ? `all: ${format.interval(Math.min(...row.samples), Math.max(...row.samples), experiment.unit, row.median)}` : null,
      ].filter((line) => line !== null);
    };
    const valueAxis = parts.axis(state.xLog ? "log" : "value", unitTitle(experiment, unit.label), ground, {
      nameGap: 30, ...range,
    });
    valueAxis.axisLabel.formatter = parts.tick;
    const names = parts.axis("category", "", ground, { inverse: true, data: rows.map((row) => rowLabel(row, experiment, room)) });
    names.splitLine = { show: false };
    names.axisLabel = {
      ...names.axisLabel, interval: 0, margin: 12, hideOverlap: false,
      rich: {
        name: { color: ground.ink, fontWeight: 600, fontSize: 13, lineHeight: 18, align: "right" },
        figure: { color: ground.muted, fontSize: parts.FONT_SIZE, lineHeight: 16, align: "right" },
      },
    };
    return {
      dropped: kept.length - rows.length,
      chart: {
        ...parts.base(ground, describe),
        xAxis: valueAxis, yAxis: names,
        series: [
          // A bar stands on zero, which a logarithmic axis does not have.
          state.xLog ? null : {
            type: "bar", barWidth: "52%", z: 1,
            data: rows.map((row, at) => ({
              value: part(row.median), itemStyle: { color: colours[at], opacity: row.series.secondary ? 0.14 : 0.24 },
            })),
          },
          dots(rows, colours, part, state), medians(rows, colours, part, state, range.min),
        ].filter((layer) => layer !== null),
      },
    };
  }

  function dots(rows, colours, part, state) {
    return {
      type: "custom", z: 2, silent: true,
      // The extremes are there for the axis to reach them.
      encode: { x: [0, 2, 3], y: 1 },
      data: rows.map((row, at) => [part(row.median), at, part(Math.max(row.high, ...row.samples)), part(row.low)]),
      renderItem(_, api) {
        const row = rows[api.value(1)];
        const height = api.size([0, 1])[1] * 0.4;
        const children = row.samples.filter((sample) => !state.xLog || sample > 0).map((sample, index) => {
          const [x, y] = api.coord([part(sample), api.value(1)]);
          const style = { fill: colours[api.value(1)], opacity: 0.55 };
          return { type: "circle", shape: { cx: x, cy: y + spread(index) * height, r: 2.25 }, style };
        });
        return { type: "group", children };
      },
    };
  }

  // The median as a stroke across the bar, its interval as a whisker.
  function medians(rows, colours, part, state, floor) {
    return {
      type: "custom", z: 3,
      data: rows.map((row, at) => [part(row.median), at]),
      renderItem(_, api) {
        const at = api.value(1);
        const row = rows[at];
        const half = api.size([0, 1])[1] * 0.26;
        const low = state.xLog && row.low <= 0 ? floor : part(row.low);
        const [x, y] = api.coord([part(row.median), at]);
        const stroke = {
          type: "line", shape: { x1: x, y1: y - half, x2: x, y2: y + half }, style: { stroke: colours[at], lineWidth: 3 },
        };
        const bar = parts.whisker(api.coord([low, at]), api.coord([part(row.high), at]), colours[at], 6, 1.5);
        return { type: "group", children: [stroke, bar] };
      },
    };
  }

  function unitTitle(experiment, unit) {
    const name = experiment.metric || experiment.y.label;
    return unit ? `${name} (${unit})` : name;
  }

  return { option };
})();
