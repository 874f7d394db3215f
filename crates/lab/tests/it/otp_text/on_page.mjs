// @ts-check
// Runs the page's reader on a JSON list of texts, and writes the list of results, each {"document"}
// or {"refused"}. Started by otp_text.rs.

import { readFileSync } from "node:fs";

const files = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const otpText = new Function(`"use strict";\n${files.join("\n")}\nreturn otpText;`)();

function read(text) {
  try {
    const reader = otpText.reader();
    reader.read(text);
    return { is: otpText.is(text), document: reader.document() };
  } catch (error) {
    return { is: otpText.is(text), refused: error.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(read)));
