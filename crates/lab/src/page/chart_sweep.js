// The chart of a sweep: a point for each x with the interval of its median,
// and each contender's line of best fit through its points.

const sweepChart = (() => {
  const SEGMENTS = 64;

  // The line is straight in the measured units; on a logarithmic axis it bends.
  function fitted(series, xs, logX) {
    const [first, last] = [Math.min(...xs), Math.max(...xs)];
    const { slope, intercept } = series.fit;
    const along = (part) => (logX ? first * (last / first) ** part : first + (last - first) * part);
    return Array.from({ length: SEGMENTS + 1 }, (_, step) => {
      const x = along(step / SEGMENTS);
      return [x, slope * x + intercept];
    });
  }

  // The series in the unit chosen for the axis, without what a logarithmic
  // axis cannot show.
  function visible(experiment, series, state, divisor) {
    const shown = (point) => (!state.xLog || point.x > 0) && (!state.yLog || point.median > 0);
    return series.filter((one) => !state.hidden.has(one.name)).map((one) => {
      const points = one.points.filter(shown).map((point) => ({
        ...point, median: point.median / divisor, low: point.low / divisor, high: point.high / divisor,
      }));
      const fit = one.line && {
        slope: one.line.fit.slope / divisor, intercept: one.line.fit.intercept / divisor,
      };
      return { ...one, points, fit, dropped: one.points.length - points.length };
    });
  }

  function layers(one, state, floor, ground) {
    const colour = palette.colour(one.contender);
    const made = [];
    if (one.points.length === 0) return made;
    const dash = one.secondary ? [6, 4] : "solid";
    if (one.fit) {
      const keep = (at) => !state.yLog || at[1] > 0;
      made.push({
        type: "line", name: one.name, silent: true, showSymbol: false, z: 2,
        data: fitted(one, one.points.map((point) => point.x), state.xLog).filter(keep),
        lineStyle: { color: colour, width: 1.75, type: dash },
      });
    }
    made.push({
      type: "custom", name: one.name, silent: true, z: 3, encode: { x: 0, y: [1, 2] },
      data: one.points.map((point) => [point.x, point.low, point.high]),
      renderItem(_, api) {
        const low = state.yLog && api.value(1) <= 0 ? floor : api.value(1);
        return parts.whisker(api.coord([api.value(0), low]), api.coord([api.value(0), api.value(2)]), colour, 4, 1.25);
      },
    });
    made.push({
      type: one.fit ? "scatter" : "line", name: one.name, z: 4, showSymbol: true, showAllSymbol: true,
      symbol: palette.symbol(one.contender), symbolSize: 10,
      data: one.points.map((point) => ({ value: [point.x, point.median], point, series: one })),
      itemStyle: { color: one.secondary ? ground.paper : colour, borderColor: colour, borderWidth: one.secondary ? 2 : 0 },
      lineStyle: { color: colour, width: 1.75, type: dash },
      emphasis: { scale: 1.4 },
    });
    return made;
  }

  function option(experiment, series, state) {
    const ground = palette.ground();
    const everything = series.flatMap((one) => one.points);
    const unit = format.scale(experiment.y.unit, Math.max(...everything.map((point) => Math.abs(point.median))));
    const drawn = visible(experiment, series, state, unit.divisor);
    const points = drawn.flatMap((one) => one.points);
    const xRange = state.xLog ? parts.decades(points.map((point) => point.x)) : {};
    const yRange = state.yLog ? parts.decades(points.flatMap((point) => [point.low, point.median, point.high])) : {};
    const describe = (item) => {
      const { point, series: one } = item.data;
      const back = (figure) => figure * unit.divisor;
      return [
        one.name, `${experiment.x.param} = ${format.whole(point.x)}`,
        `${format.value(back(point.median), experiment.y.unit)}, median of ${plural(point.count, "sample")}`,
        `95 %: ${format.interval(back(point.low), back(point.high), experiment.y.unit, back(point.median))}`,
      ];
    };
    const label = { axisLabel: { ...parts.axis("value", "", ground).axisLabel, formatter: parts.tick } };
    return {
      dropped: drawn.reduce((sum, one) => sum + one.dropped, 0),
      chart: {
        ...parts.base(ground, describe),
        grid: { left: 8, right: 28, top: 40, bottom: 36, containLabel: true },
        xAxis: parts.axis(state.xLog ? "log" : "value", experiment.x.label, ground, { nameGap: 32, ...label, ...xRange }),
        yAxis: parts.axis(state.yLog ? "log" : "value", yTitle(experiment, unit.label), ground, {
          nameLocation: "end", nameGap: 14, ...label, ...yRange,
          nameTextStyle: { ...parts.axis("value", "", ground).nameTextStyle, align: "left", padding: [0, 0, 0, -8] },
        }),
        series: drawn.flatMap((one) => layers(one, state, yRange.min, ground)),
      },
    };
  }

  function yTitle(experiment, unit) {
    return unit ? `${experiment.y.label} (${unit})` : experiment.y.label;
  }

  return { option };
})();
