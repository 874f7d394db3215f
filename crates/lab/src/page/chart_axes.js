// @ts-check
// Chart of a sweep, as lines or as bars: visible points, axes and tooltip.

const sweepPicture = (() => {
  // Returns the points to draw, in the unit of the axis or as percentages, without those that a
  // logarithmic axis or a percentage cannot represent.
  function visible(shown, state, figure, unit) {
    const percent =
      state.mode &&
      relative.converter(
        shown.flatMap((one) => one.points),
        state.mode,
        figure.better,
      );
    const convert = (value, x) => (percent ? percent(value, x) : value / unit.divisor);
    const stands = (point) => point.value !== null && (state.same || !state.xLog || point.x > 0) && (!state.yLog || point.value > 0);
    return shown
      .filter((one) => !state.hidden.has(one.name))
      .map((one) => {
        const points = one.points
          .map((point) => {
            const ends = [convert(point.low, point.x), convert(point.high, point.x)];
            return {
              ...point,
              value: convert(point.median, point.x),
              from: Math.min(...ends),
              to: Math.max(...ends),
              values: state.samples ? point.samples.map((sample) => convert(sample, point.x)) : [],
            };
          })
          .filter(stands);
        return { ...one, points, dropped: one.points.length - points.length };
      });
  }

  // Returns the position of an x: its value, or its index with equal spacing.
  function xAxis(shown, state) {
    const xs = [...new Set(shown.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => a - b);
    const steps = new Map(xs.map((x, step) => [x, step]));
    return { xs, same: state.same, place: (x) => (state.same ? steps.get(x) : x) };
  }

  function described(item, picture, drawn) {
    const one = drawn.find((each) => each.name === item.seriesName);
    const point = one?.points[item.dataIndex];
    if (!point) return null;
    const { experiment, figure, state } = picture;
    return [
      one.name,
      `${experiment.x?.param || "x"} = ${format.whole(point.x)}`,
      state.mode ? `${format.digits(point.value)} ${relative.name(state.mode, figure.better)}` : null,
      `${format.value(point.median, figure.unit)}, median of ${plural(point.samples.length, "sample")}`,
      `95 %: ${format.interval(point.low, point.high, figure.unit, point.median)}`,
    ].filter((row) => row !== null);
  }

  function option(experiment, shown, state, figure) {
    const ground = palette.ground();
    const unit = parts.scaleOf(
      state.mode ? "%" : figure.unit,
      shown.flatMap((one) => one.points.map((point) => point.median)),
    );
    const drawn = visible(shown, state, figure, unit);
    const points = drawn.flatMap((one) => one.points);
    const axis = xAxis(shown, state);
    const xLog = state.xLog && !state.same;
    const xRange = xLog ? parts.decades(points.map((point) => point.x)) : {};
    const yRange = state.yLog ? parts.decades(points.flatMap((point) => [point.from, point.value, point.to])) : {};
    const many = points.length > sweepChart.MANY;
    const picture = {
      experiment,
      figure,
      state,
      unit,
      ground,
      axis,
      many,
      floor: yRange.min,
      fits: figure.usual && !state.mode && !many,
    };
    const label = { axisLabel: { ...parts.axis("value", "", ground).axisLabel, formatter: parts.tick } };
    const names = { data: axis.xs.map((x) => parts.tick(x)), splitLine: { show: false } };
    const xKind = state.same ? "category" : xLog ? "log" : "value";
    // Bars need a margin outside of the outermost groups.
    const room = state.kind === "bars" && !state.same && !xLog ? { boundaryGap: ["4%", "4%"], scale: false } : {};
    return {
      dropped: drawn.reduce((sum, one) => sum + one.dropped, 0),
      many,
      drawn,
      chart: {
        ...parts.base(ground, (item) => described(item, picture, drawn)),
        grid: { left: 8, right: 28, top: 40, bottom: 36, containLabel: true },
        xAxis: parts.axis(xKind, experiment.x?.label || "x", ground, {
          nameGap: 32,
          ...(state.same ? names : { ...label, ...xRange, ...room }),
        }),
        yAxis: parts.axis(state.yLog ? "log" : "value", parts.title(figure, state, unit), ground, {
          nameLocation: "end",
          nameGap: 14,
          ...label,
          ...yRange,
          nameTextStyle: { ...parts.axis("value", "", ground).nameTextStyle, align: "left", padding: [0, 0, 0, -8] },
        }),
        series: state.kind === "bars" ? groupsChart.layers(drawn, picture) : drawn.flatMap((one) => sweepChart.layers(one, picture)),
      },
    };
  }

  return { option };
})();
