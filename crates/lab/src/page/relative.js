// @ts-check
// A figure relative to the worst or to the best at the same x.
//
// If more is better, as in OTP's viewer, `worst` is (v / least − 1) · 100, "% more than the worst",
// and `best` is (1 − v / most) · 100, "% less than the best". If less is better, the worst is the
// largest: `worst` is (1 − v / most) · 100, "% less than the worst", and `best` is (v / least − 1)
// · 100, "% more than the best". In both cases the worst is at 0 in the first and the best at 0 in
// the second. All lines of the graph count, hidden or not: hiding a line does not move the others.

const relative = (() => {
  // Returns whether the figure is related to the smallest one; otherwise to the largest.
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

  // Returns the smallest and the largest figure at each x.
  function bounds(points) {
    const found = new Map();
    for (const point of points) {
      const [least, most] = found.get(point.x) || [Infinity, -Infinity];
      found.set(point.x, [Math.min(least, point.median), Math.max(most, point.median)]);
    }
    return found;
  }

  // Returns a function that converts a figure at x to its percentage, or to null if the smallest
  // figure is not positive.
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
