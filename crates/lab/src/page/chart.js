// @ts-check
// A chart with its legend and its controls. Every change of a setting redraws it from scratch,
// because the charts are small. `view` stores the settings.

const chart = (() => {
  // Above this number of marks a canvas is faster than SVG elements.
  const MANY = 5000;
  // Ratio of the largest to the smallest figure from which the axis is logarithmic by default.
  const APART = 100;
  const drawn = [];

  // Returns whether a linear axis would compress most of the lines near zero.
  function apart(shown, figure) {
    const values = shown.flatMap((one) => one.points.map((point) => point.median));
    const [least, most] = parts.extent(values);
    return figure.swept && least > 0 && most / least > APART && !shown.some((one) => one.line);
  }

  // Returns the effective state: the reader's settings, or the defaults.
  function stateOf(panel) {
    const { experiment } = panel;
    const choice = view.of(experiment.id);
    const graph = experiment.graphs[choice.graph || 0] ?? experiment.graphs[0] ?? "";
    const figures = series.figures(experiment, graph);
    const figure = figures[choice.metric] || figures[0] || null;
    const key = `${graph}\n${figure?.name}`;
    if (panel.key !== key) {
      panel.key = key;
      const all = series.of(experiment, panel.contenders, graph, figure);
      panel.shown = all.filter((one) => (figure?.swept ? one.points.length > 0 : one.bar));
      panel.relist = true;
    }
    const usual = {
      xLog: figure?.swept === true && experiment.x?.scale === "log",
      yLog: !choice.mode && figure !== null && apart(panel.shown, figure),
      samples: !figure?.swept,
    };
    return {
      graph,
      figures,
      figure,
      usual,
      hidden: choice.hidden,
      mode: choice.mode || null,
      kind: choice.kind || "lines",
      same: figure?.swept === true && choice.spacing === "same",
      xLog: choice.xLog ?? usual.xLog,
      yLog: choice.yLog ?? usual.yLog,
      samples: choice.samples ?? usual.samples,
    };
  }

  function controls(panel, figure) {
    const { id } = panel.experiment;
    const set = (name, usual) => (value) => {
      view.choose(id, name, value, usual());
      panel.draw();
    };
    const MODES = [undefined, "worst", "best"];
    const flip = (name) => set(name, () => panel.state.usual[name]);
    return {
      graph: tools.select("Graph", (at) => {
        view.choose(id, "metric", undefined, undefined);
        set("graph", () => 0)(at);
      }),
      figure: tools.select(
        "Figure",
        set("metric", () => 0),
      ),
      mode: tools.select("Shown as", (at) => set("mode", () => undefined)(MODES[at])),
      kind: tools.select("Drawn as", (at) => set("kind", () => "lines")(["lines", "bars"][at]), true),
      same: tools.toggle("Same spacing", "Equal steps between the points, or each at its true x", (now) =>
        set("spacing", () => "true")(now ? "same" : "true"),
      ),
      xLog: tools.toggle(panel.state.figure.swept ? "Log x" : "Log scale", "Logarithmic or linear horizontal axis", flip("xLog")),
      yLog: tools.toggle("Log y", "Logarithmic or linear vertical axis", flip("yLog")),
      samples: tools.toggle("Samples", "Every sample as a dot", flip("samples")),
      screen: fullScreen.button(figure),
      link: links.button(panel.experiment.anchor, "Copy link", "A link to this chart as it is shown now"),
    };
  }

  function showControls(panel) {
    const { state, buttons, experiment } = panel;
    const { figure } = state;
    buttons.graph.show(
      experiment.graphs.map((title) => ({ text: graphs.words(title), title })),
      experiment.graphs.indexOf(state.graph),
    );
    buttons.figure.show(
      state.figures.map((each) => ({ text: each.label })),
      state.figures.indexOf(figure),
    );
    const modes = ["worst", "best"].map((mode) => ({ text: relative.name(mode, figure.better) }));
    buttons.mode.show([{ text: figure.label }, ...modes], ["worst", "best"].indexOf(state.mode) + 1);
    buttons.kind.show([{ text: "Lines" }, { text: "Bars" }], state.kind === "bars" ? 1 : 0);
    buttons.kind.hidden = !figure.swept;
    buttons.same.show(state.same);
    buttons.same.hidden = !figure.swept;
    buttons.xLog.show(state.xLog && !state.same, !state.same);
    buttons.yLog.show(state.yLog);
    buttons.yLog.hidden = !figure.swept;
    buttons.samples.show(state.samples && !(figure.swept && state.kind === "bars"), !(figure.swept && state.kind === "bars"));
  }

  function hint(made, state) {
    const said = [];
    if (made.dropped > 0) {
      said.push(
        state.mode
          ? `${plural(made.dropped, "point")} cannot be shown: a share needs figures above zero, a logarithmic axis shares above zero.`
          : `${plural(made.dropped, "point")} at or below zero cannot stand on a logarithmic axis.`,
      );
    }
    if (state.mode) said.push(relative.explanation(state.mode, state.figure.better, state.figure.swept));
    if (made.many) said.push("With so many points the picture leaves out their intervals; the table has them.");
    return said.join(" ");
  }

  function relist(panel) {
    panel.relist = false;
    panel.legend.replaceChildren(
      ...tools.legend(panel.shown, panel.contenders, panel.state.hidden, (name, hidden) => {
        view.hide(panel.experiment.id, name, hidden);
        panel.draw();
      }),
    );
  }

  function draw(panel) {
    const { box, experiment } = panel;
    const state = stateOf(panel);
    panel.state = state;
    if (panel.relist) relist(panel);
    showControls(panel);
    state.width = box.clientWidth;
    if (!state.figure.swept) {
      const rows = panel.shown.filter((one) => !state.hidden.has(one.name)).length;
      box.style.height = `${rows * 58 + 80}px`;
    } else {
      box.style.height = "";
    }
    panel.instance.resize();
    const made = (state.figure.swept ? sweepPicture : barsChart).option(experiment, panel.shown, state, state.figure);
    panel.instance.setOption(made.chart, { notMerge: true });
    panel.hint.textContent = hint(made, state);
    box.setAttribute("aria-label", describe.chart(experiment, panel.shown, state, state.figure));
    box.dataset.chartReady = "true";
  }

  // Returns the figure element, or null if there is no data to draw.
  function figure(experiment, contenders) {
    const panel = { experiment, contenders, instance: null, key: null, shown: [] };
    panel.state = stateOf(panel);
    if (!panel.state.figure || panel.shown.length === 0) return null;
    panel.box = h("div", {
      class: "chart",
      role: "img",
      "aria-label": describe.chart(experiment, panel.shown, panel.state, panel.state.figure),
      "data-experiment": experiment.id,
      "data-contenders": contenders.map((one) => one.key).join(","),
    });
    panel.element = panel.box;
    panel.hint = h("p", { class: "hint", role: "status" });
    panel.legend = h("div", { class: "legend", role: "group", "aria-label": "Lines in this chart" });
    panel.draw = () => draw(panel);
    const whole = h("figure", {});
    panel.buttons = controls(panel, whole);
    whole.append(
      h(
        "div",
        { class: "controls", role: "group", "aria-label": `Controls of the chart of ${experiment.title}` },
        Object.values(panel.buttons),
      ),
      panel.legend,
      panel.box,
      panel.hint,
    );
    panel.start = () => {
      const marks = experiment.results.reduce((sum, result) => sum + Math.max(1, result.samples.length), 0);
      panel.instance = echarts.init(panel.box, null, { renderer: marks > MANY ? "canvas" : "svg" });
      panel.draw();
      panel.observer = new ResizeObserver(() => {
        panel.instance.resize();
        if (panel.box.clientWidth !== panel.state.width) panel.draw();
      });
      panel.observer.observe(panel.box);
    };
    drawn.push(panel);
    return whole;
  }

  // Charts measure their boxes, so they start once the boxes are in the page.
  function startAll() {
    for (const panel of drawn) panel.start();
  }

  function redrawAll() {
    for (const panel of drawn) panel.draw();
  }

  // After a change of the settings, updates the legends as well.
  function reviewAll() {
    for (const panel of drawn) {
      panel.relist = true;
      panel.draw();
    }
  }

  function resizeAll() {
    for (const panel of drawn) panel.instance.resize();
  }

  // Disposes of all charts before the page is rebuilt.
  function endAll() {
    for (const panel of drawn.splice(0)) {
      panel.observer.disconnect();
      panel.instance.dispose();
    }
  }

  return { figure, startAll, redrawAll, reviewAll, resizeAll, endAll, drawn };
})();
