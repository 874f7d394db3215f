// @ts-check
// Removes comments from OTP's text and joins its lines to records; must agree with
// `otp_text/records.rs`.
//
// A record ends with `$` at the end of a line. Lines that begin with `#` are comments; they may
// occur within a record and contain `$`. Shell output around a benchmark is skipped. Malformed
// input throws an Error that begins with the line number.

const otpRecords = (() => {
  const SCENARIO = "Scenario: ";
  // Maximum line length in bytes, and maximum number of lines per record; those of the suite are
  // far below.
  const LINE = 4096;
  const LINES = 4096;

  function at(line, what) {
    return new Error(`line ${line}: ${what}`);
  }

  function quoted(text) {
    const letters = [...text];
    return JSON.stringify(`${letters.slice(0, 40).join("")}${letters.length > 40 ? "…" : ""}`);
  }

  function bytes(text) {
    return text.length > LINE ? text.length : new TextEncoder().encode(text).length;
  }

  // Throws if a record is still open at this line.
  function unbroken(open, number) {
    if (open.length === 0) return;
    throw at(number, `the record that begins in line ${open[0].line} breaks off before its $; copy it again, or leave its scenario out`);
  }

  // Returns the records, each a list of { line, text }.
  function read(whole) {
    const records = [];
    let open = [];
    let inside = false;
    let last = 0;
    whole.split("\n").forEach((raw, place) => {
      const number = place + 1;
      const line = raw.trim();
      if (line.startsWith("#BENCHMARK ENDED")) {
        unbroken(open, number);
        inside = false;
      }
      if (line === "" || line.startsWith("#")) return;
      if (line.startsWith(SCENARIO)) {
        unbroken(open, number);
        inside = true;
      }
      last = number;
      const ended = line.endsWith("$");
      if (!inside) {
        if (ended) throw at(number, `a record that belongs to no scenario; copy from the line that begins with "${SCENARIO}"`);
        return;
      }
      const text = ended ? line.slice(0, -1) : line;
      if (text.includes("$")) throw at(number, "a $ within the line; put what follows it into the next line");
      if (bytes(line) > LINE || open.length === LINES) {
        throw at(number, `too long (a line has at most ${LINE} bytes and a record ${LINES} lines); copy the text as it was printed`);
      }
      open.push({ line: number, text });
      if (ended) {
        records.push(open);
        open = [];
      }
    });
    unbroken(open, last);
    return records;
  }

  // Returns the fields between semicolons as { line, text }; a field must not span two lines.
  function fields(record) {
    const found = [];
    for (const { line, text } of record) {
      text
        .split(";")
        .map((part) => part.trim())
        .forEach((part, place) => {
          const last = found.at(-1);
          if (place > 0 || !last) found.push({ line, text: part });
          else if (last.text === "") found[found.length - 1] = { line, text: part };
          else if (part !== "") throw at(line, "the line before it has no $ at its end; copy the record again");
        });
    }
    return found;
  }

  return { read, fields, at, quoted, SCENARIO };
})();
