/** The switch between the versions of a question: its place among them, and a way to the one before and the next. */

import { element } from "../dom.js";

/**
 * Draws the switch; null if there is only one version.
 * @param {string[]} versions The ids of their queries, in the order in which they were asked.
 * @param {string} shown The one on the page.
 * @param {(queryId: string, step: number) => void} show
 */
export function versionSwitch(versions, shown, show) {
  if (versions.length < 2) return null;
  const at = versions.indexOf(shown);
  /**
   * @param {number} step
   * @param {string} sign
   * @param {string} name
   */
  const button = (step, sign, name) => {
    const other = versions[at + step];
    const what = { class: "quiet", type: "button", "aria-label": name, title: name, "data-step": step };
    if (other === undefined) return element("button", { ...what, disabled: true }, sign);
    return element("button", { ...what, click: () => show(other, step) }, sign);
  };
  const words = `Version ${at + 1} of ${versions.length}`;
  return element(
    "div",
    { class: "row versions", role: "group", "aria-label": "Versions of this question" },
    button(-1, "‹", "Previous version"),
    element("span", { title: words, "aria-hidden": "true" }, `${at + 1}/${versions.length}`),
    element("span", { class: "hidden" }, words),
    button(1, "›", "Next version"),
  );
}

/**
 * Puts the focus back to its place before another version took this one's place.
 * @param {HTMLElement} exchange
 * @param {number} step
 */
export function focusSwitch(exchange, step) {
  const wanted = `.versions [data-step="${step}"]:enabled`;
  const found = exchange.querySelector(wanted) ?? exchange.querySelector(".versions :enabled");
  if (found instanceof HTMLElement) found.focus({ preventScroll: true });
}
