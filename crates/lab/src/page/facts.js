// @ts-check
// Facts about a machine or an instrument: every entry of an object, named by its key, whose last
// part may be a unit.

const facts = (() => {
  const UNITS = { ns: "ns", us: "µs", ms: "ms", percent: "%", mhz: "MHz" };

  function spell(key) {
    const parts = key.split("_");
    const unit = parts.length > 1 && (UNITS[parts.at(-1)] || parts.at(-1) === "bytes") ? parts.pop() : "";
    const words = parts.join(" ").replace("mhz", "frequency in MHz");
    return { name: words[0].toUpperCase() + words.slice(1), unit };
  }

  function value(said, unit) {
    if (typeof said === "boolean") return said ? "yes" : "no";
    if (format.isNumber(said)) {
      if (unit === "bytes") return format.bytes(said);
      if (unit === "percent") return `${format.digits(said)}\u00a0%`;
      return UNITS[unit] ? format.value(said, UNITS[unit]) : String(Number(said.toPrecision(6)));
    }
    if (Array.isArray(said))
      return said
        .map((each) => value(each, unit))
        .filter((words) => words !== "")
        .join(", ");
    if (said && typeof said === "object") {
      // Strings come first, independent of the order in the file.
      const known = Object.entries(said).filter(([, each]) => each !== null);
      known.sort(([, a], [, b]) => Number(typeof b === "string") - Number(typeof a === "string"));
      return known
        .map(([key, each]) => {
          const spelt = spell(key);
          const words = value(each, spelt.unit);
          return typeof each === "string" ? words : `${spelt.name.toLowerCase()} ${words}`;
        })
        .join(" ");
    }
    return said === null || said === undefined ? "" : String(said);
  }

  // Returns a list of [name, words]; empty if the argument is not an object.
  function of(object) {
    if (!object || typeof object !== "object" || Array.isArray(object)) return [];
    return Object.entries(object)
      .map(([key, said]) => {
        const { name, unit } = spell(key);
        return [name, value(said, unit)];
      })
      .filter(([, words]) => words !== "");
  }

  function list(pairs) {
    return h(
      "dl",
      { class: "facts" },
      pairs.map(([name, words]) => h("div", {}, h("dt", {}, name), h("dd", {}, words))),
    );
  }

  return { of, list };
})();
