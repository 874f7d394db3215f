// @ts-check
// Common parts of the charts: axes, whiskers, tooltips.

const parts = (() => {
  const FONT_SIZE = 12;

  function axis(kind, name, ground, more) {
    return {
      type: kind,
      name,
      nameLocation: "middle",
      nameTextStyle: { color: ground.muted, fontSize: FONT_SIZE, fontFamily: ground.font },
      axisLabel: {
        color: ground.muted,
        fontSize: FONT_SIZE,
        fontFamily: ground.font,
        hideOverlap: true,
        // Aligns the last number with the end of its axis: a long one would be clipped at the edge
        // of the chart.
        alignMaxLabel: kind === "category" ? null : "right",
      },
      axisLine: { show: false, lineStyle: { color: ground.rule } },
      axisTick: { show: false },
      splitLine: { lineStyle: { color: ground.rule, width: 1 } },
      minorTick: { show: false, splitNumber: 9 },
      minorSplitLine: { show: kind === "log", lineStyle: { color: ground.rule, width: 0.5 } },
      ...more,
    };
  }

  // Axis numbers are round, so padding with zeros to three digits is avoided.
  function tick(value) {
    if (value !== 0 && Math.abs(value) < 1) return String(Number(value.toPrecision(3)));
    return Number.isInteger(value) ? format.whole(value) : String(Number(value.toPrecision(6)));
  }

  // Returns the smallest and the largest value.
  function extent(values) {
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
    return [least, most];
  }

  // Returns rows of numbers for a series. WHY: the library copies its input, which takes about a
  // second for many small arrays and no measurable time for one flat array.
  function rows(list, many, width) {
    if (!many) return { data: list };
    const data = new Float64Array(list.length * width);
    list.forEach((row, at) => data.set(row, at * width));
    return { data, dimensions: Array.from({ length: width }, (_, at) => `d${at}`) };
  }

  // Returns the unit of an axis for values of this size; percentages are not scaled.
  function scaleOf(unit, values) {
    const [least, most] = extent(values);
    if (unit === "%") return { divisor: 1, label: "%" };
    return format.scale(unit, Math.max(Math.abs(least), Math.abs(most)));
  }

  // Returns the title of the value axis.
  function title(figure, state, unit) {
    if (state.mode) return relative.name(state.mode, figure.better);
    return unit.label ? `${figure.label} (${unit.label})` : figure.label;
  }

  // Returns the range of a logarithmic axis that covers all positive values.
  function decades(values) {
    const [least, most] = extent(values.filter((value) => value > 0));
    if (least > most) return { min: 1, max: 10 };
    const nice = (value, round) => {
      const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
      const steps = [1, 2, 5, 10].map((step) => step * power);
      return round === "down"
        ? Math.max(...steps.filter((step) => step <= value * 1.0001))
        : Math.min(...steps.filter((step) => step >= value * 0.9999));
    };
    const min = nice(least, "down");
    const max = nice(most, "up");
    return min === max ? { min: min / 10, max: max * 10 } : { min, max };
  }

  // An error bar between two points, with caps.
  function whisker(from, to, colour, cap, width) {
    const sideways = Math.abs(to[0] - from[0]) > Math.abs(to[1] - from[1]);
    const [dx, dy] = sideways ? [0, cap] : [cap, 0];
    const stroke = { stroke: colour, lineWidth: width, fill: null };
    const line = (a, b) => ({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: stroke });
    const across = (at) => line([at[0] - dx, at[1] - dy], [at[0] + dx, at[1] + dy]);
    return { type: "group", children: [line(from, to), across(from), across(to)] };
  }

  // A tooltip built from elements, not from markup.
  function tooltip(ground, describe) {
    return {
      trigger: "item",
      confine: true,
      transitionDuration: 0,
      borderWidth: 1,
      padding: [8, 12],
      backgroundColor: ground.paper,
      borderColor: ground.rule,
      textStyle: { color: ground.ink, fontSize: 13, fontFamily: ground.font },
      formatter(item) {
        const rows = describe(item);
        if (!rows) return "";
        return h("div", { class: "tip" }, h("strong", {}, rows[0]), ...rows.slice(1).map((row) => h("div", {}, row)));
      },
    };
  }

  function base(ground, label) {
    return {
      animation: false,
      aria: { enabled: false },
      backgroundColor: "transparent",
      textStyle: { fontFamily: ground.font, color: ground.ink, fontSize: FONT_SIZE },
      grid: { left: 12, right: 24, top: 20, bottom: 40, containLabel: true },
      tooltip: tooltip(ground, label),
    };
  }

  return { FONT_SIZE, axis, tick, extent, rows, scaleOf, title, decades, whisker, base };
})();
