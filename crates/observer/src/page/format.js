// @ts-check
// Formatting of values. Times are nanoseconds, memory is bytes.

const NARROW = "\u202f";
const NONE = "–";

function steps(value, base, names) {
  let at = 0;
  let rest = Math.abs(value);
  while (rest >= base && at < names.length - 1) {
    rest /= base;
    at += 1;
  }
  return `${value < 0 ? "−" : ""}${short(rest)}\u00a0${names[at]}`.trimEnd();
}

function short(value) {
  if (Number.isInteger(value) && value < 1e4) return String(value);
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const known = (value) => typeof value === "number" && Number.isFinite(value);

// All digits, in groups of three.
export function count(value) {
  return known(value) ? String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, NARROW) : NONE;
}

export const plural = (value, noun, many = `${noun}s`) => `${count(value)} ${value === 1 ? noun : many}`;

// About three significant digits and a unit prefix.
export const about = (value) => (known(value) ? steps(value, 1000, ["", "k", "M", "G", "T"]) : NONE);
export const rate = (value) => (known(value) ? `${about(value)}/s` : NONE);
export const bytes = (value) => (known(value) ? steps(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]) : NONE);
export const percent = (share) => (known(share) ? `${short(share * 100)}\u00a0%` : NONE);

export function time(nanoseconds) {
  if (!known(nanoseconds)) return NONE;
  if (nanoseconds < 1e9) return steps(nanoseconds, 1000, ["ns", "µs", "ms"]);
  const seconds = nanoseconds / 1e9;
  if (seconds < 60) return `${short(seconds)}\u00a0s`;
  /** @type {[number, string][]} */
  const parts = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = parts.findIndex(([size]) => seconds >= size);
  let rest = Math.floor(seconds);
  return parts
    .slice(first, first + 2)
    .map(([size, name]) => {
      const whole = Math.floor(rest / size);
      rest -= whole * size;
      return `${whole}\u00a0${name}`;
    })
    .join(" ");
}

// A time of the node's clock, to the microsecond.
export const moment = (nanoseconds) => (known(nanoseconds) ? `${(nanoseconds / 1e9).toFixed(6)}\u00a0s` : NONE);

// Age of a process; a lower bound for a process that existed before the first snapshot.
export const age = ({ age_ns: old, age_at_least: least }) => (known(old) ? `${least ? ">\u202f" : ""}${time(old)}` : NONE);

// The last two segments of a path: "till::run" of "my_shop::shop::till::run".
export function tail(path) {
  const text = String(path);
  const generic = text.indexOf("<");
  const plain = generic < 0 ? text : text.slice(0, generic);
  return plain.split("::").slice(-2).join("::") + (generic < 0 ? "" : text.slice(generic));
}
