// Finds things on the page and says how they look.

export const chartOf = (page, id) => page.locator(`.chart[data-experiment="${id}"]`);
export const figureOf = (page, id) => page.locator("figure", { has: chartOf(page, id) });
export const BEAM = "#d55e00";

// How many shapes of a chart are painted in this colour and take up room.
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

export const picture = (chart) => chart.evaluate((element) => element.innerHTML);

export async function changed(page, chart, before) {
  const handle = await chart.elementHandle();
  await page.waitForFunction(([element, old]) => element.innerHTML !== old, [handle, before]);
}

export async function columnOf(page, at) {
  return page.locator(`#summary tbody tr > :nth-child(${at})`).allTextContents();
}

export async function widths(page) {
  return page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
}
