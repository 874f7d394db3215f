// @ts-check
// Helpers that locate elements on the page and describe their appearance.

import { readFile } from "node:fs/promises";

export const stored = JSON.parse(await readFile(new URL("./results.json", import.meta.url), "utf8"));

export const chartOf = (page, id) => page.locator(`.chart[data-experiment="${id}"]`);
export const figureOf = (page, id) => page.locator("figure", { has: chartOf(page, id) });
export const BEAM = "#d55e00";

// Returns the number of visible shapes of a chart in this colour.
export function painted(chart, colour) {
  return chart.evaluate((element, wanted) => {
    const swatch = document.createElement("i");
    swatch.style.color = wanted;
    document.body.append(swatch);
    const computed = getComputedStyle(swatch).color;
    swatch.remove();
    return [...element.querySelectorAll("svg path, svg circle, svg line, svg polyline")].filter((shape) => {
      const style = getComputedStyle(shape);
      const box = shape.getBBox();
      return [style.fill, style.stroke].includes(computed) && box.width + box.height > 0;
    }).length;
  }, colour);
}

// Returns a chart's markup, without the ids that the library numbers.
export const picture = (chart) => chart.evaluate((element) => element.innerHTML.replace(/zr\d+-/g, ""));

export async function changed(page, chart, before) {
  const handle = await chart.elementHandle();
  await page.waitForFunction(([element, old]) => element.innerHTML.replace(/zr\d+-/g, "") !== old, [handle, before]);
}

export async function columnOf(page, at) {
  return page.locator(`#summary .sortable tbody tr > :nth-child(${at})`).allTextContents();
}

export async function widths(page) {
  return page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
}

// Returns the options passed to the charting library.
export function optionOf(page, id) {
  return page.evaluate((wanted) => {
    const { instance } = window.purlinReport.charts.find((chart) => chart.experiment.id === wanted);
    const { xAxis, yAxis, series } = instance.getOption();
    const plain = (axis) => ({ type: axis.type, name: axis.name, data: axis.data });
    return {
      xAxis: xAxis.map(plain),
      yAxis: yAxis.map(plain),
      series: series.map(({ type, name, data, symbolSize }) => ({
        type,
        name,
        symbolSize,
        data: data.map((at) => (Array.isArray(at) ? [...at] : at.value)),
      })),
    };
  }, id);
}

// Returns the points of one line as [x, y].
export async function seriesOf(page, id, name) {
  const { series } = await optionOf(page, id);
  const found = series.find((one) => one.name === name && one.symbolSize === 10);
  return found ? found.data.map(([x, y]) => [x, Number(y.toPrecision(13))]) : [];
}
