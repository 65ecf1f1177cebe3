/** The colours: as the system has them, light, or dark. */

import { byId } from "./dom.js";

const KEPT_UNDER = "antiphon.theme";
const NAMES = { system: "Colours: same as the system", light: "Colours: light", dark: "Colours: dark" };
/** @typedef {keyof typeof NAMES} Theme */
const ORDER = /** @type {Theme[]} */ (Object.keys(NAMES));

/** @returns {Theme} */
function kept() {
  try {
    const found = localStorage.getItem(KEPT_UNDER);
    return ORDER.find((theme) => theme === found) ?? "system";
  } catch {
    return "system";
  }
}

/** Sets the colours that were chosen in this browser. */
export function startTheme() {
  set(kept());
}

/** Sets the next colours, and keeps the choice. */
export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(kept()) + 1) % ORDER.length] ?? "system";
  try {
    localStorage.setItem(KEPT_UNDER, next);
  } catch {
    // A browser that keeps nothing has the choice for as long as the page is open.
  }
  set(next);
}

/** @param {Theme} theme */
function set(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme-name").textContent = NAMES[theme];
  byId("theme").title = NAMES[theme];
}
