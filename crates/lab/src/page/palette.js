// @ts-check
// Colour and symbol of a contender: equal in all charts, and for known contenders in all reports.
// The hues are those of Okabe and Ito, which colour-blind readers can distinguish; on a dark
// background they are lighter. With more contenders than hues, the symbol distinguishes two of the
// same hue.

const palette = (() => {
  const KNOWN = [
    "purlin",
    "beam",
    "tokio",
    "elixir",
    "ractor",
    "kameo",
    "actix",
    "go",
    "ergo",
    "threads",
    "may",
    "pekko",
    "virtual-threads",
  ];
  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b8609a", "#b47f00", "#2f8fc4", "#5b5f66", "#8a7d00"];
  const DARK = ["#4ea8e0", "#f0833a", "#2bc79a", "#dd8fc0", "#e6ac2e", "#8fd0f5", "#b9bec6", "#e6dc4a"];
  const SYMBOLS = ["circle", "diamond", "triangle", "rect", "pin", "arrow", "roundRect"];
  const OUTLINES = {
    circle: "M 0 -5 A 5 5 0 1 1 0 5 A 5 5 0 1 1 0 -5 Z",
    diamond: "M 0 -6 L 5 0 L 0 6 L -5 0 Z",
    triangle: "M 0 -5 L 5.5 5 L -5.5 5 Z",
    rect: "M -4.5 -4.5 H 4.5 V 4.5 H -4.5 Z",
    pin: "M 0 6 C -7 -1 -4 -6 0 -6 C 4 -6 7 -1 0 6 Z",
    arrow: "M 0 -6 L 5 6 L 0 3 L -5 6 Z",
    roundRect: "M -3 -4.5 H 3 L 4.5 -3 V 3 L 3 4.5 H -3 L -4.5 3 V -3 Z",
  };

  // Known contenders have fixed positions; others take the free ones.
  function assign(contenders) {
    const taken = new Set();
    const later = [];
    for (const contender of contenders) {
      const place = KNOWN.indexOf(contender.id);
      if (place >= 0 && !taken.has(place)) {
        taken.add(place);
        contender.place = place;
      } else {
        later.push(contender);
      }
    }
    let free = 0;
    for (const contender of later) {
      while (taken.has(free)) free += 1;
      taken.add(free);
      contender.place = free;
    }
  }

  function isDark() {
    const chosen = document.documentElement.dataset.theme;
    if (chosen) return chosen === "dark";
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function colour(contender) {
    const shades = isDark() ? DARK : LIGHT;
    return shades[contender.place % shades.length];
  }

  function shape(contender) {
    return SYMBOLS[contender.place % SYMBOLS.length];
  }

  // The library's pin is anchored at its tip, whereas the other symbols are centred.
  function symbol(contender) {
    const name = shape(contender);
    return name === "pin" ? `path://${OUTLINES.pin}` : name;
  }

  // The symbol in front of a name; CSS colours it through variables.
  function swatch(contender, secondary) {
    const mark = svg("path", {
      d: outline(contender),
      class: secondary ? "swatch-mark hollow" : "swatch-mark",
    });
    const line = svg("path", { d: "M -11 0 H 11", class: secondary ? "swatch-line dashed" : "swatch-line" });
    const picture = svg(
      "svg",
      {
        class: "swatch",
        viewBox: "-12 -8 24 16",
        width: "24",
        height: "16",
        "aria-hidden": "true",
      },
      line,
      mark,
    );
    return tint(picture, contender);
  }

  // Sets the contender's colours, light and dark, on an element of class `swatch`.
  function tint(element, contender) {
    element.style.setProperty("--light", LIGHT[contender.place % LIGHT.length]);
    element.style.setProperty("--dark", DARK[contender.place % DARK.length]);
    return element;
  }

  function outline(contender) {
    return OUTLINES[shape(contender)];
  }

  // Returns the colours of chart elements that do not belong to a contender.
  function ground() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      ink: read("--ink"),
      muted: read("--muted"),
      rule: read("--rule"),
      paper: read("--paper"),
      font: getComputedStyle(document.body).fontFamily,
    };
  }

  return { assign, isDark, colour, symbol, swatch, tint, outline, ground };
})();
