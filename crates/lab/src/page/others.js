// @ts-check
// Results added by the reader: pasted, dropped or read from files. They are kept in this window,
// are drawn in the same charts, and can be removed.

const others = (() => {
  const sources = [];
  let pasted = 0;

  // Returns whether no continuation could make the text valid JSON; browsers report that
  // differently from an unexpected end.
  function broken(text) {
    try {
      JSON.parse(text);
      return false;
    } catch (error) {
      return !/end of|EOF|unterminated/i.test(error.message);
    }
  }

  // Returns the first line after which the text cannot become valid; the last line if the text is
  // truncated.
  function lineOf(text) {
    const lines = text.split("\n");
    let [low, high] = [1, lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (broken(lines.slice(0, middle).join("\n"))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Parses results of the lab: one document or a list of them.
  function parsed(text) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Error(`line ${lineOf(text)}: this is neither JSON nor the text of OTP's suite`);
    }
    const documents = Array.isArray(value) ? value : [value];
    const known = (one) => one && [1, 2].includes(one.schema) && Array.isArray(one.results);
    if (documents.length === 0 || !documents.every(known)) {
      throw new Error('line 1: JSON, but no results of purlin lab; those have "schema": 1 or 2 and a list of results');
    }
    // WHY: the ratios of schema 1 were judged otherwise; `purlin lab report` computes them anew.
    return documents.map((one) => (one.schema === 1 ? { ...one, ratios: [] } : one));
  }

  // Parses all sources to documents. All OTP texts share one reader, so that their runs are
  // numbered together.
  function documents(list) {
    const reader = otpText.reader();
    const found = [];
    for (const source of list) {
      if (otpText.is(source.text)) reader.read(source.text);
      else found.push(...parsed(source.text));
    }
    return reader.empty() ? found : [...found, reader.document()];
  }

  function start(changed) {
    const list = byId("added");
    const problem = byId("add-problem");
    const field = /** @type {HTMLTextAreaElement} */ (byId("paste"));

    function show() {
      list.replaceChildren(
        ...sources.map((source) =>
          h(
            "li",
            {},
            `${source.name} `,
            h(
              "button",
              {
                type: "button",
                class: "switch",
                "aria-label": `Remove ${source.name}`,
                click() {
                  sources.splice(sources.indexOf(source), 1);
                  update(`${source.name} is removed.`);
                  field.focus();
                },
              },
              "Remove",
            ),
          ),
        ),
      );
    }

    function update(words) {
      show();
      changed(documents(sources));
      byId("status").textContent = words;
    }

    // A source that cannot be read is refused as a whole; the others are added.
    function add(given) {
      const refused = [];
      const taken = [];
      for (const source of given) {
        try {
          documents([...sources, source]);
          sources.push(source);
          taken.push(source.name);
        } catch (error) {
          refused.push(`${source.name}, ${error.message}`);
        }
      }
      problem.textContent = refused.join(" ");
      if (refused.length > 0) byId("others").setAttribute("open", "");
      if (taken.length > 0) update(`${taken.join(", ")} added.`);
      return refused.length === 0;
    }

    async function addFiles(files) {
      add(await Promise.all([...files].map(async (file) => ({ name: file.name, text: await file.text() }))));
    }

    byId("add").addEventListener("click", () => {
      if (field.value.trim() === "") problem.textContent = "There is nothing to add: paste a text first.";
      else if (add([{ name: `Pasted text ${pasted + 1}`, text: field.value }])) {
        field.value = "";
        pasted += 1;
      }
    });
    const picker = /** @type {HTMLInputElement} */ (byId("files"));
    picker.addEventListener("change", async () => {
      await addFiles(picker.files);
      picker.value = "";
    });
    dropping(addFiles, (text) => add([{ name: `Dropped text ${(pasted += 1)}`, text }]));
  }

  function dropping(addFiles, addText) {
    const mark = (on) => document.documentElement.classList.toggle("dropping", on);
    // Content dragged from the page itself is ignored.
    let own = false;
    document.addEventListener("dragstart", () => {
      own = true;
    });
    document.addEventListener("dragend", () => {
      own = false;
    });
    document.addEventListener("dragover", (event) => {
      if (own) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener("dragleave", (event) => mark(event.relatedTarget !== null));
    document.addEventListener("drop", (event) => {
      mark(false);
      if (own) return;
      // Text dropped on a field is handled by the field.
      if (event.target instanceof Element && event.target.matches("textarea, input") && event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      if (event.dataTransfer.files.length > 0) addFiles(event.dataTransfer.files);
      else if (event.dataTransfer.getData("text/plain")) addText(event.dataTransfer.getData("text/plain"));
    });
  }

  return { start };
})();
