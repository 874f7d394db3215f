// @ts-check
// Print layout: everything unfolded, light theme, charts as wide as the paper.

const printing = (() => {
  function start() {
    const folded = [];
    let chosen;
    window.addEventListener("beforeprint", () => {
      chosen = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      document.documentElement.classList.add("printing");
      for (const details of /** @type {NodeListOf<any>} */ (document.querySelectorAll("details:not([open])"))) {
        details.unfold?.();
        details.open = true;
        folded.push(details);
      }
      chart.resizeAll();
      chart.redrawAll();
    });
    window.addEventListener("afterprint", () => {
      if (chosen) document.documentElement.dataset.theme = chosen;
      else delete document.documentElement.dataset.theme;
      document.documentElement.classList.remove("printing");
      for (const details of folded.splice(0)) details.open = false;
      chart.resizeAll();
      chart.redrawAll();
    });
  }

  return { start };
})();
