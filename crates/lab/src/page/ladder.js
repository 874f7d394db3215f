// @ts-check
// Chart of the acknowledging servers on one scale: figures published in 2015, and figures of this
// run.

const ladder = (() => {
  const RUNGS = ["request-reply", "throttle", "head-rest", "sync-ack", "async-ack", "best"];
  // Messages per second published by David Beck, as a range where one was published.
  /** @type {[string, ...number[][]][]} */
  const THEN = [
    ["laptop, 2015", [22e3], [90e3, 100e3], [250e3, 274e3], [2e6, 2.5e6], [2.7e6, 3.36e6]],
    ["Linux box, 2015", [20e3], [30e3], [78e3], [1.38e6], [780e3]],
    ["FreeBSD in a cloud, 2015", [26e3], [150e3], [302e3], [2.6e6], [2.4e6]],
  ];
  const [WIDTH, LEFT, RIGHT, TOP, ROW] = [760, 118, 24, 28, 48];

  function then() {
    return THEN.map(([name, ...rates], place) => ({
      name,
      then: true,
      contender: { place },
      steps: RUNGS.map((_, at) => {
        const [low, high] = [rates[at]?.[0], rates[at]?.at(-1)];
        return rates[at] ? { low, high, median: Math.sqrt(low * high) } : null;
      }),
    }));
  }

  function now(report) {
    const rungs = RUNGS.map((rung) => report.experiments.find((one) => one.id === `ack-${rung}`));
    const line = (contender, variant) => ({
      name: variant ? `${contender.label} · ${variant}` : contender.label,
      then: false,
      contender,
      secondary: variant !== "",
      steps: rungs.map((rung) => [model.compared(rung, contender, variant)].find((one) => one?.median > 0) || null),
    });
    // A contender, followed by its other variants.
    const found = report.contenders.flatMap((contender) => {
      const own = rungs.flatMap((rung) => rung?.results || []).filter((one) => one.contender === contender && one.variant);
      return ["", ...new Set(own.map((one) => one.variant))].map((variant) => line(contender, variant));
    });
    return found.filter((one) => one.steps.some((step) => step));
  }

  function drawn(one, offset, place) {
    const whole = one.steps.map((step, at) => (step ? { ...step, y: TOP + (at + 0.5) * ROW + offset } : null)).filter(Boolean);
    const group = svg(
      "g",
      { class: one.then ? "swatch then" : "swatch" },
      svg("path", { class: "ladder-line", d: whole.map(({ median, y }, at) => `${at ? "L" : "M"}${place(median)} ${y}`).join("") }),
      whole.flatMap(({ low, high, median, y }) => [
        svg("path", { class: "swatch-line", d: `M${place(low > 0 ? low : median)} ${y}H${place(high)}` }),
        svg("path", {
          class: one.then || one.secondary ? "swatch-mark hollow" : "swatch-mark",
          d: palette.outline(one.contender),
          transform: `translate(${place(median)} ${y})`,
        }),
      ]),
    );
    return palette.tint(group, one.contender);
  }

  function picture(all) {
    const rates = all
      .flatMap((one) => one.steps)
      .filter(Boolean)
      .flatMap(({ low, high }) => [low, high])
      .filter((rate) => rate > 0);
    const [least, most] = parts.extent(rates).map(Math.log10);
    const [first, last] = [Math.floor(least), Math.ceil(most)];
    const place = (rate) => (LEFT + ((Math.log10(rate) - first) / (last - first)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
    const height = TOP + RUNGS.length * ROW;
    const decades = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
    const apart = Math.min(9, (ROW - 12) / all.length);
    const words = `Messages per second of each server, then and now, from ${format.value(10 ** least, "")} to ${format.value(10 ** most, "")}. The table below says the same.`;
    return svg(
      "svg",
      { class: "ladder", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": words },
      decades.flatMap((rate) => [
        svg("path", { class: "ladder-rule", d: `M${place(rate)} ${TOP}V${height}` }),
        svg("text", { x: place(rate), y: TOP - 9, "text-anchor": "middle" }, rate < 1e6 ? format.whole(rate) : `${rate / 1e6}\u00a0M`),
      ]),
      RUNGS.flatMap((rung, at) => [
        svg("path", { class: "ladder-rule", d: `M0 ${TOP + at * ROW}H${WIDTH}` }),
        svg("text", { x: 0, y: TOP + (at + 0.5) * ROW + 4 }, rung),
      ]),
      all.map((one, at) => drawn(one, (at - (all.length - 1) / 2) * apart, place)),
    );
  }

  function named(one) {
    const swatch = palette.swatch(one.contender, one.then || one.secondary);
    if (one.then) swatch.classList.add("then");
    return [swatch, one.name];
  }

  function figure(one, step) {
    if (!step) return "–";
    return one.then && step.low < step.high ? format.interval(step.low, step.high, "", step.median) : format.value(step.median, "");
  }

  // Returns null if this run has none of these servers.
  function build(report) {
    const found = now(report);
    if (found.length === 0) return null;
    const all = [...then(), ...found];
    const title = "Acknowledged messages, then and now";
    return h(
      "section",
      { "aria-labelledby": "ladder" },
      h("h2", { id: "ladder" }, title),
      h(
        "p",
        {},
        "Messages of 17 bytes per second on one TCP connection, on a logarithmic scale: five servers of David Beck's experiments of 2015 in Elixir on three machines of that time, " +
          "and the contenders on this one, with the best that is to be had at the end. Machines so far apart tell nothing about each other; what can be compared is how high each step is.",
      ),
      scroller(`${title}, as a picture`, picture(all)),
      scroller(
        `${title}, in figures`,
        h(
          "table",
          {},
          h("caption", { class: "unseen" }, `${title}, in messages per second`),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "Server"),
              all.map((one) => h("th", { scope: "col", class: "number" }, named(one))),
            ),
          ),
          h(
            "tbody",
            {},
            RUNGS.map((rung, at) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, rung),
                all.map((one) => h("td", { class: "number" }, figure(one, one.steps[at]))),
              ),
            ),
          ),
        ),
      ),
    );
  }

  return { build };
})();
