// @ts-check
// A figure as a share of the worst or of the best at the same x.
//
// Where more is better, as in OTP's viewer: `worst` is (v / least − 1) · 100,
// "% more than the worst", and `best` is (1 − v / most) · 100, "% less than the
// best". Where less is better the worst is the most: `worst` is
// (1 − v / most) · 100, "% less than the worst", and `best` is
// (v / least − 1) · 100, "% more than the best". So either way the worst
// stands at 0 in the first and the best at 0 in the second. All lines of the
// graph count, hidden or not: hiding one moves no other.

const relative = (() => {
  // Whether the figure is held against the least; otherwise against the most.
  function overLeast(mode, better) {
    return (mode === "worst") === (better !== "lower");
  }

  function name(mode, better) {
    return `% ${overLeast(mode, better) ? "more" : "less"} than the ${mode}`;
  }

  function explanation(mode, better, swept) {
    const [least, most] = better === "lower" ? ["best", "worst"] : ["worst", "best"];
    const how = overLeast(mode, better) ? `value ÷ ${least} − 1` : `1 − value ÷ ${most}`;
    const where = swept ? `, at each point, hidden lines included` : "";
    return `${name(mode, better)[2].toUpperCase()}${name(mode, better).slice(3)}, in per cent: ${how}${where}. ${
      better === "lower" ? "Less" : "More"
    } is better, so the worst is the ${better === "lower" ? "greatest" : "least"} figure.`;
  }

  // The least and the greatest figure at each x.
  function bounds(points) {
    const found = new Map();
    for (const point of points) {
      const [least, most] = found.get(point.x) || [Infinity, -Infinity];
      found.set(point.x, [Math.min(least, point.median), Math.max(most, point.median)]);
    }
    return found;
  }

  // Turns a figure at x into its percentage; null where there is none,
  // because a share of nothing or of less says nothing.
  function converter(points, mode, better) {
    const found = bounds(points);
    const over = overLeast(mode, better);
    return (value, x) => {
      const [least, most] = found.get(x) || [];
      if (!(least > 0) || !format.isNumber(value)) return null;
      return over ? (value / least - 1) * 100 : (1 - value / most) * 100;
    };
  }

  return { name, explanation, converter };
})();
