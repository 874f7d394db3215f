// @ts-check
// Chart of a sweep as bars: one group per x, with one bar per line.

const groupsChart = (() => {
  // Share of the gap between two groups that the bars take.
  const SHARE = 0.8;
  const WIDEST = 40;

  // Returns the width of a bar, from the smallest gap between groups.
  function widthOf(axis, api, count) {
    const places = axis.xs.map((x) => api.coord([axis.place(x), 0])[0]).sort((a, b) => a - b);
    let gap = Infinity;
    for (let at = 1; at < places.length; at += 1) gap = Math.min(gap, places[at] - places[at - 1]);
    if (!Number.isFinite(gap)) gap = api.getWidth() / 3;
    return Math.max(1, Math.min(WIDEST, (gap * SHARE) / count));
  }

  function bars(one, place, count, picture) {
    const { axis, state, floor, many } = picture;
    const colour = palette.colour(one.contender);
    const base = state.yLog ? floor : 0;
    let width;
    return {
      type: "custom",
      name: one.name,
      z: 2,
      encode: { x: 0, y: [1, 2, 3, 4] },
      clip: true,
      ...parts.rows(
        one.points.map((point) => [axis.place(point.x), point.value, point.from, point.to, base]),
        many,
        5,
      ),
      renderItem(params, api) {
        if (params.dataIndexInside === 0 || !width) width = widthOf(axis, api, count);
        const [x, top] = api.coord([api.value(0), api.value(1)]);
        const [, foot] = api.coord([api.value(0), base]);
        const left = x + (place - count / 2) * width;
        const rectangle = {
          type: "rect",
          shape: { x: left, y: Math.min(top, foot), width: Math.max(width - 1, 0.5), height: Math.max(Math.abs(foot - top), 0.5) },
          style: { fill: colour, stroke: colour, lineWidth: 1, fillOpacity: one.secondary ? 0.25 : 0.85 },
        };
        if (width < 4) return rectangle;
        const middle = (value) => [left + (width - 1) / 2, api.coord([api.value(0), value])[1]];
        const low = state.yLog && api.value(2) <= 0 ? base : api.value(2);
        const cap = Math.min(4, width / 3);
        return { type: "group", children: [rectangle, parts.whisker(middle(low), middle(api.value(3)), picture.ground.ink, cap, 1)] };
      },
    };
  }

  function layers(drawn, picture) {
    return drawn.map((one, place) => bars(one, place, drawn.length, picture));
  }

  return { layers };
})();
