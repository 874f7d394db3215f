// @ts-check
// Chart of a sweep as lines: one point per x with the interval of its median, and each contender's
// line of best fit.

const sweepChart = (() => {
  const SEGMENTS = 64;
  // Above this number of points, a chart omits intervals, and thins its lines.
  const MANY = 5000;

  // Points of the line of best fit. It is straight on linear axes, curved on a logarithmic axis,
  // and has a corner at each x with equal spacing.
  function fitted(one, axis, state, unit) {
    const { slope, intercept } = one.line.fit;
    const at = (x) => (slope * x + intercept) / unit.divisor;
    const xs = one.points.map((point) => point.x);
    if (axis.same) return xs.map((x) => [axis.place(x), at(x)]);
    const [first, last] = parts.extent(xs);
    const along = (part) => (state.xLog ? first * (last / first) ** part : first + (last - first) * part);
    return Array.from({ length: SEGMENTS + 1 }, (_, step) => along(step / SEGMENTS)).map((x) => [x, at(x)]);
  }

  function interval(one, axis, state, floor, colour) {
    return {
      type: "custom",
      name: one.name,
      silent: true,
      z: 3,
      encode: { x: 0, y: [1, 2] },
      data: one.points.filter((point) => point.from < point.to).map((point) => [axis.place(point.x), point.from, point.to]),
      renderItem(_, api) {
        const low = state.yLog && api.value(1) <= 0 ? floor : api.value(1);
        return parts.whisker(api.coord([api.value(0), low]), api.coord([api.value(0), api.value(2)]), colour, 4, 1.25);
      },
    };
  }

  // All samples, translucent, at the x of their point.
  function cloud(one, axis, state, many, colour) {
    return {
      type: "scatter",
      name: one.name,
      silent: true,
      z: 1,
      symbol: "circle",
      symbolSize: many ? 3 : 4,
      large: true,
      ...parts.rows(
        one.points.flatMap((point) =>
          point.values.filter((value) => !state.yLog || value > 0).map((value) => [axis.place(point.x), value]),
        ),
        many,
        2,
      ),
      itemStyle: { color: colour, opacity: 0.4 },
    };
  }

  function marks(one, axis, many, colour, ground, joined) {
    const style = { color: one.secondary ? ground.paper : colour, borderColor: colour, borderWidth: one.secondary ? 2 : 0, opacity: 1 };
    const made = {
      name: one.name,
      z: 4,
      itemStyle: style,
      symbol: palette.symbol(one.contender),
      lineStyle: { color: colour, width: 1.75, type: one.secondary ? [6, 4] : "solid" },
    };
    const data = one.points.map((point) => [axis.place(point.x), point.value]);
    if (many) {
      return [
        joined ? { ...made, type: "line", silent: true, showSymbol: false, sampling: "lttb", ...parts.rows(data, many, 2) } : null,
        { ...made, type: "scatter", symbolSize: 3, large: true, largeThreshold: 500, ...parts.rows(data, many, 2) },
      ];
    }
    return [
      {
        ...made,
        type: joined ? "line" : "scatter",
        showSymbol: true,
        showAllSymbol: true,
        symbolSize: 10,
        data,
        emphasis: { scale: 1.4 },
      },
    ];
  }

  // A ring around the point of the primary metric.
  function ring(one, axis, colour, ground, experiment) {
    const point = one.points.find((each) => each.principal);
    if (!point) return null;
    const peak = one.points.every((each) => each.median <= point.median) && experiment.better === "higher";
    return {
      type: "scatter",
      name: one.name,
      silent: true,
      z: 5,
      symbol: "circle",
      symbolSize: 19,
      data: [[axis.place(point.x), point.value]],
      itemStyle: { color: "transparent", borderColor: colour, borderWidth: 1.5, opacity: 1 },
      label: {
        show: peak,
        position: axis.xs.at(-1) === point.x ? "left" : "top",
        color: ground.ink,
        fontSize: parts.FONT_SIZE,
        textBorderColor: ground.paper,
        textBorderWidth: 3,
        formatter: "peak",
      },
      labelLayout: { hideOverlap: true },
    };
  }

  function layers(one, picture) {
    const { axis, state, unit, ground, many, floor, experiment } = picture;
    if (one.points.length === 0) return [];
    const colour = palette.colour(one.contender);
    const fit = one.line && picture.fits;
    return [
      fit
        ? {
            type: "line",
            name: one.name,
            silent: true,
            showSymbol: false,
            z: 2,
            data: fitted(one, axis, state, unit).filter((at) => !state.yLog || at[1] > 0),
            lineStyle: { color: colour, width: 1.75, type: one.secondary ? [6, 4] : "solid" },
          }
        : null,
      state.samples ? cloud(one, axis, state, many, colour) : null,
      many ? null : interval(one, axis, state, floor, colour),
      ...marks(one, axis, many, colour, ground, !fit),
      ring(one, axis, colour, ground, experiment),
    ].filter((layer) => layer !== null);
  }

  return { layers, MANY };
})();
