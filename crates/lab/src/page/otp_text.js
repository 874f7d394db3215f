// @ts-check
// Converts the text of OTP's parallel_messages_SUITE to results in the lab's format.
//
// A scenario consists of its title, its sender counts and one record per line of its graph. A title
// repeated with equal options is another run, whose labels get the prefix `Ver: 2 `. A reader
// numbers runs across several texts. Results and error messages must agree with `otp_text/read.rs`.

const otpText = (() => {
  const { at, quoted, SCENARIO } = otpRecords;
  const OPTIONS = ", Spawn Options=";
  const CONTROL = /\p{Cc}/u;
  const LABEL = 200;
  const SENDERS = 1024;
  const FIGURES = 200000;
  const ABOUT = {
    id: "signals",
    title: "Signals, many to one",
    what: "N processes send to one for a time, messages or exit signals or both",
    notes: ["Figures out of OTP's text are means of its repeats; how far these lay apart it does not say."],
    metric: "throughput",
    unit: "signals/s",
    better: "higher",
    x: { param: "senders", label: "senders", scale: "log" },
    y: { label: "throughput", unit: "signals/s" },
  };

  // Returns whether the text is in the suite's format.
  function is(text) {
    return !/^\s*[[{]/.test(text) && text.split("\n").some((line) => line.trim().startsWith(SCENARIO) || line.trim().endsWith("$"));
  }

  function title(record) {
    const { line, text } = record[0];
    if (record.length > 1) throw at(line, "the title has no $ at its end; copy the whole line");
    const said = text.slice(SCENARIO.length);
    const cut = said.lastIndexOf(OPTIONS);
    const [graph, options] = [said.slice(0, cut), said.slice(cut + OPTIONS.length)];
    const measure = /^(Send|Receive) Throughput, send_duration=(\d{1,9}) ms, (.*)$/su.exec(graph);
    const bracketed = options.length >= 2 && options.startsWith("[") && options.endsWith("]");
    if (cut < 0 || !measure || measure[3].trim() === "" || CONTROL.test(graph) || !bracketed) {
      throw at(line, 'no scenario of parallel_messages_SUITE; it reads "Send Throughput, send_duration=500 ms,  …, Spawn Options=[…]$"');
    }
    const within = options.slice(1, -1);
    const queue = /^\{message_queue_data,(\w*)\}$/.exec(within);
    return {
      line,
      said,
      graph,
      variant: (queue ? queue[1] : within) || null,
      mode: measure[1].toLowerCase(),
      ms: Number(measure[2]),
      options,
      senders: null,
      lines: 0,
    };
  }

  function senders(line, fields) {
    const [first, ...rest] = fields;
    if (first.text !== "" || rest.length === 0) throw at(line, 'the numbers of senders are due here, such as "; 1; 2; 4$"');
    if (rest.length > SENDERS) throw at(line, `more than ${SENDERS} numbers of senders; leave some out`);
    const found = [];
    for (const { line: where, text } of rest) {
      if (!/^\d{1,9}$/.test(text) || found.includes(Number(text))) {
        throw at(where, `${quoted(text)} is no number of senders, or is there twice; give each once, such as "; 1; 2; 4$"`);
      }
      found.push(Number(text));
    }
    return found;
  }

  // Returns whether a label cannot be read as a comment or a title, and is valid as a field.
  function isLabel(text) {
    const length = [...text].length;
    return length > 0 && length <= LABEL && !CONTROL.test(text) && !text.startsWith("#") && !`${text} `.startsWith(SCENARIO);
  }

  function throughput({ line, text }) {
    if (!/^-?\d+(\.\d+)?$/.test(text) || !Number.isFinite(Number(text))) {
      throw at(line, `${quoted(text)} is no throughput; one reads 2122486.416527`);
    }
    return Number(text);
  }

  // Reads several texts in sequence; `document()` returns all of them.
  function reader() {
    const runs = new Map();
    const drawn = new Set();
    const labels = new Set();
    const results = [];

    function line(scenario, record) {
      const [name, ...values] = otpRecords.fields(record);
      if (!isLabel(name.text)) {
        throw at(
          name.line,
          `${quoted(name.text)} cannot be a label (it has 1 to ${LABEL} characters, none of control); copy the record again`,
        );
      }
      if (values.length !== scenario.senders.length) {
        throw at(
          name.line,
          `${quoted(name.text)} has ${values.length} values and ${scenario.senders.length} are due; copy the record again`,
        );
      }
      if (results.length + values.length > FIGURES) throw at(name.line, `more than ${FIGURES} figures; give the text in parts`);
      const label = scenario.run > 1 ? `Ver: ${scenario.run} ${name.text}` : name.text;
      const key = `${scenario.said}\n${label}`;
      if (drawn.has(key)) throw at(name.line, `${quoted(label)} is in this graph already; leave one out or name it otherwise`);
      drawn.add(key);
      labels.add(label);
      values.forEach((field, place) => {
        const value = throughput(field);
        results.push({
          experiment: "signals",
          contender: label,
          graph: scenario.graph,
          variant: scenario.variant,
          x: scenario.senders[place],
          params: {
            senders: scenario.senders[place],
            ms: scenario.ms,
            mode: scenario.mode,
            spawn_options: scenario.options,
            ...(scenario.run > 1 ? { run: scenario.run } : {}),
          },
          metric: `${scenario.mode} throughput, as OTP computes it`,
          unit: "signals/s",
          better: "higher",
          samples: [value],
          median: value,
          low: value,
          high: value,
          principal: false,
        });
      });
      scenario.lines += 1;
    }

    function complete(scenario) {
      if (scenario && scenario.lines === 0) {
        throw at(scenario.line, "the scenario has no line of values; copy it again, or leave it out");
      }
    }

    function read(text) {
      let current = null;
      for (const record of otpRecords.read(text)) {
        if (record[0].text.startsWith(SCENARIO)) {
          complete(current);
          current = title(record);
          current.run = (runs.get(current.said) || 0) + 1;
          runs.set(current.said, current.run);
        } else if (!current) {
          throw at(record[0].line, "a record that belongs to no scenario; copy its title too");
        } else if (!current.senders) {
          current.senders = senders(record[0].line, otpRecords.fields(record));
        } else {
          line(current, record);
        }
      }
      complete(current);
      if (!current) throw at(1, `no line begins with "${SCENARIO}"; copy the whole output`);
    }

    function document() {
      return {
        schema: 1,
        tool: { name: "parallel_messages_SUITE", version: "" },
        started: "",
        profile: "",
        experiments: [ABOUT],
        contenders: [...labels].map((label) => ({
          id: label,
          label,
          version: "",
          notes: ["out of the text of OTP's parallel_messages_SUITE"],
          variants: {},
        })),
        results,
      };
    }

    return { read, document, empty: () => results.length === 0 };
  }

  return { is, reader };
})();
