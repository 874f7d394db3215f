// @ts-check
// Titles of an experiment's graphs, in words.

const graphs = (() => {
  const OPERATION = /(\d+(?:\.\d+)?)% \{(message|exit_signal)_size,\s*(\d+)\}/g;

  function size(text) {
    return text.replace(/0+$/, "").replace(/\.$/, "");
  }

  // Converts "Send Throughput, send_duration=1000 ms,  50.000000% {message_size,1}, …" to words;
  // returns other titles unchanged.
  function words(title) {
    const found = /^(Send|Receive) Throughput, send_duration=(\d+) ms,/.exec(title);
    const operations = [...title.matchAll(OPERATION)];
    if (!found || operations.length === 0) return title;
    const parts = operations.map(([, share, kind, length]) => {
      const what = kind === "message" ? "messages" : "exit signals";
      return `${operations.length > 1 ? `${size(share)}\u00a0% ` : ""}${what} of size ${length}`;
    });
    const rest = title.includes("{message_queue_data_change,") ? ", switching queues" : "";
    return `${found[1]} throughput · ${parts.join(", ")}${rest} · ${found[2]}\u00a0ms`;
  }

  return { words };
})();
