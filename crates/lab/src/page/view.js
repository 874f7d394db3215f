// @ts-check
// The reader's settings, and the link that stores them.
//
// The fragment of the address is `ANCHOR?CHOICES`. Choices are separated by &: `theme=dark`, or an
// experiment's id with its words, for example `spawn-chain=worst,bars,-beam`. Only settings that
// differ from the default are included. Unknown words are ignored, so an old link still opens the
// page.

const view = (() => {
  // The word for each setting that is not a number or a name.
  /** @type {Record<string, [string, any]>} */
  const WORDS = {
    worst: ["mode", "worst"],
    best: ["mode", "best"],
    bars: ["kind", "bars"],
    same: ["spacing", "same"],
    xlog: ["xLog", true],
    xlin: ["xLog", false],
    ylog: ["yLog", true],
    ylin: ["yLog", false],
    dots: ["samples", true],
    nodots: ["samples", false],
  };
  const choices = new Map();
  let theme = null;

  // Returns the settings of an experiment; a missing entry means the default.
  function of(id) {
    if (!choices.has(id)) choices.set(id, { hidden: new Set() });
    return choices.get(id);
  }

  function choose(id, name, value, usual) {
    if (value === usual) delete of(id)[name];
    else of(id)[name] = value;
    keep();
  }

  function hide(id, name, hidden) {
    if (hidden) of(id).hidden.add(name);
    else of(id).hidden.delete(name);
    keep();
  }

  function chooseTheme(name) {
    theme = name;
    keep();
  }

  function wordsOf(choice) {
    const words = Object.entries(WORDS)
      .filter(([, [name, value]]) => choice[name] === value)
      .map(([word]) => word);
    if (choice.graph) words.push(`g${choice.graph}`);
    if (choice.metric !== undefined) words.push(`m${choice.metric}`);
    return [...words, ...[...choice.hidden].map((name) => `-${name}`)];
  }

  function link(anchor) {
    const parts = theme ? [`theme=${theme}`] : [];
    for (const [id, choice] of choices) {
      const words = wordsOf(choice).map(encodeURIComponent);
      if (words.length > 0) parts.push(`${encodeURIComponent(id)}=${words.join(",")}`);
    }
    return `#${anchor}${parts.length > 0 ? `?${parts.join("&")}` : ""}`;
  }

  function anchorOf(hash) {
    return hash.replace(/^#/, "").split("?")[0];
  }

  // Writes the settings to the address without a new history entry.
  function keep() {
    write(history.state, link(anchorOf(location.hash)));
  }

  // Stores the scroll position in the history entry, for a reload of the page.
  function stay() {
    write(window.scrollY, location.hash);
  }

  function place() {
    return Number(history.state);
  }

  function write(place, hash) {
    try {
      history.replaceState(place, "", hash);
    } catch {
      // WHY: a browser may refuse this for a file, or if it is called very often.
    }
  }

  function readWord(choice, word) {
    if (Object.hasOwn(WORDS, word)) choice[WORDS[word][0]] = WORDS[word][1];
    else if (/^g[1-9]\d{0,3}$/.test(word)) choice.graph = Number(word.slice(1));
    else if (/^m\d{1,3}$/.test(word)) choice.metric = Number(word.slice(1));
    else if (word.length > 1 && word[0] === "-") choice.hidden.add(word.slice(1));
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return "";
    }
  }

  // Replaces the current settings by those of an address.
  function read(hash) {
    choices.clear();
    theme = null;
    const at = hash.indexOf("?");
    for (const part of at < 0 ? [] : hash.slice(at + 1).split("&")) {
      const [id, words] = part.split("=");
      if (!id || words === undefined) continue;
      if (id === "theme") theme = ["dark", "light"].includes(words) ? words : null;
      else for (const word of words.split(",")) readWord(of(decoded(id)), decoded(word));
    }
    return anchorOf(hash);
  }

  return { of, choose, hide, chooseTheme, link, keep, read, stay, place, theme: () => theme };
})();
