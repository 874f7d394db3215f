// @ts-check
// What the reader chose to see, and the link that keeps it.
//
// The part of the address behind # is `ANCHOR?CHOICES`. Choices stand between
// & signs: `theme=dark`, or an experiment's id with its words, for example
// `spawn-chain=worst,bars,-beam`. Only what differs from the usual is there.
// What cannot be understood is left out, so an old link still opens the page.

const view = (() => {
  // One word for each choice that is not a number or a name.
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

  // What was chosen for an experiment; without a name the usual holds.
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

  // The address follows the choices without a new entry in the history.
  function keep() {
    write(history.state, link(anchorOf(location.hash)));
  }

  // Where the reader is stays with the entry in the history, for when the page is loaded again.
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
      // WHY: a browser may refuse this to a file, or to whoever does it very often.
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

  // Takes the choices of an address in place of those that hold.
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
