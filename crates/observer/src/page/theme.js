// @ts-check
// Dark or light theme: the reader's choice stored on this machine, or else the system's setting.

import { byId } from "./dom.js";

const KEPT = "purlin-observer-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

function show() {
  byId("theme").setAttribute("aria-pressed", String(isDark()));
}

export function start() {
  const kept = localStorage.getItem(KEPT);
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  byId("theme").addEventListener("click", () => {
    const chosen = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    localStorage.setItem(KEPT, chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
