// A chart with its legend and switches. It keeps what the reader chose and
// draws again from scratch at every choice: the pictures are small.

const chart = (() => {
  // Above this many marks one canvas is quicker than as many SVG elements.
  const MANY = 5000;
  const drawn = [];

  function toggle(name, title, pressed, change) {
    const button = h("button", {
      type: "button", class: "switch", "aria-pressed": String(pressed), title,
      click() {
        const now = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(now));
        change(now);
      },
    }, name);
    return button;
  }

  function legend(series, contenders, state, redraw) {
    const items = series.map((one) => {
      const item = toggle(one.name, `Show or hide ${one.name}`, true, (now) => {
        if (now) state.hidden.delete(one.name);
        else state.hidden.add(one.name);
        redraw();
      });
      item.className = "legend-item";
      item.dataset.contender = one.contender.key;
      item.prepend(palette.swatch(one.contender, one.secondary));
      return item;
    });
    // A contender without a figure keeps its place, so that its absence is seen.
    const absent = contenders.filter((contender) => !series.some((one) => one.contender === contender));
    const empty = absent.map((contender) => h("span", { class: "legend-item absent", "data-contender": contender.key },
      palette.swatch(contender, false), `${contender.label} (no result)`));
    return h("div", { class: "legend", role: "group", "aria-label": "Contenders in this chart" }, items, empty);
  }

  function fullScreen(figure) {
    if (!document.fullscreenEnabled) return null;
    const button = h("button", {
      type: "button", class: "switch",
      click() {
        if (document.fullscreenElement) document.exitFullscreen();
        else figure.requestFullscreen();
      },
    }, "Full screen");
    figure.addEventListener("fullscreenchange", () => {
      button.textContent = document.fullscreenElement === figure ? "Leave full screen" : "Full screen";
    });
    return button;
  }

  function describe(experiment, sweep, series) {
    const names = series.map((one) => one.name).join(", ");
    const what = sweep ? `${experiment.y.label} against ${experiment.x.label}` : experiment.metric || experiment.y.label;
    return `Chart of ${experiment.title}: ${what}, for ${names}. The table of figures below says the same.`;
  }

  // Gives the figure, or nothing where there is nothing to draw.
  function figure(experiment, series, contenders) {
    const sweep = series.some((one) => one.points.length > 0);
    const shown = series.filter((one) => (sweep ? one.points.length > 0 : one.bar));
    if (shown.length === 0) return null;
    const state = { hidden: new Set(), xLog: sweep && experiment.x.scale === "log", yLog: false };
    const box = h("div", {
      class: "chart", role: "img", "aria-label": describe(experiment, sweep, shown),
      "data-experiment": experiment.id, "data-contenders": contenders.map((one) => one.key).join(","),
    });
    const hint = h("p", { class: "hint", role: "status" });
    const panel = { experiment: experiment.id, element: box, instance: null, draw: null };
    panel.draw = () => {
      state.width = box.clientWidth;
      if (!sweep) {
        const rows = shown.filter((one) => !state.hidden.has(one.name)).length;
        box.style.height = `${rows * 64 + 80}px`;
        panel.instance.resize();
      }
      const made = (sweep ? sweepChart : barsChart).option(experiment, shown, state);
      panel.instance.setOption(made.chart, { notMerge: true });
      hint.textContent = made.dropped > 0
        ? `${plural(made.dropped, "point")} at or below zero cannot stand on a logarithmic axis.` : "";
      box.dataset.chartReady = "true";
    };
    const choose = (name) => (now) => { state[name] = now; panel.draw(); };
    const whole = h("figure", {});
    const xName = sweep ? "Log x" : "Log scale";
    whole.append(
      h("div", { class: "toolbar" }, legend(shown, contenders, state, panel.draw),
        h("div", { class: "switches" },
          toggle(xName, "Logarithmic or linear horizontal axis", state.xLog, choose("xLog")),
          sweep ? toggle("Log y", "Logarithmic or linear vertical axis", false, choose("yLog")) : null,
          fullScreen(whole))),
      box, hint,
    );
    panel.start = () => {
      const marks = shown.reduce((sum, one) => sum + (sweep ? one.points.length : one.bar.samples.length), 0);
      panel.instance = echarts.init(box, null, { renderer: marks > MANY ? "canvas" : "svg" });
      panel.draw();
      new ResizeObserver(() => {
        panel.instance.resize();
        if (box.clientWidth !== state.width) panel.draw();
      }).observe(box);
    };
    drawn.push(panel);
    return whole;
  }

  // Charts measure their boxes, so they start once these are in the page.
  function startAll() {
    for (const panel of drawn) panel.start();
  }

  function redrawAll() {
    for (const panel of drawn) panel.draw();
  }

  function resizeAll() {
    for (const panel of drawn) panel.instance.resize();
  }

  return { figure, startAll, redrawAll, resizeAll, drawn };
})();
