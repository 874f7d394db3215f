// @ts-check
// Strip plot of a figure's samples: one tick per sample, a box over the interquartile range,
// relative to the median, with one scale per table.

const spread = (() => {
  const [WIDTH, HEIGHT] = [112, 18];
  // Maximum of the scale; samples beyond it are drawn at the edge.
  const FURTHEST = 0.5;

  function quantile(sorted, share) {
    const place = (sorted.length - 1) * share;
    const below = Math.floor(place);
    return sorted[below] + (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]) * (place - below);
  }

  // Returns the relative deviations of the samples from their median.
  function deviations(result) {
    if (result.samples.length < 2 || !(result.median > 0)) return [];
    return result.samples.map((sample) => sample / result.median - 1).sort((a, b) => a - b);
  }

  function range(result) {
    const [least, most] = parts.extent(deviations(result));
    return most - least;
  }

  // Returns the maximum of a table's scale, a round number; null if there is no spread to show.
  function reach(results) {
    let most = 0;
    for (const result of results) {
      const found = deviations(result);
      if (found.length > 0) most = Math.max(most, Math.abs(found[0]), found.at(-1));
    }
    if (most === 0) return null;
    return [0.01, 0.02, 0.05, 0.1, 0.2, FURTHEST].find((step) => most <= step) || FURTHEST;
  }

  function percent(share) {
    return `${share < 0 ? "−" : "+"}${format.digits(Math.abs(share) * 100)}\u00a0%`;
  }

  function strip(result, end) {
    const found = deviations(result);
    if (found.length === 0) return "–";
    const place = (share) => (WIDTH / 2) * (1 + Math.max(-1, Math.min(1, share / end)) * 0.97);
    const [low, high] = [place(quantile(found, 0.25)), place(quantile(found, 0.75))];
    const ticks = found.map((share) => `M${place(share).toFixed(1)} 4V14`).join("");
    const words = `samples from ${percent(found[0])} to ${percent(found.at(-1))} of their median`;
    return svg(
      "svg",
      { class: "strip", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": words },
      svg("title", {}, words),
      svg("path", { class: "strip-middle", d: `M${WIDTH / 2} 1V17` }),
      svg("rect", { class: "strip-box", x: low, y: 3, width: Math.max(high - low, 0.5), height: 12 }),
      svg("path", { class: "strip-ticks", d: ticks }),
    );
  }

  return { reach, strip, range };
})();
