// @ts-check
// Formats numbers: three significant digits, thin spaces between thousands, and a unit that keeps
// the number short.

const format = (() => {
  const THIN = "\u202f"; // narrow no-break space
  /** @type {[string, number][]} */
  const TIMES = [
    ["ns", 1],
    ["µs", 1e3],
    ["ms", 1e6],
    ["s", 1e9],
  ];
  /** @type {[string, number][]} */
  const LARGE = [
    ["", 1],
    ["M\u00a0", 1e6],
    ["G\u00a0", 1e9],
  ];
  const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

  function isNumber(value) {
    return typeof value === "number" && Number.isFinite(value);
  }

  function grouped(digits) {
    return digits.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
  }

  function rounded(value) {
    return Number(value.toPrecision(3));
  }

  // Formats with three significant digits.
  function digits(value) {
    if (!isNumber(value)) return "–";
    if (value === 0) return "0";
    const round = rounded(value);
    const size = Math.abs(round);
    const sign = round < 0 ? "−" : "";
    if (size >= 1e15 || size < 1e-4) {
      const [mantissa, exponent] = size.toExponential(2).split("e");
      return `${sign}${mantissa}e${exponent.replace("+", "").replace("-", "−")}`;
    }
    return sign + (size >= 1000 ? grouped(size.toFixed(0)) : size.toPrecision(3));
  }

  // Formats a count or a parameter, without rounding.
  function whole(value) {
    if (!isNumber(value)) return "–";
    if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return digits(value);
    return (value < 0 ? "−" : "") + grouped(String(Math.abs(value)));
  }

  // Splits "ns per hop" into a scalable unit of time and its tail.
  function parseUnit(unit) {
    const found = /^(ns|us|µs|μs|ms|s)(?=$|[\s/])(.*)$/.exec(unit || "");
    if (!found) return { time: false, factor: 1, tail: unit || "" };
    const factor = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 }[found[1]];
    return { time: true, factor, tail: found[2] };
  }

  function comparable(from, to) {
    return from === to || (parseUnit(from).time && parseUnit(to).time);
  }

  // Returns the factor that converts a figure from unit `from` to unit `to`.
  function conversion(from, to) {
    const [a, b] = [parseUnit(from), parseUnit(to)];
    return a.time && b.time ? a.factor / b.factor : 1;
  }

  // Returns the unit for a figure of this size. The number to print before `label` is the figure
  // divided by `divisor`.
  function scale(unit, size) {
    const parsed = parseUnit(unit);
    const base = isNumber(size) ? Math.abs(rounded(size * parsed.factor)) : 0;
    const steps = parsed.time ? TIMES : LARGE;
    let chosen = steps[0];
    for (const step of steps) if (base >= step[1]) chosen = step;
    if (!base && parsed.time) return { divisor: 1, label: unit };
    return { divisor: chosen[1] / parsed.factor, label: (chosen[0] + parsed.tail).trimEnd() };
  }

  function joined(number, label) {
    return label ? `${number}\u00a0${label}` : number;
  }

  function value(figure, unit) {
    if (!isNumber(figure)) return "–";
    const chosen = scale(unit, figure);
    return joined(digits(figure / chosen.divisor), chosen.label);
  }

  // Formats both bounds in the unit that suits `reference`, with one label.
  function interval(low, high, unit, reference) {
    if (!isNumber(low) || !isNumber(high)) return "–";
    const chosen = scale(unit, isNumber(reference) ? reference : high);
    return joined(`${digits(low / chosen.divisor)}${THIN}–${THIN}${digits(high / chosen.divisor)}`, chosen.label);
  }

  // Formats values such as R², which may differ only in the last digits.
  function share(number) {
    return number > 0.999 && number < 1 ? `${Math.floor(number * 1e5) / 1e5}` : number.toFixed(3);
  }

  function ratio(number) {
    return isNumber(number) ? `${digits(number)}${THIN}×` : "–";
  }

  function duration(seconds) {
    if (!isNumber(seconds)) return "";
    if (seconds < 60) return `${digits(seconds)}\u00a0s`;
    const minutes = Math.floor(seconds / 60);
    return `${whole(minutes)}\u00a0min ${Math.round(seconds - minutes * 60)}\u00a0s`;
  }

  function bytes(count) {
    if (!isNumber(count)) return "";
    const steps = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step = 0;
    while (count >= 1024 && step < steps.length - 1) {
      count /= 1024;
      step += 1;
    }
    return `${rounded(count)}\u00a0${steps[step]}`;
  }

  // Formats "21 November 2026, 09:00 UTC"; returns text that is not a date unchanged.
  function moment(text) {
    const date = new Date(text);
    if (typeof text !== "string" || Number.isNaN(date.getTime())) return text ? String(text) : "";
    const clock = date.toISOString().slice(11, 16);
    return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}, ${clock} UTC`;
  }

  function shortMoment(text) {
    const date = new Date(text);
    if (typeof text !== "string" || Number.isNaN(date.getTime())) return "";
    const month = MONTHS[date.getUTCMonth()].slice(0, 3);
    return `${date.getUTCDate()} ${month} ${date.toISOString().slice(11, 16)}`;
  }

  return {
    isNumber,
    digits,
    whole,
    comparable,
    conversion,
    scale,
    value,
    interval,
    ratio,
    share,
    duration,
    bytes,
    moment,
    shortMoment,
  };
})();
