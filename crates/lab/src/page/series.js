// @ts-check
// Series of a chart: one per contender and variant, for one graph of the experiment and one figure;
// lines of a sweep, or bars without a sweep.

const series = (() => {
  // Returns the results of a graph; an experiment without graphs has a single one.
  function inGraph(experiment, graph) {
    return graph ? experiment.results.filter((result) => result.graph === graph) : experiment.results;
  }

  // Returns the figures that can be drawn, as { name, unit, better, swept }, the default one first:
  // the primary metric, or the quantity the experiment plots. In a named graph, the figure that
  // most contenders have comes first.
  function figures(experiment, graph) {
    const results = inGraph(experiment, graph).filter((result) => !result.fit && result.median !== null);
    const swept = results.some((result) => result.x !== null);
    const found = new Map();
    for (const result of results) {
      if ((result.x !== null) !== swept) continue;
      if (!found.has(result.metric)) {
        found.set(result.metric, { name: result.metric, unit: result.unit, better: result.better, swept, rank: 0, owners: new Set() });
      }
      const figure = found.get(result.metric);
      if (result.principal) figure.rank = 2;
      figure.owners.add(result.contender);
    }
    const main = found.get(experiment.y.label) || found.get(experiment.metric);
    if (main) main.rank = Math.max(main.rank, 1);
    if (!swept && found.size === 0) {
      const line = experiment.results.find((result) => result.fit && result.median !== null);
      if (line) found.set(line.metric, { name: line.metric, unit: line.unit, better: line.better, swept, rank: 2, owners: new Set() });
    }
    const shared = (a, b) => (graph ? b.owners.size - a.owners.size : 0);
    const sorted = [...found.values()].sort((a, b) => shared(a, b) || b.rank - a.rank);
    return sorted.map((figure, at) => named(figure, experiment, at === 0 && (!graph || figure.rank > 0)));
  }

  // The default figure of a sweep takes the name and the unit of the axis.
  function named(figure, experiment, usual) {
    const axis = usual && figure.swept;
    return {
      ...figure,
      usual,
      label: (axis ? experiment.y.label : figure.name) || experiment.metric || experiment.y.label,
      unit: axis && format.comparable(figure.unit, experiment.y.unit) ? experiment.y.unit : figure.unit,
      better: figure.better || experiment.better,
    };
  }

  // Returns the measured points of a line in the unit of its figure, one per x.
  function points(results, figure) {
    const byX = new Map();
    for (const result of results) {
      if (result.x === null || result.fit || result.median === null || result.metric !== figure.name) continue;
      if (!format.comparable(result.unit, figure.unit) || byX.has(result.x)) continue;
      const factor = format.conversion(result.unit, figure.unit);
      byX.set(result.x, {
        x: result.x,
        median: result.median * factor,
        low: result.low * factor,
        high: result.high * factor,
        samples: factor === 1 ? result.samples : result.samples.map((sample) => sample * factor),
        principal: result.principal,
      });
    }
    return [...byX.values()].sort((a, b) => a.x - b.x);
  }

  function bar(results, figure) {
    const all = results.filter((result) => result.metric === figure.name && result.median !== null && result.x === null);
    const found = all.find((result) => result.principal) || all[0];
    if (!found) return null;
    const factor = format.conversion(found.unit, figure.unit);
    return {
      x: null,
      median: found.median * factor,
      low: found.low * factor,
      high: found.high * factor,
      samples: found.samples.map((sample) => sample * factor),
      principal: found.principal,
    };
  }

  // Returns all series; the first variant of a contender is its natural one. Without a figure,
  // series have neither points nor bars, only results.
  function of(experiment, contenders, graph, figure) {
    const all = [];
    const owned = new Map(contenders.map((contender) => [contender, []]));
    for (const result of inGraph(experiment, graph)) owned.get(result.contender)?.push(result);
    for (const [contender, own] of owned) {
      const chosen = own.find((result) => result.principal)?.variant;
      const stated = contender.variants[experiment.id];
      const natural = chosen ?? (Array.isArray(stated) ? model.text(stated[0]) : "");
      const variants = [...new Set(own.map((result) => result.variant))];
      variants.sort((a, b) => Number(b === natural) - Number(a === natural));
      variants.forEach((variant, place) => {
        const results = own.filter((result) => result.variant === variant);
        all.push({
          contender,
          variant,
          results,
          secondary: place > 0,
          name: variant ? `${contender.label} · ${variant}` : contender.label,
          points: figure?.swept ? points(results, figure) : [],
          bar: figure && !figure.swept ? bar(results, figure) : null,
          line: results.find((result) => result.fit) || null,
        });
      });
    }
    return all;
  }

  return { figures, of };
})();
