// @ts-check
// Converts stored results to the data the page draws. Missing and malformed values are dropped or
// replaced here, so that other files need no checks.

const model = (() => {
  const list = (value) => (Array.isArray(value) ? value.filter((item) => item && typeof item === "object") : []);
  const object = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value : {});
  const number = (value) => (format.isNumber(value) ? value : null);

  function text(value) {
    if (value === null || value === undefined) return "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  }

  function notes(value) {
    return (Array.isArray(value) ? value : [value]).map(text).filter((note) => note !== "");
  }

  function middle(samples) {
    if (samples.length === 0) return null;
    const sorted = [...samples].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  // With several runs, the contenders of each run are separate and named by the run's start time.
  // Texts of OTP's suite have no start time and keep their labels.
  function prefixes(files) {
    const dated = files.filter((file) => !undated(file));
    return files.map((file, index) => {
      if (undated(file)) {
        const before = files.slice(0, index).filter((other) => undated(other) && sharesLabels(file, other)).length;
        return before > 0 ? `Ver: ${before + 1} ` : "";
      }
      if (dated.length < 2) return "";
      const when = format.shortMoment(file.started);
      const twin = dated.some((other) => other !== file && format.shortMoment(other.started) === when);
      return `${when && !twin ? when : `${when} #${index + 1}`.trim()} `;
    });
  }

  function undated(file) {
    return file.tool?.name === "parallel_messages_SUITE";
  }

  function sharesLabels(one, other) {
    const labels = new Set(list(one.contenders).map((contender) => text(contender.id)));
    return list(other.contenders).some((contender) => labels.has(text(contender.id)));
  }

  function readContenders(files) {
    const contenders = [];
    const names = prefixes(files);
    files.forEach((file, index) => {
      const add = (id, stated) => {
        const key = files.length > 1 ? `${index + 1}:${id}` : id;
        if (contenders.some((known) => known.key === key)) return;
        const name = text(stated.label) || id || "unnamed";
        contenders.push({
          key,
          id,
          file: index,
          guest: undated(file),
          name,
          label: names[index] + name,
          version: text(stated.version),
          notes: notes(stated.notes),
          variants: object(stated.variants),
          sources: object(stated.sources),
        });
      };
      for (const stated of list(file.contenders)) add(text(stated.id), stated);
      for (const mention of [...list(file.results), ...list(file.ratios)]) add(text(mention.contender), {});
    });
    palette.assign(contenders);
    return contenders;
  }

  function readResult(raw, index, find) {
    const samples = (Array.isArray(raw.samples) ? raw.samples : []).filter(format.isNumber);
    const median = number(raw.median) ?? middle(samples);
    const fit = object(raw.fit);
    return {
      contender: find(index, text(raw.contender)),
      variant: text(raw.variant),
      graph: text(raw.graph),
      params: object(raw.params),
      x: number(raw.x),
      metric: text(raw.metric),
      unit: text(raw.unit),
      better: text(raw.better),
      samples,
      median,
      low: number(raw.low) ?? median,
      high: number(raw.high) ?? median,
      fit: format.isNumber(fit.slope) && format.isNumber(fit.intercept) ? fit : null,
      principal: raw.principal === true,
    };
  }

  function readExperiment(id, stated, results) {
    const first = results.find((result) => result.principal) || results[0] || {};
    const swept = results.some((result) => result.x !== null && !result.fit);
    const x = stated.x && typeof stated.x === "object" ? stated.x : null;
    return {
      id,
      results,
      graphs: [...new Set(results.map((result) => result.graph))].filter((graph) => graph !== ""),
      title: text(stated.title) || id,
      what: text(stated.what),
      notes: notes(stated.notes),
      metric: text(stated.metric) || first.metric || "",
      unit: text(stated.unit) || first.unit || "",
      better: text(stated.better) || first.better || "",
      x: swept || x ? { param: text(x?.param) || "x", label: text(x?.label) || text(x?.param) || "x", scale: text(x?.scale) } : null,
      y: { label: text(stated.y?.label) || first.metric || "value", unit: text(stated.y?.unit) || first.unit || "" },
    };
  }

  function readExperiments(files, find) {
    const stated = new Map();
    const results = new Map();
    files.forEach((file, index) => {
      for (const entry of list(file.experiments)) {
        if (text(entry.id) && !stated.has(text(entry.id))) stated.set(text(entry.id), entry);
      }
      for (const raw of list(file.results)) {
        const id = text(raw.experiment);
        if (!id) continue;
        if (!results.has(id)) results.set(id, []);
        results.get(id).push(readResult(raw, index, find));
      }
    });
    const ids = new Set([...stated.keys(), ...results.keys()]);
    return [...ids].map((id) => readExperiment(id, stated.get(id) || {}, results.get(id) || []));
  }

  // Returns a contender's primary metric, or the same figure of another variant.
  function compared(experiment, whose, variant) {
    const principal = experiment?.results.find((result) => result.contender === whose && result.principal);
    if (!variant || !principal) return principal;
    return experiment.results.find(
      (result) =>
        result.contender === whose &&
        result.variant === variant &&
        !result.principal &&
        result.metric === principal.metric &&
        result.graph === principal.graph &&
        result.x === principal.x,
    );
  }

  // A ratio says how many times worse the contender is. It is the median of the rounds' ratios, which may be on the
  // other side of 1 than the quotient of the medians.
  function readRatio(raw, index, find, experiments) {
    const experiment = experiments.find((known) => known.id === text(raw.experiment));
    const [contender, against] = [find(index, text(raw.contender)), find(index, text(raw.against))];
    const variant = text(raw.variant);
    const mine = compared(experiment, contender, variant);
    const theirs = compared(experiment, against, "");
    const [value, low, high] = [number(raw.ratio), number(raw.low), number(raw.high)];
    // WHY no verdict from the interval: the lab's takes all ratios of a run together.
    const verdict = ["better", "worse", "indistinguishable"].includes(raw.verdict) ? raw.verdict : "";
    const name = contender && (variant ? `${contender.label} · ${variant}` : contender.label);
    return { experiment, id: text(raw.experiment), contender, variant, name, against, mine, theirs, value, low, high, verdict };
  }

  // Contenders that run the same function; null if the file has none.
  function readControl(raw, index, find, experiments) {
    const { contenders, spread, ratios, experiment } = object(raw);
    const labels = (Array.isArray(contenders) ? contenders : []).map((id) => find(index, text(id))?.label || text(id));
    if (labels.length < 2 || !format.isNumber(spread)) return null;
    const compared = list(ratios).map((ratio) => readRatio(ratio, index, find, experiments));
    return { experiment: text(experiment), labels, spread, ratios: compared.filter((ratio) => ratio.value > 0) };
  }

  function read(stored) {
    const files = list(stored);
    const contenders = readContenders(files);
    const find = (index, id) => contenders.find((known) => known.file === index && known.id === id);
    const experiments = readExperiments(files, find);
    const gather = (name) => files.flatMap((file, index) => list(file[name]).map((raw) => ({ raw, index })));
    const label = (index, id) => find(index, text(id))?.label || text(id);
    const absences = gather("absences").map(({ raw, index }) => ({
      experiment: text(raw.experiment),
      contender: label(index, raw.contender),
      message: text(raw.message) || text(raw.word),
    }));
    for (const experiment of experiments) {
      experiment.absences = absences.filter((one) => one.experiment === experiment.id);
    }
    return {
      files,
      contenders,
      experiments,
      ratios: gather("ratios")
        .map(({ raw, index }) => readRatio(raw, index, find, experiments))
        .filter((ratio) => ratio.value > 0),
      controls: files.map((file, index) => readControl(file.control, index, find, experiments)).filter((one) => one !== null),
      invalid: gather("void").map(({ raw, index }) => ({
        experiment: text(raw.experiment),
        contender: label(index, raw.contender),
        round: number(raw.round),
        params: object(raw.params),
        reason: text(raw.reason),
      })),
      warnings: gather("warnings").map(({ raw, index }) => ({
        experiment: text(raw.experiment),
        contender: raw.contender ? label(index, raw.contender) : "",
        kind: text(raw.kind).replaceAll("-", " ") || "warning",
        message: text(raw.message) || text(raw.kind),
        advice: text(raw.advice),
      })),
      problems: gather("problems").map(({ raw, index }) => ({
        experiment: text(raw.experiment),
        contender: label(index, raw.contender),
        message: text(raw.message),
      })),
    };
  }

  return { read, text, compared };
})();
