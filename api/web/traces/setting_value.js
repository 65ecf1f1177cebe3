/** The field for a value of a setting. */

import { element } from "../dom.js";

/**
 * @param {{name: string, value: any, choices: string[]}} setting
 * @param {any} recorded
 */
export function valueInput(setting, recorded) {
  const now = recorded ?? setting.value;
  const choices = typeof setting.value === "boolean" ? ["true", "false"] : setting.choices;
  if (choices.length === 0)
    return element("input", {
      class: "text-input",
      "aria-label": "Value",
      value: now === null ? "" : String(now),
    });
  const select = element("select", { class: "text-input", "aria-label": "Value" });
  for (const choice of choices) select.append(element("option", { value: choice }, choice));
  select.value = String(now);
  return select;
}
